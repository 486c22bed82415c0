r"""The penalised logistic problem and the choice of a solver for it.

With total weight :math:`S = \sum_i s_i` the objective is

.. math:: \frac1S \sum_i s_i \ell_i(w, b)
          + \frac1{C S} \Bigl( \tfrac{1 - \rho}{2} \|w\|_2^2 + \rho \|w\|_1 \Bigr),

with :math:`\rho` the ``l1_ratio``; the intercept b is not penalised. It is scikit-learn's.
"""

from dataclasses import dataclass, replace

import numpy as np

from corollary.core.parallel import one_blas_thread
from corollary.core.summary import Source
from corollary.linear.logistic._census import KeptRows
from corollary.linear.logistic.terms import LogisticTerms
from corollary.optimize import NewtonResult, newton_minimise, newton_step, proximal_newton

# Newton's Hessian has this many rows at most before "auto" prefers L-BFGS: beyond, summing it
# costs more than the passes that it saves.
NEWTON_SIZE = 600
# A sixteenth of the rows, or as many as fit into this memory, bring Newton within about sqrt(16)
# standard errors of the answer for half the price of one pass.
SUBSAMPLE, SUBSAMPLE_BYTES = 16, 2**28
# A penalty beyond this, that of almost weightless rows, leaves no coefficient anyway.
STRONGEST = 1e200


