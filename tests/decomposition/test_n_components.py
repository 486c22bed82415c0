import numpy as np
import pytest
from scipy import stats
from sklearn import decomposition as peers
from sklearn.decomposition._pca import _assess_dimension

from corollary.decomposition import (
    PCA,
    components_for_share,
    minka_evidence,
    profile_likelihood,
)


def low_rank(seed, k=3, n=200, d=10):
    rng = np.random.default_rng(seed)
    directions = np.linalg.qr(rng.normal(size=(d, k)))[0].T
    return rng.normal(size=(n, k)) @ (directions * 5) + 0.3 * rng.normal(size=(n, d))


def test_the_least_number_that_explains_more_than_a_share():
    values = [5.0, 3.0, 2.0]
    shares = [0.1, 0.49, 0.5, 0.7, 0.8, 0.99]
    assert [components_for_share(values, s) for s in shares] == [1, 1, 2, 2, 3, 3]
    assert components_for_share([0.0, 0.0], 0.5) == 1


def test_evidence_equals_scikit_learns(seed):
    values = np.sort(np.random.default_rng(seed).uniform(0.1, 5, size=8))[::-1]
    peer = [_assess_dimension(values, k, 50) for k in range(1, 8)]
    np.testing.assert_allclose(minka_evidence(values, 50), peer, rtol=1e-10)


def test_equal_and_zero_eigenvalues_are_no_place_to_cut():
    evidence = minka_evidence([4.0, 4.0, 1.0, 1.0], 30)
    assert np.isinf(evidence).tolist() == [True, False, True]
    evidence = minka_evidence([4.0, 2.0, 0.0, 0.0], 30)
    assert np.isinf(evidence).tolist() == [False, False, True]
    assert 1 + np.argmax(evidence) == 2


def test_profile_likelihood_is_that_of_two_normal_samples(seed):
    values = np.sort(np.random.default_rng(seed).uniform(0, 5, size=6))[::-1]
    for k, likelihood in enumerate(profile_likelihood(values), start=1):
        a, b = values[:k], values[k:]
        squares = np.sum((a - a.mean()) ** 2) + np.sum((b - b.mean()) ** 2)
        scale = np.sqrt(squares / 4)
        expected = stats.norm.logpdf(a, a.mean(), scale).sum()
        expected += stats.norm.logpdf(b, b.mean(), scale).sum()
        assert likelihood == pytest.approx(expected)
    assert profile_likelihood([3.0, 1.0]).tolist() == [np.inf]


@pytest.mark.parametrize("rule", ["mle", "profile", 0.95])
def test_the_rank_is_found(rule, seed):
    X = low_rank(seed)
    ours = PCA(n_components=rule).fit(X)
    assert ours.n_components_ == 3
    if rule != "profile":
        assert peers.PCA(n_components=rule, svd_solver="full").fit(X).n_components_ == 3


@pytest.mark.parametrize("function", [profile_likelihood, lambda v: minka_evidence(v, 5)])
@pytest.mark.parametrize("values", [[1.0, 2.0], [1.0, -1.0], [], [[1.0]]])
def test_bad_spectra_are_told(function, values):
    with pytest.raises(ValueError, match="descending order"):
        function(values)
