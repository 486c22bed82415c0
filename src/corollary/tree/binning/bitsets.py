"""Sets of categories as bits: what goes left at a categorical split."""

from typing import Any

import numpy as np

#: Categories a split can tell apart, and the words of 32 bits they take.
MAX_CATEGORIES, WORDS = 256, 8


def pack_categories(codes: Any) -> np.ndarray:
    """Turn category codes into the bitset of a split.

    Parameters
    ----------
    codes : array-like of int
        Codes from 0 to 255 that go left.

    Returns
    -------
    words : ndarray of uint32 of shape (8,)
        Bit ``c % 32`` of word ``c // 32`` says whether code c goes left.

    Examples
    --------
    >>> from corollary.tree import pack_categories
    >>> pack_categories([0, 2, 33])[:2]
    array([5, 2], dtype=uint32)
    """
    codes = np.asarray(codes, dtype=np.int64)
    if codes.size and not (codes.min() >= 0 and codes.max() < MAX_CATEGORIES):
        raise ValueError(
            f"codes must be whole numbers from 0 to {MAX_CATEGORIES - 1}. "
            f"Got {codes.min()} to {codes.max()} instead."
        )
    bits = np.zeros(MAX_CATEGORIES, dtype=np.uint8)
    bits[codes] = 1
    return np.packbits(bits, bitorder="little").view("<u4").astype(np.uint32)


def unpack_categories(words: np.ndarray) -> np.ndarray:
    """Return the category codes in a bitset.

    Parameters
    ----------
    words : ndarray of uint32 of shape (8,)
        A row of ``bitsets``.

    Returns
    -------
    codes : ndarray of int
        Codes that go left, in order.

    Examples
    --------
    >>> from corollary.tree import pack_categories, unpack_categories
    >>> unpack_categories(pack_categories([3, 200]))
    array([  3, 200])
    """
    octets = np.asarray(words).astype("<u4").view(np.uint8)
    return np.flatnonzero(np.unpackbits(octets, bitorder="little"))
