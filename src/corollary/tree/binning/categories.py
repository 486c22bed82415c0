"""Categorical columns as whole numbers: what a tree splits into two sets.

A categorical column of a data frame or an array is replaced by the positions of its values among
those seen in training. Missing and unknown values become NaN and go where missing values go.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from corollary.core.compat import is_missing
from corollary.core.frames import as_frame, set_columns
from corollary.core.schema import Array, List, Schema, Strings
from corollary.tree.binning._columns import MAX_BINS

_FROM_DTYPE = "from_dtype"


def _distinct(categories: Any) -> str | None:
    if len(categories.columns) != len(categories.values):
        return "categories and their columns do not fit together"
    if len(set(categories.columns.tolist())) != len(categories.columns):
        return "a categorical column appears twice"
    if any(len(v) > MAX_BINS for v in categories.values):
        return "a column has too many categories"
    return None


@dataclass(frozen=True, eq=False)
class Categories:
    """The values of the categorical columns of a table.

    Parameters
    ----------
    columns : ndarray of int64 of shape (n_categorical,)
        Positions of the categorical columns.
    values : list of ndarray
        The values of each, strings or numbers, in the order of their codes; at most 255.

    Examples
    --------
    >>> import pandas as pd
    >>> from corollary.tree import Categories
    >>> X = pd.DataFrame({"size": [1.0, 2.0, 3.0], "colour": ["red", "blue", "red"]})
    >>> categories = Categories.learn(X)
    >>> categories.values
    [array(['blue', 'red'], dtype=object)]
    >>> categories.encode(X)
       size  colour
    0   1.0     1.0
    1   2.0     0.0
    2   3.0     1.0
    """

    columns: np.ndarray
    values: list[np.ndarray]

    _schema: ClassVar[Schema] = Schema(
        _distinct,
        columns=Array("i", "*", low=0),
        values=List(Strings("*") | Array("f", "*")),
    )

    @classmethod
    def learn(
        cls, X: Any, categorical_features: Any = "from_dtype", *, max_categories: int = 255
    ) -> Self:
        """Collect the values of the categorical columns.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Training inputs.
        categorical_features : "from_dtype", array-like of bool, int or str, or None, \
