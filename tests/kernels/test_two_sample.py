import numpy as np
import pytest

from corollary.core.simulate import assert_bound_holds, assert_share_equals
from corollary.kernels import (
    RBF,
    Linear,
    Matern,
    Spectrum,
    median_length_scale,
    mmd_test,
    squared_mmd,
)
from corollary.kernels import _arrays as arrays


def brute(X, Y, kernel, unbiased):
    A, B, C = kernel.gram(X), kernel.gram(Y), kernel.gram(X, Y)
    n, m = len(X), len(Y)
    if not unbiased:
        return A.mean() + B.mean() - 2 * C.mean()
    first = (A.sum() - np.trace(A)) / (n * (n - 1))
    return first + (B.sum() - np.trace(B)) / (m * (m - 1)) - 2 * C.mean()


@pytest.mark.parametrize("unbiased", [False, True])
def test_estimates_are_the_formula(unbiased, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(17, 2)), rng.normal(size=(12, 2)) + 0.5
    monkeypatch.setattr(arrays, "TILE_SQUARE", 5)  # several tiles, ragged
    for kernel in (RBF(0.8), Matern(), Linear()):
        found = squared_mmd(X, Y, kernel, unbiased=unbiased)
        assert found == pytest.approx(brute(X, Y, kernel, unbiased), rel=1e-9)
    default = RBF(median_length_scale(np.vstack([X, Y])))
    assert squared_mmd(X, Y) == pytest.approx(brute(X, Y, default, False))


def test_linear_kernel_compares_means(seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(9, 3)), rng.normal(size=(5, 3))
    wanted = np.sum((X.mean(axis=0) - Y.mean(axis=0)) ** 2)
    assert squared_mmd(X, Y, Linear()) == pytest.approx(wanted)


def test_unbiased_estimate_has_mean_zero_under_the_null(seed):
    rng = np.random.default_rng(seed)
    values = [
        squared_mmd(rng.normal(size=(4, 1)), rng.normal(size=(3, 1)), RBF(), unbiased=True)
        for _ in range(600)
    ]
    assert abs(np.mean(values)) < 5 * np.std(values) / np.sqrt(600)


@pytest.mark.parametrize("unbiased", [False, True])
def test_null_statistics_are_those_of_permuted_rows(unbiased, seed):
    """Against assigning rows by hand: the same set of statistics, for all 20 assignments of 3+3."""
    from itertools import combinations

    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(6, 2))
    result = mmd_test(
        rows[:3], rows[3:], RBF(), unbiased=unbiased, n_permutations=400, random_state=seed
    )
    possible = [
        brute(rows[list(c)], rows[[i for i in range(6) if i not in c]], RBF(), unbiased)
        for c in combinations(range(6), 3)
    ]
    distance = np.abs(result.null[:, None] - np.array(possible)[None]).min(axis=1)
    assert distance.max() < 1e-12
    assert len(np.unique(result.null.round(9))) == 10  # each assignment and its mirror image
    share = np.mean(np.array(possible) >= result.statistic - 1e-12)
    hits = round(result.p_value * 401) - 1
    assert_share_equals(hits, 400, share)


@pytest.mark.parametrize(("n", "m"), [(2, 2), (3, 9), (15, 12)])
def test_level(n, m, seed):
    """P(p <= delta) <= delta for every delta, with tiny samples and ties too."""
    rng = np.random.default_rng(seed)
    p = []
    for r in range(500):
        draw = rng.integers(0, 3, size=(n + m, 1)) if r % 2 else rng.normal(size=(n + m, 1))
        p.append(mmd_test(draw[:n], draw[n:], n_permutations=19, random_state=rng).p_value)
    for delta in (0.05, 0.1, 0.3, 0.5):
        assert_bound_holds(int(np.sum(np.array(p) <= delta)), 500, delta)


def test_level_is_exact_without_ties(seed):
    rng = np.random.default_rng(seed)
    hits = 0
    for _ in range(600):
        Z = rng.normal(size=(30, 2))
        hits += mmd_test(Z[:12], Z[12:], n_permutations=19, random_state=rng).p_value <= 0.1
    assert_share_equals(hits, 600, 0.1)


