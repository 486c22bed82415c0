"""Pseudo-labels: a network learns to predict the clusters of its own features."""

from dataclasses import KW_ONLY
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.metrics import normalized_mutual_info_score
from sklearn.utils import check_random_state

from corollary.cluster._checks import checked_labels, checked_rows, refuse_few_rows
from corollary.cluster.means.kmeans import KMeans
from corollary.cluster.means.lloyd import lloyd
from corollary.cluster.means.seeding import kmeans_plusplus
from corollary.core.estimator import (
    ArrayLike,
    Count,
    Positive,
    RandomSeed,
    RowsLike,
    Transformer,
    checked,
    fitted,
    without_memory,
)
from corollary.core.parallel import row_products
from corollary.core.schema import Array, List
from corollary.neural import MLPLoss, init_mlp


@checked
def refill_by_splitting(
    X: RowsLike, labels: ArrayLike, n_clusters: Count, *, random_state: RandomSeed = None
) -> np.ndarray:
    """Fill empty clusters, each by one half of the largest cluster, cut in two by k-means.

    In the labels that are returned every cluster has a row; if the rows of the largest are all
    equal, half of them move. The ``random_state`` determines where k-means starts. See
    :class:`PseudoLabelFeatures`, and :func:`centroids` for the parameters.

    Examples
    --------
    >>> from corollary.cluster import refill_by_splitting
    >>> labels = refill_by_splitting([[0.0], [1.0], [9.0], [5.0]], [0, 0, 0, 2], 3, random_state=0)
    >>> int(labels[0]) == int(labels[1]), int(labels[0]) == int(labels[2])
    (True, False)
    """
    X, _ = checked_rows(X)
    labels = checked_labels("refill_by_splitting", labels, X.shape[0], n_clusters)
    refuse_few_rows("refill_by_splitting", X.shape[0], n_clusters)
    random = check_random_state(random_state)
    for empty in np.flatnonzero(np.bincount(labels, minlength=n_clusters) == 0):
        own = np.flatnonzero(labels == np.bincount(labels, minlength=n_clusters).argmax())
        halves = np.zeros(len(own), dtype=int)
        if np.ptp(X[own], axis=0).any():
            start = kmeans_plusplus(X[own], 2, random_state=random).centers
            halves = lloyd(X[own], start, random_state=random).labels
        if not halves.any() or halves.all():  # rows that are equal, but for rounding
            halves = np.arange(len(own)) % 2
        labels[own[halves == 1]] = empty
    return labels


