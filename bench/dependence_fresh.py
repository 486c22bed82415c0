"""Worlds of dependent and of clean rows that played no part in choosing any threshold.

They differ from those of ``bench/dependence_worlds.py`` in the sizes and the laws of owners, in
how owners nest and cross, in seasons and jumps of the level, and in how copies are mixed.
"""

import numpy as np
import pandas as pd
from tests.validation.dependence.world import days, shuffled, table

from bench.dependence_worlds import Drawn, autoregressive, made_by, of_owners, redrawn, stream

# -- owners ----------------------------------------------------------------------------------


def uneven(r: np.random.Generator) -> pd.DataFrame:
    """Sixty machines with 2 to 40 rows and effects with heavy tails; codes of letters."""
    sizes = np.exp(r.uniform(np.log(2), np.log(41), 60)).astype(int)
    g = np.repeat(np.arange(60), sizes)
    X, names = r.normal(size=(len(g), 3)), [f"M-{number:05d}" for number in r.permutation(90_000)]
    y = X[:, 0] - np.abs(X[:, 1]) + r.standard_t(4, size=60)[g] + 0.5 * r.normal(size=len(g))
    return shuffled(table(X, machine=np.array(names[:60])[g], y=y), r)


def graded(r: np.random.Generator) -> pd.DataFrame:
    """Three grades of the rows of 80 suppliers, 1 + geometric rows each."""
    g = np.repeat(np.arange(80), r.geometric(0.12, size=80))
    X, supplier = r.normal(size=(len(g), 4)), r.permutation(5000)[:80][g]
    level = X[:, 0] + 1.2 * r.normal(size=80)[g] + 0.4 * r.normal(size=len(g))
    grade = np.array(["low", "middle", "high"])[np.digitize(level, [-0.7, 0.7])]
    return shuffled(table(X, supplier=supplier, y=grade), r)


def pupils(r: np.random.Generator) -> Drawn:
    """Eight pupils in each of three classes of each of 30 schools."""
    s, c = np.repeat(np.arange(30), 24), np.repeat(np.arange(90), 8)
    here = 1.5 * r.normal(size=30)

    def marks(r: np.random.Generator, school: np.ndarray) -> pd.DataFrame:
        X = r.normal(size=(720, 3))
        y = X[:, 0] + school[s] + r.normal(size=90)[c] + 0.7 * r.normal(size=720)
        names = np.array([f"school {k}" for k in range(30)])[s]
        return table(X, school=names, room=c + 200, y=y)

    new_schools = redrawn(lambda r: marks(r, 1.5 * r.normal(size=30)), ("school",))
    return Drawn(
        marks(r, here),
        {"school": new_schools, "room": redrawn(lambda r: marks(r, here), ("room",))},
    )


# -- copies ----------------------------------------------------------------------------------


def mixed_copies(r: np.random.Generator) -> pd.DataFrame:
    """Repeat a quarter of the rows twice and a quarter six times; there is a signal."""
    X = r.normal(size=(300, 4)).round(3)
    d = table(X, y=(X[:, 0] + 0.5 * X[:, 1] + 1.0 * r.normal(size=300)).round(3))
    return shuffled(d.loc[np.repeat(np.arange(300), r.choice([1, 1, 2, 6], 300))], r)


def jittered_and_exact(r: np.random.Generator) -> pd.DataFrame:
    """Coin labels; every row twice as it is and twice with noise in the last digits."""
    X, y = r.normal(size=(220, 5)), r.permutation(["no", "yes"] * 110)
    copies = [table(X + 1e-3 * k * r.normal(size=X.shape), y=y) for k in (0, 0, 1, 1)]
    return shuffled(pd.concat(copies), r)


# -- time ------------------------------------------------------------------------------------


def weekly(r: np.random.Generator) -> Drawn:
    """Days with a week of their own and a level with a memory of a month."""
    level, week = autoregressive(r, 900, 0.97, 0.3), r.normal(size=7)

    def rows(r: np.random.Generator, t: np.ndarray) -> pd.DataFrame:
        X = r.normal(size=(len(t), 3))
        y = X[:, 0] + week[t % 7] + level[t] + 0.5 * r.normal(size=len(t))
        return table(X, weekday=t % 7, date=days(t), y=y)

    return stream(rows, 730, 170, r)


