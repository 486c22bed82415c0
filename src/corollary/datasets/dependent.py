"""Rows that depend on each other: rows of owners, and rows of a period."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.world import World


class OwnedRows(NamedTuple):
    """Rows with their owners.

    Parameters
    ----------
    X : ndarray of shape (n_samples, 1)
        Inputs.
    y : ndarray of shape (n_samples,)
        Labels in {-1, +1}.
    groups : ndarray of shape (n_samples,)
        The owner of every row.
    clusters : ndarray of shape (n_samples,)
        What the owner belongs to; the owner itself if owners are not nested.

    Examples
    --------
    >>> from corollary.datasets import Owners
    >>> rows = Owners(n_rows=2, per_cluster=3).draw(4, random_state=0)
    >>> rows.groups, rows.clusters
    (array([0, 0, 1, 1, 2, 2, 3, 3]), array([0, 0, 0, 0, 0, 0, 1, 1]))
    """

    X: np.ndarray
    y: np.ndarray
    groups: np.ndarray
    clusters: np.ndarray


@dataclass(frozen=True)
class Owners(World):
    """Owners of rows, some of whom are harder than others.

    The label is the sign of x, turned around with a probability that each owner has for itself: a
    Beta variable with mean `error`. Rows are independent given their owner. With ``per_cluster``
    above 1 owners are nested (patients of a clinic): a cluster has a probability, and its owners
    have Beta variables around it.

    Parameters
    ----------
    error : float, default=0.2
        Mean probability of a turned label, over owners, in (0, 0.5).
    spread : float, default=4.0
        How alike owners are, positive: the sum of the parameters of the Beta law.
    sizes : {"equal", "unequal", "larger worse"}, default="equal"
        Rows of an owner: `n_rows`; 1 to `n_rows`, uniform on the logarithmic scale; or 1 and a
        binomial number out of the others, with the probability of a turned label.
    n_rows : int, default=6
        Most rows of an owner.
    per_cluster : int, default=1
        Owners of a cluster.

    Examples
    --------
    >>> from corollary.datasets import Owners
    >>> world = Owners(sizes="larger worse", n_rows=200)
    >>> world.bayes_risk, round(world.risk_per_row, 3)
    (0.2, 0.356)
    >>> rows = world.draw(3, random_state=0)
    >>> rows.X.shape[0] == len(rows.groups)
    True
    """

    error: float = 0.2
    spread: float = 4.0
    sizes: Literal["equal", "unequal", "larger worse"] = "equal"
    n_rows: int = 6
    per_cluster: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.error < 0.5:
            raise ValueError(
                "The 'error' parameter of Owners must be a float in the range (0.0, 0.5). "
                f"Got {self.error} instead."
            )

    def sample(self, n_samples: int, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw independent rows, each of a new owner, labels in {-1, +1}."""
        random = check_random_state(random_state)
        return self._rows(random.beta(*self._beta(self.error), size=n_samples), random)

    def draw(self, n_owners: int, random_state: Any = None) -> OwnedRows:
        """Draw owners with all their rows.

        Parameters
        ----------
        n_owners : int
            How many.
        random_state : int, RandomState instance or None, default=None
            Seed or generator.

        Returns
        -------
        rows : OwnedRows
            Inputs, labels, owners and clusters.
        """
        random = check_random_state(random_state)
        clusters = np.arange(n_owners) // self.per_cluster
        errors = random.beta(*self._beta(self.error), size=n_owners)
        if self.per_cluster > 1:
            errors = random.beta(*self._beta(np.clip(errors[clusters], 1e-6, 1 - 1e-6)))
        if self.sizes == "larger worse":
            counts = 1 + random.binomial(self.n_rows - 1, errors)
        elif self.sizes == "unequal":
            counts = np.floor((self.n_rows + 1.0) ** random.uniform(size=n_owners)).astype(int)
        else:
            counts = np.full(n_owners, self.n_rows)
        owner = np.repeat(np.arange(n_owners), counts)
        return OwnedRows(*self._rows(errors[owner], random), owner, clusters[owner])

    def bayes_rule(self, X: np.ndarray) -> np.ndarray:
        """Return the likelier label, which is the same for all owners to come.

        Parameters
        ----------
        X : ndarray of shape (n_samples, 1)
            Inputs.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            In {-1, +1}.
        """
        return np.where(np.asarray(X)[:, 0] >= 0, 1, -1)

    @property
    def bayes_risk(self) -> float:
        """Error of :meth:`bayes_rule` on a row drawn from a new owner."""
        return self.error

    @property
    def risk_per_row(self) -> float:
        """Error of :meth:`bayes_rule` on rows of new owners, large owners counting more."""
        if self.sizes != "larger worse" or self.per_cluster > 1:
            return self.error
        square = self.error * (self.error * self.spread + 1) / (self.spread + 1)
        more = self.n_rows - 1
        return (self.error + more * square) / (1 + more * self.error)

    def _beta(self, mean: Any) -> tuple[Any, Any]:
        return mean * self.spread, (1 - mean) * self.spread

    def _rows(self, errors: np.ndarray, random: Any) -> tuple[np.ndarray, np.ndarray]:
        X = random.uniform(-1, 1, size=(len(errors), 1))
        turned = random.uniform(size=len(errors)) < errors
        return X, np.where(turned, -1, 1) * self.bayes_rule(X)