class PseudoLabelFeatures(ClassNamePrefixFeaturesOutMixin, Transformer):
    """Learn features without labels, by predicting the clusters that they form.

    Each round clusters the features of all rows by k-means, fills empty clusters by splitting the
    largest, and trains the network below a fresh linear classifier to predict the clusters, of
    which equally many rows are drawn. The features are the last hidden layer.

    Parameters
    ----------
    n_clusters : int, default=30
        Number of clusters in every round; several times the number of groups that are looked for.
    hidden_layer_sizes : tuple of int, default=(256, 128)
        Units of the hidden layers; the last number is that of features.
    n_rounds : int, default=10
        How often features are clustered.
    epochs : int, default=5
        Passes over the drawn rows in each round.
    batch_size : int, default=64
        Rows of a step.
    learning_rate_init : float, default=0.001
        Step size of Adam.
    random_state : int, RandomState instance or None, default=None
        Determines parameters, clusters and batches.

    Attributes
    ----------
    coefs_, intercepts_ : list of ndarray
        Weights, and offsets, of each layer.
    input_mean_, input_scale_ : ndarray of shape (n_features,)
        What is subtracted from columns, and what they are divided by then.
    agreements_ : ndarray of shape (n_rounds - 1,)
        Normalised mutual information between the clusters of successive rounds.
    losses_ : ndarray of shape (n_rounds,)
        Training loss at the end of each round.

    References
    ----------
    M. Caron, P. Bojanowski, A. Joulin, M. Douze, "Deep clustering for unsupervised learning of
    visual features", ECCV 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from corollary.cluster import PseudoLabelFeatures
    >>> X = load_iris().data
    >>> model = PseudoLabelFeatures(6, hidden_layer_sizes=(16, 4), n_rounds=2, random_state=0)
    >>> model.fit_transform(X).shape, model.agreements_.shape
    ((150, 4), (1,))
    """

    n_clusters: Count = 30
    _: KW_ONLY
    hidden_layer_sizes: Annotated[Any, "array-like"] = (256, 128)
    n_rounds: Count = 10
    epochs: Count = 5
    batch_size: Count = 64
    learning_rate_init: Positive = 1e-3
    random_state: RandomSeed = None

    coefs_: list[np.ndarray] = fitted(List(Array("f", "*", "*"), "l"))
    intercepts_: list[np.ndarray] = fitted(List(Array("f", "*"), "l"))
    input_mean_: np.ndarray = fitted(Array("f", "d"))
    input_scale_: np.ndarray = fitted(Array("f", "d"))
    agreements_: np.ndarray = fitted(Array("f", "*"))
    losses_: np.ndarray = fitted(Array("f", "*"))

    def _fit(self, X: np.ndarray, sample_weight: np.ndarray | None) -> None:
        refuse_few_rows("PseudoLabelFeatures", len(X), self.n_clusters)
        random = check_random_state(self.random_state)
        weight = np.ones(len(X)) if sample_weight is None else sample_weight
        self.input_mean_ = np.average(X, axis=0, weights=weight)
        scale = np.sqrt(np.average((X - self.input_mean_) ** 2, axis=0, weights=weight))
        self.input_scale_ = np.where(scale > 0, scale, 1.0)
        network = init_mlp([X.shape[1], *self.hidden_layer_sizes], random_state=random)
        agreements, losses, before = [], [], None
        for _ in range(self.n_rounds):
            self.coefs_, self.intercepts_ = network[0::2], network[1::2]
            labels = self._clusters(self._transform(X), weight, random)
            if before is not None:
                agreements.append(normalized_mutual_info_score(before, labels))
            before = labels
            network, loss = self._train(network, X, labels, weight, random)
            losses.append(loss)
        self.coefs_, self.intercepts_ = network[0::2], network[1::2]
        self.agreements_, self.losses_ = np.array(agreements), np.array(losses)

    def _clusters(self, features: np.ndarray, weight: np.ndarray, random: Any) -> np.ndarray:
        """Cluster features; no cluster is empty."""
        with without_memory():
            model = KMeans(self.n_clusters, random_state=random)
            model._fit(np.ascontiguousarray(features, dtype=np.float64), weight)
            k = self.n_clusters
            return refill_by_splitting(features, model.labels_, k, random_state=random)

    def _train(
        self, network: list[np.ndarray], X: np.ndarray, labels: np.ndarray, weight: Any, random: Any
    ) -> tuple[list[np.ndarray], float]:
        """Train the network below a fresh head on clusters that are drawn equally often."""
        import optax

        from corollary.core.training import train

        rows = _draw_equally(labels, self.n_clusters, weight, random)
        inputs = ((X[rows] - self.input_mean_) / self.input_scale_).astype(np.float32)
        head = init_mlp([self.hidden_layer_sizes[-1], self.n_clusters], random_state=random)
        sizes = (X.shape[1], *self.hidden_layer_sizes, self.n_clusters)
        result = train(
            MLPLoss(sizes=sizes, activation="relu", kind="cross-entropy"),
            [*network, *head],
            {"x": inputs, "y": labels[rows].astype(np.int32)},
            optimizer=optax.adam,
            settings={"learning_rate": self.learning_rate_init},
            epochs=self.epochs,
            batch_size=self.batch_size,
            patience=self.epochs,
            seed=int(random.randint(np.iinfo(np.int32).max)),
        )
        return [np.asarray(array) for array in result.params[:-2]], float(result.losses[-1])

    def _transform(self, X: np.ndarray) -> np.ndarray:
        features = (X - self.input_mean_) / self.input_scale_
        for weights, offset in zip(self.coefs_, self.intercepts_):
            features = np.maximum(row_products(features, weights) + offset, 0.0)
        return features

    def _fits_together(self) -> str | None:
        widths = [self.n_features_in_, *map(len, self.intercepts_)]
        fit = self.coefs_ and [W.shape for W in self.coefs_] == list(pairwise(widths))
        return None if fit else "its layers do not fit together"

    @property
    def _n_features_out(self) -> int:
        return len(self.intercepts_[-1])


def _draw_equally(labels: np.ndarray, k: int, weight: np.ndarray, random: Any) -> np.ndarray:
    """Draw as many rows as there are, equally many of each cluster."""
    drawn = []
    for label in range(k):
        own = np.flatnonzero(labels == label)
        chance = weight[own] / weight[own].sum() if weight[own].any() else None
        drawn.append(random.choice(own, size=-(-len(labels) // k), p=chance))
    return np.concatenate(drawn)
