"""Identities of the evidence, on models small enough to sum everything."""

from itertools import product

import numpy as np
import pytest

from corollary.mixture import (
    em_ascent_bound,
    em_gain,
    evidence_gradient,
    evidence_split,
    expected_log_joint,
    free_energy,
    latent_posterior,
    log_evidence,
)
from tests.mixture.examples import BinaryMixture, binary_parameters

# One row, two states: p(x, z) = (0.1, 0.3), so p(x) = 0.4 and the posterior is (1/4, 3/4).
JOINT = np.log([[0.1, 0.3]])


def joints(seed, n=5, k=3):
    rng = np.random.default_rng(seed)
    return rng, rng.normal(size=(n, k)) * 2, rng.dirichlet(np.ones(k), size=n)


def test_evidence_and_posterior_by_hand():
    np.testing.assert_allclose(log_evidence(JOINT), [np.log(0.4)])
    np.testing.assert_allclose(latent_posterior(JOINT), [[0.25, 0.75]])
    far = np.array([[-2000.0, -2000.0 + np.log(3)], [0.0, -np.inf]])
    np.testing.assert_allclose(latent_posterior(far), [[0.25, 0.75], [1.0, 0.0]])
    np.testing.assert_allclose(log_evidence(far), [-2000 + np.log(4), 0.0])


def test_expectations_by_hand():
    q = [[0.5, 0.5]]
    expected = 0.5 * np.log(0.1) + 0.5 * np.log(0.3)
    assert expected_log_joint(q, JOINT) == pytest.approx(expected, rel=1e-14)
    assert free_energy(q, JOINT) == pytest.approx(expected + np.log(2), rel=1e-14)
    # A state without weight may be impossible.
    assert free_energy([[0.0, 1.0]], np.log([[1e-300, 0.5]])) == pytest.approx(np.log(0.5))
    assert expected_log_joint([[0.0, 1.0]], [[-np.inf, -1.0]]) == -1.0
    assert expected_log_joint([[0.5, 0.5]], [[-np.inf, -1.0]]) == -np.inf


@pytest.mark.parametrize("seed", range(5))
def test_the_evidence_is_lower_bound_plus_divergence(seed):
    _, joint, q = joints(seed)
    split = evidence_split(q, joint)
    # Everything by sums over all labellings of all rows at once.
    total, bound, divergence = 0.0, 0.0, 0.0
    evidence = np.log(
        sum(np.exp(sum(joint[i, z[i]] for i in range(5))) for z in product(range(3), repeat=5))
    )
    for z in product(range(3), repeat=5):
        weight = np.prod([q[i, z[i]] for i in range(5)])
        log_p = sum(joint[i, z[i]] for i in range(5))
        total += weight
        bound += weight * (log_p - np.log(weight))
        divergence += weight * (np.log(weight) - (log_p - evidence))
    assert total == pytest.approx(1)
    np.testing.assert_allclose(split, [evidence, bound, divergence], rtol=1e-10)
    assert split.evidence == pytest.approx(split.lower_bound + split.divergence, rel=1e-12)
    assert split.divergence > 0
    at_posterior = evidence_split(latent_posterior(joint), joint)
    assert at_posterior.divergence == pytest.approx(0, abs=1e-12)
    assert at_posterior.lower_bound == pytest.approx(split.evidence, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_gain_of_any_parameters_is_that_of_q_plus_a_divergence(seed):
    rng = np.random.default_rng(seed)
    model = BinaryMixture()
    X = (rng.uniform(size=(6, 4)) < 0.5).astype(float)
    old, new = (model.log_joint(X, binary_parameters(rng)) for _ in range(2))
    gain = em_gain(old, new)
    r, s = latent_posterior(old), latent_posterior(new)
    assert gain.evidence == pytest.approx(log_evidence(new).sum() - log_evidence(old).sum())
    assert gain.q_function == pytest.approx((r * (new - old)).sum(), rel=1e-12)
    assert gain.divergence == pytest.approx((r * np.log(r / s)).sum(), rel=1e-12)
    assert gain.evidence == pytest.approx(gain.q_function + gain.divergence, rel=1e-10)


def test_the_ascent_bound_by_hand():
    new = np.log([[0.2, 0.4]])
    by_hand = 0.25 * np.log(0.2 / 0.25) + 0.75 * np.log(0.4 / 0.75)
    assert em_ascent_bound(JOINT, new) == pytest.approx(by_hand, rel=1e-13)
    assert by_hand < np.log(0.6)
    assert em_ascent_bound(JOINT, JOINT) == pytest.approx(np.log(0.4), rel=1e-13)


def test_the_gradient_is_the_posterior_mean_of_gradients():
    rng = np.random.default_rng(3)
    model, X = BinaryMixture(), (rng.uniform(size=(7, 2)) < 0.4).astype(float)
    weights = np.array([0.4, 0.6])
    logits = rng.normal(size=4)

    def parameters(logits):
        return weights, 1 / (1 + np.exp(-logits.reshape(2, 2)))

    p = parameters(logits)[1]
    slopes = np.zeros((7, 2, 4))
    for j in range(2):
        slopes[:, j, 2 * j : 2 * j + 2] = X - p[j]
    gradient = evidence_gradient(model.log_joint(X, parameters(logits)), slopes)
    steps = 1e-6 * np.eye(4)
    differences = [
        model.log_likelihood(X, parameters(logits + h))
        - model.log_likelihood(X, parameters(logits - h))
        for h in steps
    ]
    np.testing.assert_allclose(gradient, np.array(differences) / 2e-6, rtol=1e-6)


def test_direct_ascent_reaches_what_em_reaches():
    from corollary.mixture import expectation_maximisation

    rng = np.random.default_rng(0)
    X = np.array([[0.0]] * 30 + [[1.0]] * 70)
    coins = np.array([0.2, 0.9])

    class Coins(BinaryMixture):
        def maximise(self, X, q, parameters):
            return q.mean(axis=0), parameters[1]

    model, weight = Coins(), rng.uniform(0.2, 0.8)
    run = expectation_maximisation(model, X, (np.array([0.5, 0.5]), coins[:, None]), tol=1e-13)
    for _ in range(300):  # ascent in the weight of the first coin
        joint = model.log_joint(X, (np.array([weight, 1 - weight]), coins[:, None]))
        slope = evidence_gradient(joint, np.tile([[1 / weight], [-1 / (1 - weight)]], (100, 1, 1)))
        weight += 0.001 * slope[0]
    assert weight == pytest.approx(0.2 / 0.7, abs=1e-4)  # 0.2 w + 0.9 (1 - w) = 0.7
    assert run.state.parameters[0][0] == pytest.approx(0.2 / 0.7, abs=1e-4)


@pytest.mark.parametrize("joint", [[0.0, 1.0], [[np.nan, 0.0]], [[-np.inf, -np.inf]], [[np.inf]]])
def test_bad_joints_are_refused(joint):
    with pytest.raises(ValueError, match="log_joint must"):
        log_evidence(joint)


@pytest.mark.parametrize("q", [[[0.5, 0.6]], [[1.5, -0.5]], [[1.0]], [[np.nan, 1.0]]])
def test_bad_laws_are_refused(q):
    with pytest.raises(ValueError, match="q must hold a law"):
        free_energy(q, JOINT)
