"""Quantile regression: empirical quantiles, the linear program, peers, intervals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning

from corollary.linear import QuantileInterval, QuantileRegressor


def problem(seed, n=60, p=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * [1.0, 10.0, 0.1, 1.0][:p] + 5.0
    return X, X @ rng.normal(size=p) + (1 + np.abs(X[:, 0])) * rng.normal(size=n)


def mean_pinball(y, prediction, quantile, weight=None):
    s = y - prediction
    return np.average(np.maximum(quantile * s, (quantile - 1) * s), weights=weight)


@given(
    st.lists(st.integers(-20, 20), min_size=1, max_size=15),
    st.sampled_from([0.05, 0.25, 0.5, 0.8, 0.99]),
)
def test_constant_model_is_an_empirical_quantile(values, quantile):
    """Between the lower and the upper empirical quantile, both included."""
    y = np.array(values, dtype=float)
    model = QuantileRegressor(quantile=quantile, alpha=0.0).fit(np.zeros((len(y), 1)), y)
    low = np.quantile(y, quantile, method="inverted_cdf")
    high = -np.quantile(-y, 1 - quantile, method="inverted_cdf")
    assert low - 1e-6 <= model.intercept_ <= high + 1e-6
    assert model.coef_[0] == 0.0


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.93])
@pytest.mark.parametrize("alpha", [0.0, 0.05, 1.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_objective_equals_scikit_learn(seed, quantile, alpha, fit_intercept, layout):
    from sklearn.linear_model import QuantileRegressor as Peer

    X, y = problem(seed)
    options = {"quantile": quantile, "alpha": alpha, "fit_intercept": fit_intercept}
    ours = QuantileRegressor(**options).fit(sparse.csr_matrix(X) if layout == "sparse" else X, y)
    peer = Peer(**options).fit(X, y)

    def objective(model):
        return (
            mean_pinball(y, X @ model.coef_ + model.intercept_, quantile)
            + alpha * np.abs(model.coef_).sum()
        )

    assert objective(ours) == pytest.approx(objective(peer), rel=1e-6)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-4)


def test_primal_linear_program_has_the_same_value(seed):
    """Written the other way round: residuals split into positive and negative parts."""
    from scipy.optimize import linprog

    X, y = problem(seed, n=30, p=2)
    n, tau = 30, 0.3
    A = np.hstack([X, -X, np.ones((n, 1)), -np.ones((n, 1)), np.eye(n), -np.eye(n)])
    c = np.concatenate([np.zeros(6), np.full(n, tau / n), np.full(n, (1 - tau) / n)])
    primal = linprog(c, A_eq=A, b_eq=y, method="highs")
    model = QuantileRegressor(quantile=tau, alpha=0.0).fit(X, y)
    assert mean_pinball(y, model.predict(X), tau) == pytest.approx(primal.fun)


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.75])
def test_shares_below_and_above_the_fit(seed, quantile):
    X, y = problem(seed)
    residual = y - QuantileRegressor(quantile=quantile, alpha=0.0).fit(X, y).predict(X)
    assert np.mean(residual < -1e-7) <= quantile <= np.mean(residual <= 1e-7)
    assert np.sum(np.abs(residual) <= 1e-7) >= 5  # a vertex interpolates as many rows


def test_large_penalty_leaves_the_intercept(seed):
    X, y = problem(seed)
    model = QuantileRegressor(quantile=0.5, alpha=100.0).fit(X, y)
    np.testing.assert_allclose(model.coef_, 0.0, atol=1e-9)
    assert mean_pinball(y, model.intercept_, 0.5) == pytest.approx(
        mean_pinball(y, np.median(y), 0.5)
    )


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_units_of_the_target_do_not_matter(seed, scale):
    """The solver's tolerances are absolute; ours must not be."""
    X, y = problem(seed)
    model = QuantileRegressor(quantile=0.2, alpha=0.0).fit(X, y)
    scaled = QuantileRegressor(quantile=0.2, alpha=0.0).fit(X, scale * y)
    np.testing.assert_allclose(scaled.coef_, scale * model.coef_, rtol=1e-6, atol=1e-9 * scale)


