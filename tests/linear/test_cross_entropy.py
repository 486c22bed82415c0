"""Log loss = expected divergence + conditional entropy, on finite tables."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_softmax
from scipy.stats import entropy

from corollary.linear import conditional_entropy, expected_kl, expected_log_loss, softmax_model


def random_tables(seed, n_values=4, n_classes=3, zeros=True):
    rng = np.random.default_rng(seed)
    joint = rng.random((n_values, n_classes))
    if zeros:
        joint[0, 0] = 0.0
    return joint / joint.sum(), rng.dirichlet(np.ones(n_classes), size=n_values)


@given(st.integers(0, 2**32 - 1))
def test_log_loss_is_divergence_plus_entropy(seed):
    joint, model = random_tables(seed)
    expected = expected_kl(joint, model) + conditional_entropy(joint)
    assert expected_log_loss(joint, model) == pytest.approx(expected, abs=1e-12)
    assert expected_kl(joint, model) >= 0


@given(st.integers(0, 2**32 - 1))
def test_the_logistic_identity_holds_with_labels_of_both_signs(seed):
    # E KL(p || p_w) = E log p(y|x) + E log(1 + exp(-y <w, x>))
    rng = np.random.default_rng(seed)
    joint, _ = random_tables(seed, n_classes=2, zeros=False)
    X, w = rng.normal(size=(4, 2)), rng.normal(size=2)
    conditional = joint / joint.sum(axis=1, keepdims=True)
    divergence = sum(
        joint[i, k] * np.log(conditional[i, k]) + joint[i, k] * np.log1p(np.exp(-s * (X[i] @ w)))
        for i in range(4)
        for k, s in enumerate((-1, 1))
    )
    assert expected_kl(joint, softmax_model(X, w)) == pytest.approx(divergence, abs=1e-12)


def test_terms_agree_with_scipy_row_by_row(seed):
    joint, model = random_tables(seed)
    p_x = joint.sum(axis=1)
    rows = [entropy(joint[i], model[i]) for i in range(4)]
    assert expected_kl(joint, model) == pytest.approx(p_x @ rows)
    assert conditional_entropy(joint) == pytest.approx(p_x @ [entropy(row) for row in joint])


def test_the_true_conditional_is_the_best_model(seed):
    joint, other = random_tables(seed)
    truth = joint / joint.sum(axis=1, keepdims=True)
    assert expected_kl(joint, truth) == pytest.approx(0.0, abs=1e-15)
    assert expected_log_loss(joint, truth) == pytest.approx(conditional_entropy(joint))
    assert expected_log_loss(joint, other) > conditional_entropy(joint)


def test_excluding_what_happens_costs_infinity():
    joint = [[0.5, 0.5]]
    assert expected_log_loss(joint, [[1.0, 0.0]]) == np.inf
    assert expected_kl(joint, [[1.0, 0.0]]) == np.inf
    assert expected_log_loss([[1.0, 0.0]], [[1.0, 0.0]]) == 0.0


def test_softmax_models_ignore_a_common_vector(seed):
    rng = np.random.default_rng(seed)
    X, W = rng.normal(size=(5, 3)), rng.normal(size=(4, 3))
    p = softmax_model(X, W, np.arange(4.0))
    np.testing.assert_allclose(p, np.exp(log_softmax(X @ W.T + np.arange(4.0), axis=1)))
    np.testing.assert_allclose(p, softmax_model(X, W + rng.normal(size=3), np.arange(4.0) + 7))
    two = softmax_model(X, W[:2])
    np.testing.assert_allclose(two, softmax_model(X, W[1:2] - W[:1]))


def test_tables_that_are_no_laws_are_refused():
    with pytest.raises(ValueError, match="'joint' parameter of conditional_entropy must be"):
        conditional_entropy([[0.5, 0.6]])
    with pytest.raises(ValueError, match="'joint' parameter of expected_kl"):
        expected_kl([[1.5, -0.5]], [[0.5, 0.5]])
    with pytest.raises(ValueError, match=r"'model' parameter .* shape \(1, 2\)"):
        expected_log_loss([[0.5, 0.5]], [[0.5, 0.6]])
