"""Ask and tell: the one way in which every learner of this package is used.

``ask(n)`` says what to query, the answers come whenever they come and in any order, ``tell`` takes
them. Points that were asked for and not told yet are pending: they are not asked again by
accident, and a learner that is a Gaussian process imagines their observation, which shrinks
variances without needing values. All that a learner knows is its settings, its seed and what it
was told; ``state()`` is that as plain numbers, and a new learner that resumes from it goes on with
the same bits.
"""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from corollary.active.domain import Box, ExhaustedError, Pool, Queries
from corollary.core.parallel import one_blas_thread


class AskTell(ABC):
    """What all learners share: a domain, what was told, and queries that are pending."""

    # Numbers told for each point.
    _n_values = 1

    def __init__(self, domain: Any, *, repeat: bool = True, random_state: Any = None) -> None:
        self.domain: Pool | Box = domain if isinstance(domain, Pool | Box) else Pool(domain)
        if not isinstance(repeat, bool | np.bool_):
            raise ValueError(
                f"The 'repeat' parameter of {type(self).__name__} must be a bool. "
                f"Got {repeat!r} instead."
            )
        self.repeat = bool(repeat)
        self._seed = int(check_random_state(random_state).randint(2**31 - 1))
        self._n_asked = 0
        self._told: list[Any] = []
        self._pending: list[Any] = []
        self._values: list[np.ndarray] = []

    # A key is what identifies a point: its index in a pool, the tuple of its numbers in a box.

    def _keys(self, X: Any) -> list[Any]:
        if isinstance(X, Queries):
            X = X.X if X.indices is None else X.indices
        if isinstance(self.domain, Pool):
            return [int(i) for i in self.domain.locate(X)]
        return [tuple(row) for row in self.domain.check(X).tolist()]

    def _rows(self, keys: list[Any]) -> np.ndarray:
        if isinstance(self.domain, Pool):
            return self.domain.X[np.array(keys, dtype=np.intp)]
        return np.array(keys, dtype=float).reshape(-1, self.domain.n_features)

    @property
    def X_(self) -> np.ndarray:
        """Points told so far, in order."""
        return self._rows(self._told)

    @property
    def y_(self) -> np.ndarray:
        """Values told so far, in order."""
        return self._all_values()[:, 0]

    @property
    def pending_(self) -> np.ndarray:
        """Points asked for and not told yet."""
        return self._rows(self._pending)

    def _all_values(self) -> np.ndarray:
        return np.array(self._values, dtype=float).reshape(-1, self._n_values)

    def ask(self, n: int = 1) -> Queries:
        """Choose what to query next.

        Parameters
        ----------
        n : int, default=1
            How many points; each is chosen as if those before were already observed.

        Returns
        -------
        queries : Queries
            The points, and their indices in a pool.

        Raises
        ------
        ExhaustedError
            If fewer than n points may be asked. Nothing is asked then.
        """
        if not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 1:
            raise ValueError(
                f"The 'n' parameter of {type(self).__name__}.ask must be an int in the range "
                f"[1, inf). Got {n!r} instead."
            )
        before = len(self._pending), self._n_asked
        try:
            with one_blas_thread():
                keys = self._choose(int(n))
        except BaseException:
            del self._pending[before[0] :]
            self._n_asked = before[1]
            raise
        indices = np.array(keys, dtype=np.intp) if isinstance(self.domain, Pool) else None
        return Queries(self._rows(keys), indices)

    @abstractmethod
    def _choose(self, n: int) -> list[Any]:
        """Return n keys, each of which :meth:`_expect` has made pending."""

    def _expect(self, key: Any) -> None:
        self._pending.append(key)
        self._n_asked += 1

    def _free(self) -> np.ndarray:
        """Return which points of a pool may be asked."""
        assert isinstance(self.domain, Pool)
        free = np.ones(len(self.domain.X), dtype=bool)
        if not self.repeat:
            free[self._told + self._pending] = False
        return free

    def tell(self, X: Any, y: Any) -> None:
        """Take the answers to queries, or other observations.

        Parameters
        ----------
        X : Queries, array-like of shape (k, n_features) or array-like of int
            Points of the domain, asked for or not; in a pool indices will do.
        y : array-like of shape (k,)
            What was observed there.
        """
        self._tell(X, np.reshape(_column("y", y), (-1, 1)))

    def _tell(self, X: Any, values: np.ndarray) -> None:
        name = type(self).__name__
        keys = self._keys(X)
        if values.shape != (len(keys), self._n_values):
            raise ValueError(
                f"{name}.tell needs one value for each of {len(keys)} points. "
                f"Got an array of shape {values.shape}."
            )
        if not np.isfinite(values).all():
            where = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
            raise ValueError(
                f"{name}.tell needs finite values. Got {values[where].tolist()} at position "
                f"{where}; leave out what could not be measured, and drop() its query."
            )
        if not self.repeat:
            again = [k for i, k in enumerate(keys) if k in self._told or k in keys[:i]]
            if again:
                raise ValueError(
                    f"{name} with repeat=False takes each point once. Got {again[0]} again."
                )
        with one_blas_thread():
            self._learn(keys, values)
        for key, value in zip(keys, values):
            self._told.append(key)
            self._values.append(value)
            if key in self._pending:
                self._pending.remove(key)

    @abstractmethod
    def _learn(self, keys: list[Any], values: np.ndarray) -> None:
        """Update whatever depends on observations."""

    def drop(self, X: Any) -> None:
        """Give up queries that will never be answered.

        Parameters
        ----------
        X : Queries, array-like of shape (k, n_features) or array-like of int
            Pending points.
        """
        left = list(self._pending)
        for key in self._keys(X):
            if key not in left:
                raise ValueError(
                    f"{type(self).__name__}.drop needs pending queries. {key} is not one."
                )
            left.remove(key)
        self._pending = left

    def state(self) -> dict[str, Any]:
        """Return all that was learnt as plain lists and numbers.

        Returns
        -------
        state : dict
            Can be written as JSON; numbers survive exactly.
        """
        return {
            "seed": self._seed,
            "asked": self._n_asked,
            "told": [list(k) if isinstance(k, tuple) else k for k in self._told],
            "values": self._all_values().tolist(),
            "pending": [list(k) if isinstance(k, tuple) else k for k in self._pending],
        }

    def resume(self, state: dict[str, Any]) -> Self:
        """Go on from where another learner with the same settings was.

        Parameters
        ----------
        state : dict
            From :meth:`state`.

        Returns
        -------
        self : AskTell
            This learner, which must not have been told or asked anything.
        """
        name = type(self).__name__
        if self._told or self._n_asked:
            raise ValueError(f"{name}.resume needs a learner that was not used before.")
        parts = {"seed", "asked", "told", "values", "pending"}
        if not isinstance(state, dict) or set(state) != parts:
            raise ValueError(f"{name}.resume needs what state() returned: {sorted(parts)}.")
        for part in ("seed", "asked"):
            if not isinstance(state[part], int) or state[part] < 0:
                raise ValueError(
                    f"The '{part}' of a state must be a non-negative int. Got {state[part]!r}."
                )
        pending = self._keys(self._listed(state["pending"]))
        if state["asked"] < len(pending):
            raise ValueError("The state has more pending queries than were ever asked.")
        values = np.array(state["values"], dtype=float).reshape(-1, self._n_values)
        self._tell(self._listed(state["told"]), values)
        self._seed, self._n_asked, self._pending = state["seed"], state["asked"], pending
        return self

    def _listed(self, keys: list[Any]) -> Any:
        if isinstance(self.domain, Pool):
            return np.array(keys, dtype=np.intp).reshape(-1)
        return np.array(keys, dtype=float).reshape(-1, self.domain.n_features)

    def _nothing_left(self, n: int) -> ExhaustedError:
        return ExhaustedError(f"{type(self).__name__} has asked for all {n} points of its pool.")


def _column(name: str, y: Any) -> np.ndarray:
    values = np.asarray(y, dtype=float)
    if values.ndim > 1:
        raise ValueError(f"tell needs '{name}' with one number for each point. Got {values.shape}.")
    return values.reshape(-1)