def test_weight_k_is_the_row_k_times(seed):
    X, y = problem(seed, n=30, p=2)
    k = np.arange(30) % 3
    weighted = QuantileRegressor(quantile=0.31, alpha=0.01).fit(X, y, sample_weight=k)
    repeated = QuantileRegressor(quantile=0.31, alpha=0.01).fit(np.repeat(X, k, 0), y.repeat(k))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)
    assert weighted.intercept_ == pytest.approx(repeated.intercept_, abs=1e-6)


def test_interval_never_crosses(seed):
    """Far outside the data two fitted lines do cross."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 1, size=(60, 1))
    y = X.ravel() * rng.normal(size=60)
    model = QuantileInterval(coverage=0.5).fit(X, y)
    far = np.linspace(-50, 50, 301)[:, None]
    assert np.any(model.lower_.predict(far) > model.upper_.predict(far))
    lower, upper = model.predict_interval(far).T
    assert np.all(lower <= upper)
    middle = model.predict(far)
    assert np.all((lower <= middle) & (middle <= upper))


def world(n, rng):
    """Linear quantiles whose spread grows with x: y = 1 + 2x + (1 + x) noise."""
    x = rng.uniform(0, 2, size=(n, 1))
    return x, 1 + 2 * x.ravel() + (1 + x.ravel()) * rng.normal(size=n)


def test_interval_covers_with_many_rows(seed):
    """Conditional coverage, computed from the known law, approaches what was asked for."""
    rng = np.random.default_rng(seed)
    model = QuantileInterval(coverage=0.8).fit(*world(3000, rng))
    for x in (0.2, 1.0, 1.8):
        lower, upper = model.predict_interval([[x]])[0]
        law = norm(loc=1 + 2 * x, scale=1 + x)
        assert law.cdf(upper) - law.cdf(lower) == pytest.approx(0.8, abs=0.06)


@pytest.mark.verify
def test_interval_covers_with_very_many_rows(seed):
    rng = np.random.default_rng(seed)
    model = QuantileInterval(coverage=0.9).fit(*world(30_000, rng))
    x, y = world(20_000, rng)
    lower, upper = model.predict_interval(x).T
    covered = int(np.sum((lower <= y) & (y <= upper)))
    assert covered / 20_000 == pytest.approx(0.9, abs=0.01)


def test_few_rows_cover_less_than_asked(seed):
    """Why the interval alone is no guarantee: with ten rows it falls short, and we know it."""
    rng = np.random.default_rng(seed)
    shares = []
    for _ in range(30):
        model = QuantileInterval(coverage=0.9).fit(*world(10, rng))
        x, y = world(50, rng)
        lower, upper = model.predict_interval(x).T
        shares.append(np.mean((lower <= y) & (y <= upper)))
    assert np.mean(shares) < 0.85


def test_interval_can_be_saved(seed, tmp_path):
    import corollary

    X, y = problem(seed, n=30, p=2)
    model = QuantileInterval().fit(X, y)
    corollary.save(model, tmp_path / "interval.corollary")
    again = corollary.load(tmp_path / "interval.corollary")
    np.testing.assert_array_equal(again.predict_interval(X), model.predict_interval(X))


@pytest.mark.parametrize("answered", [True, False])
def test_stopping_early_is_reported(seed, monkeypatch, answered):
    """A solver that gives up with coefficients at hand leads to a warning, without to an error."""
    import scipy.optimize

    solve = scipy.optimize.linprog

    def give_up(*args, **options):
        found = solve(*args, **options)
        found.status, found.message = 1, "Iteration limit reached."
        if not answered:
            found.eqlin.marginals = None
        return found

    monkeypatch.setattr(scipy.optimize, "linprog", give_up)
    X, y = problem(seed)
    if answered:
        early = "stopped early: Iteration limit reached"
        with pytest.warns(ConvergenceWarning, match=early) as record:
            QuantileRegressor().fit(X, y)
        assert record[0].filename == __file__
    else:
        with pytest.raises(ValueError, match=r"was not solved: Iteration limit .* another solver"):
            QuantileRegressor().fit(X, y)


def test_errors_name_what_was_wrong():
    with pytest.raises(ValueError, match="'quantile' parameter of QuantileRegressor must be"):
        QuantileRegressor(quantile=1.0).fit([[1.0]], [1.0])
    with pytest.raises(ValueError, match="'coverage' parameter of QuantileInterval must be"):
        QuantileInterval(coverage=0.0).fit([[1.0]], [1.0])
