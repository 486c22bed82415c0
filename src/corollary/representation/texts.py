"""Free text as numbers: hashed character n-grams on their first singular directions.

Character n-grams forgive spelling and need no dictionary; hashing keeps the size fixed; weights
by rarity and a truncated singular value decomposition keep what distinguishes the texts.
"""

from typing import Any

import numpy as np

from corollary.representation._kinds import Plan

#: Buckets of the hashed character n-grams of a text.
BUCKETS = 4096
#: Letters per n-gram of a text, shortest and longest, within words.
NGRAMS = (3, 4)


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


def learn_text(values: Any, dimensions: int, seed: int) -> Plan:
    """Learn the rarity of n-grams and the directions in which texts differ most."""
    from sklearn.utils.extmath import randomized_svd

    counts = _count_ngrams(values)
    n = counts.shape[0]
    documents = np.bincount(counts.indices, minlength=BUCKETS)
    rarity = np.log((1.0 + n) / (1.0 + documents)) + 1.0
    weighed = _weigh(counts, rarity)
    rank = max(1, min(dimensions, n - 1))
    _, _, directions = randomized_svd(weighed, n_components=rank, random_state=seed)
    return {
        "rarity": rarity.astype(np.float32),
        # Single precision: a projection needs no more, and the model file is half the size.
        "directions": directions.astype(np.float32),
        "features": [[f" text {j}", "joint"] for j in range(rank)],
    }


def apply_text(plan: Plan, values: Any) -> np.ndarray:
    """Project texts on the directions of a plan."""
    weighed = _weigh(_count_ngrams(values), plan["rarity"].astype(np.float64))
    return np.asarray(weighed @ plan["directions"].astype(np.float64).T)