default="from_dtype"
            Which columns are categorical: those of a data frame whose type is categorical or
            text, or a mask, positions, or names.
        max_categories : int, default=255
            Of more values than this, the most frequent are kept; the others count as missing.

        Returns
        -------
        categories : Categories
            Their values in sorted order.
        """
        columns = categorical_columns(X, categorical_features)
        if not len(columns):
            return cls(columns, [])
        table = _table(X)
        return cls(columns, [_values(table[:, int(j)], max_categories) for j in columns])

    def mask(self, n_features: int) -> np.ndarray:
        """Return which of the columns are categorical.

        Parameters
        ----------
        n_features : int
            Columns of the table.

        Returns
        -------
        mask : ndarray of bool of shape (n_features,)
            True for a categorical column.
        """
        mask = np.zeros(n_features, dtype=bool)
        mask[self.columns] = True
        return mask

    def encode(self, X: Any) -> Any:
        """Replace categories by their codes.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Inputs with the columns of training.

        Returns
        -------
        X : array-like or data frame
            The same kind of table with numbers in the categorical columns, NaN for values that
            are missing or were not seen in training; X itself if no column is categorical.
        """
        if not len(self.columns):
            return X
        codes = {}
        table = _table(X)
        width = table.shape[1]
        for j, values in zip(self.columns.tolist(), self.values):
            if j >= width:
                raise ValueError(
                    f"Column {j} is categorical, but X has {width} columns. Give X the columns of "
                    "training."
                )
            codes[j] = _codes(table[:, j], values)
        if not isinstance(table, np.ndarray):
            return set_columns(table, codes)
        encoded = table.astype(object if table.dtype.kind in "OUS" else np.float64)
        for j, values in codes.items():
            encoded[:, j] = values
        return encoded


def _table(X: Any) -> Any:
    """Return an array or a wrapped data frame, whose columns are ``table[:, j]``."""
    frame = as_frame(X)
    return np.asarray(X) if frame is None else frame


def _items(column: Any) -> list[Any]:
    return column.tolist() if isinstance(column, np.ndarray) else column.to_list()


def categorical_columns(X: Any, categorical_features: Any) -> np.ndarray:
    """Return which columns of a table hold categories.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The table.
    categorical_features : array-like, "from_dtype" or None
        A mask, positions or names of columns; "from_dtype" for the columns of a data frame whose
        type says so; None for none.

    Returns
    -------
    positions : ndarray of int64
        Ascending.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.tree import categorical_columns
    >>> categorical_columns(np.zeros((2, 3)), [True, False, True])
    array([0, 2])
    """
    none = np.empty(0, dtype=np.int64)
    if categorical_features is None:
        return none
    frame = as_frame(X)
    names = None if frame is None else [str(name) for name in frame.columns]
    if isinstance(categorical_features, str):
        if categorical_features != _FROM_DTYPE:
            raise ValueError(
                "The 'categorical_features' parameter must be 'from_dtype', a mask, positions or "
                f"names of columns. Got {categorical_features!r} instead."
            )
        if names is None:
            return none
        columns = [j for j in range(len(names)) if _is_categorical(frame[:, j])]
        return np.array(columns, dtype=np.int64)
    chosen = np.asarray(categorical_features)
    if chosen.size == 0:
        return none
    if hasattr(X, "indptr") and (chosen.dtype != bool or chosen.any()):
        raise ValueError(
            "Columns of a sparse matrix hold numbers. Give categorical features as an array or a "
            "data frame, or set categorical_features=None."
        )
    if chosen.dtype.kind in "biu":
        return _numbered_columns(X.shape[1] if hasattr(X, "shape") else np.shape(X)[1], chosen)
    return _named_columns(names, [str(name) for name in chosen.ravel()])


def _numbered_columns(width: int, chosen: np.ndarray) -> np.ndarray:
    """Return the positions of columns given by a mask or by positions."""
    if chosen.dtype == bool:
        if chosen.shape != (width,):
            raise ValueError(
                f"A mask of categorical features must have one entry for each of {width} columns. "
                f"Got shape {chosen.shape}."
            )
        return np.flatnonzero(chosen).astype(np.int64)
    if chosen.min() < 0 or chosen.max() >= width:
        raise ValueError(
            f"Positions of categorical features must lie in 0 to {width - 1}. Got "
            f"{sorted(chosen.tolist())}."
        )
    return np.unique(chosen).astype(np.int64)


def _named_columns(names: list[str] | None, chosen: list[str]) -> np.ndarray:
    """Return the positions of columns that are named."""
    unknown = [name for name in chosen if names is None or name not in names]
    if unknown:
        raise ValueError(
            f"Categorical feature {unknown[0]!r} is not a column of X. "
            + ("X has no column names; give positions." if names is None else f"It has {names}.")
        )
    assert names is not None
    return np.unique([names.index(name) for name in chosen]).astype(np.int64)


def _is_categorical(column: Any) -> bool:
    import narwhals.stable.v2 as nw

    if column.dtype in (nw.Categorical, nw.Enum):
        return True
    # Objects of pandas count as strings after a look at the first rows; other rows may differ.
    return column.dtype == nw.String and all(
        isinstance(v, str) for v in column.to_list() if not is_missing(v)
    )


def _plain(value: Any) -> Any:
    """Return a number as a float and anything else as text."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float | np.number | np.bool_):
        return float(value)
    return str(value)


def _values(column: Any, max_categories: int) -> np.ndarray:
    counts = Counter(_plain(v) for v in _items(column) if not is_missing(v))
    kept = list(counts)
    if len(kept) > max_categories:
        kept = [v for v, _ in sorted(counts.items(), key=lambda c: (-c[1], str(c[0])))]
        kept = kept[:max_categories]
    if all(isinstance(v, float) for v in kept):
        return np.array(sorted(kept), dtype=np.float64)
    return np.array(sorted(str(v) for v in kept), dtype=object)


def _codes(column: Any, values: np.ndarray) -> np.ndarray:
    text = values.dtype.kind in "OU"
    code = {str(v) if text else float(v): float(i) for i, v in enumerate(values)}
    plain = (np.nan if is_missing(v) else _plain(v) for v in _items(column))
    return np.array(
        [code.get(str(v) if text and v == v else v, np.nan) for v in plain], dtype=np.float64
    )
