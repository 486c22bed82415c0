"""Safe Bayesian optimisation by confidence bounds and expanders."""

from typing import Any, NamedTuple

import numpy as np

from corollary.active._checks import one_for_each
from corollary.active.gaussian._learner import ELITE, Field
from corollary.active.gaussian.prior import Prior
from corollary.active.safe._optimiser import SafeOptimiser
from corollary.active.safe.sets import SafeSets

_BLOCK = 64  # points whose power to expand is looked at together


class _Plan(NamedTuple):
    best: float  # largest lower bound of the objective among safe points


class SafeOpt(SafeOptimiser):
    r"""Safe Bayesian optimisation in the manner of SafeOpt.

    With bands :math:`\ell,u=\mu\mp\sqrt\beta\sigma` and threshold h, the safe set is
    :math:`S=\{\ell^g\ge h\}` with the safe start, possible *maximisers* are points of S with
    :math:`u^f(x)\ge\max_S\ell^f`, and *expanders* are points of S where an optimistic answer
    would make another point safe. The next query is the one of them with the widest band.

    Parameters
    ----------
    domain : Pool, Box or array-like of shape (n, n_features)
        Where queries may be; an array is a pool.
    prior : Prior
        Kernel, noise variance and mean of the objective.
    safe_start : array-like of shape (k, n_features) or array-like of int
        Points known to be safe, or their indices in the pool; at least one.
    constraints : Prior, list of Prior or None, default=None
        Priors of constraints, which are observed with the objective; None if the objective itself
        must stay above the threshold.
    threshold : float or array-like of float, default=0.0
        What the constraints must reach.
    lipschitz : float, array-like of float or None, default=None
        Lipschitz constants L of the constraints. If given, x is safe if
        :math:`\ell(x')-L\|x-x'\|\ge h` for some x', and expands if
        :math:`u(x)-L\|x-x'\|\ge h` for some x' that is not safe; None uses the posterior alone,
        with an imagined observation u(x) for the expanders.
    delta : float, default=0.05
        Failure probability of the promise.
    rule : {"queries", "grid", "rkhs"}, default="queries"
        What is promised, and on what assumption; see :class:`SafeITL`.
    norm_bound : float, array-like of float or None, default=None
        With the rule "rkhs": bounds on the norms of the functions minus their prior means.
    noise_bound : float, array-like of float or None, default=None
        With the rule "rkhs": sub-Gaussian constants of the noise; None for the roots of the noise
        variances.
    horizon : int or None, default=None
        How many queries there will be, among which delta is divided; None for any number. The
        rule "rkhs" only uses it as a limit.
    repeat : bool, default=True
        Whether a point of the pool may be asked more than once.
    n_candidates : int, default=1024
        Candidates in a box.
    random_state : int, RandomState instance or None, default=None
        Determines the candidates in a box.

    See Also
    --------
    SafeITL : Asks what tells most about possible maximisers.

    Notes
    -----
    Guarantee: as for :class:`SafeITL`; with ``lipschitz`` the functions must also have these
    constants. The value found converges to the best of what can be reached through safe points,
    not to the global optimum. Checked by
    ``tests/active/test_safe.py::test_queries_stay_safe_at_the_stated_rate`` and
    ``tests/active/test_safe.py::test_regret_falls_to_the_best_reachable_point``.

    The width of a band is measured in prior standard deviations; with several functions the
    widest counts. Safe sets are those of the current bands; bands of earlier rounds are not
    intersected with them.

    References
    ----------
    .. [1] Y. Sui et al., Safe exploration for optimization with Gaussian processes, ICML 2015.
    .. [2] F. Berkenkamp et al., Safe controller optimization for quadrotors with Gaussian
       processes, ICRA 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.active import Prior, SafeOpt
    >>> from corollary.kernels import RBF
    >>> grid = np.linspace(0.0, 4.0, 81)[:, None]
    >>> f = lambda x: np.sin(2 * x[:, 0]) + 0.5
    >>> optimiser = SafeOpt(grid, Prior(RBF(0.7), 1e-4), safe_start=[[0.5]])
    >>> for _ in range(15):
    ...     query = optimiser.ask()
    ...     optimiser.tell(query, f(query.X))
    >>> bool(f(optimiser.X_).min() >= 0), optimiser.best().round(1)
    (True, array([0.8]))
    """

    def __init__(
        self,
        domain: Any,
        prior: Prior,
        safe_start: Any,
        *,
        constraints: Any = None,
        threshold: Any = 0.0,
        lipschitz: Any = None,
        delta: float = 0.05,
        rule: str = "queries",
        norm_bound: Any = None,
        noise_bound: Any = None,
        horizon: int | None = None,
        repeat: bool = True,
        n_candidates: int = 1024,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            domain,
            prior,
            safe_start,
            constraints=constraints,
            threshold=threshold,
            delta=delta,
            rule=rule,
            norm_bound=norm_bound,
            noise_bound=noise_bound,
            horizon=horizon,
            repeat=repeat,
            n_candidates=n_candidates,
            random_state=random_state,
        )
        self.lipschitz: np.ndarray | None = None
        if lipschitz is not None:
            q = len(self._posteriors) - self._first
            self.lipschitz = one_for_each(type(self).__name__, "lipschitz", lipschitz, q)

    def _surely_safe(self, X: np.ndarray, slack: np.ndarray) -> np.ndarray:
        if self.lipschitz is None:
            return super()._surely_safe(X, slack)
        safe = np.ones(len(X), dtype=bool)
        told = self.X_
        for i, (L, row) in enumerate(zip(self.lipschitz, slack)):
            # Observed points vouch for their surroundings, too, where none of X is near them.
            posterior = self._posteriors[self._first + i]
            mean, std = posterior.predict(told)
            wide = self._multipliers()[self._first + i]
            more = mean - wide * std - self.threshold[i]
            points, left = np.concatenate([X, told]), np.concatenate([row, more])
            good = left >= 0
            safe &= _reaches(X, points[good], left[good] / L)
        return safe

    def _plan(self, field: Field) -> tuple[np.ndarray, _Plan]:
        sets = self._field_sets(field)
        best = float(sets.lower[0, sets.safe].max(initial=-np.inf))
        return np.flatnonzero(~sets.safe), _Plan(best)

    def _scores(self, field: Field, targets: np.ndarray, plan: _Plan) -> np.ndarray:
        sets = self._field_sets(field)
        widths = np.zeros(field.n)
        for view in field.views:
            scale = np.maximum(view.prior_std, np.finfo(float).tiny)
            share = np.sqrt(view.variance(imagined=True)) / scale
            widths = np.maximum(widths, share[: field.n])
        scores = np.full(field.n, -np.inf)
        order = np.argsort(-widths, kind="stable")
        order = order[sets.safe[order]]
        free = self._pool_free(field)
        order, n_chosen = order[free[order]], 0
        # From the widest band down: the first that could be best or expand is the answer.
        for i in range(0, len(order), _BLOCK):
            some = order[i : i + _BLOCK]
            good = sets.upper[0, some] >= plan.best
            others = some[~good]
            if len(others) and len(targets):
                good[~good] = self._expands(field, sets, others, targets)
            scores[some[good]] = widths[some[good]]
            n_chosen += int(good.sum())
            if n_chosen >= ELITE:
                break
        if not n_chosen and len(order):
            scores[order] = widths[order]
        return scores

    def _pool_free(self, field: Field) -> np.ndarray:
        return self._free() if hasattr(self, "_pool") else np.ones(field.n, dtype=bool)

    def _expands(
        self, field: Field, sets: SafeSets, some: np.ndarray, targets: np.ndarray
    ) -> np.ndarray:
        able = np.ones((len(some), len(targets)), dtype=bool)
        for i, h in enumerate(self.threshold):
            k = self._first + i
            if self.lipschitz is not None:
                gap = _distances(field.X[some], field.X[targets])
                able &= sets.upper[k, some][:, None] - self.lipschitz[i] * gap >= h
                continue
            view, wide = field.views[k], self._multipliers()[k]
            able &= optimistic_lower(view, some, targets, wide) >= h
        return np.any(able, axis=1)


