"""Draws inside compiled loops have their laws."""

import numpy as np
import pytest
from scipy import stats


@pytest.fixture(scope="module")
def draw():
    """Return a function that fills an array with draws from a law."""
    from corollary.core.draws import beta, gamma, gamma_spread, normal, uniform
    from corollary.core.jit import jit

    @jit
    def fill(law, a, b, stream, out):
        for i in range(len(out)):
            if law == 0:
                out[i] = uniform(stream)
            elif law == 1:
                out[i] = normal(stream)
            elif law == 2:
                out[i] = gamma(a, gamma_spread(a), stream)
            else:
                out[i] = beta(a, b, gamma_spread(a), gamma_spread(b), stream)

    def run(law, stream, size, a=1.0, b=1.0):
        out = np.empty(size)
        fill(["uniform", "normal", "gamma", "beta"].index(law), a, b, stream, out)
        return out

    return run


def test_the_samplers_have_their_laws(draw, seed):
    stream = np.array([seed], dtype=np.uint64)
    assert stats.kstest(draw("uniform", stream, 20_000), "uniform").pvalue > 1e-6
    assert stats.kstest(draw("normal", stream, 40_000), "norm").pvalue > 1e-6
    for shape in (0.3, 1.0, 4.5, 1000.0):
        draws = draw("gamma", stream, 10_000, shape)
        assert stats.kstest(draws, "gamma", args=(shape,)).pvalue > 1e-6
    for a, b in ((0.3, 0.7), (2.0, 5.0), (300.0, 100.0)):
        assert stats.kstest(draw("beta", stream, 10_000, a, b), "beta", args=(a, b)).pvalue > 1e-6


def test_the_tail_beyond_the_last_edge_is_normal_too(draw, seed):
    from corollary.core._loops.random import TAIL

    draws = draw("normal", np.array([seed], dtype=np.uint64), 1_000_000)
    law = stats.truncnorm(TAIL, np.inf)
    for tail in (draws[draws > TAIL], -draws[draws < -TAIL]):
        assert abs(len(tail) - 1e6 * stats.norm.sf(TAIL)) < 6 * np.sqrt(len(tail))
        assert abs(tail.mean() - law.mean()) < 5 * law.std() / np.sqrt(len(tail))


def test_any_entry_of_a_stream_can_be_computed_alone(draw, seed):
    from corollary.core.draws import bits_at, unit
    from corollary.core.jit import jit

    @jit
    def entry(key, index):
        return unit(bits_at(key, index))

    together = draw("uniform", np.array([seed], dtype=np.uint64), 10)
    assert [entry(np.uint64(seed), i) for i in range(10)] == together.tolist()
