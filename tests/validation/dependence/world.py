"""What a world of rows is: a way to make tables, and what is true of them.

Each world makes a data frame with a column ``y`` from a generator. ``kinds`` are the units of which
one must be called; ``columns`` narrows it to units that are said by one of them. Worlds without
kinds are clean: any call is false, or any of the ``wrong`` kinds if some are named. Worlds marked
``weak`` are at or below what is worth a question; those marked ``fresh`` played no part in setting
the thresholds.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd


class World(NamedTuple):
    """A way to make tables, and what is true of them."""

    make: Callable[[np.random.Generator], pd.DataFrame]
    kinds: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    weak: bool = False
    fresh: bool = False
    wrong: tuple[str, ...] = ()


WORLDS: dict[str, World] = {}


def world(name, *kinds, columns=(), weak=False, fresh=False, wrong=()):
    """Register a world under a name."""

    def register(make):
        WORLDS[name] = World(make, kinds, columns, weak, fresh, wrong)
        return make

    return register


def table(X, **more):
    columns = {f"x{j}": column for j, column in enumerate(np.asarray(X).T)}
    return pd.DataFrame({**columns, **more})


def shuffled(frame, r):
    return frame.iloc[r.permutation(len(frame))].reset_index(drop=True)


def signal(X):
    return X[:, 0] + np.sin(2 * X[:, 1]) + X[:, 0] * X[:, 2] / 2


def days(t):
    return pd.Timestamp("2020-01-01") + pd.to_timedelta(np.asarray(t), unit="D")