def jumps(r: np.random.Generator) -> Drawn:
    """Let the level jump about every 60 days, at moments that nothing announces."""
    step = np.cumsum(r.random(750) < 1 / 60)
    level = 1.5 * r.normal(size=step.max() + 1)[step]

    def rows(r: np.random.Generator, t: np.ndarray) -> pd.DataFrame:
        X = r.normal(size=(len(t), 3))
        return table(X, day=days(t), y=X[:, 0] + level[t] + 0.5 * r.normal(size=len(t)))

    return stream(rows, 600, 150, r, mixed=True)


def turning(r: np.random.Generator) -> Drawn:
    """Two classes whose boundary turns as a walk does; unix seconds."""
    angle = np.cumsum(0.08 * r.normal(size=875))

    def rows(r: np.random.Generator, t: np.ndarray) -> pd.DataFrame:
        X = r.normal(size=(len(t), 3))
        side = X[:, 0] * np.cos(angle[t]) + X[:, 1] * np.sin(angle[t])
        y = np.where(side + 0.3 * r.normal(size=len(t)) > 0, "a", "b")
        return table(X, stamp=1_650_000_000 + 86_400 * t, y=y)

    return stream(rows, 700, 175, r)


# -- clean -----------------------------------------------------------------------------------


def weekdays(r: np.random.Generator) -> pd.DataFrame:
    """Dates whose weekday matters and is a column."""
    t, X = np.sort(r.integers(0, 500, 600)), r.normal(size=(600, 3))
    y = X[:, 0] + np.array([0, 1, 1, 0, -1, 2, -2])[t % 7] + 0.7 * r.normal(size=600)
    return table(X, date=days(t), weekday=np.array(list("mtwdfsu"))[t % 7], y=y)


def likert(r: np.random.Generator) -> pd.DataFrame:
    """Answers from 1 to 5 to nine questions that share a mood, and a class."""
    mood = r.normal(size=500)
    X = np.clip(np.round(3 + mood[:, None] + 0.8 * r.normal(size=(500, 9))), 1, 5).astype(int)
    return table(X, y=np.where(mood + 0.7 * r.normal(size=500) > 0, "stays", "leaves"))


def useless_key(r: np.random.Generator) -> pd.DataFrame:
    """Give 1 to 5 rows each a key in letters that means nothing."""
    g = np.repeat(np.arange(220), r.integers(1, 6, 220))
    X = r.normal(size=(len(g), 4))
    key = np.array([f"K{number:04d}" for number in r.permutation(9000)[:220]])[g]
    return shuffled(table(X, key=key, y=X[:, 0] * X[:, 1] + 0.6 * r.normal(size=len(g))), r)


def prices(r: np.random.Generator) -> pd.DataFrame:
    """Areas, rooms, kinds and prices in round thousands."""
    area, rooms = r.gamma(6, 15, 650).round(), r.integers(1, 7, 650)
    kind = r.choice(["flat", "house", "loft", "barn"], 650, p=[0.5, 0.3, 0.15, 0.05])
    y = area * 2 + 15 * rooms + 40 * (kind == "house") + 30 * r.standard_t(5, 650)
    return pd.DataFrame({"area": area, "rooms": rooms, "kind": kind, "y": y.round()})


FRESH = {
    "machines with 2 to 40 rows": made_by(uneven, "machine"),
    "suppliers, three grades": made_by(graded, "supplier"),
    "pairs of twins": of_owners("pairs of twins", "family"),
    "pupils in rooms in schools": pupils,
    "copies of some rows, a signal": made_by(mixed_copies),
    "exact and near copies": made_by(jittered_and_exact),
    "weeks and a level with memory": weekly,
    "level that jumps": jumps,
    "classes whose boundary wanders": turning,
}
FRESH_CLEAN = {
    "weekdays as a column": made_by(weekdays),
    "answers from 1 to 5": made_by(likert),
    "key without effect": made_by(useless_key),
    "prices in round numbers": made_by(prices),
}
