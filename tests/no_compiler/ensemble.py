"""Loops of ensembles without the compiler."""

import numpy as np


def _table(seed=0, n=60):
    """Two numbers, one with gaps, and categories; the answer needs all three."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n, 2)), rng.integers(0, 5, size=n)])
    y = np.where(np.isin(X[:, 2], (1, 3)), 2.0, 0.0) + np.sign(X[:, 0]) + 0.5 * (X[:, 1] > 0.3)
    X[rng.random(n) < 0.2, 1] = np.nan
    return X, y


_FEW = {
    "max_iter": 3,
    "learning_rate": 0.7,
    "max_leaf_nodes": 8,
    "min_samples_leaf": 2,
    "early_stopping": False,
}


def check_boosted_numbers():
    from corollary.ensemble import HistGradientBoostingRegressor

    X, y = _table()
    for more in (
        {"categorical_features": [2]},
        {"max_leaf_nodes": None, "max_depth": 4},
        {"monotonic_cst": [1, 0, 0]},
        {"subsample": 0.8, "max_features": 0.7, "random_state": 0},
        {"loss": "absolute_error", "categorical_features": [2], "max_iter": 10},
    ):
        model = HistGradientBoostingRegressor(**_FEW | more).fit(X, y, sample_weight=1.0 + (y > 0))
        explained = 1.0 - np.mean((model.predict(X) - y) ** 2) / np.var(y)
        assert explained > 0.7, (more, explained)
    counts = np.floor(np.exp(y))
    model = HistGradientBoostingRegressor(loss="poisson", **_FEW).fit(X, counts)
    assert np.corrcoef(model.predict(X), counts)[0, 1] > 0.8
    amounts = np.exp(y)
    model = HistGradientBoostingRegressor(loss="gamma", **_FEW).fit(X, amounts)
    assert np.corrcoef(model.predict(X), amounts)[0, 1] > 0.8
    model = HistGradientBoostingRegressor(loss="normal", **_FEW).fit(X, y)
    assert np.corrcoef(model.predict(X), y)[0, 1] > 0.8
    model = HistGradientBoostingRegressor(loss="quantile", quantile=[0.1, 0.5, 0.9], **_FEW).fit(
        X, y
    )
    assert (np.diff(model.predict_quantiles(X), axis=1) >= 0).all()


def check_boosted_labels():
    from corollary.ensemble import HistGradientBoostingClassifier

    X, y = _table()
    for loss in ("log_loss", "exponential"):
        model = HistGradientBoostingClassifier(loss=loss, **_FEW).fit(X, y > 1.0)
        assert model.score(X, y > 1.0) > 0.9, loss
    labels = np.digitize(y, (0.0, 1.5))
    assert HistGradientBoostingClassifier(**_FEW).fit(X, labels).score(X, labels) > 0.8


def check_features_that_do_not_interact_add_up():
    from corollary.ensemble import HistGradientBoostingRegressor

    grid = np.array([[a, b] for a in (-1.0, 1.0) for b in (-1.0, 1.0)])
    X = np.repeat(grid, 10, axis=0)
    y = X[:, 0] * X[:, 1] + X[:, 0]
    for allowed, answers in ((None, [0, -2, 0, 2]), ("no_interactions", [-1, -1, 1, 1])):
        model = HistGradientBoostingRegressor(**_FEW | {"interaction_cst": allowed, "max_iter": 20})
        assert np.allclose(model.fit(X, y).predict(grid), answers, rtol=0, atol=1e-6), allowed


def check_boosting_by_blocks_is_boosting_in_memory():
    from corollary.ensemble import HistGradientBoostingRegressor

    X, y = _table()
    chunks = [(X[:30], y[:30]), (X[30:], y[30:])]
    there, here = (
        HistGradientBoostingRegressor(**_FEW).fit_source(chunks, memory_budget=budget)
        for budget in (0, 2**30)
    )
    assert np.array_equal(there.predict(X), here.predict(X))


def check_stumps():
    from corollary.ensemble import StumpClassifier, StumpRegressor

    X, y = np.arange(8.0)[:, None], np.arange(8) > 2
    assert StumpClassifier().fit(X, y).score(X, y) == 1.0
    assert StumpRegressor().fit(X, y * 3.0).score(X, y * 3.0) == 1.0
