"""Best subset: brute force on small cases, planted supports, the ball constraint."""

from itertools import chain, combinations

import numpy as np
import pytest

from corollary.linear import BestSubset, least_squares_in_ball


def problem(seed, n=25, p=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 1.0
    return X, X @ rng.normal(size=p) + rng.normal(size=n)


def constrained(Z, t, radius):
    """Least squares in a ball by bisection on the ridge penalty."""
    w = np.linalg.lstsq(Z, t, rcond=None)[0]
    if np.linalg.norm(w) <= radius:
        return w
    low, high = 0.0, 1e9
    for _ in range(200):
        mu = 0.5 * (low + high)
        w = np.linalg.solve(Z.T @ Z + mu * np.eye(Z.shape[1]), Z.T @ t)
        low, high = (mu, high) if np.linalg.norm(w) > radius else (low, mu)
    return w


@pytest.mark.parametrize("max_size", [1, 2, 3, 6, 9])
@pytest.mark.parametrize("max_norm", [None, 0.5])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_equals_brute_force(seed, max_size, max_norm, fit_intercept):
    X, y = problem(seed)
    Z, t = (X - X.mean(0), y - y.mean()) if fit_intercept else (X, y)
    losses = {}
    supports = chain.from_iterable(combinations(range(6), k) for k in range(1, max_size + 1))
    for support in supports:
        w = constrained(Z[:, support], t, np.inf if max_norm is None else max_norm)
        losses[support] = np.sum((t - Z[:, support] @ w) ** 2)
    model = BestSubset(max_size=max_size, max_norm=max_norm, fit_intercept=fit_intercept)
    model.fit(X, y)
    best = min(losses, key=losses.get)
    assert model.loss_ == pytest.approx(losses[best], rel=1e-9)
    assert model.loss_ == pytest.approx(np.sum((y - model.predict(X)) ** 2))
    assert tuple(model.support_) == best
    assert model.n_supports_ == len(losses)
    if max_norm is not None:
        assert np.linalg.norm(model.coef_) <= max_norm * (1 + 1e-9)


def test_recovers_a_planted_support(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 12))
    y = X[:, [2, 5, 11]] @ [1.0, -1.0, 0.7] + 0.1 * rng.normal(size=80)
    model = BestSubset(max_size=3).fit(X, y)
    assert model.support_.tolist() == [2, 5, 11]


def test_prefers_the_smaller_support_when_it_is_as_good(seed):
    X, _ = problem(seed)
    model = BestSubset(max_size=3).fit(X, 2.0 * X[:, 4])
    assert model.support_.tolist() == [4]


def test_norm_constraint_can_change_the_support():
    """A weak column needs a large coefficient; a ball forbids it."""
    x = np.array([1.0, -1.0, 1.0, -1.0])
    noisy = np.array([1.0, -1.0, 1.0, -0.5])
    X, y = np.column_stack([0.01 * x, noisy]), x
    free = BestSubset(max_size=1, fit_intercept=False).fit(X, y)
    bound = BestSubset(max_size=1, max_norm=2.0, fit_intercept=False).fit(X, y)
    assert free.support_.tolist() == [0]
    assert bound.support_.tolist() == [1]


def test_ball_conditions_of_optimality(seed):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(7, 20, 3))
    t = rng.normal(size=(7, 20)) * 3
    gram, Zy = np.einsum("nij,nik->njk", Z, Z), np.einsum("nij,ni->nj", Z, t)
    found = least_squares_in_ball(gram, Zy, 0.4)
    norms = np.linalg.norm(found.coef, axis=1)
    for k in range(7):
        inside = constrained(Z[k], t[k], 0.4)
        np.testing.assert_allclose(found.coef[k], inside, atol=1e-8)
        gradient = gram[k] @ found.coef[k] - Zy[k]
        np.testing.assert_allclose(gradient, -found.multiplier[k] * found.coef[k], atol=1e-8)
        assert found.multiplier[k] == 0.0 or norms[k] == pytest.approx(0.4)


def test_dependent_columns_give_the_solution_of_least_norm():
    x = np.array([1.0, 2.0, 3.0])
    Z = np.column_stack([x, x])
    found = least_squares_in_ball((Z.T @ Z)[None], (Z.T @ (2 * x))[None], np.inf)
    np.testing.assert_allclose(found.coef[0], [1.0, 1.0])


def test_weight_k_is_the_row_k_times(seed):
    X, y = problem(seed)
    k = np.arange(25) % 3
    weighted = BestSubset(max_size=2, max_norm=0.8).fit(X, y, sample_weight=k)
    repeated = BestSubset(max_size=2, max_norm=0.8).fit(np.repeat(X, k, 0), np.repeat(y, k))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-9)
    assert weighted.loss_ == pytest.approx(repeated.loss_)


def test_too_many_supports_are_refused():
    X = np.random.default_rng(0).normal(size=(5, 60))
    with pytest.raises(ValueError, match=r"5985197 supports .* Lower max_size, drop columns"):
        BestSubset(max_size=5).fit(X, np.ones(5))
    with pytest.raises(ValueError, match="'max_norm' parameter of least_squares_in_ball must"):
        least_squares_in_ball(np.eye(1)[None], np.ones((1, 1)), 0.0)
