"""EM over a source of rows, and where it begins: at the best of some starts, or as users say."""

from typing import Any, NamedTuple

import numpy as np

from corollary.core.parallel import one_blas_thread
from corollary.core.summary import ArraySource, Source
from corollary.mixture.gaussian._starts import RowSample, blank_components, start_components
from corollary.mixture.gaussian._sums import MixtureSums, maximise
from corollary.mixture.gaussian._whitened import Components
from corollary.optimize import Info, iterate

#: Steps of EM on the sample by which cheap starts are compared.
_TRIAL_STEPS = 10
#: Rows that choose among starts, at least.
_TRIAL_ROWS = 2048


class MixtureState(NamedTuple):
    """Components, and the mean log-likelihood of those before the last step."""

    components: Components
    value: float = -np.inf


class SourceEM(NamedTuple):
    """EM over a source of rows with the parameters of an estimator, as an iteration."""

    source: Source
    estimator: Any
    n_jobs: int | None = None

    def init(self, start: Components) -> MixtureState:
        """Begin with components."""
        return MixtureState(start)

    def step(self, state: MixtureState) -> tuple[MixtureState, Info]:
        """Take one pass through the rows."""
        with one_blas_thread():  # so that factors have the same bits, and no thread spins
            sums = self.source.reduce(MixtureSums.of(state.components), self.n_jobs)
            new = maximise(sums, self.estimator.reg_covar, self.estimator.covariance_floor)
        value = sums.log_likelihood / sums.weight
        change = None if state.value == -np.inf else abs(value - state.value)
        return MixtureState(new, value), Info(value=value, step=change)


def best_start(estimator: Any, sample: RowSample, random: Any) -> Components:
    """Return the best of the cheap starts, with what the user has given."""
    n_starts = estimator.n_starts
    if n_starts > 1:
        d = sample.rows.shape[1]
        fewer = max(_TRIAL_ROWS, 5 * estimator.n_components * (d * (d + 3) // 2 + 1))
        sample = RowSample.of_width(d, min(fewer, sample.size)).merge(sample)
    starts = [_start(estimator, sample, random) for _ in range(n_starts)]
    if n_starts == 1:
        return starts[0]
    trial = SourceEM(ArraySource((sample.rows, None, sample.weights)), estimator)
    ends = [iterate(trial, start, max_iter=_TRIAL_STEPS).state for start in starts]
    return max(ends, key=lambda end: end.value).components


def _start(estimator: Any, sample: RowSample, random: Any) -> Components:
    """Return a start, with weights, means and precisions of the user's in the place of its own."""
    inits = (estimator.weights_init, estimator.means_init, estimator.precisions_init)
    if all(init is not None for init in inits):
        k, d = estimator.n_components, sample.rows.shape[1]
        start = blank_components(k, d, estimator.covariance_type)
    else:
        start = start_components(sample, estimator, random)
    weights = _checked(estimator, "weights", start.weights.shape)
    means = _checked(estimator, "means", start.means.shape)
    precisions = _checked(estimator, "precisions", start.covariances.shape)
    if weights is not None:
        if (weights < 0).any() or (weights > 1).any():
            raise ValueError(
                "The parameter 'weights' should be in the range [0, 1], but got max value "
                f"{weights.max():.5f}, min value {weights.min():.5f}"
            )
        if abs(weights.sum() - 1) > 1e-8:
            raise ValueError(
                "The parameter 'weights' should be normalized, but got sum(weights) = "
                f"{weights.sum():.5f}"
            )
    return Components(
        start.weights if weights is None else weights,
        start.means if means is None else means,
        start.covariances if precisions is None else _inverses(precisions, start),
        start.kind,
    )


def _checked(estimator: Any, name: str, shape: tuple[int, ...]) -> np.ndarray | None:
    """Return a parameter of the right shape as an array."""
    value = getattr(estimator, f"{name}_init")
    if value is None:
        return None
    array = np.array(value, dtype=float)
    if array.shape != shape:
        raise ValueError(
            f"The parameter '{name}' should have the shape of {shape}, but got {array.shape}. Give "
            f"{name}_init for {estimator.n_components} components of covariance type "
            f"{estimator.covariance_type!r}."
        )
    if not np.isfinite(array).all():
        raise ValueError(f"The parameter '{name}' should be finite, but {name}_init is not.")
    return array


def _inverses(precisions: np.ndarray, start: Components) -> np.ndarray:
    """Return the covariances of precisions, or refuse these."""
    if start.is_diagonal:
        if not (precisions > 0).all():
            raise ValueError(f"'{start.kind} precision' should be positive")
        return 1 / precisions
    symmetric = np.allclose(precisions, precisions.swapaxes(-1, -2))
    if not symmetric or not (np.linalg.eigvalsh(precisions) > 0).all():
        raise ValueError(f"'{start.kind} precision' should be symmetric, positive-definite")
    return np.linalg.inv(precisions)
