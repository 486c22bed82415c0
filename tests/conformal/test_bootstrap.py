import numpy as np
import pytest

from corollary.conformal import JackknifeAfterBootstrapRegressor, conformal_rank
from corollary.core.simulate import assert_bound_holds
from corollary.ensemble import BaggingRegressor, RandomForestRegressor
from corollary.linear import Ridge


@pytest.mark.parametrize(
    "bag",
    [RandomForestRegressor(), BaggingRegressor(Ridge(), max_features=1)],
    ids=["forest", "bag"],
)
def test_intervals_equal_the_definition(bag, monkeypatch):
    """Average the members without each row by hand."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = X[:, 0] + rng.normal(size=40)
    model = JackknifeAfterBootstrapRegressor(
        bag, confidence=0.8, n_estimators=30, random_state=0
    ).fit(X, y)
    monkeypatch.setattr("corollary.conformal.plus.after_bootstrap._BLOCK", 200)
    got = model.predict_interval(X[:12])
    members = model.estimator_.estimators_
    columns = getattr(model.estimator_, "estimators_features_", [np.arange(2)] * len(members))
    rows = [set(drawn.tolist()) for drawn in model.estimator_.estimators_samples_]
    assert 0 < len(members) < 30
    upper, lower = [], []
    for i in range(40):
        without = [b for b in range(len(members)) if i not in rows[b]]
        if not without:
            continue
        own = np.mean([members[b].predict(X[[i]][:, columns[b]])[0] for b in without])
        said = np.mean([members[b].predict(X[:12][:, columns[b]]) for b in without], axis=0)
        upper.append(said + abs(y[i] - own))
        lower.append(said - abs(y[i] - own))
    rank = conformal_rank(40, 0.8)
    np.testing.assert_allclose(got[:, 1], np.sort(upper, axis=0)[rank - 1])
    np.testing.assert_allclose(got[:, 0], -np.sort(-np.array(lower), axis=0)[rank - 1])


@pytest.mark.filterwarnings("ignore:.*intervals are infinite")
def test_coverage_is_at_least_what_is_proved(seed):
    rng = np.random.default_rng(seed)
    model = JackknifeAfterBootstrapRegressor(
        RandomForestRegressor(min_samples_leaf=1, n_jobs=1), confidence=0.8, n_estimators=20
    )
    misses = 0
    for i in range(60):
        X, y = rng.normal(size=(16, 1)), rng.normal(size=16)
        model.set_params(random_state=i).fit(X[:-1], y[:-1])
        low, high = model.predict_interval(X[-1:])[0]
        misses += not low <= y[-1] <= high
    assert_bound_holds(misses, 60, 1 - model.guaranteed_coverage_)


def test_a_model_that_is_no_bag_is_refused():
    with pytest.raises(ValueError, match="needs a bag"):
        JackknifeAfterBootstrapRegressor(Ridge()).fit([[1.0], [2.0]], [1.0, 2.0])
    with pytest.raises(ValueError, match="needs a bag"):
        JackknifeAfterBootstrapRegressor(RandomForestRegressor(bootstrap=False)).fit(
            [[1.0], [2.0]], [1.0, 2.0]
        )


def test_rows_that_no_member_left_out_are_said_to_be_missing():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    model = JackknifeAfterBootstrapRegressor(
        BaggingRegressor(Ridge()), n_estimators=5, confidence=0.5, random_state=0
    )
    model.fit(X, y)
    known = int(np.isfinite(model.residuals_).sum())
    assert conformal_rank(60, 0.5) <= known < 60
    words = f"residuals of {known} of 60 rows only, too few for confidence 0.95.* Raise n_est"
    with pytest.warns(UserWarning, match=words):
        assert np.isinf(model.predict_interval(X[:2], confidence=0.95)).all()
    with pytest.warns(UserWarning, match=words):
        model.set_params(confidence=0.95).fit(X, y)
