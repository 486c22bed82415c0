"""Classification by the votes of all rows within a radius."""

import warnings
from dataclasses import KW_ONLY
from typing import Annotated, Any

import numpy as np

from corollary.core.estimator import fitted
from corollary.core.schema import Labels, Nullable
from corollary.neighbors._radius import RadiusModel
from corollary.neighbors._targets import NeighborLabels


def _kind(labels: np.ndarray) -> str:
    return "text" if np.asarray(labels).dtype.kind in "USO" else "number"


class RadiusNeighborsClassifier(RadiusModel, NeighborLabels):
    """Predict the most frequent class among the training rows within a radius.

    Parameters
    ----------
    radius : float, default=1.0
        The largest distance of a row that votes.
    algorithm : {"auto", "ball_tree", "brute", "kd_tree"}, default="auto"
        How to search; the result is the same to the last bit. "auto" measures how many rows a
        tree would look at; "ball_tree" is the k-d tree. Sparse rows are all searched.
    leaf_size : int, default=30
        Largest number of rows in a leaf of the tree.
    p : float, default=2
        Power of the metric "minkowski"; below 1 every pair is measured.
    metric : str or callable, default="minkowski"
        The distance: "minkowski" ("p"), "euclidean" ("l2"), "manhattan" ("cityblock", "l1"),
        "chebyshev" ("infinity") or "cosine", one minus the cosine of the angle. Every pair is
        measured by scikit-learn's "braycurtis", "canberra", "correlation", "dice", "hamming",
        "haversine", "jaccard", "mahalanobis", "nan_euclidean", "rogerstanimoto", "russellrao",
        "seuclidean", "sokalmichener", "sokalsneath", "sqeuclidean" and "yule", and by a function of
        two rows, with which the model cannot be saved; with "precomputed" X holds the distances to
        the training rows.
    metric_params : dict or None, default=None
        Further arguments of the distance.
    n_jobs : int or None, default=None
        Threads; None or -1 for all cores. They do not change the result.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        Weights of votes: equal (None as well), by inverse distance, or a function of an array of
        distances, with which the model cannot be saved.
    outlier_label : int, float, str, "most_frequent" or None, default=None
        Label of rows that have no neighbour; None to refuse them.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    codes_ : ndarray of int of shape (n_samples_fit,)
        Class of each training row, as a position in ``classes_``.
    outlier_label_ : ndarray of shape (1,) or None
        Label of rows without neighbours.
    index_ : NeighborIndex, SparseNeighborIndex or MetricIndex
        The rows, prepared for searches.
    effective_metric_ : str or callable
        The distance used, by its simplest name.
    effective_metric_params_ : dict
        Its arguments.
    outputs_2d_ : bool
        Whether there are several targets; False here.
    n_samples_fit_ : int
        Training rows of positive weight.
    weight_ : ndarray of shape (n_samples_fit,) or None
        Their weights.

    See Also
    --------
    KNeighborsClassifier : By a number of neighbours.

    Notes
    -----
    Equally frequent classes are ordered by ``classes_``. A training row of weight w counts as w
    rows. If the label of outliers is no class, the probabilities of an outlier are all zero.

    Examples
    --------
    >>> from corollary.neighbors import RadiusNeighborsClassifier
    >>> model = RadiusNeighborsClassifier(1.5, outlier_label="most_frequent")
    >>> model = model.fit([[0.0], [1.0], [2.0], [9.0]], [0, 0, 1, 1])
    >>> model.predict([[0.2], [9.5], [5.0]])
    array([0, 1, 0])
    """

    _: KW_ONLY
    outlier_label: Annotated[Any, object] = None  # fit compares it with the classes
    outlier_label_: np.ndarray | None = fitted(Nullable(Labels("o")))

    def _fits_together(self) -> str | None:
        label = self.outlier_label_
        if label is not None and (label.shape != (1,) or _kind(label) != _kind(self.classes_)):
            return "its label of outliers is not one, or of another kind than its classes"
        return super()._fits_together()

    def _fit(self, X: Any, codes: np.ndarray, sample_weight: np.ndarray | None) -> None:
        super()._fit(X, codes, sample_weight)
        self.outlier_label_ = self._outlier_label()

    def _outlier_label(self) -> np.ndarray | None:
        if self.outlier_label is None:
            return None
        if isinstance(self.outlier_label, str) and self.outlier_label == "most_frequent":
            counts = np.bincount(self.codes_, self.weight_, minlength=len(self.classes_))
            return self.classes_[[counts.argmax()]]
        label = np.asarray(self.outlier_label)
        if label.ndim or _kind(label) != _kind(self.classes_):
            raise ValueError(
                "The 'outlier_label' parameter of RadiusNeighborsClassifier must be one label of "
                f"the kind of the classes, such as {self.classes_[0]!r}, 'most_frequent' or None. "
                f"Got {self.outlier_label!r} instead."
            )
        return label.reshape(1)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Estimate the posterior by the shares of the classes within the radius.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``; rows of zeros for outliers whose label is no class.

        Raises
        ------
        ValueError
            If a row has no neighbour and ``outlier_label`` is None.
        """
        probabilities, alone = self._shares(self._new(X))
        if alone.any() and not probabilities[alone].any():
            warnings.warn(
                f"{alone.sum()} rows have no neighbour within the radius and get probability 0 for "
                f"every class, since their label, {self.outlier_label!r}, is none.",
                stacklevel=2,
            )
        return probabilities

    def predict(self, X: Any) -> np.ndarray:
        """Predict the most frequent class within the radius.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Classes, the first of equally frequent ones; ``outlier_label`` without neighbours.

        Raises
        ------
        ValueError
            If a row has no neighbour and ``outlier_label`` is None.
        """
        probabilities, alone = self._shares(self._new(X))
        labels = self.classes_[probabilities.argmax(axis=1)]
        if alone.any():
            labels = np.where(alone, self.outlier_label_, labels)
        return labels

    def _probabilities(self, X: Any) -> np.ndarray:
        return self._shares(X)[0]

    def _shares(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return probabilities of validated rows, and which have no neighbour."""
        n_classes = len(self.classes_)
        pieces, alone = [], []
        for votes in self._votes(X):
            cell = votes.queries * n_classes + self.codes_[votes.neighbors]
            size = len(votes.alone) * n_classes
            pieces.append(np.bincount(cell, votes.weights, size).reshape(-1, n_classes))
            alone.append(votes.alone)
        probabilities, lonely = np.concatenate(pieces), np.concatenate(alone)
        if lonely.any():
            if self.outlier_label_ is None:
                raise ValueError(
                    f"RadiusNeighborsClassifier found no neighbour within radius = {self.radius:g} "
                    f"of {lonely.sum()} of {len(lonely)} rows, the first of them row "
                    f"{int(np.flatnonzero(lonely)[0])}. Raise 'radius', or say by 'outlier_label' "
                    "which label such rows get."
                )
            probabilities[lonely] = self.classes_ == self.outlier_label_
        return probabilities, lonely