def test_power(seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(80, 2)), rng.normal(size=(80, 2)) * [1.0, 3.0]
    assert mmd_test(X, Y, n_permutations=199, random_state=seed).p_value == 0.005
    # A linear kernel sees means only.
    Z = 10.0 - Y
    assert mmd_test(Y, Z, Linear(), n_permutations=199, random_state=seed).p_value == 0.005


def confounded(rng, n=120, effect=0.0):
    """W moves Y, and Y moves f: dependent overall, independent given Y unless effect."""
    y = rng.integers(0, 2, size=n)
    w = rng.random(n) < np.where(y == 1, 0.8, 0.2)
    f = 2.0 * y + effect * w + rng.normal(size=n)
    return f[:, None], w, y


def test_strata_condition_on_the_label(seed):
    """Within strata of Y an invariant score keeps the level, where the plain test rejects."""
    rng = np.random.default_rng(seed)
    inside = outside = 0
    for _ in range(300):
        f, w, y = confounded(rng)
        strata = np.r_[y[w], y[~w]]
        options = {"kernel": RBF(), "n_permutations": 19, "random_state": rng}
        inside += mmd_test(f[w], f[~w], strata=strata, **options).p_value <= 0.1
        outside += mmd_test(f[w], f[~w], **options).p_value <= 0.1
    assert_bound_holds(inside, 300, 0.1)
    assert outside > 200
    f, w, y = confounded(rng, effect=3.0)
    strata = np.r_[y[w], y[~w]]
    assert mmd_test(f[w], f[~w], strata=strata, random_state=seed).p_value < 0.05


def test_strata_weigh_their_statistics(seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(10, 1)), rng.normal(size=(8, 1))
    strata = np.r_[np.repeat(["a", "b"], 5), np.repeat(["a", "b"], [2, 5]), ["lonely"]]
    result = mmd_test(X, Y, RBF(), strata=strata, n_permutations=9, random_state=0)
    wanted = 7 / 18 * brute(X[:5], Y[:2], RBF(), False)
    wanted += 10 / 18 * brute(X[5:], Y[2:7], RBF(), False)
    assert result.statistic == pytest.approx(wanted)


def test_threads_and_seeds(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(900, 2)), rng.normal(size=(300, 2))
    one = mmd_test(X, Y, n_permutations=9, random_state=3)
    monkeypatch.setattr("corollary.core.parallel.threads.available_cores", lambda: 1)
    two = mmd_test(X, Y, n_permutations=9, random_state=3)
    np.testing.assert_array_equal(one.null, two.null)
    assert one.statistic == two.statistic
    assert (mmd_test(X, Y, n_permutations=9, random_state=4).null != one.null).any()


def test_samples_of_strings():
    result = mmd_test(
        ["abab", "baba", "abba"] * 4, ["xyxy", "yxyx", "xxyy"] * 4, Spectrum(2), random_state=0
    )
    assert result.p_value == 0.001


def test_errors():
    with pytest.raises(ValueError, match="two samples with at least one row each"):
        mmd_test(np.zeros((0, 1)), [[1.0]])
    with pytest.raises(ValueError, match="one stratum for each of the 2 rows"):
        mmd_test([[0.0]], [[1.0]], strata=[1])
    with pytest.raises(ValueError, match="rows of both samples"):
        mmd_test([[0.0]], [[1.0]], strata=[1, 2])
    with pytest.raises(ValueError, match="unbiased=True needs two rows"):
        squared_mmd([[0.0]], [[1.0], [2.0]], unbiased=True)
    with pytest.raises(ValueError, match="NaN"):
        mmd_test([[np.nan]], [[1.0]])
    with pytest.raises(ValueError, match="'n_permutations' parameter"):
        mmd_test([[0.0]], [[1.0]], n_permutations=0)
    with pytest.raises(TypeError, match="must be a Kernel or None"):
        mmd_test([[0.0]], [[1.0]], kernel="rbf")
    assert mmd_test([[0.0]], [[1.0]], n_permutations=3, random_state=0).p_value == 1.0
