from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor

from corollary.core.world import World
from corollary.risk import (
    FiniteWorld,
    bias_variance,
    decompose_excess_risk,
    smoother_bias_variance,
    split_mean_squared_error,
)

# -- variance and bias -----------------------------------------------------------------------


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=20), st.floats(-1e3, 1e3))
def test_variance_identity_holds_on_every_sample(values, truth):
    found = split_mean_squared_error(values, truth)
    z = np.array(values)
    assert np.isclose(found.variance, (z**2).mean() - z.mean() ** 2, atol=1e-6)
    assert np.isclose(found.mse, found.variance + found.bias**2, atol=1e-6)


def test_shrunken_proportion_in_closed_form():
    # theta_hat = (k + 1) / (n + 2) with k ~ Binomial(n, theta)
    n, theta = 7, 0.3
    k = np.arange(n + 1)
    found = split_mean_squared_error((k + 1) / (n + 2), theta, probabilities=binom.pmf(k, n, theta))
    assert np.isclose(found.bias, (1 - 2 * theta) / (n + 2))
    assert np.isclose(found.variance, n * theta * (1 - theta) / (n + 2) ** 2)
    assert np.isclose(found.mse, found.variance + found.bias**2)


def test_many_targets_and_large_means(seed):
    z = 1e8 + np.random.default_rng(seed).normal(size=(1000, 2))
    found = split_mean_squared_error(z, [1e8, 1e8])
    np.testing.assert_allclose(found.variance, z.var(axis=0), rtol=1e-6)
    assert np.all(found.variance > 0.5)  # the difference of squares would have cancelled


# -- excess risk -----------------------------------------------------------------------------


def constants_and_signs():
    return {
        "constants": [lambda X: np.zeros(len(X)), lambda X: np.ones(len(X))],
        "thresholds": [lambda X, t=t: (X[:, 0] >= t).astype(float) for t in range(5)],
        "all": [
            lambda X, b=b: np.array([(b >> int(v)) & 1 for v in X[:, 0]], dtype=float)
            for b in range(16)
        ],
    }


def test_excess_risk_on_nested_classes(seed):
    rng = np.random.default_rng(seed)
    world = FiniteWorld(rng.dirichlet(np.ones(8)).reshape(4, 2))
    classes = constants_and_signs()
    predictor = classes["constants"][0]
    splits = []
    for hypotheses in classes.values():
        split = decompose_excess_risk(world, predictor, hypotheses)
        assert np.isclose(split.risk, split.bayes_risk + split.approximation + split.estimation)
        assert np.isclose(split.excess, split.approximation + split.estimation)
        risks = [
            world.joint[np.arange(4), 1 - h(world.inputs).astype(int)].sum() for h in hypotheses
        ]
        assert np.isclose(split.best_in_class, min(risks))
        splits.append(split)
    approximation = [s.approximation for s in splits]
    assert approximation == sorted(approximation, reverse=True)
    assert np.isclose(approximation[-1], 0)
    # The full class contains the Bayes rule, and still its best risk is positive.
    assert splits[-1].best_in_class > 0


def test_estimation_error_falls_with_more_rows(seed):
    from corollary.risk import minimise_finite

    world = FiniteWorld([[0.2, 0.05], [0.15, 0.1], [0.1, 0.15], [0.05, 0.2]])
    hypotheses = constants_and_signs()["all"]
    rng = np.random.RandomState(seed)
    means = []
    for n in (2, 10, 100):
        gaps = []
        for _ in range(60):
            found = minimise_finite(hypotheses, *world.sample(n, rng))
            gaps.append(decompose_excess_risk(world, found.hypothesis, hypotheses).estimation)
        assert min(gaps) >= -1e-12
        means.append(np.mean(gaps))
    assert means[0] > means[1] > means[2]


# -- bias, variance, noise -------------------------------------------------------------------


@dataclass(frozen=True)
class Wave(World):
    """y = sin(3 x) + noise of standard deviation 0.5, on the design 0, 1/n, ..., 1 - 1/n."""

    def sample(self, n_samples, random_state=None):
        x = np.arange(n_samples) / n_samples
        noise = random_state.normal(scale=0.5, size=n_samples)
        return x[:, None], np.sin(3 * x) + noise

    def bayes_rule(self, X):
        return np.sin(3 * X[:, 0])

    def noise_variance(self, X):
        return np.full(len(X), 0.25)


X_NEW = np.array([[0.13], [0.5], [0.87]])


def smoother_of(learner, n):
    X = (np.arange(n) / n)[:, None]
    return np.stack([learner.fit(X, e).predict(X_NEW) for e in np.eye(n)], axis=1)


@pytest.mark.parametrize(
    "learner",
    [LinearRegression(), Ridge(alpha=1.0), KNeighborsRegressor(n_neighbors=4)],
    ids=["least squares", "ridge", "neighbours"],
)
def test_redrawing_agrees_with_the_exact_split_of_linear_smoothers(learner, seed):
    n, R = 20, 600
    if isinstance(learner, Ridge):
        # Written out: ridge with an intercept is a projection of the centred design.
        x = np.arange(n) / n
        centred = x - x.mean()
        weights = (X_NEW - x.mean()) * centred / (centred @ centred + 1.0)
        S = 1 / n + weights
    else:
        S = smoother_of(learner, n)
    x = np.arange(n) / n
    exact = smoother_bias_variance(S, np.sin(3 * x), np.sin(3 * X_NEW[:, 0]), 0.25)
    found = bias_variance(learner, Wave(), X_NEW, n_samples=n, n_repeats=R, random_state=seed)
    # The variance estimate is chi-squared: relative spread sqrt(2 / R).
    np.testing.assert_allclose(found.variance, exact.variance, rtol=5 * np.sqrt(2 / R))
    spread = 5 * (2 * np.sqrt(exact.bias_squared * exact.variance / R) + 2 * exact.variance / R)
    assert np.all(np.abs(found.bias_squared - exact.bias_squared) < spread)
    np.testing.assert_allclose(found.noise, 0.25)


