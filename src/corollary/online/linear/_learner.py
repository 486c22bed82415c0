"""What the linear learners of the protocol share: rows in, scores out, a comparator beside them."""

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from corollary.online._rows import check_width, truths
from corollary.online.linear._state import LinearSettings, LinearState, learn, make_state
from corollary.online.protocol import OnlineLearner, Rounds
from corollary.risk import sign


class Comparison(NamedTuple):
    """A fixed rule u followed through the rounds of a chunk."""

    scores: np.ndarray  # its scores
    squares: np.ndarray  # squared lengths of the rows
    norm: float  # its length
    peak: float  # its largest weight in absolute value


class LinearLearner(OnlineLearner):
    """A learner with one weight vector and no intercept; append a constant column for one.

    Attributes
    ----------
    state_ : LinearState
        Its memory.
    """

    state_: LinearState

    @abstractmethod
    def _settings(self) -> LinearSettings:
        """Return how it reacts, as numbers for the compiled loop."""

    @abstractmethod
    def _judge(
        self, X: Any, y: np.ndarray, scores: np.ndarray, slopes: np.ndarray, u: Comparison | None
    ) -> Rounds:
        """Return losses, mistakes, comparator and bound of rounds that were played."""

    # Whether truths are signs; otherwise they are numbers.
    _signs = True

    @property
    def weights_(self) -> np.ndarray:
        """The current weights, of shape (n_features,)."""
        return self.state_.scale[0] * self.state_.weights[0, :-1]

    @property
    def n_rounds_(self) -> int:
        """Rounds played."""
        return int(self.state_.clock[0]) if hasattr(self, "state_") else 0

    def play(self, X: Any, y: Any = None, *, comparator: Any = None) -> Rounds:
        """Play one round for each row; see :class:`OnlineLearner`.

        The comparator is a weight vector of shape (n_features,).
        """
        who = type(self).__name__
        X = _rows(who, X)
        y = truths(who, y, X.shape[0], (-1.0, 1.0) if self._signs else None)
        settings = self._settings()
        if not hasattr(self, "state_"):
            self.state_ = make_state(settings, X.shape[1])
            self._totals: dict[str, float] = {}
        check_width(who, self.state_.weights.shape[1] - 1, X.shape[1])
        u = self._compare(X, comparator)
        self.state_, scores, slopes = learn(settings, self.state_, X, y, who=who)
        return self._judge(X, y, scores[:, 0], slopes[:, 0], u)

    def _compare(self, X: Any, comparator: Any) -> Comparison | None:
        """Follow the comparator, if it is the one of all rounds so far."""
        if comparator is None:
            self._comparator = None
            return None
        u = np.asarray(comparator, dtype=np.float64)
        if u.shape != (X.shape[1],) or not np.isfinite(u).all():
            raise ValueError(
                f"The comparator of {type(self).__name__} must be a vector of {X.shape[1]} finite "
                f"numbers. Got shape {u.shape}."
            )
        earlier = getattr(self, "_comparator", u if self.n_rounds_ == 0 else None)
        if earlier is None or not np.array_equal(earlier, u):
            raise ValueError(
                f"{type(self).__name__} has played rounds without this comparator, so that its "
                "regret is not known. Give the comparator from the first round on."
            )
        self._comparator = u
        scores, squares = _measure(X, u)
        return Comparison(scores, squares, float(np.linalg.norm(u)), float(np.abs(u).max()))

    def _running_sum(self, name: str, terms: np.ndarray) -> np.ndarray:
        """Add terms one after the other to a total that is kept between chunks."""
        total = np.cumsum(np.append(self._totals.get(name, 0.0), terms))[1:]
        if len(total):
            self._totals[name] = float(total[-1])
        return total

    def _running_max(self, name: str, terms: np.ndarray) -> np.ndarray:
        """Return the largest term so far; kept between chunks."""
        largest = np.maximum.accumulate(np.append(self._totals.get(name, 0.0), terms))[1:]
        if len(largest):
            self._totals[name] = float(largest[-1])
        return largest

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of rows under the current weights.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Inner products.
        """
        X = _rows(type(self).__name__, X)
        if not hasattr(self, "state_"):
            return np.zeros(X.shape[0])
        check_width(type(self).__name__, self.state_.weights.shape[1] - 1, X.shape[1])
        return np.asarray(X @ self.weights_)

    def predict(self, X: Any) -> np.ndarray:
        """Return what the current weights say of rows.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        predictions : ndarray of shape (n_samples,)
            Signs with sign(0) = +1; scores where truths are numbers.
        """
        scores = self.decision_function(X)
        return sign(scores) if self._signs else scores


def _measure(X: Any, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the inner product of every row with u and its squared length."""
    if sparse.issparse(X):
        return np.asarray(X @ u), np.asarray(X.multiply(X) @ np.ones(X.shape[1]))
    from corollary.online._loops.linear import measure_dense

    products, squares = np.empty(X.shape[0]), np.empty(X.shape[0])
    measure_dense(X, u, products, squares)
    return products, squares


def _rows(who: str, X: Any) -> Any:
    if sparse.issparse(X):
        return sparse.csr_matrix(X, dtype=np.float64)
    X = np.ascontiguousarray(X, dtype=np.float64)
    if X.ndim != 2:
        raise ValueError(
            f"{who} takes a table with one row for each round. Got shape {X.shape}; a single round "
            "is a table of one row."
        )
    return X
