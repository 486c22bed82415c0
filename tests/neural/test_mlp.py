"""Networks as functions: against finite differences, backpropagation by hand, and scikit-learn."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corollary.neural import MLPLoss, apply_mlp, flatten, init_mlp, unflatten
from corollary.neural.mlp import _ACTIVATIONS


def draw(seed, sizes, activation="relu"):
    rng = np.random.RandomState(seed)
    parameters = init_mlp(sizes, activation=activation, random_state=rng)
    return [p + 0.1 * rng.normal(size=p.shape).astype(np.float32) for p in parameters]


@pytest.mark.parametrize("activation", _ACTIVATIONS)
def test_numpy_equals_jax(seed, activation):
    parameters = draw(seed, [5, 7, 6, 2], activation)
    X = np.random.default_rng(seed).normal(size=(11, 5)).astype(np.float32)
    ours = apply_mlp(parameters, X, activation=activation)
    theirs = apply_mlp([jnp.asarray(p) for p in parameters], jnp.asarray(X), activation=activation)
    assert isinstance(ours, np.ndarray)
    assert isinstance(theirs, jax.Array)
    np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("activation", _ACTIVATIONS)
def test_equals_scikit_learn(seed, activation):
    from sklearn.neural_network import MLPRegressor

    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(30, 4)), rng.normal(size=(30, 2))
    peer = MLPRegressor(
        hidden_layer_sizes=(6, 5), activation=activation, max_iter=3, random_state=seed
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer.fit(X, Y)
    parameters = [a for pair in zip(peer.coefs_, peer.intercepts_) for a in pair]
    np.testing.assert_allclose(
        apply_mlp(parameters, X, activation=activation), peer.predict(X), rtol=1e-10, atol=1e-12
    )


def test_stacked_networks_are_evaluated_at_once(seed):
    networks = [draw(seed + i, [3, 4, 2]) for i in range(5)]
    X = np.random.default_rng(seed).normal(size=(6, 3))
    stacked = apply_mlp([np.stack(arrays) for arrays in zip(*networks)], X)
    assert stacked.shape == (5, 6, 2)
    for together, network in zip(stacked, networks):
        np.testing.assert_allclose(together, apply_mlp(network, X), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("kind", ["cross-entropy", "squared"])
@pytest.mark.parametrize("activation", ["tanh", "logistic"])
def test_gradient_equals_finite_differences(seed, activation, kind):
    sizes = (3, 4, 2)
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 8) if kind == "cross-entropy" else rng.normal(size=(8, 2))
    batch = {"x": rng.normal(size=(8, 3)), "y": y, "weight": rng.uniform(0.5, 2, 8)}
    vector = flatten(draw(seed, sizes, activation)).astype(np.float64)
    loss = MLPLoss(sizes, activation, kind)
    with jax.enable_x64(True):
        gradient = np.asarray(jax.jit(jax.grad(loss))(jnp.asarray(vector), batch, None))

    def value(v):
        """The loss from its definition, on NumPy."""
        outputs = apply_mlp(unflatten(v, sizes), batch["x"], activation=activation)
        if kind == "squared":
            losses = ((outputs - y) ** 2).sum(axis=1) / 2
        else:
            odds = np.exp(outputs)
            losses = -np.log(odds[np.arange(8), y] / odds.sum(axis=1))
        return np.average(losses, weights=batch["weight"])

    step = 1e-6
    differences = [
        (value(vector + step * e) - value(vector - step * e)) / (2 * step)
        for e in np.eye(len(vector))
    ]
    np.testing.assert_allclose(gradient, differences, rtol=1e-6, atol=1e-9)


def test_gradient_equals_backpropagation_by_hand(seed):
    sizes = (3, 5, 4, 2)
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(9, 3)), rng.normal(size=(9, 2))
    parameters = [p.astype(np.float64) for p in draw(seed, sizes)]
    W1, b1, W2, b2, W3, b3 = parameters
    a1 = X @ W1 + b1
    z1 = np.maximum(a1, 0)
    a2 = z1 @ W2 + b2
    z2 = np.maximum(a2, 0)
    d3 = (z2 @ W3 + b3 - Y) / 9
    d2 = (d3 @ W3.T) * (a2 > 0)
    d1 = (d2 @ W2.T) * (a1 > 0)
    by_hand = [X.T @ d1, d1.sum(0), z1.T @ d2, d2.sum(0), z2.T @ d3, d3.sum(0)]
    batch = {"x": X, "y": Y, "weight": np.ones(9)}
    with jax.enable_x64(True):
        vector = jnp.asarray(flatten(parameters))
        gradient = np.asarray(
            jax.jit(jax.grad(MLPLoss(sizes, "relu", "squared")))(vector, batch, None)
        )
    np.testing.assert_allclose(gradient, flatten(by_hand), rtol=1e-10, atol=1e-12)


@given(sizes=st.lists(st.integers(1, 6), min_size=2, max_size=5), seed=st.integers(0, 100))
def test_unflatten_inverts_flatten(sizes, seed):
    parameters = init_mlp(sizes, random_state=seed)
    vector = flatten(parameters)
    again = unflatten(vector, sizes)
    assert len(again) == len(parameters)
    for one, other in zip(parameters, again):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(flatten(again), vector)


def test_initial_scale(seed):
    # Uniform on [-l, l] has variance l^2 / 3: 2 / n_in for He, 2 / (n_in + n_out) for Glorot.
    relu = init_mlp([300, 400, 200], activation="relu", random_state=seed)
    tanh = init_mlp([300, 400, 200], activation="tanh", random_state=seed)
    for W, variance in [(relu[0], 2 / 300), (relu[2], 2 / 600), (tanh[0], 2 / 700)]:
        assert W.dtype == np.float32
        np.testing.assert_allclose(W.var(), variance, rtol=0.02)
        assert np.abs(W).max() <= np.sqrt(3 * variance)
    assert not relu[1].any()
    # What He's scale is for: the second moment of activations is kept through a relu layer.
    X = np.random.default_rng(seed).normal(size=(500, 300))
    hidden = np.maximum(X @ relu[0], 0)
    np.testing.assert_allclose((hidden**2).mean(), 1, rtol=0.1)


def test_no_overflow():
    huge = [np.full((1, 1), 1e6), np.zeros(1), np.ones((1, 1)), np.zeros(1)]
    X = np.array([[-1e3], [1e3]])
    assert apply_mlp(huge, X, activation="logistic").ravel().tolist() == [0, 1]


def test_errors():
    with pytest.raises(ValueError, match=r"'activation' parameter of apply_mlp must be one of"):
        apply_mlp([np.ones((1, 1)), np.ones(1)], np.ones((1, 1)), activation="swish")
    with pytest.raises(ValueError, match=r"'sizes' parameter of init_mlp .* Got \[3\] instead"):
        init_mlp([3])
    with pytest.raises(ValueError, match=r"must have shape \(3,\) for sizes \[2, 1\]. Got \(4,\)"):
        unflatten(np.zeros(4), [2, 1])
