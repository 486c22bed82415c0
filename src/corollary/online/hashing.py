"""Strings and numbers of a table as sparse rows of fixed width, without a dictionary.

Every pair (column, string) is hashed to a place and a sign, every numeric column to a place. There
is nothing to learn, so that a stream can start at once, new strings are no problem, and the same
table gives the same rows on every machine. Collisions are the price: the sign makes them cancel on
average.
"""

from dataclasses import KW_ONLY
from numbers import Integral
from typing import Annotated, Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.utils.validation import validate_data

from corollary.core.compat import Interval, fit_context, validate_parameters
from corollary.core.estimator import Estimator, fitted
from corollary.core.frames import as_frame
from corollary.core.schema import Optional, Size, Strings


def hash_strings(values: Any, *, salt: int = 0) -> np.ndarray:
    """Hash strings to 64 bits, the same on every machine.

    Parameters
    ----------
    values : array-like of str, or an Arrow array of strings
        Strings; missing ones (None) have hash 0.
    salt : int, default=0
        Another number gives another hash function.

    Returns
    -------
    hashes : ndarray of uint64
        One for each.

    Examples
    --------
    >>> from corollary.online import hash_strings
    >>> hash_strings(["red", "green", "red"]) % 1000
    array([247, 738, 247], dtype=uint64)
    """
    import pyarrow as pa

    from corollary.online._loops import hashing

    if not isinstance(values, pa.Array):
        values = pa.array(values, type=pa.large_string(), from_pandas=True)
    values = values.cast(pa.large_string())
    hashes = np.empty(len(values), dtype=np.uint64)
    if len(values):
        _, offsets, data = values.buffers()
        places = np.frombuffer(offsets, dtype=np.int64)[
            values.offset : values.offset + len(values) + 1
        ]
        text = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, dtype=np.uint8)
        hashing.hash_strings(text, places, np.uint64(salt % 2**64), hashes)
        if values.null_count:
            hashes[values.is_null().to_numpy(zero_copy_only=False)] = 0
    return hashes


