"""What is known about rows that depend on each other."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from corollary.validation.intervals import Estimate

#: What holds the rows of a unit together.
UnitKind = Literal["copies", "near copies", "joined", "owner", "time", "order"]
#: Evidence for a unit that needs no model.
Sign = Literal[
    "agreement",
    "closeness",
    "even sizes",
    "fixed columns",
    "one row a moment",
    "new values",
    "dated",
]

#: Kinds of units whose rows stay together and count once, whatever they are worth.
COPIES: tuple[UnitKind, ...] = ("copies", "near copies")
#: Kinds of units that are stretches of neighbouring moments.
MOMENTS: tuple[UnitKind, ...] = ("time", "order")


@dataclass(frozen=True)
class UnitEffect:
    """How much a unit is worth to a model, by losses out of fold on the same rows.

    Parameters
    ----------
    cost : Estimate
        Loss with whole units left out over loss with rows dealt at random, less 1: what the model
        gains by having seen the unit. Its interval counts units.
    hint : float
        Loss with whole units left out over the same after :func:`sibling_correction`, less 1: what
        a model that knows the unit could gain.
    correlation : float
        Correlation of residuals within units (:func:`intraclass_correlation`).
    p_cost : float
        p-value of the cost.
    p_hint : float
        p-value of the correlation, by permutation.
    loss_random : float
        Mean loss with rows dealt at random.
    loss_apart : float
        Mean loss with whole units left out.
    later : float or None, default=None
        For time and order: loss on the latest quarter of the rows, predicted from the earlier ones,
        over the loss of the same rows when rows are dealt at random, less 1.
    p_later : float or None, default=None
        p-value of an effect of time on residuals of a model that does not know the time.

    Examples
    --------
    >>> from corollary.validation import Estimate, UnitEffect
    >>> UnitEffect(Estimate(0.1, 0.0, 0.2, 40), 0.3, 0.5, 0.02, 1e-6, 0.5, 0.55).excess
    0.3
    """

    cost: Estimate
    hint: float
    correlation: float
    p_cost: float
    p_hint: float
    loss_random: float
    loss_apart: float
    later: float | None = None
    p_later: float | None = None

    @property
    def excess(self) -> float:
        """Largest of cost, hint and later: the share of the error that a question is about."""
        return max(self.cost.value, self.hint, 0.0 if self.later is None else self.later)


@dataclass(frozen=True, eq=False)
class Unit:
    """Rows that came together: a partition of the rows, what says it and what it is worth.

    Parameters
    ----------
    kind : {"copies", "near copies", "joined", "owner", "time", "order"}
        What holds the rows of a unit together.
    columns : tuple of str
        Columns that say it; none for near copies and for the order of the rows.
    codes : ndarray of int of shape (n_rows,)
        Unit of each row, from 0, numbered by first appearance. For time and order the units are
        stretches of neighbouring moments.
    moments : ndarray of shape (n_rows,) or None, default=None
        What orders the rows, for time and order: seconds since 1970 for dates; NaN where missing.
    signs : tuple of str, default=()
        Evidence that needs no model: "agreement", "closeness", "even sizes", "fixed columns", "one
        row a moment", "new values", "dated".
    told : bool, default=False
        Whether the user named it.
    effect : UnitEffect or None, default=None
        What it is worth; None if it was not measured.
    matters : bool, default=False
        Whether it is worth a question. Units that were told always matter.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.validation import Unit
    >>> Unit("owner", ("client",), np.array([0, 0, 1, 2, 1])).n_units
    3
    """

    kind: UnitKind
    columns: tuple[str, ...]
    codes: np.ndarray
    moments: np.ndarray | None = None
    signs: tuple[Sign, ...] = ()
    told: bool = False
    effect: UnitEffect | None = None
    matters: bool = False

    @property
    def is_copied(self) -> bool:
        """Whether rows of a unit are copies or near copies of each other."""
        return self.kind in COPIES

    @property
    def n_units(self) -> int:
        """Number of units."""
        return int(self.codes.max()) + 1 if len(self.codes) else 0

    def __str__(self) -> str:
        names = ", ".join(repr(name) for name in self.columns)
        rows = f"{len(self.codes):,} rows"
        match self.kind:
            case "copies":
                what = f"{rows} are {self.n_units:,} different rows"
            case "near copies":
                what = f"{rows} are {self.n_units:,} rows and near copies of them"
            case "joined":
                what = f"{rows} are {self.n_units:,} combinations of {names} that recur as a whole"
            case "owner":
                what = f"{rows} belong to {self.n_units:,} values of {names or 'the groups'}"
            case "time":
                what = f"{rows} are ordered in time by {names or 'the moments that were told'}"
            case "order":
                what = f"{rows} depend on their order"
        if self.effect is None:
            return what
        rows = "later rows" if self.effect.excess == self.effect.later else "new ones"
        return f"{what} (the error on {rows} is up to {1 + self.effect.excess:.3g} times as large)"


@dataclass(frozen=True, eq=False)
class Dependence:
    """What is known about the dependence of rows.

    Parameters
    ----------
    units : tuple of Unit
        All partitions that were examined, finest first.
    copies : ndarray of int of shape (n_rows,)
        Rows that are copies or near copies of each other share a number: they stay together and
        count once. All other rows have a number of their own.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.validation import Dependence, Unit
    >>> client = Unit("owner", ("client",), np.array([0, 0, 1, 1]), matters=True)
    >>> print(Dependence((client,), np.arange(4)))
    4 rows belong to 2 values of 'client'.
    """

    units: tuple[Unit, ...]
    copies: np.ndarray

    @property
    def unit(self) -> Unit | None:
        """The unit that bears the headline; None if rows may be dealt as they are.

        Units that were told come before those that were not. Among them it is the coarsest owner
        or join, or time or order if its excess is larger. Copies are never it: they stay together
        in any case.
        """
        mattering = [u for u in self.units if u.matters and not u.is_copied]
        mattering = [u for u in mattering if u.told] or mattering
        owners = [u for u in mattering if u.kind not in MOMENTS]
        moments = [u for u in mattering if u.kind in MOMENTS]
        owner = min(owners, key=lambda u: u.n_units, default=None)
        moment = max(moments, key=_excess, default=None)
        if owner is None or moment is None:
            return owner or moment
        return moment if _excess(moment) > _excess(owner) else owner

    @property
    def beside(self) -> tuple[Unit, ...]:
        """The other units that matter."""
        return tuple(u for u in self.units if u.matters and u is not self.unit)

    def __str__(self) -> str:
        if self.unit is None and not self.beside:
            return "No dependence of rows that matters was seen."
        first = [] if self.unit is None else [self.unit]
        return " ".join(f"{unit}." for unit in [*first, *self.beside])


def _excess(unit: Unit) -> float:
    """Say what a unit is worth; nothing if it was not measured."""
    return 0.0 if unit.effect is None else unit.effect.excess
