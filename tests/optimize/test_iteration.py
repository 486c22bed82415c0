"""The driver: stopping, history, warm restart, interruption."""

import math
from typing import NamedTuple

import numpy as np
import pytest

from corollary.optimize import GradientDescent, Info, Interrupted, Quadratic, Stop, iterate

BOWL = Quadratic(np.diag([1.0, 4.0]), [1.0, -2.0])


class Counting(NamedTuple):
    """A method whose state counts its steps and whose infos are given."""

    infos: list

    def init(self, start):
        return 0

    def step(self, state):
        info = self.infos[state]
        if info is None:
            raise KeyboardInterrupt
        return state + 1, info


@pytest.mark.parametrize(
    ("stop", "infos", "n_iter"),
    [
        (Stop(step=0.5), [Info(step=0.6), Info(step=0.5), Info(step=0.1)], 2),
        (Stop(gradient=0.5), [Info(gradient=0.6), Info(gradient=0.5)], 2),
        (Stop(gap=0.5), [Info(gap=0.6), Info(gap=0.5)], 2),
        (Stop(gap=0.5), [Info(value=1.2, gap=0.61), Info(value=-1.2, gap=0.59)], 2),
        (Stop(value=0.5), [Info(value=0.2), Info(value=0.9), Info(value=0.4)], 3),
        (Stop(residual=0.5), [Info(primal=0.1, dual=0.6), Info(primal=0.6, dual=0.1)] * 2, 4),
        (Stop(residual=0.5), [Info(primal=0.6, dual=0.1), Info(primal=0.5, dual=0.5)], 2),
        (Stop(residual=0.5), [Info(primal=0.1)] * 3, 3),
        (Stop(step=1, gap=1), [Info(step=2, gap=2), Info(step=1, gap=2), Info(step=1, gap=1)], 2),
        (Stop(step=1, gap=1, together=True), [Info(step=1, gap=2), Info(step=1, gap=1)] * 2, 2),
        (Stop(), [Info(step=0.0, gap=0.0)] * 3, 3),
    ],
)
def test_each_tolerance_ends_the_run_at_its_step(stop, infos, n_iter):
    run = iterate(Counting(infos), stop=stop, max_iter=len(infos))
    assert run.n_iter == n_iter == len(run.history)
    assert run.status == ("converged" if run.criterion else "out of steps")
    assert bool(run.criterion) == (stop.met(infos[n_iter - 1], infos[n_iter - 2]) != "")


def test_the_step_of_gradient_descent_is_its_rate_times_the_gradient():
    run = iterate(GradientDescent(BOWL, rate=0.1), [3.0, 1.0], max_iter=20)
    assert np.allclose(run.history.step, 0.1 * run.history.gradient, rtol=1e-14)
    assert np.isnan(run.history.gap).all()


def test_two_runs_in_a_row_are_one_long_run():
    method = GradientDescent(BOWL)
    whole = iterate(method, [3.0, 1.0], max_iter=9)
    first = iterate(method, [3.0, 1.0], max_iter=4)
    second = iterate(method, state=first.state, max_iter=5)
    assert np.array_equal(whole.state.x, second.state.x)
    assert np.array_equal(whole.history.value[4:], second.history.value)


def test_an_interrupted_run_keeps_what_was_reached():
    method = Counting([Info(value=3.0), Info(value=2.0), None])
    with pytest.raises(Interrupted, match="after 2 steps") as caught:
        iterate(method)
    assert caught.value.run.state == 2
    assert caught.value.run.history.value.tolist() == [3.0, 2.0]


@pytest.mark.parametrize("lost", [math.nan, math.inf])
def test_a_method_that_runs_away_is_stopped_and_never_converged(lost):
    infos = [Info(value=1.0, step=1.0), Info(value=lost, step=0.0)]
    run = iterate(Counting(infos), stop=Stop(step=0.5), max_iter=2)
    assert (run.status, run.n_iter) == ("diverged", 2)


def test_too_long_steps_diverge():
    with np.errstate(over="ignore", invalid="ignore"):
        run = iterate(GradientDescent(BOWL, rate=0.6), [3.0, 1.0], max_iter=5000)
    assert run.status == "diverged"


def test_bad_tolerances_and_steps_are_refused():
    with pytest.raises(ValueError, match="'gap' parameter of Stop must be"):
        Stop(gap=-1.0)
    with pytest.raises(ValueError, match="'max_iter' parameter of iterate"):
        iterate(GradientDescent(BOWL), [0.0, 0.0], max_iter=-1)
    with pytest.raises(ValueError, match="positive, finite step"):
        GradientDescent(BOWL, rate=0.0)
