"""Learning the kernel of a classifier by its approximate evidence.

The default kernel has one length scale for all standardised features. One for each feature wins
evidence on the rows at hand more easily than accuracy on new ones, so it must win clearly: by half
the logarithm of the number of rows for each further parameter.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from corollary.gp._defaults import RANGE, spread_of
from corollary.gp.classification.laplace import laplace_evidence_gradient, laplace_mode
from corollary.gp.learning.search import SMALLEST_LEVEL, learn_hyperparameters
from corollary.kernels import RBF, Kernel

# Squared amplitude that a default kernel starts at, two logits up or down, and its range.
# Separable classes would drive the amplitude to infinity, and with it the variance that the
# approximation ascribes to f where all answers agree.
AMPLITUDE, AMPLITUDES = 4.0, (1e-2, 25.0)
# Steps that show whether length scales of their own are worth a search on all rows.
TRIAL_STEPS = 20


@dataclass(frozen=True)
class Answers:
    """Yes-or-no answers at points, in the form that the search for hyper-parameters takes."""

    X: np.ndarray
    t: np.ndarray
    weight: np.ndarray

    def take(self, points: np.ndarray) -> "Answers":
        """Keep the answers at some points."""
        return Answers(self.X[points], self.t[points], self.weight[points])


@dataclass(frozen=True)
class LaplaceSearch:
    """The approximate evidence as a function of the kernel's parameters."""

    kernel: Kernel
    low: Any = None
    high: Any = None
    max_iter: int = 100
    learn_noise: bool = False
    # The slope at the last mode of so many points, from which the next one is near.
    _last: dict[int, np.ndarray] = field(default_factory=dict, repr=False)

    @property
    def theta(self) -> np.ndarray:
        """Where the search starts, within its bounds."""
        return np.clip(self.kernel.parameters().vector, self.low, self.high)

    def evidence(self, seen: Answers, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the log evidence and its gradient in theta."""
        K, pull = self.kernel.with_parameters(theta).gram_with_gradient(seen.X)
        start = self._last.get(len(seen.t))
        mode = laplace_mode(K, seen.t, seen.weight, start=start, max_iter=self.max_iter)
        self._last[len(seen.t)] = mode.slope
        V = laplace_evidence_gradient(K, mode, seen.weight)
        return mode.log_evidence, pull(V)[0]


class LearntKernel(NamedTuple):
    """A kernel, its evidence and how the search for it ended."""

    kernel: Kernel
    value: float
    n_iter: int
    converged: bool


def learn(
    seen: Answers, search: LaplaceSearch, max_iter: int, n_restarts: int, random_state: Any
) -> LearntKernel:
    """Maximise the evidence of a kernel."""
    learnt = learn_hyperparameters(
        seen, search, n_restarts=n_restarts, max_iter=max_iter, random_state=random_state
    )
    kernel = search.kernel.with_parameters(learnt.theta)
    return LearntKernel(kernel, learnt.value, learnt.n_iter, learnt.converged)


def default_kernel(X: np.ndarray, length: Any = None) -> Kernel:
    """Return the default kernel: lengths in units of the features' standard deviations."""
    spread = spread_of(X)
    return AMPLITUDE * RBF(spread * (np.sqrt(len(spread)) if length is None else length))


def learn_default(seen: Answers, max_iter: int, n_restarts: int, random_state: Any) -> LearntKernel:
    """Learn the default kernel, with a length scale for each feature if they clearly win."""
    spread, n = spread_of(seen.X), float(seen.weight.sum())
    scaled = Answers(seen.X / spread, seen.t, seen.weight)
    d = len(spread)

    def search(kernel: Kernel) -> LaplaceSearch:
        p = len(kernel.parameters().vector)
        ends = zip(AMPLITUDES, RANGE)
        low, high = (np.log(np.append(amplitude, np.full(p - 1, r))) for amplitude, r in ends)
        return LaplaceSearch(kernel, low, high)

    def run(part: Answers, kernel: Kernel, steps: int, restarts: int = 0) -> LearntKernel:
        return learn(part, search(kernel), steps, restarts, random_state)

    together = run(scaled, AMPLITUDE * RBF(np.sqrt(d)), max_iter, n_restarts)
    best = together
    if d > 1:
        amplitude, length = np.exp(together.kernel.parameters().vector)
        apart = float(amplitude) * RBF(np.full(d, length))
        penalty = 0.5 * (d - 1) * np.log(n)
        order = np.random.default_rng(0).permutation(len(seen.t))[:SMALLEST_LEVEL]
        part = scaled.take(np.sort(order))
        first = search(apart).evidence(part, apart.parameters().vector)[0]
        gain = run(part, apart, TRIAL_STEPS).value - first
        # By chance each parameter wins half a unit on the part.
        if (gain - 0.5 * (d - 1)) * n / part.weight.sum() > penalty:
            each = run(scaled, apart, max_iter)
            best = each if each.value - together.value > penalty else together
    amplitude, *lengths = np.exp(best.kernel.parameters().vector)
    return best._replace(kernel=float(amplitude) * RBF(spread * np.array(lengths)))
