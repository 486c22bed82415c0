"""Expectation-maximisation of any model, in whole, partial and generalised steps."""

import numpy as np
import pytest

from corollary.mixture import (
    ExpectationMaximisation,
    GaussianLatentModel,
    MixtureLaw,
    em_gain,
    expectation_maximisation,
    free_energy,
    latent_posterior,
)
from corollary.optimize import iterate
from tests.mixture.examples import BinaryMixture, HalfStep, binary_parameters, random_law


def drawn(seed=0, n=60):
    rng = np.random.RandomState(seed)
    generator = np.random.default_rng(seed)
    X, _ = BinaryMixture().sample(n, binary_parameters(generator), rng)
    return X, binary_parameters(generator)


@pytest.mark.parametrize("rows", [None, 1, 7, 1000])
@pytest.mark.parametrize("model", [BinaryMixture(), HalfStep()])
def test_the_free_energy_never_falls(model, rows):
    X, start = drawn(1)
    run = expectation_maximisation(model, X, start, rows=rows, max_iter=80, tol=0)
    values = run.history.value
    assert (np.diff(values) >= -1e-9).all()
    assert values[-1] > values[0] + 1
    first = ExpectationMaximisation(model, X, rows).init(start)
    assert first.free_energy == pytest.approx(model.log_likelihood(X, start), rel=1e-12)
    assert values[0] >= first.free_energy - 1e-9


def test_one_step_by_hand():
    # Bits 1, 1, 0; coins 1/4 and 3/4 of equal weight: the posterior of a one is (1/4, 3/4).
    X = np.array([[1.0], [1.0], [0.0]])
    start = np.array([0.5, 0.5]), np.array([[0.25], [0.75]])
    em = ExpectationMaximisation(BinaryMixture(), X)
    state, info = em.step(em.init(start))
    np.testing.assert_allclose(state.q, [[0.25, 0.75], [0.25, 0.75], [0.75, 0.25]])
    np.testing.assert_allclose(state.parameters[0], [1.25 / 3, 1.75 / 3])
    np.testing.assert_allclose(state.parameters[1].ravel(), [0.5 / 1.25, 1.5 / 1.75])
    joint = BinaryMixture().log_joint(X, state.parameters)
    assert info.value == pytest.approx(free_energy(state.q, joint), rel=1e-13)
    assert info.value > 3 * np.log(0.5)


def test_a_step_gains_what_the_identity_says():
    X, start = drawn(2)
    em = ExpectationMaximisation(BinaryMixture(), X)
    state = em.init(start)
    for _ in range(10):
        new, _ = em.step(state)
        joints = [BinaryMixture().log_joint(X, s.parameters) for s in (state, new)]
        gain = em_gain(*joints)
        assert gain.q_function >= -1e-9
        assert gain.divergence >= 0
        assert gain.evidence == pytest.approx(gain.q_function + gain.divergence, abs=1e-9)
        np.testing.assert_allclose(new.q, latent_posterior(joints[0]))
        state = new


def test_partial_steps_refresh_rows_in_turn_and_reach_a_fixed_point():
    X, start = drawn(3, n=10)
    em = ExpectationMaximisation(BinaryMixture(), X, rows=4)
    state = em.init(start)
    assert [(state := em.step(state)[0]).row for _ in range(4)] == [4, 8, 2, 6]
    before = em.init(start)
    after, _ = em.step(before._replace(q=np.full_like(before.q, 1 / 3), free_energy=-np.inf))
    assert (after.q[4:] == 1 / 3).all()
    np.testing.assert_allclose(after.q[:4], before.q[:4])
    partial = expectation_maximisation(BinaryMixture(), X, start, rows=4, tol=0, max_iter=2000)
    end = partial.state
    full = expectation_maximisation(BinaryMixture(), X, end.parameters, max_iter=100)
    assert full.state.free_energy == pytest.approx(end.free_energy, abs=1e-5)


def test_a_run_goes_on_where_it_ended():
    X, start = drawn(4)
    em = ExpectationMaximisation(BinaryMixture(), X, rows=9)
    whole = iterate(em, start, max_iter=7)
    half = iterate(em, start, max_iter=3)
    rest = iterate(em, state=half.state, max_iter=4)
    np.testing.assert_array_equal(rest.state.q, whole.state.q)


def test_a_step_that_lowers_the_free_energy_is_refused():
    class Wrong(BinaryMixture):
        def maximise(self, X, q, parameters):
            return parameters[0], 1 - parameters[1]

    X, start = drawn(5)
    with pytest.raises(ValueError, match=r"Wrong\.maximise must return parameters that do not"):
        expectation_maximisation(Wrong(), X, start, max_iter=50)


def test_the_run_stops_at_its_tolerance():
    X, start = drawn(6)
    run = expectation_maximisation(BinaryMixture(), X, start, tol=1e-3)
    assert run.status == "converged"
    gains = np.abs(np.diff(run.history.value))
    assert gains[-1] <= 1e-3
    assert (gains[:-1] > 1e-3).all()
    assert expectation_maximisation(BinaryMixture(), X, start, tol=0, max_iter=3).n_iter == 3


def test_gaussian_model_equals_scikit_learn_step_by_step():
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    rng = np.random.default_rng(7)
    law = random_law(rng)
    X = law.sample(80, 0)[0]
    start = MixtureLaw([0.2, 0.3, 0.5], X[:3], np.tile(2.0 * np.eye(2), (3, 1, 1)))
    model = GaussianLatentModel()
    for steps in (1, 2, 5):
        ours = expectation_maximisation(model, X, start, max_iter=steps, tol=0).state.parameters
        theirs = GaussianMixture(
            3,
            reg_covar=0,
            tol=0,
            max_iter=steps,
            weights_init=start.weights,
            means_init=start.means,
            precisions_init=np.linalg.inv(start.covariances),
        )
        with pytest.warns(ConvergenceWarning):
            theirs.fit(X)
        np.testing.assert_allclose(ours.weights, theirs.weights_, rtol=1e-8)
        np.testing.assert_allclose(ours.means, theirs.means_, rtol=1e-7)
        np.testing.assert_allclose(ours.covariances, theirs.covariances_, rtol=1e-7)


def test_one_component_is_fitted_in_one_step_and_equal_ones_stay_equal():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(20, 2))
    one = MixtureLaw([1.0], [[3.0, 3.0]], [np.eye(2)])
    fitted = expectation_maximisation(GaussianLatentModel(), X, one, max_iter=1).state.parameters
    np.testing.assert_allclose(fitted.means[0], X.mean(axis=0))
    np.testing.assert_allclose(fitted.covariances[0], np.cov(X.T, bias=True))
    twins = MixtureLaw([0.5, 0.5], [[1.0, 0.0]] * 2, [np.eye(2)] * 2)
    fitted = expectation_maximisation(GaussianLatentModel(), X, twins, max_iter=5).state.parameters
    np.testing.assert_allclose(fitted.means[0], fitted.means[1])
    np.testing.assert_allclose(fitted.means[0], X.mean(axis=0))


def test_the_model_draws_from_its_law():
    rng = np.random.default_rng(9)
    law = random_law(rng, k=2)
    for ours, theirs in zip(GaussianLatentModel().sample(5, law, 3), law.sample(5, 3)):
        np.testing.assert_array_equal(ours, theirs)
