import numpy as np
import pytest
from sklearn.linear_model import Ridge

from corollary.conformal import conformal_rank, full_conformal_neighbors, full_conformal_ridge
from corollary.core.simulate import assert_share_equals


def ridge_residuals(X, y, alpha):
    return np.abs(y - Ridge(alpha=alpha).fit(X, y).predict(X))


def neighbor_residuals(X, y, k):
    gaps = np.linalg.norm(X[:, None] - X[None], axis=2)
    np.fill_diagonal(gaps, np.inf)
    return np.abs(y - y[np.argsort(gaps, axis=1)[:, :k]].mean(axis=1))


def conforms(residuals, confidence):
    """The definition: fewer rows fit better than the rank allows."""
    n = len(residuals) - 1
    return (residuals[:-1] < residuals[-1] - 1e-12).sum() <= conformal_rank(n, confidence) - 1


@pytest.mark.parametrize("n", [3, 8, 25])
@pytest.mark.parametrize("far", [False, True])
def test_hulls_equal_refitting_on_a_grid(n, far, seed):
    rng = np.random.default_rng([seed, n])
    X, y = rng.normal(size=(n, 2)), rng.normal(size=n)
    new = rng.normal(size=(1, 2)) * (20 if far else 1)
    methods = [
        (full_conformal_ridge(X, y, new, alpha=0.5, confidence=0.7), ridge_residuals, 0.5),
        (full_conformal_neighbors(X, y, new, n_neighbors=2, confidence=0.7), neighbor_residuals, 2),
    ]
    for interval, residuals, setting in methods:
        low, high = interval[0]
        both = np.vstack([X, new])
        grid = np.linspace(-60, 60, 241) if far else np.linspace(-6, 6, 241)
        ends = [end for end in (low, high) if np.isfinite(end)]
        inside = [end + side for end in ends for side in (-1e-6, 1e-6)]
        fits = {
            t: conforms(residuals(both, np.append(y, t), setting), 0.7) for t in [*grid, *inside]
        }
        assert all(low <= t <= high for t, fit in fits.items() if fit)
        # The ends are not too far out: the definition takes them in and nothing beyond.
        if np.isfinite(low) and high > low + 1e-5:
            assert (fits[low - 1e-6], fits[low + 1e-6]) == (False, True)
        if np.isfinite(high) and high > low + 1e-5:
            assert (fits[high - 1e-6], fits[high + 1e-6]) == (True, False)


@pytest.mark.parametrize("n", [4, 9, 19])
def test_coverage_of_ridge_is_exact(n, seed):
    """The set is an interval here, so that coverage is the rank over n + 1."""
    rng = np.random.default_rng([seed, n])
    repetitions, hits = 1000, 0
    for _ in range(repetitions):
        X, y = rng.normal(size=(n + 1, 1)), rng.standard_t(3, size=n + 1)
        low, high = full_conformal_ridge(X[:-1], y[:-1], X[-1:], alpha=100.0, confidence=0.7)[0]
        hits += low <= y[-1] <= high
    assert_share_equals(hits, repetitions, conformal_rank(n, 0.7) / (n + 1))


def test_few_rows_and_wrong_input():
    X, y = np.arange(5.0)[:, None], np.arange(5.0)
    assert np.isinf(full_conformal_ridge(X, y, [[1.0]])).all()
    with pytest.raises(ValueError, match="more rows than neighbours"):
        full_conformal_neighbors(X, y, [[1.0]], n_neighbors=5)
    with pytest.raises(ValueError, match="new rows of 1 features"):
        full_conformal_ridge(X, y, [[1.0, 2.0]])


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_residuals_that_are_equal_for_every_candidate(sign, seed):
    """One row and a free constant: the two residuals differ in their signs, so all conform."""
    from corollary.conformal.full import _linear_hull

    rng = np.random.default_rng(seed)
    for _ in range(20):
        X, y = rng.normal(size=(2, 3)), 100 * rng.normal(size=1)
        assert full_conformal_ridge(X[:1], y, X[1:], confidence=0.5).tolist() == [[-np.inf, np.inf]]
    everywhere = (-np.inf, np.inf)
    assert _linear_hull(np.array([0.0]), np.array([sign]), 0.0, 1.0, 1) == everywhere
    # A second row, which counts at the zero of the new residual only, adds nothing.
    both = _linear_hull(np.array([0.0, 0.0]), np.array([sign, 0.5]), 0.0, 1.0, 1)
    assert both == everywhere
    assert _linear_hull(np.array([0.0, 0.0]), np.array([sign, 0.5]), 0.0, 1.0, 2) == (0.0, 0.0)
