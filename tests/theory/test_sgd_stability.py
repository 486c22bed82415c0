"""Coupled runs of gradient descent obey their bounds, path by path and on average."""

import math

import numpy as np
import pytest
from scipy.special import expit

from corollary.theory import (
    coupled_sgd,
    reshuffled_sgd_stability,
    sgd_row_distances,
    sgd_stability,
    strong_sgd_stability,
)

N, WIDTH = 12, 3


def logistic_gradient(w, x, y):
    return -y * x * expit(-y * (x @ w))


def rows(rng, n):
    X = rng.normal(size=(n, WIDTH))
    return X / np.linalg.norm(X, axis=1)[:, None], rng.choice([-1.0, 1.0], n)


def run(rng, steps, drawn, **how):
    X, y = rows(rng, N)
    x_new, y_new = rows(rng, 1)
    gradient = how.pop("gradient", logistic_gradient)
    return coupled_sgd(
        gradient,
        X,
        y,
        replaced=4,
        x_new=x_new[0],
        y_new=y_new[0],
        step_sizes=steps,
        rows=drawn,
        **how,
    )


def test_paths_stay_together_until_the_row_is_drawn_and_obey_the_bound():
    rng = np.random.default_rng(0)
    steps = 2.0 / np.sqrt(np.arange(1, 41))  # unit rows: smoothness 1/4, so steps up to 8
    for _ in range(60):
        drawn = rng.integers(0, N, 40)
        distance = run(rng, steps, drawn)
        hits = np.concatenate([[0.0], np.cumsum(steps * (drawn == 4))])
        assert np.all(distance <= 2 * hits + 1e-12)
        assert np.all(distance[hits == 0] == 0)


@pytest.mark.parametrize("radius", [None, 0.4])
def test_distances_are_those_of_two_runs(radius):
    rng = np.random.default_rng(5)
    (X, y), (x_new, y_new) = rows(rng, N), rows(rng, 1)
    steps, drawn = rng.uniform(0.1, 2.0, 50), rng.integers(0, N, 50)
    X_other, y_other = X.copy(), y.copy()
    X_other[4], y_other[4] = x_new[0], y_new[0]
    ends = []
    for inputs, labels in ((X, y), (X_other, y_other)):
        w, path = np.zeros(WIDTH), [np.zeros(WIDTH)]
        for step, i in zip(steps, drawn):
            w = w + step * labels[i] * inputs[i] / (1 + math.exp(labels[i] * (inputs[i] @ w)))
            if radius is not None:
                w = w * min(1.0, radius / max(math.sqrt(w @ w), 1e-300))
            path.append(w)
        ends.append(np.array(path))
    distance = coupled_sgd(
        logistic_gradient,
        X,
        y,
        replaced=4,
        x_new=x_new[0],
        y_new=y_new[0],
        step_sizes=steps,
        rows=drawn,
        radius=radius,
    )
    assert distance == pytest.approx(np.sqrt(((ends[0] - ends[1]) ** 2).sum(axis=1)), abs=1e-12)
    assert distance[-1] > 0


def test_mean_distance_obeys_the_mean_bound():
    rng = np.random.default_rng(1)
    steps = np.full(30, 0.5)
    ends = np.array([run(rng, steps, rng.integers(0, N, 30))[-1] for _ in range(300)])
    bound = sgd_stability(lipschitz=1.0, step_sizes=steps, n_samples=N)
    assert bound == pytest.approx(2 / N * 15)
    assert ends.mean() <= bound
    # The worst path draws the row at every step: why the definition averages over draws.
    worst = run(rng, steps, np.full(30, 4))[-1]
    assert worst > 1.5 * ends.mean()


def test_reshuffled_paths_obey_their_bound_always():
    rng = np.random.default_rng(2)
    steps = np.repeat([2.0, 1.0, 0.5], N)
    bound = reshuffled_sgd_stability(lipschitz=1.0, step_sizes=steps, n_samples=N)
    assert bound == pytest.approx(2 * 3.5)
    for _ in range(40):
        drawn = np.concatenate([rng.permutation(N) for _ in range(3)])
        assert run(rng, steps, drawn)[-1] <= bound


def test_strongly_convex_runs_forget():
    rng = np.random.default_rng(3)
    m, radius = 0.5, 1.0

    def gradient(w, x, y):
        return logistic_gradient(w, x, y) + m * w

    lipschitz = 1 + m * radius
    step = 2 / (m + m + 0.25)
    ends = {}
    for n_steps in (20, 200):
        steps = np.full(n_steps, step)
        found = [
            run(rng, steps, rng.integers(0, N, n_steps), gradient=gradient, radius=radius)[-1]
            for _ in range(150)
        ]
        ends[n_steps] = np.mean(found)
        bound = strong_sgd_stability(
            lipschitz=lipschitz,
            strong_convexity=m,
            n_samples=N,
            step_size=step / 2,
            n_steps=n_steps,
        )
        assert lipschitz * ends[n_steps] <= 2 * lipschitz**2 / (m * N)
        assert bound <= strong_sgd_stability(lipschitz=lipschitz, strong_convexity=m, n_samples=N)
    # It does not grow with the steps, as the convex bound does.
    assert ends[200] < 2 * ends[20]


