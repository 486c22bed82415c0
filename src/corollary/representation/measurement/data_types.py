"""Data types by what is measured: one object, two, pairs of the same kind, or more.

A measurement is a map from tuples of objects to values, ``O_1 x ... x O_R -> K``:

========== ============================== ==========================================
type       objects                        example
========== ============================== ==========================================
vectorial  O                              rows of a table of features
dyadic     O_1 x O_2                      words in documents (a contingency table)
pairwise   O x O                          similarities, distances, a graph's weights
polyadic   O_1 x ... x O_R, R >= 3        users rating items at times
========== ============================== ==========================================
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from corollary.representation.geometry.axioms import SATISFIED, AxiomCheck


class DataType(StrEnum):
    """Type of data by the arity of the measurement.

    Examples
    --------
    >>> from corollary.representation import DataType
    >>> DataType("pairwise") is DataType.PAIRWISE
    True
    """

    VECTORIAL = "vectorial"
    DYADIC = "dyadic"
    PAIRWISE = "pairwise"
    POLYADIC = "polyadic"


@dataclass(frozen=True, eq=False)
class Measurement:
    """Measured values together with the sets of objects they belong to.

    Parameters
    ----------
    values : array-like
        One axis for each set of objects and, if a measurement is a vector, one more at the end.
    objects : sequence of str
        Name of the set of objects behind each axis; the same name twice means the same objects.
    derived : bool, default=False
        Whether the values were computed from others instead of being measured directly.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.representation import Measurement
    >>> Measurement(np.ones((3, 3)), ["cities", "cities"]).data_type
    <DataType.PAIRWISE: 'pairwise'>
    >>> Measurement(np.ones((3, 3)), ["words", "documents"]).data_type
    <DataType.DYADIC: 'dyadic'>
    """

    values: Any
    objects: Sequence[str]
    derived: bool = False

    def __post_init__(self) -> None:
        values = np.asarray(self.values)
        objects = (self.objects,) if isinstance(self.objects, str) else tuple(self.objects)
        if not objects or values.ndim not in (len(objects), len(objects) + 1):
            raise ValueError(
                f"Measurement needs one axis for each of the {len(objects)} sets of objects, and "
                f"at most one more for the values. Got an array with {values.ndim} axes."
            )
        sizes: dict[str, int] = {}
        for name, size in zip(objects, values.shape):
            if sizes.setdefault(name, size) != size:
                raise ValueError(
                    f"The set {name!r} has {sizes[name]} objects on one axis and {size} on "
                    "another. Give different sets different names."
                )
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "objects", objects)

    @property
    def data_type(self) -> DataType:
        """The type by arity."""
        return classify_data_type(self.objects)

    @property
    def n_values(self) -> int:
        """Length of one measured value; 1 for numbers."""
        has_axis = self.values.ndim > len(self.objects)
        return int(self.values.shape[-1]) if has_axis else 1


def classify_data_type(objects: Sequence[str]) -> DataType:
    """Return the data type of a measurement on the given sets of objects.

    Parameters
    ----------
    objects : sequence of str
        Names of the sets; the same name twice means the same objects.

    Returns
    -------
    data_type : DataType
        The type.

    Examples
    --------
    >>> from corollary.representation import classify_data_type
    >>> classify_data_type(["users", "items", "times"])
    <DataType.POLYADIC: 'polyadic'>
    """
    if len(objects) == 0:
        raise ValueError("classify_data_type needs at least one set of objects. Got none.")
    if len(objects) == 1:
        return DataType.VECTORIAL
    if len(objects) == 2:
        return DataType.PAIRWISE if objects[0] == objects[1] else DataType.DYADIC
    return DataType.POLYADIC


def check_pairwise(matrix: Any, *, kind: str = "similarity", tol: float = 1e-9) -> AxiomCheck:
    """Check that a matrix can hold the relations of objects with each other.

    Parameters
    ----------
    matrix : array-like of shape (n_objects, n_objects)
        The relations.
    kind : {"similarity", "dissimilarity", "any"}, default="similarity"
        Similarities are symmetric; dissimilarities are also non-negative with zero diagonal;
        "any" asks for a square, finite matrix only.
    tol : float, default=1e-9
        Violations up to this share of the largest entry count as rounding.

    Returns
    -------
    check : AxiomCheck
        The first failing property among square, finite, symmetry, non-negativity and diagonal.

    Examples
    --------
    >>> from corollary.representation import check_pairwise
    >>> check_pairwise([[1.0, 0.5], [0.4, 1.0]]).axiom
    'symmetry'
    """
    if kind not in ("similarity", "dissimilarity", "any"):
        raise ValueError(
            "The 'kind' parameter of check_pairwise must be a str among {'any', 'dissimilarity', "
            f"'similarity'}}. Got {kind!r} instead."
        )
    M = np.asarray(matrix, dtype=float)
    if M.ndim != 2 or M.shape[0] != M.shape[1]:
        return AxiomCheck(False, "square", M.shape, f"The shape is {M.shape}.")
    if not np.isfinite(M).all():
        i, j = (int(v) for v in np.argwhere(~np.isfinite(M))[0])
        return AxiomCheck(False, "finite", (i, j), f"Entry ({i}, {j}) is {M[i, j]}.")
    slack = tol * float(np.abs(M).max(initial=0.0))
    gap = np.abs(M - M.T)
    if kind != "any" and gap.max(initial=0.0) > slack:
        i, j = (int(v) for v in np.unravel_index(gap.argmax(), M.shape))
        text = f"Entry ({i}, {j}) is {M[i, j]:.6g}, entry ({j}, {i}) is {M[j, i]:.6g}."
        return AxiomCheck(False, "symmetry", (i, j), text)
    if kind == "dissimilarity" and M.size:
        if M.min() < -slack:
            i, j = (int(v) for v in np.unravel_index(M.argmin(), M.shape))
            text = f"Entry ({i}, {j}) is {M[i, j]:.6g}."
            return AxiomCheck(False, "non-negativity", (i, j), text)
        i = int(np.abs(np.diag(M)).argmax())
        if abs(M[i, i]) > slack:
            return AxiomCheck(False, "diagonal", (i, i), f"Entry ({i}, {i}) is {M[i, i]:.6g}.")
    return SATISFIED


def to_pairwise(
    X: Any,
    relation: str | Callable[[np.ndarray, np.ndarray], Any] = "euclidean",
    *,
    objects: str = "rows",
) -> Measurement:
    """Derive pairwise data from vectorial data.

    Parameters
    ----------
    X : array-like of shape (n_objects, n_features) or Measurement
        Vectorial data.
    relation : {"euclidean", "squared_euclidean", "linear"} or callable, default="euclidean"
        Distance, squared distance, scalar product, or a function ``relation(X, X)`` that returns
        a matrix, such as a kernel.
    objects : str, default="rows"
        Name of the set of objects, for arrays.

    Returns
    -------
    pairwise : Measurement
        Derived values of shape (n_objects, n_objects).

    Examples
    --------
    >>> from corollary.representation import to_pairwise
    >>> to_pairwise([[0.0, 0.0], [3.0, 4.0]]).values
    array([[0., 5.],
           [5., 0.]])
    """
    if isinstance(X, Measurement):
        if X.data_type is not DataType.VECTORIAL:
            raise ValueError(f"to_pairwise needs vectorial data. Got {X.data_type.value} data.")
        objects, X = X.objects[0], X.values
    X = np.asarray(X, dtype=float)
    X = X.reshape(-1, 1) if X.ndim == 1 else X
    if callable(relation):
        # A kernel is a function of single inputs; all pairs are its Gram matrix.
        values = np.asarray(relation.gram(X) if hasattr(relation, "gram") else relation(X, X))
    elif relation == "linear":
        values = X @ X.T
    elif relation in ("euclidean", "squared_euclidean"):
        from sklearn.metrics import euclidean_distances

        values = euclidean_distances(X, squared=relation == "squared_euclidean")
    else:
        raise ValueError(
            "The 'relation' parameter of to_pairwise must be a str among {'euclidean', 'linear', "
            f"'squared_euclidean'}} or a callable. Got {relation!r} instead."
        )
    return Measurement(values, (objects, objects), derived=True)


def contingency_table(
    rows: Any, columns: Any, *, objects: tuple[str, str] = ("rows", "columns")
) -> tuple[Measurement, np.ndarray, np.ndarray]:
    """Count how often pairs of labels occur together: dyadic data from a list of events.

    Parameters
    ----------
    rows : array-like of shape (n_events,)
        First label of each event.
    columns : array-like of shape (n_events,)
        Second label of each event.
    objects : tuple of two str, default=('rows', 'columns')
        Names of the two sets of objects.

    Returns
    -------
    table : Measurement
        Counts of shape (n_row_labels, n_column_labels).
    row_labels : ndarray of shape (n_row_labels,)
        The distinct first labels, sorted.
    column_labels : ndarray of shape (n_column_labels,)
        The distinct second labels, sorted.

    Examples
    --------
    >>> from corollary.representation import contingency_table
    >>> table, words, documents = contingency_table(["a", "b", "a"], [1, 1, 1])
    >>> table.values.tolist(), words.tolist(), table.data_type.value
    ([[2], [1]], ['a', 'b'], 'dyadic')
    """
    rows, columns = np.asarray(rows), np.asarray(columns)
    if rows.ndim != 1 or rows.shape != columns.shape:
        raise ValueError(
            "contingency_table needs two lists of labels of the same length. "
            f"Got shapes {rows.shape} and {columns.shape}."
        )
    row_labels, i = np.unique(rows, return_inverse=True)
    column_labels, j = np.unique(columns, return_inverse=True)
    counts = np.zeros((len(row_labels), len(column_labels)), dtype=np.int64)
    np.add.at(counts, (i, j), 1)
    return Measurement(counts, objects), row_labels, column_labels
