import numpy as np
import pytest

from corollary.core.simulate import assert_bound_holds
from corollary.kernels import RBF, Linear, Matern, Spectrum, centred_gram, hsic, hsic_test
from corollary.kernels.statistics import independence as module


def brute(K, L):
    n = len(K)
    H = np.eye(n) - 1 / n
    return np.trace(K @ H @ L @ H) / n**2


@pytest.fixture
def pair(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(25, 2))
    return x, x[:, 0] ** 2 + 0.5 * rng.normal(size=25)


def test_hsic_is_the_formula(pair):
    X, y = pair
    K, L = RBF(0.7).gram(X), Matern().gram(y)
    assert hsic(X, y, RBF(0.7), Matern()) == pytest.approx(brute(K, L))
    H = np.eye(25) - 1 / 25
    np.testing.assert_allclose(centred_gram(K), H @ K @ H, atol=1e-14)
    # With linear kernels it is the squared norm of the cross-covariance.
    C = np.cov(X.T, y, ddof=0)[:2, 2]
    assert hsic(X, y, Linear(), Linear()) == pytest.approx(C @ C)
    assert hsic(X, y) > 0
    assert hsic([[1.0]], [2.0]) == 0.0


@pytest.mark.parametrize("max_rank", [512, 0])
def test_null_statistics_are_those_of_permuted_rows(pair, max_rank, seed, monkeypatch):
    """Both ways to sum, by features and by gathers, against permuting the rows by hand."""
    monkeypatch.setattr(module, "MAX_RANK", max_rank)
    X, y = pair
    result = hsic_test(X, y, RBF(), RBF(0.5), n_permutations=12, random_state=seed)
    rng = np.random.default_rng(seed)
    orders = rng.permuted(np.tile(np.arange(25), (12, 1)), axis=1)
    K, L = RBF().gram(X), RBF(0.5).gram(y)
    wanted = [brute(K, L[np.ix_(p, p)]) for p in orders]
    np.testing.assert_allclose(result.null, wanted, atol=1e-10)
    assert result.statistic == pytest.approx(brute(K, L), abs=1e-10)
    assert result.p_value == (1 + np.sum(np.array(wanted) >= brute(K, L))) / 13


@pytest.mark.parametrize("n", [2, 4, 20])
def test_level(n, seed):
    rng = np.random.default_rng(seed)
    p = []
    for r in range(400):
        x = rng.normal(size=n) if r % 2 else rng.integers(0, 2, size=n)
        p.append(hsic_test(x, rng.normal(size=n), n_permutations=19, random_state=rng).p_value)
    for delta in (0.05, 0.2, 0.5):
        assert_bound_holds(int(np.sum(np.array(p) <= delta)), 400, delta)


def test_power_against_dependence_without_correlation(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=100)
    y = x**2 + 0.1 * rng.normal(size=100)
    assert hsic_test(x, y, n_permutations=199, random_state=seed).p_value == 0.005


def test_conditional_independence_within_strata(seed):
    """f and W depend on each other through Y only: the stratified test keeps its level."""
    rng = np.random.default_rng(seed)
    inside = outside = 0
    for _ in range(150):
        y = rng.integers(0, 3, size=60)
        f, w = y + 0.5 * rng.normal(size=60), y + 0.5 * rng.normal(size=60)
        options = {"n_permutations": 19, "random_state": rng}
        inside += hsic_test(f, w, strata=y, **options).p_value <= 0.1
        outside += hsic_test(f, w, **options).p_value <= 0.1
    assert_bound_holds(inside, 150, 0.1)
    assert outside > 120
    w = f + 0.2 * rng.normal(size=60)
    assert hsic_test(f, w, strata=y, random_state=seed).p_value < 0.01


def test_labels_are_compared_by_equality(seed):
    rng = np.random.default_rng(seed)
    labels = rng.choice(["a", "b", "c"], size=30)
    x = rng.normal(size=30)
    equal = (labels[:, None] == labels[None]).astype(float)
    assert hsic(x, labels, RBF()) == pytest.approx(brute(RBF().gram(x), equal))
    assert hsic(x, labels == "a", RBF()) == pytest.approx(
        brute(RBF().gram(x), ((labels == "a")[:, None] == (labels == "a")).astype(float))
    )
    texts = [label * 3 for label in labels]
    found = hsic_test(texts, labels, Spectrum(2), n_permutations=99, random_state=0)
    assert found.p_value == 0.01


def test_threads_do_not_change_a_bit(pair, monkeypatch):
    X, y = pair
    X, y = np.tile(X, (40, 1)), np.tile(y, 40)  # enough rows for several pieces of work
    one = hsic_test(X, y, n_permutations=60, random_state=0)
    monkeypatch.setattr("corollary.core.parallel.threads.available_cores", lambda: 1)
    np.testing.assert_array_equal(hsic_test(X, y, n_permutations=60, random_state=0).null, one.null)


def test_low_rank_factor(seed):
    X = np.random.default_rng(seed).normal(size=(40, 3))
    K = Linear().gram(X)
    F = module._low_rank_factor(K, 10)
    assert F.shape == (40, 3)
    np.testing.assert_allclose(F @ F.T, K, atol=1e-10)
    assert module._low_rank_factor(K, 2) is None
    assert module._low_rank_factor(np.zeros((3, 3)), 2).shape == (3, 0)


def test_errors():
    with pytest.raises(ValueError, match="as many rows of X as of Y"):
        hsic([1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match="one stratum for each"):
        hsic_test([1.0, 2.0], [1.0, 2.0], strata=[1])
    with pytest.raises(TypeError, match="must be a Kernel or None"):
        hsic([1.0], [1.0], "rbf")
    with pytest.raises(ValueError, match="one for each row"):
        hsic([1.0], [["a", "b"]])
    with pytest.raises(ValueError, match="square matrix"):
        centred_gram([[1.0, 2.0]])
    with pytest.raises(ValueError, match="NaN"):
        hsic([np.nan, 1.0], [1.0, 2.0])
