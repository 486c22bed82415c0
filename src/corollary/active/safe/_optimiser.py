"""Safe optimisation: what both forms share.

Some points are known to be safe. From there an unknown function is maximised, and no query may fall
below a threshold of the function itself, or of constraints observed with it. Bands of the
posteriors say which points are surely safe, which might be, and which might be best.
"""

from numbers import Integral, Real
from typing import Any

import numpy as np

from corollary.active._checks import one_for_each, same_rows
from corollary.active.domain import Box, ExhaustedError, Pool
from corollary.active.gaussian._learner import Field, GPLearner
from corollary.active.gaussian.growing import View
from corollary.active.gaussian.prior import Prior
from corollary.active.safe.confidence import (
    grid_multiplier,
    query_multiplier,
    rkhs_multiplier,
)
from corollary.active.safe.sets import SafeSets

RULES = ("queries", "grid", "rkhs")


class SafeOptimiser(GPLearner):
    """Bands, safe sets and the promise about them; see :class:`SafeITL` and :class:`SafeOpt`."""

    def __init__(
        self,
        domain: Any,
        prior: Prior,
        safe_start: Any,
        *,
        constraints: Any = None,
        threshold: Any = 0.0,
        delta: float = 0.05,
        rule: str = "queries",
        norm_bound: Any = None,
        noise_bound: Any = None,
        horizon: int | None = None,
        repeat: bool = True,
        n_candidates: int = 1024,
        random_state: Any = None,
    ) -> None:
        name = type(self).__name__
        extra = [constraints] if isinstance(constraints, Prior) else list(constraints or [])
        priors = [prior, *extra]
        super().__init__(
            domain,
            priors,
            repeat=repeat,
            n_candidates=n_candidates,
            random_state=random_state,
        )
        self._check_promise(rule, norm_bound, delta, horizon)
        self.rule: str = rule
        self.delta: float = float(delta)
        self.horizon: int | None = horizon
        self._first: int = 1 if extra else 0  # the first function that is a constraint
        self.threshold: np.ndarray = one_for_each(
            name, "threshold", threshold, len(priors) - self._first
        )
        if rule == "rkhs":
            roots = [np.sqrt(p.noise) for p in priors]
            self.norm_bound: np.ndarray = one_for_each(name, "norm_bound", norm_bound, len(priors))
            bounds = roots if noise_bound is None else noise_bound
            self.noise_bound: np.ndarray = one_for_each(name, "noise_bound", bounds, len(priors))
        if not np.size(safe_start):
            raise ValueError(
                f"{name} needs at least one point that is known to be safe. Got an empty "
                "'safe_start'."
            )
        self._start: list[Any] = self._keys(np.asarray(safe_start))

    def _check_promise(self, rule: str, norm_bound: Any, delta: float, horizon: Any) -> None:
        """Raise if the parameters that the promise rests on make no sense together."""
        name = type(self).__name__
        if rule not in RULES:
            raise ValueError(
                f"The 'rule' parameter of {name} must be one of {set(RULES)}. Got {rule!r} instead."
            )
        if rule == "grid" and isinstance(self.domain, Box):
            raise ValueError(
                f"{name} with rule='grid' takes a union over the points of a finite pool. Got a "
                "box; use rule='queries' or rule='rkhs', or give a pool."
            )
        if (rule == "rkhs") != (norm_bound is not None):
            raise ValueError(
                f"{name} needs 'norm_bound' with rule='rkhs', and only then. "
                f"Got rule={rule!r} and norm_bound={norm_bound!r}."
            )
        if not (isinstance(delta, Real) and 0 < delta < 1):
            raise ValueError(
                f"The 'delta' parameter of {name} must be a float in the range (0.0, 1.0). "
                f"Got {delta!r} instead."
            )
        if horizon is not None and (not isinstance(horizon, Integral) or horizon < 1):
            raise ValueError(
                f"The 'horizon' parameter of {name} must be an int in the range [1, inf) or None. "
                f"Got {horizon!r} instead."
            )

    # -- observations ----------------------------------------------------------------------------

    @property
    def z_(self) -> np.ndarray:
        """Values of the constraints told so far, of shape (n, n_constraints)."""
        return self._all_values()[:, self._first :]

    def tell(self, X: Any, y: Any, z: Any = None) -> None:
        """Take the answers to queries, or other observations.

        Parameters
        ----------
        X : Queries, array-like of shape (k, n_features) or array-like of int
            Points of the domain, asked for or not; in a pool indices will do.
        y : array-like of shape (k,)
            Observed values of the objective.
        z : array-like of shape (k,) or (k, n_constraints) or None, default=None
            Observed values of the constraints; None if the objective is its own constraint.
        """
        if (z is None) != (self._first == 0):
            needed = "values z of its constraints" if z is None else "no z: it has no constraints"
            raise ValueError(f"{type(self).__name__}.tell needs {needed}.")
        values = np.reshape(np.asarray(y, dtype=float), (-1, 1))
        if z is not None:
            z = np.asarray(z, dtype=float)
            z = z.reshape(len(z), -1) if z.ndim else z.reshape(1, 1)
            if len(z) != len(values):
                raise ValueError(
                    f"{type(self).__name__}.tell needs as many z as y. "
                    f"Got {len(z)} and {len(values)}."
                )
            values = np.concatenate([values, z], axis=1)
        self._tell(X, values)

    # -- bands and sets --------------------------------------------------------------------------

    def _multipliers(self) -> np.ndarray:
        t, k = self._n_asked + 1, len(self._posteriors)
        if self.horizon is not None:
            t = min(t, self.horizon)  # bands can be looked at after the last query
        if self.rule == "queries":
            q = k - self._first
            value = query_multiplier(self.delta, t, horizon=self.horizon, n_constraints=q)
            return np.full(k, value)
        if self.rule == "grid":
            assert isinstance(self.domain, Pool)
            m = len(self.domain.X)
            value = grid_multiplier(self.delta, t, m, horizon=self.horizon, n_functions=k)
            return np.full(k, value)
        return np.array(
            [
                rkhs_multiplier(self.delta / k, B, R, max(p.information(), 0.0), p.prior.noise)
                for p, B, R in zip(self._posteriors, self.norm_bound, self.noise_bound)
            ]
        )

    def _sets(self, X: np.ndarray, views: list[View]) -> SafeSets:
        n = len(X)
        half = self._multipliers()[:, None] * np.array([v.std[:n] for v in views])
        means = np.array([v.mean[:n] for v in views])
        lower, upper = means - half, means + half
        h = self.threshold[:, None]
        start = same_rows(X, self._rows(self._start))
        safe = start | self._surely_safe(X, lower[self._first :] - h)
        # What is surely safe might be; bands at later rounds may be wider or disagree.
        optimistic = safe | (upper[self._first :] >= h).all(axis=0)
        best = float(lower[0, safe].max(initial=-np.inf))
        return SafeSets(safe, optimistic, optimistic & (upper[0] >= best), lower, upper)

    def _surely_safe(self, X: np.ndarray, slack: np.ndarray) -> np.ndarray:
        return np.all(slack >= 0.0, axis=0)

    def sets(self, X: Any = None) -> SafeSets:
        """Return safe sets, possible maximisers and bands, as the next query would use them.

        Parameters
        ----------
        X : array-like of shape (m, n_features) or None, default=None
            Where; None for the points of the pool.

        Returns
        -------
        sets : SafeSets
            Masks and bands.
        """
        if X is None:
            if not isinstance(self.domain, Pool):
                raise ValueError(f"{type(self).__name__}.sets needs points X in a box.")
            n = self._pool.n
            return self._sets(self._pool.X[:n], self._pool.views)
        X = np.asarray(X, dtype=float)
        return self._sets(X, [p.view(X) for p in self._posteriors])

    def safe_set(self, X: Any = None) -> np.ndarray:
        """Return which points are surely safe, as the next query would see it.

        Parameters
        ----------
        X : array-like of shape (m, n_features) or None, default=None
            Where; None for the points of the pool.

        Returns
        -------
        safe : ndarray of shape (m,), dtype=bool
            The pessimistic safe set.
        """
        return self.sets(X).safe

    def best(self) -> np.ndarray:
        """Return the observed point with the largest lower bound of the objective.

        Returns
        -------
        x : ndarray of shape (n_features,)
            A point that was told, so that nothing new is risked by it.
        """
        if not self._told:
            raise ValueError(f"{type(self).__name__}.best needs observations; tell some first.")
        rows = self.X_
        mean, std = self.predict(rows)
        return rows[int(np.argmax(mean - self._multipliers()[0] * std))]

    def _choose(self, n: int) -> list[Any]:
        if self.horizon is not None and self._n_asked + n > self.horizon:
            raise ExhaustedError(
                f"{type(self).__name__} has asked {self._n_asked} of horizon={self.horizon} "
                f"queries, among which its failure probability is divided, and cannot ask {n} "
                "more. Choose a larger horizon beforehand, or None."
            )
        return super()._choose(n)

    def _centres(self) -> np.ndarray:
        return np.concatenate([self._rows(self._start), self.X_])

    def _field_sets(self, field: Field) -> SafeSets:
        return self._sets(field.X[: field.n], field.views)

    def _nothing_left(self, n: int) -> ExhaustedError:
        return ExhaustedError(
            f"{type(self).__name__} has no safe point left that was not asked. Allow repeat=True, "
            "or tell more observations."
        )
