"""Tables whose rows depend on each other, each with fresh rows of the kind a report speaks of.

A report speaks of new owners, of the period that it tested, or of rows drawn alike. A world gives a
file and fresh rows of each kind: rows of owners whose effects are drawn anew; rows of the same
moments and levels with new noise; rows of the moments after the file; rows drawn alike.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from tests.validation.dependence.world import days, shuffled, signal, table
from tests.validation.dependence.worlds import WORLDS

#: Rows, or tables, that a truth is computed from.
FRESH_TABLES, FRESH_ROUNDS = 12, 20

Rows = Callable[[np.random.Generator, np.ndarray], pd.DataFrame]


class Fresh(NamedTuple):
    """Rows that no report has seen, and the unit that owns each of them."""

    frame: pd.DataFrame
    units: np.ndarray


@dataclass(frozen=True)
class Drawn:
    """A file and where fresh rows come from."""

    frame: pd.DataFrame
    owners: dict[str, Callable[[np.random.Generator], Fresh]]  # fresh rows by what owns them
    rows: Rows | None = None  # rows of some places on the path of time, with new noise
    places: np.ndarray | None = None  # place of each row of the file
    ahead: np.ndarray | None = None  # places after the file

    def fresh(
        self, kind: str, unit: str, tested: np.ndarray, r: np.random.Generator
    ) -> tuple[str, Fresh]:
        """Draw rows that a headline speaks of, careful ones if it names none, and say which."""
        if kind == "period" and self.rows is not None and self.places is not None:
            return "period", _each_its_own(self.rows(r, _often(self.places[tested])))
        if unit in self.owners:
            return unit, self.owners[unit](r)
        if self.owners:
            name = next(iter(self.owners))
            return name, self.owners[name](r)
        assert self.rows is not None
        assert self.ahead is not None
        return "later", _each_its_own(self.rows(r, _often(self.ahead)))


def _often(places: np.ndarray) -> np.ndarray:
    return np.tile(places, FRESH_ROUNDS)


def _each_its_own(frame: pd.DataFrame) -> Fresh:
    return Fresh(frame, np.arange(len(frame)))


Maker = Callable[[np.random.Generator], pd.DataFrame]


def redrawn(make: Maker, columns: tuple[str, ...] = ()) -> Callable[[np.random.Generator], Fresh]:
    """Draw tables with new owners, which some columns tell apart."""

    def fresh(r: np.random.Generator) -> Fresh:
        frames = [make(r).assign(table_=k) for k in range(FRESH_TABLES)]
        frame = pd.concat(frames, ignore_index=True)
        units = np.arange(len(frame))
        if columns:
            units = frame.groupby(["table_", *columns], dropna=False).ngroup().to_numpy()
        return Fresh(frame.drop(columns="table_"), units)

    return fresh


def of_owners(name: str, *columns: str) -> Callable[[np.random.Generator], Drawn]:
    """Make a world of the tests whose every table has new owners, told by these columns."""
    return made_by(WORLDS[name].make, *columns)


def made_by(make: Maker, *columns: str) -> Callable[[np.random.Generator], Drawn]:
    """Make a world whose every table has new owners, told by these columns."""

    def draw(r: np.random.Generator) -> Drawn:
        return Drawn(make(r), {"": redrawn(make, columns)})

    return draw


# -- copies of coin flips --------------------------------------------------------------------


def once(r: np.random.Generator) -> pd.DataFrame:
    """Rows before the rare class was copied."""
    return table(r.integers(0, 12, (450, 4)), y=(r.random(450) < 0.15) * 1)


def oversampled(r: np.random.Generator) -> Drawn:
    """Rows of a rare class copied four times, labels at random."""
    return Drawn(WORLDS["rare class copied four times"].make(r), {"": redrawn(once)})


def customers(r: np.random.Generator) -> pd.DataFrame:
    """Join each of 250 customers with coin-flip labels to four orders, without a key."""
    base = table(r.normal(size=(250, 4)).round(3), y=r.permutation([0, 1] * 125))
    more = {"item": r.integers(0, 40, 1000), "price": r.normal(size=1000).round(2)}
    return shuffled(base.loc[np.repeat(np.arange(250), 4)].assign(**more), r)


def jittered(r: np.random.Generator) -> pd.DataFrame:
    """Rows with coin-flip labels, three times each with noise in the fourth decimal."""
    X, y = r.normal(size=(250, 4)).round(3), r.permutation([0, 1] * 125)
    noise = 1e-4 * r.normal(size=(3, 250, 4))
    return shuffled(pd.concat([table(X + e, y=y) for e in noise]), r)


def thrice(r: np.random.Generator) -> pd.DataFrame:
    """Whole numbers with coin-flip labels, every row three times."""
    d = table(r.integers(0, 10, (300, 4)), y=r.permutation([0, 1] * 150))
    return shuffled(pd.concat([d] * 3), r)


# -- owners ----------------------------------------------------------------------------------


def clients(r: np.random.Generator) -> pd.DataFrame:
    """Eight rows for each of 105 clients, whose key is a whole number."""
    g, X = np.repeat(np.arange(105), 8), r.normal(size=(840, 3))
    y = X[:, 0] + 2 * r.normal(size=105)[g] + 0.5 * r.normal(size=840)
    return shuffled(table(X, client=r.permutation(900)[:105][g] + 1000, y=y), r)


def nested(r: np.random.Generator) -> Drawn:
    """Four rows for each of ten patients of each of 15 clinics."""
    clinic_effect = 0.9 * r.normal(size=15)
    names = r.permutation(999)

    def visits(r: np.random.Generator, effect: np.ndarray) -> pd.DataFrame:
        c, p = np.repeat(np.arange(15), 40), np.repeat(np.arange(150), 4)
        X = r.normal(size=(600, 4))
        y = X[:, 0] + effect[c] + 0.6 * r.normal(size=150)[p] + 0.7 * r.normal(size=600)
        return table(X, clinic=c + 100, patient=names[:150][p], y=y)

    new_clinics = redrawn(lambda r: visits(r, 0.9 * r.normal(size=15)), ("clinic",))
    new_patients = redrawn(lambda r: visits(r, clinic_effect), ("patient",))
    owners = {"patient": new_patients, "clinic": new_clinics}
    return Drawn(visits(r, clinic_effect), owners)


# -- time ------------------------------------------------------------------------------------


def stream(rows: Rows, n: int, ahead: int, r: np.random.Generator, *, mixed: bool = False) -> Drawn:
    """Make a file of the first places of a path, in order or mixed."""
    places = r.permutation(n) if mixed else np.arange(n)
    return Drawn(rows(r, places), {}, rows, places, np.arange(n, n + ahead))


def drift(r: np.random.Generator) -> Drawn:
    """Let a level rise by the day; the file is shuffled."""

    def rows(r: np.random.Generator, t: np.ndarray) -> pd.DataFrame:
        X = r.normal(size=(len(t), 4))
        return table(X, day=days(t), y=signal(X) + 0.008 * t + 0.7 * r.normal(size=len(t)))

    return stream(rows, 600, 150, r, mixed=True)


def wandering(r: np.random.Generator) -> Drawn:
    """Let a level walk from day to day, dated; the file is shuffled."""
    level = np.cumsum(r.normal(size=750)) * 0.15

    def rows(r: np.random.Generator, t: np.ndarray) -> pd.DataFrame:
        X = r.normal(size=(len(t), 4))
        return table(X, day=days(t), y=X[:, 0] + level[t] + 0.7 * r.normal(size=len(t)))

    return stream(rows, 600, 150, r, mixed=True)


def in_order(r: np.random.Generator) -> Drawn:
    """Let a level and two columns walk; nothing but the order of the rows tells the time."""
    level, z = np.cumsum(r.normal(size=750)) * 0.15, np.cumsum(r.normal(size=(750, 2)), 0) * 0.2

    def rows(r: np.random.Generator, t: np.ndarray) -> pd.DataFrame:
        X = r.normal(size=(len(t), 4))
        return table(np.c_[X, z[t]], y=X[:, 0] + level[t] + 0.7 * r.normal(size=len(t)))

    return stream(rows, 600, 150, r)


def autoregressive(r: np.random.Generator, n: int, memory: float, scale: float) -> np.ndarray:
    """Make a level that forgets a share of itself at every step."""
    level = np.zeros(n)
    for i, shock in enumerate(scale * r.normal(size=n - 1)):
        level[i + 1] = memory * level[i] + shock
    return level


def unix(r: np.random.Generator) -> Drawn:
    """Unix seconds, nearly sorted, and a level with memory."""
    level = autoregressive(r, 750, 0.95, 0.35)
    moment = 1_600_000_000 + np.cumsum(r.integers(600, 9000, 750))
    moment[r.integers(0, 600, 20)] = moment[r.integers(0, 600, 20)]

    def rows(r: np.random.Generator, t: np.ndarray) -> pd.DataFrame:
        X = r.normal(size=(len(t), 4))
        return table(X, ts=moment[t], y=X[:, 0] + level[t] + 0.7 * r.normal(size=len(t)))

    return stream(rows, 600, 150, r)


def hourly(r: np.random.Generator) -> Drawn:
    """Draw hours in unix seconds, with a daily wave and a level that walks far."""
    level = np.cumsum(r.normal(size=1500)) * 0.5

    def rows(r: np.random.Generator, t: np.ndarray) -> pd.DataFrame:
        X = r.normal(size=(len(t), 2))
        wave = 2 * np.sin(t * 2 * np.pi / 24)
        y = X[:, 0] + wave + level[t] + 0.3 * r.normal(size=len(t))
        return table(X, hour=t % 24, ts=1_600_000_000 + 3600 * t, y=y)

    return stream(rows, 1200, 300, r)


def moving_classes(r: np.random.Generator) -> Drawn:
    """Two classes whose boundary moves; dated, the file is shuffled."""

    def rows(r: np.random.Generator, t: np.ndarray) -> pd.DataFrame:
        X = r.normal(size=(len(t), 3))
        side = X[:, 0] + 0.4 * r.normal(size=len(t)) > 3 * t / 700 - 1.5
        return table(X, when=days(t), y=np.where(side, "up", "down"))

    return stream(rows, 700, 175, r, mixed=True)


def panel(r: np.random.Generator) -> Drawn:
    """Twenty shops, thirty months, each shop wandering by itself."""

    def shops(r: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        return 3 * r.normal(size=20), np.cumsum(r.normal(size=(20, 38)), axis=1)

    def sold(
        r: np.random.Generator, u: np.ndarray, t: np.ndarray, shop: np.ndarray, walk: np.ndarray
    ) -> pd.DataFrame:
        month = [f"{2015 + k // 12}-{k % 12 + 1:02d}-01" for k in t]
        y = shop[u] + walk[u, t] + 0.1 * t + 0.5 * r.normal(size=len(t))
        promo = r.integers(0, 2, len(t))
        return pd.DataFrame({"shop": u, "month": month, "promo": promo, "y": y})

    u, t = np.repeat(np.arange(20), 38), np.tile(np.arange(38), 20)
    here = shops(r)

    def rows(r: np.random.Generator, places: np.ndarray) -> pd.DataFrame:
        return sold(r, u[places], t[places], *here)

    inside, ahead = np.flatnonzero(t < 30), np.flatnonzero(t >= 30)
    new = redrawn(lambda r: sold(r, u[inside], t[inside], *shops(r)), ("shop",))
    return Drawn(rows(r, inside), {"shop": new}, rows, inside, ahead)


#: Worlds of coin flips, in which nothing can be shown.
COINS = {
    "whole numbers, every row three times": made_by(thrice),
    "customers joined to four orders": made_by(customers),
    "noise in the fourth decimal": made_by(jittered),
    "every row three times": of_owners("every row three times"),
    "rare class copied four times": oversampled,
    "joined, coin labels": of_owners("joined, coin labels"),
    "near copies, coin labels": of_owners("near copies, coin labels"),
}
STRUCTURED = {
    "8 rows for each of 105 clients": made_by(clients),
    "hourly series": hourly,
    "owner in whole numbers": of_owners("owner in whole numbers"),
    "owner in strings, 1 + Poisson(4) rows": of_owners(
        "owner in strings, 1 + Poisson(4) rows", "client"
    ),
    "owners of 1 to 200 rows": of_owners("owners of 1 to 200 rows", "account"),
    "hidden owner": of_owners("hidden owner"),
    "hidden owner, classes": of_owners("hidden owner, classes"),
    "joined, numbers, 1 to 11 rows": of_owners(
        "joined, numbers, 1 to 11 rows", "x0", "x1", "x2", "x3"
    ),
    "12 clinics with fixed columns": of_owners("12 clinics with fixed columns"),
    "patients in clinics": nested,
    "panel of shops": panel,
    "linear drift": drift,
    "walk, dated, shuffled": wandering,
    "unix seconds, nearly sorted": unix,
    "order of the rows only": in_order,
    "classes whose boundary moves": moving_classes,
}
CLEAN_NAMES = (
    "smooth function",
    "coin labels",
    "coarse columns that repeat",
    "correlated whole numbers",
    "columns of one decimal",
    "file sorted by a feature",
    "dates sorted, no effect",
    "ages, curved",
    "year built, slope",
    "id without effect",
    "120 rows",
    "trend that a feature explains",
    "season that a feature explains",
    "timestamps at random, classes",
    "scores in percent",
    "counts",
)
CLEAN = {name: of_owners(name) for name in CLEAN_NAMES}