def test_closed_forms_of_smoothers():
    n = 12
    S = smoother_of(KNeighborsRegressor(n_neighbors=4), n)
    exact = smoother_bias_variance(S, np.zeros(n), np.zeros(3), 0.25)
    np.testing.assert_allclose(exact.variance, 0.25 / 4)  # sigma^2 / k
    np.testing.assert_allclose(exact.bias_squared, 0)
    # Least squares at its own design points: total variance sigma^2 * rank, no bias.
    X = np.stack([np.ones(n), np.arange(n)], axis=1)
    hat = X @ np.linalg.solve(X.T @ X, X.T)
    mean = 1 + 2 * np.arange(n)
    exact = smoother_bias_variance(hat, mean, mean, 0.25)
    assert np.isclose(exact.variance.sum(), 0.25 * 2)
    np.testing.assert_allclose(exact.bias_squared, 0, atol=1e-20)
    uneven = smoother_bias_variance([[0.5, 0.5]], [0, 0], [0], [1.0, 3.0], 2.0)
    assert uneven.variance.tolist() == [1.0]
    assert uneven.error.tolist() == [3.0]


def test_parts_sum_to_the_error_exactly_and_to_a_direct_simulation(seed):
    # Recompute with the same training sets, and compare with fresh outcomes.
    n, R, learner = 15, 400, KNeighborsRegressor(n_neighbors=2)
    found = bias_variance(learner, Wave(), X_NEW, n_samples=n, n_repeats=R, random_state=seed)
    seeds = np.random.RandomState(seed).randint(2**31 - 1, size=R)
    predictions = np.stack(
        [learner.fit(*Wave().sample(n, np.random.RandomState(s))).predict(X_NEW) for s in seeds]
    )
    truth = np.sin(3 * X_NEW[:, 0])
    np.testing.assert_allclose(found.error, ((predictions - truth) ** 2).mean(axis=0) + 0.25)
    np.testing.assert_allclose(found.error, found.bias_squared + found.variance + found.noise)
    fresh = truth + np.random.default_rng(seed).normal(scale=0.5, size=(R, 3))
    direct = (predictions - fresh) ** 2
    error = direct.std(axis=0, ddof=1) / np.sqrt(R)
    assert np.all(np.abs(direct.mean(axis=0) - found.error) < 6 * error)
    average = found.mean()
    assert np.isclose(average.error, found.error.mean())


def test_richer_models_have_less_bias_and_more_variance(seed):
    splits = [
        bias_variance(
            KNeighborsRegressor(n_neighbors=k), Wave(), X_NEW, n_samples=30, random_state=seed
        ).mean()
        for k in (25, 1)
    ]
    assert splits[0].bias_squared > splits[1].bias_squared
    assert splits[0].variance < splits[1].variance


def test_bias_estimate_is_unbiased_where_the_truth_is_zero(seed):
    # The plain estimate would be variance / R on average; the corrected one is centred at zero.
    world = FiniteWorld([[0.5, 0.5]], outcomes=[-1.0, 1.0])
    mean = lambda X, y: lambda X_new: np.full(len(X_new), y.mean())  # noqa: E731
    rng = np.random.RandomState(seed)
    found = [
        bias_variance(mean, world, [[0.0]], n_samples=4, n_repeats=3, random_state=rng)
        for _ in range(1500)
    ]
    bias = np.array([f.bias_squared[0] for f in found])
    assert abs(bias.mean()) < 5 * bias.std(ddof=1) / np.sqrt(1500)
    variance = np.array([f.variance[0] for f in found])
    assert abs(variance.mean() - 0.25) < 5 * variance.std(ddof=1) / np.sqrt(1500)


@dataclass(frozen=True)
class Unknown(World):
    def sample(self, n_samples, random_state=None):
        return random_state.normal(size=(n_samples, 1)), random_state.normal(size=n_samples)


def test_what_the_world_does_not_know_can_be_given(seed):
    given_parts = {"regression_function": lambda X: np.zeros(len(X)), "noise_variance": 1.0}
    found = bias_variance(
        LinearRegression(), Unknown(), [[0.0]], n_samples=9, random_state=seed, **given_parts
    )
    assert found.noise.tolist() == [1.0]
    with pytest.raises(ValueError, match=r"Unknown has no bayes_rule. Pass regression_function"):
        bias_variance(LinearRegression(), Unknown(), [[0.0]], n_samples=9)
    given_parts.pop("noise_variance")
    with pytest.raises(ValueError, match=r"Unknown has no noise_variance. Pass noise_variance"):
        bias_variance(LinearRegression(), Unknown(), [[0.0]], n_samples=9, **given_parts)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: split_mean_squared_error([], 1.0), "at least one estimate"),
        (lambda: split_mean_squared_error([1.0], 1.0, probabilities=[0.5]), "summing to 1"),
        (lambda: decompose_excess_risk(FiniteWorld([[1.0]]), len, []), "at least one hypothesis"),
        (
            lambda: bias_variance(LinearRegression(), Wave(), X_NEW, n_samples=9, n_repeats=1),
            "'n_repeats' parameter of bias_variance",
        ),
        (lambda: smoother_bias_variance([[1.0]], [1, 2], [1], 1.0), r"\(1, 2\). Got \(1, 1\)"),
        (lambda: smoother_bias_variance([[1.0]], [1], [1], [1.0]), "needs noise_new when"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
