"""PAC-Bayes bounds by hand, their minimisers, and their order."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp
from scipy.stats import binom

from corollary.risk import binary_kl, kl_divergence, kl_gaussian
from corollary.theory import (
    bit_length_prior,
    finite_class_bound,
    gaussian_shift_divergence,
    gibbs_posterior,
    mcallester_bound,
    noisy_linear_errors,
    occam_bound,
    pac_bayes_bound,
    pac_bayes_fixed_divergence_bound,
    pac_bayes_kl_bound,
    pac_bayes_range_bound,
)

seeds = st.integers(0, 2**32 - 1)
HOW = {"n_samples": 500, "delta": 0.05}


def test_values_by_hand():
    # Losses of size at most B = 1: lambda B^2 / (2n).
    bound = pac_bayes_bound(0.1, divergence=3.0, temperature=60.0, low=-1, high=1, **HOW)
    assert bound == pytest.approx(0.1 + 60 / 1000 + (3 + math.log(20)) / 60)
    unit = pac_bayes_bound(0.1, divergence=3.0, temperature=60.0, **HOW)
    assert unit == pytest.approx(0.1 + 60 / 4000 + (3 + math.log(20)) / 60)


@given(st.floats(0.0, 50.0), st.floats(0.0, 1.0))
def test_best_temperature_gives_the_square_root(divergence, risk):
    found = minimize_scalar(
        lambda t: pac_bayes_bound(risk, divergence=divergence, temperature=math.exp(t), **HOW),
        bounds=(0, 15),
        method="bounded",
        options={"xatol": 1e-9},
    )
    closed = pac_bayes_fixed_divergence_bound(risk, divergence=divergence, **HOW)
    assert closed == pytest.approx(found.fun, rel=1e-6)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_single_hypotheses_under_a_uniform_prior_are_the_finite_class_bound(size):
    bayes = pac_bayes_fixed_divergence_bound(0.2, divergence=math.log(size), **HOW)
    assert bayes == pytest.approx(0.2 + finite_class_bound(n_hypotheses=size, **HOW))
    wide = pac_bayes_fixed_divergence_bound(0.2, divergence=math.log(size), low=-1, high=1, **HOW)
    assert wide == pytest.approx(0.2 + math.sqrt(2 * math.log(size / 0.05) / 500))


@given(st.floats(0.0, 100.0), st.floats(0.1, 50.0), st.floats(1.0, 1e4))
def test_grid_is_never_worse_than_the_closed_range(divergence, smallest, ratio):
    how = {"divergence": divergence, "smallest": smallest, "largest": smallest * ratio, **HOW}
    grid = pac_bayes_range_bound(0.1, **how)
    closed = pac_bayes_range_bound(0.1, sharp=False, **how)
    assert grid.bound <= closed.bound + 1e-9
    for found in (grid, closed):
        assert smallest * (1 - 1e-12) <= found.temperature <= smallest * ratio * (1 + 1e-12)
    # Each point of the grid is the fixed bound at its share of delta.
    points = math.floor(math.log(ratio)) + 1
    fixed = pac_bayes_bound(
        0.1, divergence=divergence, temperature=grid.temperature, n_samples=500, delta=0.05 / points
    )
    assert grid.bound == pytest.approx(fixed)


@given(st.floats(0.0, 1.0), st.floats(0.0, 200.0))
def test_entropy_form_is_never_worse_than_the_square_root(risk, divergence):
    sharp = pac_bayes_kl_bound(risk, divergence=divergence, **HOW)
    loose = mcallester_bound(risk, divergence=divergence, **HOW)
    assert risk - 1e-12 <= sharp <= min(1.0, loose) + 1e-9
    radius = (divergence + math.log(2 * math.sqrt(500) / 0.05)) / 500
    if sharp < 1 - 1e-9:
        assert binary_kl(risk, sharp) == pytest.approx(radius, rel=1e-4)


@pytest.mark.parametrize("n", [1, 2, 5, 30, 400])
@pytest.mark.parametrize("p", [0.01, 0.2, 0.5, 0.97])
def test_moment_steps_of_the_proofs(n, p):
    k = np.arange(n + 1)
    weights = binom.logpmf(k, n, p)
    # Maurer: E exp(n kl(share || p)) <= 2 sqrt(n), for every n.
    assert logsumexp(weights + n * binary_kl(k / n, p)) <= math.log(2 * math.sqrt(n)) + 1e-9
    for lam in (0.5, 3.0, 20.0):
        assert logsumexp(weights + lam * (p - k / n)) <= lam**2 / (8 * n) + 1e-9


@given(seeds)
@settings(max_examples=40)
def test_gibbs_posterior_beats_every_other_and_has_its_value(seed):
    rng = np.random.default_rng(seed)
    prior, risks, temperature = rng.dirichlet(np.ones(5)), rng.random(5), 8.0
    posterior = gibbs_posterior(prior, risks, temperature=temperature)

    def value(rho):
        return rho @ risks + kl_divergence(rho, prior) / temperature

    assert value(posterior.law) == pytest.approx(posterior.value, abs=1e-9)
    for other in rng.dirichlet(np.ones(5), size=20):
        assert posterior.value <= value(other) + 1e-12


def test_bit_lengths():
    longest = 6
    lengths = np.arange(1, longest + 1)
    strings = 2.0**lengths
    assert strings.sum() == 2 * (2**longest - 1)
    assert strings @ bit_length_prior(lengths, longest=longest) == pytest.approx(1.0)
    cost = -math.log(bit_length_prior(4, longest=longest))
    assert cost == pytest.approx(4 * math.log(2) + math.log(longest))


def test_occam_against_pac_bayes_and_the_uniform_bound():
    how = {"longest": 200, **HOW}
    sharp = occam_bound(length=8, **how)
    loose = occam_bound(length=8, sharp=False, **how)
    uniform = finite_class_bound(n_hypotheses=2.0**201, **HOW)
    assert sharp < loose < uniform / 2
    price = 8 * math.log(2) + math.log(200) + math.log(20)
    assert sharp == pytest.approx(math.sqrt(price / 1000))
    # In the form c B sqrt((|f| + log(M / delta)) / n) for losses of size B, with c = sqrt(2) and 2.
    plain = math.sqrt((8 + math.log(200 / 0.05)) / 500)
    assert 2 * sharp <= math.sqrt(2) * plain * 1.0001
    assert 2 * loose <= 2 * plain * 1.0001


def test_gaussian_divergences_and_exact_errors():
    rng = np.random.default_rng(0)
    theta, mu = rng.normal(size=(2, 4))
    assert gaussian_shift_divergence(theta, mu, std=0.7) == pytest.approx(
        kl_gaussian(theta, 0.49, mu, 0.49)
    )
    X, y = rng.normal(size=(6, 4)), rng.choice([-1.0, 1.0], 6)
    drawn = theta + 0.7 * rng.normal(size=(200_000, 4))
    share = np.mean(np.where(drawn @ X.T >= 0, 1, -1) != y, axis=0)
    assert noisy_linear_errors(theta, X, y, std=0.7) == pytest.approx(share, abs=0.006)
    zero = noisy_linear_errors([1.0], [[0.0], [0.0]], [1, -1], std=1.0)
    assert zero.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pac_bayes_bound(0.1, divergence=-1.0, temperature=1.0, **HOW), "'divergence'"),
        (lambda: pac_bayes_bound(0.1, divergence=1.0, temperature=0.0, **HOW), "'temperature'"),
        (lambda: mcallester_bound(0.1, divergence=1.0, low=1, high=0, **HOW), "low < high"),
        (lambda: pac_bayes_kl_bound(1.1, divergence=1.0, **HOW), "'risk' parameter"),
        (
            lambda: pac_bayes_range_bound(0.1, divergence=1.0, smallest=2.0, largest=1.0, **HOW),
            "smallest <= largest",
        ),
        (lambda: gibbs_posterior([1.0], [0.1], temperature=0.0), "must be positive"),
        (lambda: bit_length_prior(7, longest=6), "from 1 to 'longest'"),
        (lambda: bit_length_prior(2.5, longest=6), "whole lengths"),
        (lambda: bit_length_prior([1, math.nan], longest=6), "whole lengths"),
        (lambda: bit_length_prior([], longest=6), "whole lengths"),
        (lambda: noisy_linear_errors([1.0], [[1.0]], [0], std=1.0), r"labels -1 and \+1. Got \[0"),
        (lambda: noisy_linear_errors([1.0], [[1.0]], [math.nan], std=1.0), "labels -1"),
        (lambda: occam_bound(length=7, longest=6, **HOW), "length <= longest"),
        (lambda: gaussian_shift_divergence([1.0], 0.0, std=0.0), "must be positive"),
        (lambda: noisy_linear_errors([1.0], [[1.0, 2.0]], [1], std=1.0), "one weight per column"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    "bound", [mcallester_bound, pac_bayes_fixed_divergence_bound, pac_bayes_bound]
)
def test_risks_outside_of_their_range_are_refused(bound):
    how = {"divergence": 1.0, "n_samples": 9, "delta": 0.1}
    if bound is pac_bayes_bound:
        how["temperature"] = 3.0
    for risk in (np.nan, 1.5, -0.5):
        with pytest.raises(ValueError, match=f"'risk' parameter of {bound.__name__}"):
            bound(risk, **how)
    with pytest.raises(ValueError, match="needs low < high"):
        bound(0.5, **how, high=np.inf)


def test_temperatures_by_hand():
    how = {"divergence": 2.0, "n_samples": 50, "delta": 0.1, "low": -1, "high": 1}
    # Three temperatures, 10, 10 e and 10 e^2, share delta; the second is the best.
    price = 2 + math.log(30)
    found = pac_bayes_range_bound(0.2, smallest=10.0, largest=100.0, **how)
    values = [0.2 + t * 4 / 400 + price / t for t in (10, 10 * math.e, 10 * math.e**2)]
    assert found.bound == pytest.approx(min(values))
    assert found.temperature == pytest.approx(10 * math.e)
    loose = pac_bayes_range_bound(0.2, smallest=10.0, largest=100.0, sharp=False, **how)
    best = math.sqrt(400 * math.e * price) / 2
    assert 10 < best < 100
    assert loose.temperature == pytest.approx(best)
    assert loose.bound == pytest.approx(0.2 + best * 4 / 400 + math.e * price / best)
    fixed = pac_bayes_fixed_divergence_bound(0.2, **how)
    assert fixed == pytest.approx(0.2 + 2 * math.sqrt((2 + math.log(10)) / 100))
    mild = mcallester_bound(0.2, **how)
    assert mild == pytest.approx(0.2 + 2 * math.sqrt((2 + math.log(2 * math.sqrt(50) / 0.1)) / 100))
    occam = {"length": 3, "longest": 10, "n_samples": 50, "delta": 0.1, "low": -1, "high": 1}
    price = 3 * math.log(2) + math.log(10) + math.log(10)
    assert occam_bound(**occam) == pytest.approx(2 * math.sqrt(price / 100))
    loose = occam_bound(sharp=False, **occam)
    assert loose == pytest.approx(2 * math.sqrt((price + math.log(10)) / 100))