class PeriodRows(NamedTuple):
    """Rows in the order of time.

    Parameters
    ----------
    X : ndarray of shape (n_samples, 1)
        Inputs.
    y : ndarray of shape (n_samples,)
        Labels in {-1, +1}.
    time : ndarray of shape (n_samples,)
        Moments.
    risks : ndarray of shape (n_samples,)
        Probability that :meth:`RisingRisk.rule` errs on a row, given all rows before it.

    Examples
    --------
    >>> from corollary.datasets import RisingRisk
    >>> RisingRisk(start=0.5, rise=0.5, memory=0.0).draw(4).risks
    array([0.5  , 0.625, 0.75 , 0.875])
    """

    X: np.ndarray
    y: np.ndarray
    time: np.ndarray
    risks: np.ndarray


@dataclass(frozen=True)
class RisingRisk:
    """A period in which a fixed rule errs more and more often, and errors come in bursts.

    The label of row t is the sign of x, turned around with probability ``start + rise * t / n +
    memory * a``, where the memory a of past errors is renewed by a tenth with every row. What a
    rule is to be expected to do is therefore known exactly given the past, and never before.

    Parameters
    ----------
    start : float, default=0.05
        Probability of an error at the beginning.
    rise : float, default=0.2
        By how much it rises over the period.
    memory : float, default=0.5
        Weight of the past errors.

    Examples
    --------
    >>> from corollary.datasets import RisingRisk
    >>> rows = RisingRisk().draw(200, random_state=0)
    >>> bool(rows.risks[:50].mean() < rows.risks[-50:].mean())
    True
    """

    start: float = 0.05
    rise: float = 0.2
    memory: float = 0.5

    def __post_init__(self) -> None:
        if min(self.start, self.rise, self.memory) < 0 or self.start + self.rise + self.memory > 1:
            raise ValueError(
                "The parameters 'start', 'rise' and 'memory' of RisingRisk must not be negative "
                f"and add up to 1 at most. Got {self.start}, {self.rise} and {self.memory} instead."
            )

    def draw(self, n_samples: int, random_state: Any = None) -> PeriodRows:
        """Draw the rows of one period.

        Parameters
        ----------
        n_samples : int
            How many.
        random_state : int, RandomState instance or None, default=None
            Seed or generator.

        Returns
        -------
        rows : PeriodRows
            Inputs, labels, moments 0, 1, 2, ... and the risk of each row given the past.
        """
        random = check_random_state(random_state)
        X = random.uniform(-1, 1, size=(n_samples, 1))
        chances, risks = random.uniform(size=n_samples), np.empty(n_samples)
        past = 0.0
        for t in range(n_samples):
            risks[t] = self.start + self.rise * t / n_samples + self.memory * past
            past = 0.9 * past + 0.1 * float(chances[t] < risks[t])
        y = np.where(chances < risks, -1, 1) * self.rule(X)
        return PeriodRows(X, y, np.arange(n_samples), risks)

    def rule(self, X: np.ndarray) -> np.ndarray:
        """Predict the sign of x.

        Parameters
        ----------
        X : ndarray of shape (n_samples, 1)
            Inputs.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            In {-1, +1}.
        """
        return np.where(np.asarray(X)[:, 0] >= 0, 1, -1)