def test_values_by_hand():
    steps = 1 / np.arange(1, 101)
    found = sgd_stability(lipschitz=2.0, step_sizes=steps, n_samples=50)
    assert found == pytest.approx(8 / 50 * steps.sum())
    fine = strong_sgd_stability(
        lipschitz=2.0, strong_convexity=0.1, n_samples=50, step_size=0.5, n_steps=10
    )
    assert fine == pytest.approx(8 / 5 * (1 - 0.95**10))
    assert math.isclose(
        strong_sgd_stability(
            lipschitz=2.0, strong_convexity=0.5, n_samples=50, step_size=2.0, n_steps=1
        ),
        8 / 25,
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sgd_stability(lipschitz=1.0, step_sizes=[-1.0], n_samples=3), "none negative"),
        (
            lambda: strong_sgd_stability(
                lipschitz=1.0, strong_convexity=1.0, n_samples=3, step_size=0.1
            ),
            "together",
        ),
        (
            lambda: strong_sgd_stability(
                lipschitz=1.0, strong_convexity=1.0, n_samples=3, step_size=2.0, n_steps=2
            ),
            "at most one over",
        ),
        (lambda: run(np.random.default_rng(0), [0.1], [0, 1]), "one drawn row per step"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_distances_of_rows_by_hand():
    # The second pass visits at steps 0.5 and 0.125: sorted alike, the largest steps meet.
    steps = [0.25, 0.5, 0.5, 0.125]
    found = sgd_row_distances(gradients=3.0, step_sizes=steps, n_samples=2)
    np.testing.assert_allclose(found, [6 * (0.5 + 0.5), 6 * (0.25 + 0.125)])
    found = sgd_row_distances(gradients=[1.0, 2.0], step_sizes=[1.0, 0.5], n_samples=2, penalty=0.2)
    np.testing.assert_allclose(found, [2.0, 2 * 0.9])
    found = sgd_row_distances(gradients=1.0, step_sizes=[1.0] * 4, n_samples=4, averaging=True)
    np.testing.assert_allclose(found, [2.0, 1.5, 1.0, 0.5])
    # Without a penalty the first is the uniform stability.
    steps = 1 / np.sqrt(np.arange(1.0, 21))
    uniform = reshuffled_sgd_stability(lipschitz=1.0, step_sizes=steps, n_samples=5)
    rows = sgd_row_distances(gradients=1.0, step_sizes=steps, n_samples=5)
    assert rows[0] == pytest.approx(uniform)
    assert rows.sum() == pytest.approx(2 * steps.sum())


def opposite(w, x, y):
    """The gradient of a linear loss: two opposite rows pull apart by all that is allowed."""
    return -y * x


@pytest.mark.parametrize("gradient", [logistic_gradient, opposite])
@pytest.mark.parametrize("penalty", [0.0, 0.3])
@pytest.mark.parametrize("n_passes", [1, 3])
def test_no_row_moves_further_than_its_distance(gradient, penalty, n_passes):
    rng = np.random.default_rng(n_passes)
    steps = 1.5 / np.sqrt(np.arange(1.0, n_passes * N + 1))

    def penalised(w, x, y):
        return gradient(w, x, y) + penalty * w

    for _ in range(15):
        orders = [rng.permutation(N) for _ in range(n_passes)]
        X, y = rows(rng, N)
        ends, means = [], []
        for i in range(N):
            path = coupled_sgd(
                penalised,
                X,
                y,
                replaced=i,
                x_new=-X[i],
                y_new=y[i],
                step_sizes=steps,
                rows=np.concatenate(orders),
            )
            ends.append(path[-1])
            means.append(path[1:].mean())
        how = {"gradients": 1.0, "step_sizes": steps, "n_samples": N}
        bound = sgd_row_distances(**how, penalty=penalty)
        average = sgd_row_distances(**how, averaging=True)
        # In one pass row by row; over passes the sum of squares is what bounds use.
        if n_passes == 1:
            assert np.all(np.sort(ends) <= bound[::-1] + 1e-12)
            assert np.all(np.sort(means) <= average[::-1] + 1e-12)
        assert np.sum(np.square(ends)) <= np.sum(bound**2) + 1e-12
        assert np.sum(ends) <= bound.sum() + 1e-12
        assert np.sum(np.square(means)) <= np.sum(average**2) + 1e-12
        if gradient is opposite and n_passes == 1:
            np.testing.assert_allclose(np.sort(ends), bound[::-1])


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"gradients": [1.0, 1.0]}, "one for each of the 3 steps"),
        ({"gradients": [math.inf] * 3}, "finite and not negative"),
        ({"n_samples": 2}, "whole passes of 2 steps. Got 3"),
        ({"penalty": 4.0}, "at most one over the penalty, 0.25. Got 0.5"),
    ],
)
def test_bad_rows_are_refused(how, message):
    given = {"gradients": 1.0, "step_sizes": [0.5, 0.5, 0.5], "n_samples": 3}
    with pytest.raises(ValueError, match=message):
        sgd_row_distances(**{**given, **how})


def test_stability_by_hand():
    steps = [0.1, 0.4, 0.2, 0.3, 0.5]
    # The largest steps of passes of two rows: 0.4, 0.3 and 0.5.
    found = reshuffled_sgd_stability(lipschitz=3.0, step_sizes=steps, n_samples=2)
    assert found == pytest.approx(2 * 9 * 1.2)
    drawn = sgd_stability(lipschitz=3.0, step_sizes=steps, n_samples=2)
    assert drawn == pytest.approx(2 * 9 * 1.5 / 2)
