"""Free text as numbers: hashed character n-grams on their first singular directions.

Character n-grams forgive spelling and need no dictionary; hashing keeps the size fixed; weights
by rarity and a truncated singular value decomposition keep what distinguishes the texts.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from corollary.core.schema import Array, Schema
from corollary.representation.table.column import Column
from corollary.representation.table.plan import ColumnPlan, _common_fields

#: Buckets of the hashed character n-grams of a text.
BUCKETS = 4096
#: Letters per n-gram of a text, shortest and longest, within words.
NGRAMS = (3, 4)


@dataclass(frozen=True, eq=False)
class TextPlan(ColumnPlan):
    """The plan of a column of free text.

    Parameters
    ----------
    name : str
        The column.
    kind : {"text"}
        What it holds.
    notes : list of str
        What had to be decided about it.
    rarity : ndarray of shape (4096,)
        Weight of each bucket of character n-grams.
    directions : ndarray of shape (k, 4096)
        What texts are projected on.

    Examples
    --------
    >>> import pandas as pd
    >>> from corollary.representation import TableEncoder
    >>> texts = pd.DataFrame({"note": [f"this is remark number {i}" for i in range(30)]})
    >>> TableEncoder(text_dimensions=2).fit(texts).plans_[0].features
    [(' text 0', 'joint'), (' text 1', 'joint')]
    """

    rarity: np.ndarray
    directions: np.ndarray

    _schema = Schema(
        **_common_fields("text"), rarity=Array("f", BUCKETS), directions=Array("f", "k", BUCKETS)
    )

    @classmethod
    def learn(cls, column: Column, dimensions: int, seed: int) -> Self:
        """Learn the rarity of n-grams and the directions in which texts differ most."""
        from sklearn.utils.extmath import randomized_svd

        counts = _count_ngrams(column.values)
        n = counts.shape[0]
        documents = np.bincount(counts.indices, minlength=BUCKETS)
        rarity = np.log((1.0 + n) / (1.0 + documents)) + 1.0
        weighed = _weigh(counts, rarity)
        rank = max(1, min(dimensions, n - 1))
        _, _, directions = randomized_svd(weighed, n_components=rank, random_state=seed)
        # Single precision: a projection needs no more, and the model file is half the size.
        return cls(
            column.name,
            column.content.kind,
            column.content.notes,
            rarity.astype(np.float32),
            directions.astype(np.float32),
        )

    @property
    def features(self) -> list[tuple[str, str]]:
        """One feature for each direction."""
        return [(f" text {j}", "joint") for j in range(len(self.directions))]

    def apply(self, column: Column, *, fill: bool = True) -> np.ndarray:
        """Project texts on the directions."""
        weighed = _weigh(_count_ngrams(column.values), self.rarity.astype(np.float64))
        return np.asarray(weighed @ self.directions.astype(np.float64).T)


def _count_ngrams(values: Any) -> Any:
    from sklearn.feature_extraction.text import HashingVectorizer

    hashing = HashingVectorizer(
        analyzer="char_wb", ngram_range=NGRAMS, n_features=BUCKETS, alternate_sign=False, norm=None
    )
    counts = hashing.transform(
        ["" if missing else str(v) for v, missing in zip(values, values.isna())]
    )
    counts.data = 1.0 + np.log(counts.data)
    return counts.tocsr()


def _weigh(counts: Any, rarity: np.ndarray) -> Any:
    from sklearn.preprocessing import normalize

    return normalize(counts.multiply(rarity).tocsr())
