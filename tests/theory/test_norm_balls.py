"""Complexities of norm balls, kernels and networks against simulation and closed forms."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corollary.theory import (
    dual_order,
    ellipsoid_bound,
    euclidean_ball_bound,
    gaussian_ball_complexity,
    kernel_ball_bound,
    norm_ball_complexity,
    operator_norm_bound,
    path_norm,
    relu_network_bound,
    sign_data_bound,
    sparse_class_bound,
)

INF = math.inf
seeds = st.integers(0, 2**32 - 1)


@given(seeds, st.sampled_from([1.0, 1.5, 2.0, 3.0, INF]))
@settings(max_examples=30)
def test_dual_norm_is_attained(seed, p):
    rng = np.random.default_rng(seed)
    x, q = rng.normal(size=4), dual_order(p)
    # The maximiser of <z, x> over the unit ball of order p.
    if p == 1:
        z = np.zeros(4)
        z[np.abs(x).argmax()] = np.sign(x[np.abs(x).argmax()])
    elif p == INF:
        z = np.sign(x)
    else:
        z = np.sign(x) * np.abs(x) ** (q - 1)
        z /= np.linalg.norm(z, ord=p)
    assert z @ x == pytest.approx(np.linalg.norm(x, ord=q))
    others = rng.normal(size=(200, 4))
    others /= np.linalg.norm(others, ord=p, axis=1)[:, None]
    assert np.all(others @ x <= np.linalg.norm(x, ord=q) + 1e-9)
    assert dual_order(q) == pytest.approx(p)


@pytest.mark.parametrize("p", [1.0, 2.0, INF])
def test_complexity_is_the_mean_dual_norm(p):
    X = np.random.default_rng(0).normal(size=(7, 3))
    found = norm_ball_complexity(X, p=p, radius=2.0)
    norms = [np.linalg.norm(np.array(s) @ X, ord=dual_order(p)) for s in product([-1, 1], repeat=7)]
    assert found.value == pytest.approx(2 * np.mean(norms) / 7)
    assert found.exact
    drawn = norm_ball_complexity(X, p=p, radius=2.0, n_draws=20_000, random_state=0)
    assert drawn.value == pytest.approx(found.value, rel=0.02)
    assert found.value <= drawn.upper


@given(seeds)
@settings(max_examples=20)
def test_euclidean_bound_lies_above(seed):
    X = np.random.default_rng(seed).normal(size=(8, 3))
    value = norm_ball_complexity(X).value
    bound = euclidean_ball_bound(X)
    # Khinchin: the mean length is at least 1 / sqrt(2) of the root mean square.
    assert bound / math.sqrt(2) <= value + 1e-12 <= bound + 1e-12
    assert kernel_ball_bound(np.sum(X**2, axis=1)) == pytest.approx(bound)


@pytest.mark.parametrize("p", [1, 2, INF])
def test_normal_points_have_their_closed_forms(p):
    n, d, rng = 4, 5, np.random.default_rng(0)
    # The sum of signed normal points is normal, so signs may be left out of the simulation.
    sums = rng.normal(size=(200_000, d)) * math.sqrt(n)
    norms = np.linalg.norm(sums, ord=dual_order(p), axis=1) / n
    exact = gaussian_ball_complexity(n_samples=n, n_features=d, p=p)
    assert abs(norms.mean() - exact) < 5 * norms.std() / math.sqrt(200_000)


def test_normal_closed_forms_lie_between_their_bounds():
    for d in (1, 2, 10, 1000):
        two = gaussian_ball_complexity(n_samples=1, n_features=d, p=2)
        assert math.sqrt(d - 1) <= two <= math.sqrt(d)
        assert two >= math.sqrt(2 / math.pi) * math.sqrt(d) - 1e-12
        one = gaussian_ball_complexity(n_samples=1, n_features=d, p=1)
        assert one <= math.sqrt(2 * math.log(2 * d))
    assert gaussian_ball_complexity(n_samples=4, n_features=3, p=INF) == pytest.approx(
        math.sqrt(2 / math.pi) * 3 / 2
    )


@pytest.mark.parametrize(("d", "s"), [(20, 1), (20, 5), (20, 19), (20, 20), (1000, 999), (1000, 3)])
def test_sparse_weights(d, s):
    rng = np.random.default_rng(0)
    squares = np.sort(rng.normal(size=(2000, d)) ** 2, axis=1)[:, -s:]
    value = np.sqrt(squares.sum(axis=1)).mean()
    bound = sparse_class_bound(n_samples=1, n_features=d, sparsity=s)
    assert value <= bound <= 4 * value
    by_hand = (math.sqrt(s) + math.sqrt(2 * s * (1 + math.log(d / s)))) / math.sqrt(7)
    assert sparse_class_bound(n_samples=7, n_features=d, sparsity=s) == pytest.approx(by_hand)
    if s == 999:
        # The form with log(d/s) in place of log(ed/s) fails by a factor of about 30.
        assert value > 20 * math.sqrt(s * math.log(d / s))


def test_sign_data():
    X = np.random.default_rng(0).choice([-1.0, 1.0], size=(12, 4))
    bound = sign_data_bound(n_samples=12, n_features=4)
    assert bound == pytest.approx(math.sqrt(1 / 3))
    # Khinchin: the mean length is at least 1 / sqrt(2) of the root mean square.
    assert bound / math.sqrt(2) <= norm_ball_complexity(X).value <= bound


@pytest.mark.parametrize(("n", "d"), [(1, 1), (3, 2), (2, 3), (5, 2), (4, 3)])
def test_operator_norms_of_all_small_sign_matrices(n, d):
    matrices = np.array(list(product([-1.0, 1.0], repeat=n * d))).reshape(-1, n, d)
    norms = np.linalg.norm(matrices, 2, axis=(1, 2))
    for delta in (0.01, 0.3, 0.9, 0.99):
        for sharp in (True, False):
            how = {"n_samples": n, "n_features": d, "delta": delta, "sharp": sharp}
            assert np.mean(norms > operator_norm_bound(**how) + 1e-12) <= delta


def test_operator_norm_by_hand():
    def bound(n, d, delta=0.05, **how):
        return operator_norm_bound(n_samples=n, n_features=d, delta=delta, **how)

    compared = math.sqrt(math.pi / 2) * (10 + 5) + math.sqrt(8 * math.log(20))
    assert bound(100, 25) == bound(25, 100) == pytest.approx(compared)
    # Tall matrices: the factor of sqrt(n) is one.
    first = 100 + math.sqrt(6 * math.log(9)) * 2 + math.sqrt(6 * math.log(40))
    assert bound(10_000, 4) == bound(4, 10_000) == pytest.approx(first)
    assert bound(10_000, 4, sharp=False) == pytest.approx(first)
    assert bound(100, 25, sharp=False) == pytest.approx(
        10 + math.sqrt(6 * math.log(9)) * 5 + math.sqrt(6 * math.log(40))
    )
    # No matrix of signs has a longer image than this.
    assert bound(30, 2) == pytest.approx(math.sqrt(60))


def test_ellipsoid_of_cosines():
    rng = np.random.default_rng(0)
    n, i = 30, np.arange(1, 200)
    mu = i**-2.0
    values = []
    for _ in range(300):
        phi = np.cos(np.pi * i * rng.random(n)[:, None])
        sums = rng.choice([-1.0, 1.0], n) @ phi
        values.append(math.sqrt(np.sum(mu * sums**2)) / n)
    bound = ellipsoid_bound(mu, n_samples=n)
    assert bound == pytest.approx(math.sqrt(mu.sum() / n))
    assert 0.3 * bound < np.mean(values) < bound


def test_network_capacity_and_bound():
    rng = np.random.default_rng(0)
    w, U = rng.normal(size=5), rng.normal(size=(5, 3))
    a = rng.random(5) + 0.1
    assert path_norm(w / a, U * a[:, None]) == pytest.approx(path_norm(w, U))
    # In the plane the supremum over one rectifier of unit capacity is a search over angles.
    X = rng.normal(size=(8, 2))
    angles = np.linspace(0, 2 * np.pi, 721)
    units = np.stack([np.cos(angles), np.sin(angles)])
    features = np.maximum(X @ units, 0)
    value = np.mean([np.abs(np.array(s) @ features).max() for s in product([-1, 1], repeat=8)]) / 8
    assert value <= relu_network_bound(X) <= 6 * value
    assert relu_network_bound([[3.0, 4.0], [0.0, 12.0]]) == pytest.approx(2 * 13 / 2)
    assert path_norm([1.0, -2.0], [[3.0, 4.0], [0.0, 1.5]]) == pytest.approx(8.0)
    assert relu_network_bound(X, capacity=3.0) == pytest.approx(3 * relu_network_bound(X))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dual_order(0.5), "at least 1"),
        (lambda: norm_ball_complexity([1.0]), "finite points"),
        (lambda: norm_ball_complexity([[1.0]], radius=0.0), "must be positive"),
        (lambda: kernel_ball_bound([-1.0]), "none negative"),
        (lambda: ellipsoid_bound([-1.0], n_samples=3), "not negative"),
        (lambda: sparse_class_bound(n_samples=3, n_features=2, sparsity=3), "at most n_features"),
        (lambda: path_norm([1.0], [1.0]), "per unit"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_mean_length_of_long_normal_vectors_keeps_its_digits():
    n = gaussian_ball_complexity(n_samples=1, n_features=10**15)
    assert n == pytest.approx(math.sqrt(10**15), rel=1e-12)


def test_radii_must_be_numbers():
    for call in (
        lambda: euclidean_ball_bound(np.eye(2), radius=np.nan),
        lambda: kernel_ball_bound([1.0], radius=-1.0),
        lambda: relu_network_bound(np.eye(2), capacity=np.inf),
    ):
        with pytest.raises(ValueError, match="must be finite and not negative"):
            call()
    with pytest.raises(ValueError, match="positive n_samples"):
        ellipsoid_bound([1.0], n_samples=np.nan)


def test_few_points_are_enumerated_and_more_are_drawn():
    few, many = (norm_ball_complexity(np.ones((n, 1)), radius=2.0) for n in (12, 13))
    assert few.exact
    # Twice the mean absolute walk of 12 steps, 12 comb(12, 6) / 2^12.
    assert few.value == pytest.approx(2 * math.comb(12, 6) / 2**12)
    assert not many.exact
