"""What a linear learner holds between rounds, and the way through its compiled loop.

The learners of the protocol (:class:`corollary.online.OnlinePerceptron` and its kin) and the
estimators (:class:`corollary.online.OnlineClassifier`, :class:`corollary.online.OnlineRegressor`)
are two views of one loop; this module is what they share.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from corollary.online.linear import _codes
from corollary.risk import Loss

# AdaGrad divides by the root of a sum of squares; from here a zero slope is a zero step.
TINY = 1e-300


class LinearSettings(NamedTuple):
    """How a linear learner reacts, as numbers for the compiled loop."""

    loss: int  # code of the loss, see :class:`corollary.risk.Loss`
    rule: int  # code of the update rule
    step: int  # code of the step's schedule
    eta: float  # size of the step; the aggressiveness C of the passive-aggressive rules
    alpha: float  # strength of the L2 penalty
    radius: float  # radius of the ball (with AdaGrad: of the box) that the weights stay in
    shape: float  # width of the insensitive zone, or level of the quantile
    intercept: float  # 1.0 to learn an intercept, 0.0 not to


class LinearState(NamedTuple):
    """The memory of a linear learner with r outputs and d features; updated in place."""

    weights: np.ndarray  # weights before scaling; the intercept last, not scaled
    scale: np.ndarray  # factor of the weights
    squares: np.ndarray  # sums of squared slopes, for AdaGrad
    sums: np.ndarray  # with ``mass``, the sum of all iterates, for averaging
    mass: np.ndarray  # sum of all scales
    # squared length of the weights before scaling; kept for sparse rows inside a ball
    squared_norm: np.ndarray
    clock: np.ndarray  # rounds learnt from


class CSRRows(NamedTuple):
    """The three arrays of a CSR matrix, for the compiled loop."""

    data: np.ndarray  # values
    indices: np.ndarray  # their columns
    indptr: np.ndarray  # where rows start


def make_settings(
    *,
    loss: Loss,
    rule: str = "gradient",
    step: str = "constant",
    eta: float = 1.0,
    alpha: float = 0.0,
    radius: float | None = None,
    fit_intercept: bool = False,
) -> LinearSettings:
    """Translate names into the numbers of the compiled loop."""
    return LinearSettings(
        loss.code,
        _codes.RULES[rule],
        _codes.STEPS[step],
        float(eta),
        float(alpha),
        np.inf if radius is None else float(radius),
        float(loss.shape),
        float(fit_intercept),
    )


def make_state(
    settings: LinearSettings, n_features: int, n_outputs: int = 1, *, averaging: bool = False
) -> LinearState:
    """Return the memory of a learner that has seen nothing."""
    shape = (n_outputs, n_features + 1)
    adaptive = settings.step == _codes.ADAGRAD
    return LinearState(
        np.zeros(shape),
        np.ones(n_outputs),
        np.full(shape if adaptive else (n_outputs, 0), TINY),
        np.zeros(shape if averaging else (n_outputs, 0)),
        np.zeros(n_outputs),
        np.zeros(n_outputs),
        np.zeros(1, dtype=np.int64),
    )


def coefficients(state: LinearState) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights of a state: the last ones, or the average of all if sums are kept."""
    rounds = int(state.clock[0])
    if state.sums.shape[1] and rounds:
        total = state.mass[:, None] * state.weights[:, :-1] + state.sums[:, :-1]
        return total / rounds, state.sums[:, -1] / rounds
    return state.scale[:, None] * state.weights[:, :-1], state.weights[:, -1].copy()


def learn(
    settings: LinearSettings,
    state: LinearState,
    X: Any,
    y: np.ndarray,
    *,
    weight: np.ndarray | None = None,
    order: np.ndarray | None = None,
    record: bool = True,
    who: str = "The learner",
) -> tuple[LinearState, np.ndarray, np.ndarray]:
    """Play one round for each row."""
    from corollary.online._loops.linear import learn_dense, learn_sparse

    order = np.empty(0, dtype=np.int64) if order is None else order
    weight = np.empty(0) if weight is None else weight
    n_rounds = len(order) or X.shape[0]
    scores = np.empty((n_rounds if record else 0, state.weights.shape[0]))
    slopes = np.empty_like(scores)
    y = np.ascontiguousarray(y, dtype=np.float64)
    if sparse.issparse(X):
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        if not np.isfinite(X.data).all():
            raise ValueError(f"{who} needs finite numbers. Input X contains NaN or infinity.")
        rows = CSRRows(X.data, X.indices, X.indptr)
        stopped = learn_sparse(settings, state, rows, y, weight, order, scores, slopes)
    else:
        # A copy of the state costs no more than one row, and a refused chunk leaves no trace.
        state = LinearState(*(a.copy() for a in state))
        X = np.ascontiguousarray(X)
        stopped = learn_dense(settings, state, X, y, weight, order, scores, slopes)
        if stopped < 0 and not all(np.isfinite(a).all() for a in (state.weights, state.squares)):
            raise ValueError(_too_large(who, "a row"))
    if stopped >= 0:
        _refuse(who, X, int(order[stopped]) if len(order) else int(stopped))
    return state, scores, slopes


def _too_large(who: str, row: str) -> str:
    return (
        f"{who}: {row} has numbers so large that scores, weights or squares have overflowed. Scale "
        "the features (for instance with StandardScaler) and numbers to be predicted to about "
        "one, or lower the step."
    )


def _refuse(who: str, X: Any, row: int) -> None:
    if not sparse.issparse(X) and not np.isfinite(X[row]).all():
        kind = "NaN" if np.isnan(X[row]).any() else "infinity"
        raise ValueError(
            f"{who} needs finite numbers. Input X contains {kind} in row {row}. Fill or drop such "
            "rows first."
        )
    raise ValueError(_too_large(who, f"row {row}"))
