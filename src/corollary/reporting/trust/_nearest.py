"""The training rows that a test row resembles most, and how far away they are.

Distances are those of the encoded features: quantities in units of their spread, categories one
apart.
"""

import numpy as np

from corollary.reporting._records import Neighbour, TestRows, WorstRow
from corollary.reporting.table._split import Split
from corollary.reporting.table._target import Target
from corollary.representation import ColumnTable

#: Rows that are looked at, neighbours of each, and test rows that say what distance is usual.
WORST, NEIGHBOURS, USUAL_ROWS = 20, 3, 300
#: A row farther away than this share of test rows is far from all that was learnt.
FAR = 0.95


def worst_rows(test: TestRows, task: str) -> np.ndarray:
    """Order the test rows by how wrong they were predicted."""
    if task == "regression":
        size = np.abs(np.asarray(test.truth) - np.asarray(test.prediction))
    else:
        size = np.asarray(test.loss, dtype=float)
    return np.argsort(-size, kind="stable")[:WORST]


def nearest_rows(
    rows: np.ndarray, training: np.ndarray, k: int = NEIGHBOURS
) -> tuple[np.ndarray, np.ndarray]:
    """Find the nearest training rows."""
    k = min(k, len(training))
    squares = np.einsum("ij,ij->i", training, training)
    # Products rank the rows fast but not to the last digit: a few more are measured exactly.
    spare = min(len(training), k + 5)
    found, distance = np.empty((len(rows), k), dtype=np.int64), np.empty((len(rows), k))
    for i, row in enumerate(rows):
        rough = squares - 2.0 * (training @ row)
        few = np.sort(np.argpartition(rough, spare - 1)[:spare])
        exact = np.sqrt(((training[few] - row) ** 2).sum(axis=1))
        order = np.argsort(exact, kind="stable")[:k]
        found[i], distance[i] = few[order], exact[order]
    return found, distance


def _without_themselves(
    features: np.ndarray, rows: np.ndarray, usual: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Find the nearest of all other rows, and the distance beyond which a row is far."""
    found, distance = nearest_rows(features, features, NEIGHBOURS + 1)
    others = found != np.arange(len(features))[:, None]
    others[others.all(axis=1), -1] = False  # copies of it stood before it
    shape = (len(features), found.shape[1] - 1)
    found, distance = found[others].reshape(shape), distance[others].reshape(shape)
    return float(np.quantile(distance[usual, 0], FAR)), found[rows], distance[rows]


def describe_worst(
    test: TestRows,
    goal: Target,
    features: np.ndarray,
    training: np.ndarray,
    split: Split,
    table: ColumnTable,
) -> tuple[WorstRow, ...]:
    """Set each of the worst test rows beside the training rows it resembles most."""
    rows, train_rows = worst_rows(test, goal.task), split.train
    usual = np.linspace(0, len(features) - 1, min(len(features), USUAL_ROWS)).astype(int)
    if split.in_turn:  # a row resembles itself most, and was predicted without itself
        limit, found, distance = _without_themselves(features, rows, usual)
    else:
        limit = float(np.quantile(nearest_rows(features[usual], training, 1)[1], FAR))
        found, distance = nearest_rows(features[rows], training)
    taken = np.unique(found)
    raw = table.take(train_rows[taken])
    shown = {column.name: column.values.tolist() for column in raw.columns}
    place = {int(row): i for i, row in enumerate(taken)}
    worst = []
    for row, mine, far in zip(rows, found, distance):
        neighbours = tuple(
            Neighbour(
                position=int(goal.rows[train_rows[j]]),
                distance=float(d),
                truth=goal.values[train_rows[j]].item(),
                values={name: column[place[int(j)]] for name, column in shown.items()},
            )
            for j, d in zip(mine, far)
        )
        worst.append(WorstRow(int(row), neighbours, far=bool(far[0] > limit)))
    return tuple(worst)
