"""A function is traced when it is compiled, and then only: once for each shape."""

from dataclasses import dataclass
from typing import ClassVar

import jax.numpy as jnp
import numpy as np
import pytest

from corollary.optimize import (
    AdaGrad,
    Adam,
    Function,
    Momentum,
    RowAverage,
    minimize,
    stochastic_gradient,
)


def test_a_function_is_compiled_once_for_each_shape():
    traced = []

    def bowl(x):
        traced.append(x.shape)
        return jnp.sum((x - 1) ** 2) + jnp.logaddexp(0, x[0])

    f = Function(bowl, strong_convexity=2.0)
    for start in ([0.0, 0.0], [5.0, -3.0], [0.1, 0.2]):
        assert minimize(f, start).status == "optimal"
    assert traced == [(2,), (2,)]  # value with gradient, and the Hessian
    minimize(f, [0.0, 0.0, 0.0])
    assert traced[2:] == [(3,), (3,)]


def rows(seed, n=24):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)), rng.normal(size=n)


@pytest.mark.parametrize("rule", [None, Momentum(0.5), AdaGrad(), Adam()])
def test_epochs_are_compiled_once_for_each_shape(rule):
    traced = []

    def term(x, a, b):
        traced.append(a.shape)
        return (x @ a - b) ** 2

    def run(data, **options):
        f = RowAverage(term, *data)
        how = {"rate": 0.01, "rule": rule, "max_iter": 3, "batch_size": 4, "random_state": 0}
        before = len(traced)
        stochastic_gradient(f, np.zeros(3), **(how | options))
        return len(traced) - before

    assert run(rows(0)) == 2  # the epoch, and the value with its gradient
    assert run(rows(1)) == 0
    assert run(rows(0), max_iter=7, rate=0.02, random_state=3) == 0
    assert run(rows(0), batch_size=6) == 1


def test_steps_of_a_rule_are_compiled_once():
    @dataclass(frozen=True)
    class Counting(Momentum):
        made: ClassVar[list] = []

        def transform(self, rate):
            self.made.append(rate)
            return super().transform(rate)

    rule, x = Counting(), np.zeros(3)
    memory = rule.init(x)
    for rate in (0.1, 0.2, 0.3):
        x, memory = rule.apply(x, np.ones(3), rate, memory)
    assert len(rule.made) == 2  # for init, and for the program of a step