@dataclass(frozen=True)
class LogisticProblem:
    """A penalised logistic or softmax regression on given data."""

    source: Source  # chunks (X, y) or (X, y, sample_weight)
    shape: tuple[int, int]  # of the parameters: scores, and features with the intercept
    weight: float  # total weight S of the rows
    C: float = 1.0  # inverse strength of the penalty; infinity for none
    l1_ratio: float = 0.0
    fit_intercept: bool = True  # whether the last parameter of each score is an intercept
    classes: np.ndarray | None = None  # labels, if the data hold labels and not codes
    class_weight: np.ndarray | None = None  # factor on the rows of each class
    n_jobs: int | None = None
    offset: np.ndarray | None = None  # subtracted from every row
    # What the penalty of the intercept is divided by, as that of a feature of this constant size
    # would be; None for no penalty.
    intercept_scaling: float | None = None

    @property
    def size(self) -> int:
        """Number of parameters."""
        return self.shape[0] * self.shape[1]

    def _penalised(self, power: int) -> np.ndarray:
        """Return the share of the penalty that falls on each parameter, flattened."""
        mask = np.ones(self.shape)
        if self.fit_intercept:
            mask[:, -1] = 0.0 if self.intercept_scaling is None else self.intercept_scaling**-power
        return mask.ravel()

    @property
    def l1(self) -> np.ndarray:
        """The l1 penalty of each parameter, flattened."""
        return self.l1_ratio * self._strength * self._penalised(1)

    @property
    def l2(self) -> np.ndarray:
        """The l2 penalty of each parameter, flattened."""
        return (1.0 - self.l1_ratio) * self._strength * self._penalised(2)

    @property
    def _strength(self) -> float:
        """Factor of the penalty."""
        mass = self.C * self.weight
        return 1.0 / mass if mass > 1.0 / STRONGEST else STRONGEST

    def sums(
        self, x: np.ndarray, *, curvature: bool = False, columns: np.ndarray | None = None
    ) -> LogisticTerms:
        """Sum loss and derivatives over the data."""
        start = LogisticTerms(
            np.reshape(x, self.shape),
            self.classes,
            self.class_weight,
            self.fit_intercept,
            curvature,
            columns,
            self.offset,
        )
        return self.source.reduce(start, self.n_jobs)

    def terms(
        self,
        x: np.ndarray,
        hessian: bool,
        columns: np.ndarray | None = None,
        *,
        definite: bool = True,
    ) -> tuple[float, np.ndarray, np.ndarray | None]:
        """Evaluate the smooth part of the objective."""
        sums = self.sums(x, curvature=hessian, columns=columns)
        assert sums.gradient is not None
        l2 = self.l2
        value = sums.loss / self.weight + 0.5 * float(l2 @ (x * x))
        gradient = np.ravel(sums.gradient) / self.weight + l2 * x
        if sums.hessian is None:
            return value, gradient, None
        matrix: np.ndarray = sums.hessian / self.weight
        if columns is not None:
            chosen = np.zeros(self.shape[1], dtype=bool)
            chosen[columns] = True
            chosen[-1] |= self.fit_intercept
            l2 = l2[np.tile(chosen, self.shape[0])]
        matrix[np.diag_indices_from(matrix)] += l2
        n_outputs = self.shape[0]
        if n_outputs > 1 and definite:
            width = len(matrix) // n_outputs
            mean = np.diag(matrix).reshape(n_outputs, width).mean(axis=0) / n_outputs
            blocks = matrix.reshape(n_outputs, width, n_outputs, width)
            blocks[:, np.arange(width), :, np.arange(width)] += mean[:, None, None]
        return value, gradient, matrix

    def split(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients and intercepts from flattened parameters."""
        weights = np.reshape(x, self.shape)
        if self.fit_intercept:
            return weights[:, :-1].copy(), weights[:, -1].copy()
        return weights.copy(), np.zeros(self.shape[0])

    @property
    def features(self) -> np.ndarray:
        """Feature of each parameter, flattened; -1 for intercepts."""
        index = np.tile(np.arange(self.shape[1]), (self.shape[0], 1))
        if self.fit_intercept:
            index[:, -1] = -1
        return index.ravel()


# scikit-learn's names, and which of ours finds the same minimum.
_NAMES = {
    "newton-cholesky": "newton",
    "newton-cg": "auto",
    "sag": "auto",
    "saga": "auto",
    "liblinear": "auto",
}
_SMOOTH = {"newton", "lbfgs", "newton-cholesky", "newton-cg", "sag"}


def choose_solver(problem: LogisticProblem, solver: str, *, is_sparse: bool = False) -> str:
    """Return the solver to use, resolving "auto" and scikit-learn's names."""
    has_l1 = problem.l1_ratio > 0 and np.isfinite(problem.C)
    if has_l1 and solver in _SMOOTH:
        raise ValueError(
            f"solver={solver!r} needs a smooth penalty, l1_ratio=0. Got "
            f"l1_ratio={problem.l1_ratio} instead. Use solver='proximal', 'saga' or 'auto'."
        )
    solver = _NAMES.get(solver, solver)
    if solver == "auto":
        if has_l1:
            return "proximal"
        return "newton" if problem.size <= NEWTON_SIZE // (1 + 2 * is_sparse) else "lbfgs"
    return solver


def solve(
    problem: LogisticProblem,
    start: np.ndarray,
    *,
    solver: str,
    tol: float,
    max_iter: int,
    hessian: np.ndarray | None = None,
) -> NewtonResult:
    """Minimise the objective of a logistic problem."""
    with one_blas_thread():
        if solver == "newton":
            return newton_minimise(
                problem.terms, start, tol=tol, max_iter=max_iter, hessian=hessian
            )
        if solver == "lbfgs":
            return _lbfgs(problem, start, tol, max_iter)
        return _proximal(problem, start, tol, max_iter)


def _proximal(
    problem: LogisticProblem, start: np.ndarray, tol: float, max_iter: int
) -> NewtonResult:
    def terms(x: np.ndarray, features: np.ndarray | None) -> tuple:
        whole = features is not None and len(features) == problem.shape[1] - problem.fit_intercept
        columns = None if whole else features
        return problem.terms(x, features is not None, columns, definite=False)

    return proximal_newton(
        terms, start, problem.l1, groups=problem.features, tol=tol, max_iter=max_iter
    )


def _lbfgs(problem: LogisticProblem, start: np.ndarray, tol: float, max_iter: int) -> NewtonResult:
    from scipy.optimize import minimize

    result = minimize(
        lambda x: problem.terms(x, False)[:2],
        start,
        method="L-BFGS-B",
        jac=True,
        options={"maxiter": max_iter, "gtol": tol, "ftol": 64 * np.finfo(float).eps, "maxls": 50},
    )
    norm = float(np.abs(result.jac).max(initial=0.0))
    # Status 2 is a line search that rounding has stopped: nothing is left to gain.
    done = bool(result.status in (0, 2))
    return NewtonResult(result.x, float(result.fun), norm, np.nan, int(result.nit), done)


def subsample_start(problem: LogisticProblem, n_rows: int, solver: str) -> NewtonResult | None:
    """Return a first guess from a fixed pseudo-random part of the rows."""
    width = problem.source.n_features + 2
    rate = max(SUBSAMPLE, 8 * width * n_rows // SUBSAMPLE_BYTES)
    expected = n_rows / rate
    if expected < max(1024, 20 * problem.size):
        return None
    kept = problem.source.reduce(KeptRows(rate), problem.n_jobs)
    small = replace(problem, source=kept.source())
    weight = small.sums(np.zeros(problem.size)).weight
    if weight <= 0:
        return None
    # In the mean form the penalty of the part equals that of the whole.
    small = replace(small, weight=weight, C=problem.C * problem.weight / weight)
    # Beyond the sampling error of the part, precision is wasted.
    tol = float(np.sqrt(0.05 * problem.size / expected))
    guess = solve(small, np.zeros(problem.size), solver=solver, tol=tol, max_iter=20)
    return guess if guess.converged and small.sums(guess.x).margin <= 0 else None


def separation(problem: LogisticProblem, x: np.ndarray) -> str | None:
    """Say whether unpenalised coefficients grow without end."""
    if problem.sums(x).margin > 0:
        return "complete"
    if problem.size > NEWTON_SIZE * 4:
        return None
    _, gradient, hessian = problem.terms(x, True)
    assert hessian is not None
    onward = problem.sums(newton_step(hessian, gradient))
    return "partial" if onward.reach > 0.1 and onward.margin > -0.1 * onward.reach else None
