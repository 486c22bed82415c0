"""Kernels on strings: how many pieces two strings share.

Inputs are sequences of ``str``. :class:`Spectrum` counts contiguous pieces, :class:`Subsequence`
also pieces with gaps. ``kernel.normalised()`` takes the length of the strings out; strings that
are too short to have a piece have no features, and their normalised kernel is 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from corollary.core.schema import Integer, Number, Schema
from corollary.kernels import _arrays as arrays
from corollary.kernels._parametrised import check_whole
from corollary.kernels.base import Kernel


def _check_strings(who: str, X: Any) -> list[str]:
    if isinstance(X, str):
        raise TypeError(f"{who} needs a sequence of strings. Got one string; put it in a list.")
    strings = list(X)
    for s in strings:
        if not isinstance(s, str):
            raise TypeError(f"{who} needs a sequence of strings. Got an item {s!r}.")
    return [str(s) for s in strings]


class _OnStrings(Kernel):
    def _single(self, x: Any) -> Any:
        return [x]


@dataclass(frozen=True, eq=False)
class Spectrum(_OnStrings):
    """Spectrum kernel: the inner product of counts of all pieces of a length.

    ``k(s, t) = sum_u count_u(s) count_u(t)`` over all strings u of the given length; occurrences
    may overlap.

    Parameters
    ----------
    length : int, default=3
        Length of the pieces; 1 gives the bag of letters.

    Notes
    -----
    Only pieces that occur are stored, so that the size of the alphabet does not matter.
    ``Spectrum(k).normalised()`` is the cosine of the counts.

    Examples
    --------
    >>> from corollary.kernels import Spectrum
    >>> Spectrum(length=2).gram(["banana", "ananas"])
    array([[9., 8.],
           [8., 9.]])
    """

    length: int = 3
    _schema = Schema(length=Integer(1))

    def __post_init__(self) -> None:
        check_whole("Spectrum", "length", self.length, 1)

    def _prepare(self, X: Any, Y: Any) -> tuple[Any, Any]:
        X = _check_strings("Spectrum", X)
        vocabulary: dict[str, int] = {}
        P = self._counts(X, vocabulary)
        if Y is None:
            P = _widened(P, len(vocabulary))
            return P, P
        Q = self._counts(_check_strings("Spectrum", Y), vocabulary)
        return _widened(P, len(vocabulary)), _widened(Q, len(vocabulary))

    def _counts(self, strings: Sequence[str], vocabulary: dict[str, int]) -> sparse.csr_matrix:
        k = self.length
        columns: list[int] = []
        starts = [0]
        for s in strings:
            columns.extend(
                vocabulary.setdefault(s[i : i + k], len(vocabulary)) for i in range(len(s) - k + 1)
            )
            starts.append(len(columns))
        counts = sparse.csr_matrix(
            (np.ones(len(columns)), columns, starts), shape=(len(strings), max(1, len(vocabulary)))
        )
        counts.sum_duplicates()
        return counts

    def _evaluate(self, P: Any, Q: Any, same: bool) -> Any:
        return arrays.dot(P, Q)

    def _diag(self, P: Any) -> Any:
        return arrays.squares(P)


def _widened(counts: sparse.csr_matrix, width: int) -> sparse.csr_matrix:
    return sparse.csr_matrix(
        (counts.data, counts.indices, counts.indptr), shape=(counts.shape[0], max(1, width))
    )


@dataclass(frozen=True, eq=False)
class Subsequence(_OnStrings):
    """Gap-weighted subsequence kernel.

    The feature of a string u of the given length is the sum of ``decay ** span`` over all ways to
    pick u out of the string in order, where the span reaches from the first picked letter to the
    last.

    Parameters
    ----------
    length : int, default=3
        Length of the subsequences.
    decay : float, default=0.5
        In (0, 1]; 1 counts all subsequences alike, small values forget those with gaps.

    References
    ----------
    .. [1] H. Lodhi, C. Saunders, J. Shawe-Taylor, N. Cristianini and C. Watkins, "Text
       classification using string kernels", Journal of Machine Learning Research 2, 2002.

    Examples
    --------
    >>> from corollary.kernels import Subsequence
    >>> kernel = Subsequence(length=2, decay=0.5)
    >>> kernel("cat", "cart")  # ca, ct and at: 0.5^4 + 0.5^7 + 0.5^5
    0.1015625
    """

    length: int = 3
    decay: float = 0.5
    _schema = Schema(length=Integer(1), decay=Number(0, 1))

    def __post_init__(self) -> None:
        check_whole("Subsequence", "length", self.length, 1)
        self._settle("decay")
        if self.decay > 1:
            raise ValueError(
                "The 'decay' parameter of Subsequence must be a float in the range (0.0, 1.0]. "
                f"Got {self.decay!r} instead."
            )

    def _prepare(self, X: Any, Y: Any) -> tuple[Any, Any]:
        X = _check_strings("Subsequence", X)
        Y = X if Y is None else _check_strings("Subsequence", Y)
        return arrays.both(_codes, X, Y)

    def _evaluate(self, P: Any, Q: Any, same: bool) -> Any:
        from corollary.kernels._loops.subsequence import all_pairs

        return all_pairs(*P, *Q, self.length, self.decay, same)

    def _diag(self, P: Any) -> Any:
        from corollary.kernels._loops.subsequence import same_pairs

        return same_pairs(*P, self.length, self.decay)


def _codes(strings: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the letters' code points, padded, and the lengths."""
    lengths = np.array([len(s) for s in strings], dtype=np.int64)
    codes = np.zeros((len(strings), max(1, lengths.max(initial=0))), dtype=np.int64)
    for row, s in zip(codes, strings):
        row[: len(s)] = [ord(letter) for letter in s]
    return codes, lengths