class HashingEncoder(TransformerMixin, Estimator):
    """Turn a table with strings into sparse rows by hashing.

    A string in a column becomes a one (or minus one) at a place given by the hash of both; a
    number stays a number, at its column's place. Missing strings become nothing.

    Parameters
    ----------
    n_features : int, default=262144
        Width of the rows; a power of two is natural.
    alternate_sign : bool, default=True
        Whether strings count with a sign given by the hash, so that collisions cancel on average
        and inner products are unbiased.


    See Also
    --------
    OnlineClassifier : Learns from the rows, chunk by chunk.
    corollary.representation.TableEncoder : Learns what strings there are.

    Notes
    -----
    Stateless: ``fit`` only checks, and ``transform`` may be called at once. Strings are hashed in
    compiled code from Arrow's buffers, without a Python object for each.

    Examples
    --------
    >>> import pandas as pd
    >>> from corollary.online import HashingEncoder
    >>> table = pd.DataFrame({"colour": ["red", "blue", None], "size": [1.5, 2.0, 0.5]})
    >>> rows = HashingEncoder(n_features=16).transform(table)
    >>> rows.shape, rows.nnz
    ((3, 16), 5)
    """

    _: KW_ONLY
    n_features: Annotated[int, Interval(Integral, 1, 2**31 - 1, closed="both")] = 2**18
    alternate_sign: bool = True

    n_features_in_: int = fitted(Size("d"))
    feature_names_in_: np.ndarray = fitted(Optional(Strings("d")))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters and remember the width of the table.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_columns)
            A table of strings and numbers.
        y : object, default=None
            Ignored.

        Returns
        -------
        self : HashingEncoder
            Itself.
        """
        self._columns(X, reset=True)
        return self

    def transform(self, X: Any) -> sparse.csr_matrix:
        """Hash a table.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_columns)
            A table of strings and numbers.

        Returns
        -------
        rows : CSR matrix of shape (n_samples, n_features)
            At most one entry for each column of the table.
        """
        validate_parameters(self)  # which `fit` may never have seen
        columns, names = self._columns(X, reset=False)
        salts = hash_strings([str(name) for name in names])
        n = len(columns[0])
        places = np.empty((n, len(columns)), dtype=np.int64)
        values = np.empty((n, len(columns)))
        for j, (column, name) in enumerate(zip(columns, names)):
            places[:, j], values[:, j] = self._hashed(column, name, int(salts[j]))
        index = np.int32 if places.size < 2**31 else np.int64
        rows = sparse.csr_matrix(
            (
                values.ravel(),
                places.ravel().astype(index),
                np.arange(n + 1, dtype=index) * len(columns),
            ),
            shape=(n, self.n_features),
        )
        rows.sum_duplicates()
        rows.eliminate_zeros()
        return rows

    def _hashed(self, column: Any, name: Any, salt: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the places and the values of one column."""
        import pyarrow as pa

        kind = column.type
        if pa.types.is_dictionary(kind):
            # Each category is hashed once.
            places, values = self._hashed(column.dictionary, name, salt)
            codes = column.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
            missing = column.is_null().to_numpy(zero_copy_only=False)
            if not len(places):
                return np.zeros(len(column), dtype=np.int64), np.zeros(len(column))
            return places[codes], np.where(missing, 0.0, values[codes])
        if pa.types.is_string(kind) or pa.types.is_large_string(kind) or _is_view(kind):
            hashes = hash_strings(column, salt=salt)
            places = (hashes % np.uint64(self.n_features)).astype(np.int64)
            # The sign comes from the highest bit, the place from the lower ones.
            signs = 1.0 - 2.0 * (hashes >> np.uint64(63)).astype(np.float64)
            values = signs if self.alternate_sign else np.ones(len(places))
            missing = column.is_null().to_numpy(zero_copy_only=False)
            return places, np.where(missing, 0.0, values)
        if pa.types.is_null(kind):
            return np.zeros(len(column), dtype=np.int64), np.zeros(len(column))
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
            # Whole numbers beyond 2^53 are rounded, as everywhere else.
            values = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
            if not np.isfinite(values).all():
                raise ValueError(
                    f"Input X contains NaN or infinity in column {name!r}. Fill or drop such "
                    "rows first; only strings may be missing."
                )
            return np.full(len(column), salt % self.n_features, dtype=np.int64), values
        raise ValueError(
            f"HashingEncoder takes strings and numbers. Column {name!r} has type {kind}; convert "
            "it to one of them."
        )

    def _columns(self, X: Any, *, reset: bool) -> tuple[list[Any], list[Any]]:
        """Return the columns of a table as Arrow arrays, and their names."""
        frame = as_frame(X)
        if frame is not None:
            if reset or hasattr(self, "n_features_in_"):
                validate_data(self, X, skip_check_array=True, reset=reset)
            names = list(frame.columns)
            if not names or not len(frame):
                raise ValueError(
                    "HashingEncoder needs at least one row and one column. Got shape "
                    f"{frame.shape}."
                )
            return [_arrow(frame[:, j], name) for j, name in enumerate(names)], names
        numeric = np.asarray(X).dtype.kind in "biufc" if not sparse.issparse(X) else True
        finite = True if numeric else "allow-nan"
        X = validate_data(self, X, dtype=None, ensure_all_finite=finite, reset=reset)
        names = list(range(X.shape[1]))
        return [_arrow(X[:, j], j) for j in names], names


def _arrow(column: Any, name: Any) -> Any:
    import pyarrow as pa

    try:
        is_array = isinstance(column, np.ndarray)
        column = pa.array(column, from_pandas=True) if is_array else column.to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError) as error:
        raise ValueError(
            f"HashingEncoder takes columns of strings or of numbers, not of both. Column {name!r} "
            f"cannot be read: {error}"
        ) from None
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _is_view(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string_view(kind))
