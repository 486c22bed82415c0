"""Bounds by support vectors, simulated."""

import math
import warnings

import numpy as np
import pytest

import corollary
from corollary.core.simulate import assert_bound_holds, count_violations
from corollary.svm import SVC, NuSVC, support_vector_bound, svm_pair
from corollary.theory import compression_bound


def draw(n, random, shift=1.5):
    y = np.where(random.rand(n) < 0.5, 1, -1)
    X = random.normal(size=(n, 2))
    X[:, 0] += shift * y
    return X, y


def risk(w, b, shift=1.5):
    """Error rate of a hyperplane on the two normal laws, in closed form."""

    def below(t):
        return 0.5 * math.erfc(-t / math.sqrt(2))

    size = np.linalg.norm(w)
    above = below(-(shift * w[0] + b) / size)  # a positive row below the plane
    return 0.5 * above + 0.5 * below((-shift * w[0] + b) / size)


def plane(model):
    return model.dual_coef_[0] @ model.support_vectors_, float(model.intercept_[0])


@pytest.mark.parametrize("m", [8, 25])
def test_expected_error_is_bounded(m, seed):
    random = np.random.RandomState(seed)
    errors, shares = [], []
    while len(errors) < 400:
        X, y = draw(m, random)
        if min((y > 0).sum(), (y < 0).sum()) < 2:
            continue
        K = X @ X.T
        shares.append(support_vector_bound(np.count_nonzero(svm_pair(K, y).beta), m))
        part = svm_pair(K[:-1, :-1], y[:-1])
        errors.append(risk(part.beta @ X[:-1], part.intercept))
    # The means differ by more than chance in the right direction only.
    spread = np.std(np.array(errors) - np.array(shares)) / math.sqrt(400)
    assert np.mean(errors) <= np.mean(shares) + 5 * spread


@pytest.mark.parametrize(("n", "C"), [(12, 1.0), (60, 10.0), (150, 0.1)])
def test_certificates_hold(n, C, seed):
    def violated(random):
        X, y = draw(n, random)
        if len(np.unique(y)) < 2:
            return False
        model = SVC(kernel="linear", C=C).fit(X, y)
        certificates = corollary.certify(model, X, y, seen=True, confidence=0.8)
        own = [c for c in certificates if c.theorem == "svm.support-vector-bound"]
        return any(risk(*plane(model)) > c.bound for c in own)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_, **__: None)  # no free weight: no certificate
        assert_bound_holds(count_violations(violated, 150, seed), 150, 0.2)


def test_certificate_of_a_machine(seed):
    X, y = draw(300, np.random.RandomState(seed), shift=2.5)
    model = SVC(gamma=0.1, C=10.0).fit(X, y)
    certificates = corollary.certify(model, X, y, seen=True)
    (certificate,) = [c for c in certificates if c.theorem == "svm.support-vector-bound"]
    assert certificate.bound < 0.6
    assert f"with {len(model.support_)} support vectors" in str(certificate)
    assert certificate.at(0.5).bound < certificate.bound < certificate.at(0.999).bound


def test_same_machine_from_its_support_vectors(seed):
    # What the theorem rests on, for three classes too.
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    whole = SVC(gamma=0.5, tol=1e-9).fit(X, y)
    part = SVC(gamma=0.5, tol=1e-9).fit(X[whole.support_], y[whole.support_])
    np.testing.assert_allclose(part.decision_function(X), whole.decision_function(X), atol=1e-5)
    others = np.setdiff1d(np.arange(150), whole.support_)
    np.testing.assert_array_equal(whole.predict(X[others]), y[others])


@pytest.mark.parametrize(
    "model",
    [
        SVC(),  # the width depends on all rows
        SVC(kernel="linear", class_weight="balanced"),
        NuSVC(kernel="linear", nu=0.2),
        SVC(kernel="linear", C=1e-6),  # no free weight: the intercept depends on all rows
        SVC(kernel="linear", C=1e-6, class_weight={-1: 1.0, 1: 2.0}),
    ],
)
def test_no_certificate_where_the_theorem_does_not_apply(model):
    X, y = draw(80, np.random.RandomState(0))
    # As much weight in either class: a tiny price then puts every row at its bound.
    weighted = getattr(model, "class_weight", None) == {-1: 1.0, 1: 2.0}
    y = np.where(np.arange(len(y)) % 3 == 0 if weighted else np.arange(len(y)) % 2, 1, -1)
    X, y = X[:78], y[:78]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one model has no other theorem either
        certificates = corollary.certify(model.fit(X, y), X, y, seen=True)
    assert "svm.support-vector-bound" not in [c.theorem for c in certificates]


def test_compression_bound_by_hand():
    # n = 10, k = 1, no error: (1 - p)^9 = delta / (10 * 10)
    assert compression_bound(10, 1, 0.1) == pytest.approx(1 - 0.001 ** (1 / 9))
    assert compression_bound(10, 10, 0.1) == 1.0
    assert compression_bound(10, 1, 0.1, errors=2) > compression_bound(10, 1, 0.1)
    # With errors: the binomial tail at the bound is at most the price, which Chernoff exceeds.
    from scipy.stats import binom

    bound = compression_bound(200, 5, 0.05, errors=10)
    assert binom.cdf(10, 195, bound) <= 0.05 / (200 * math.comb(200, 5))
    with pytest.raises(ValueError, match="needs size <= n_samples"):
        compression_bound(5, 6, 0.1)
    with pytest.raises(ValueError, match="needs 0 <= n_support <= n_samples"):
        support_vector_bound(3, 2)