def optimistic_lower(view: Any, some: Any, others: Any, multiplier: float) -> np.ndarray:
    r"""Return lower bounds elsewhere after an optimistic answer to a query.

    The answer to a query at x is its upper bound :math:`u(x)=\mu(x)+\sqrt\beta\sigma(x)`. It
    raises the mean at x' by :math:`\sqrt\beta\sigma(x)c/(\sigma^2(x)+\rho^2)` and lowers its
    variance by :math:`c^2/(\sigma^2(x)+\rho^2)`, with c the posterior covariance.

    Parameters
    ----------
    view : View
        The posterior at all points.
    some : array-like of int
        Which points might be asked.
    others : array-like of int
        Where lower bounds are wanted.
    multiplier : float
        The bands' :math:`\sqrt\beta`.

    Returns
    -------
    lower : ndarray of shape (n_some, n_others)
        Lower bounds.

    Examples
    --------
    >>> from corollary.active import GrowingPosterior, Prior, optimistic_lower
    >>> from corollary.kernels import RBF
    >>> view = GrowingPosterior(Prior(RBF(), noise=1e-6), 1).view([[0.0], [0.1], [5.0]])
    >>> optimistic_lower(view, [0], [1, 2], 2.0).round(2)  # near a good answer all is well
    array([[ 1.79, -2.  ]])
    """
    some, others = np.asarray(some, dtype=np.intp), np.asarray(others, dtype=np.intp)
    cross = view.covariance(some, others)
    variance, mean = view.variance(), view.mean
    total = (variance[some] + view.posterior.prior.noise)[:, None]
    raised = mean[others] + multiplier * np.sqrt(variance[some])[:, None] * cross / total
    left = np.maximum(variance[others] - cross**2 / total, 0.0)
    return raised - multiplier * np.sqrt(left)


def _reaches(X: np.ndarray, centres: np.ndarray, radii: np.ndarray) -> np.ndarray:
    inside = np.zeros(len(X), dtype=bool)
    for i in range(0, len(X), 1024):
        inside[i : i + 1024] = (_distances(X[i : i + 1024], centres) <= radii).any(axis=1)
    return inside


def _distances(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    from scipy.spatial.distance import cdist

    return cdist(X, Y)
