"""Vector quantisation: rows replaced by the codes of their nearest centres."""

from dataclasses import KW_ONLY
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from corollary.cluster._centers import Init, Runs
from corollary.cluster.means._rows import nearest_labels, rows_of
from corollary.cluster.means.kmeans import KMeans
from corollary.core.estimator import Count, NonNegative, RandomSeed, Transformer, fitted
from corollary.core.schema import Array, Integer, Number


class VectorQuantizer(ClassNamePrefixFeaturesOutMixin, Transformer):
    """Encode rows by the nearest entry of a codebook that :class:`KMeans` has learnt.

    A row of d numbers becomes one of K codes, ``log2(K)`` bits, at the price of a distortion
    that k-means makes small.

    Parameters
    ----------
    n_codes : int, default=8
        Entries K of the codebook.
    encoding : {"index", "one-hot"}, default="index"
        "index" for the number of the entry, "one-hot" for K columns of which one is 1.
    sparse_output : bool, default=False
        Whether one-hot codes are a sparse matrix.
    init : {"k-means++", "k-means||", "random"}, callable or array-like of shape \
            (n_codes, n_features), default="k-means++"
        Where k-means starts, see :class:`KMeans`.
    n_init : "auto" or int, default="auto"
        How often it starts.
    max_iter : int, default=300
        Largest number of its steps.
    tol : float, default=1e-4
        Its tolerance.
    random_state : int, RandomState instance or None, default=None
        Determines its draws.

    Attributes
    ----------
    codebook_ : ndarray of shape (n_codes, n_features)
        What codes stand for.
    distortion_ : float
        Weighted mean of the squared distances of training rows from what their codes stand for.
    n_iter_ : int
        Steps of k-means.

    Examples
    --------
    >>> from corollary.cluster import VectorQuantizer
    >>> X = [[0.0], [1.0], [10.0], [11.0]]
    >>> quantizer = VectorQuantizer(2, random_state=0).fit(X)
    >>> quantizer.inverse_transform(quantizer.transform(X)).ravel(), quantizer.distortion_
    (array([ 0.5,  0.5, 10.5, 10.5]), 0.25)
    """

    n_codes: Count = 8
    _: KW_ONLY
    encoding: Literal["index", "one-hot"] = "index"
    sparse_output: bool = False
    init: Init = "k-means++"
    n_init: Runs = "auto"
    max_iter: Count = 300
    tol: NonNegative = 1e-4
    random_state: RandomSeed = None

    codebook_: np.ndarray = fitted(Array("f", "c+", "d"))
    distortion_: float = fitted(Number(0))
    n_iter_: int = fitted(Integer(1))

    _rows: ClassVar[dict[str, Any]] = {"accept_sparse": "csr", "order": "C"}

    def _fit(self, X: Any, sample_weight: np.ndarray | None) -> None:
        names = ("init", "n_init", "max_iter", "tol", "random_state")
        model = KMeans(self.n_codes, **{name: getattr(self, name) for name in names})
        model._fit(X, sample_weight)
        self.codebook_ = model.cluster_centers_
        total = X.shape[0] if sample_weight is None else sample_weight.sum()
        self.distortion_, self.n_iter_ = float(model.inertia_ / total), model.n_iter_

    def _transform(self, X: Any) -> Any:
        codes = nearest_labels(rows_of((X,))[0], self.codebook_)
        if self.encoding == "index":
            return codes[:, None]
        ones, places = np.ones(len(codes)), np.arange(len(codes) + 1)
        table = sparse.csr_array((ones, codes, places), shape=(len(codes), len(self.codebook_)))
        return table if self.sparse_output else table.toarray()

    def inverse_transform(self, codes: Any) -> np.ndarray:
        """Return the entries of the codebook that codes, as ``transform`` gives them, stand for.

        Numbers of entries may also be a list. See :class:`VectorQuantizer`.
        """
        check_is_fitted(self)
        codes = check_array(codes, accept_sparse="csr", ensure_2d=False, dtype=None)
        if self.encoding == "one-hot":
            return np.asarray(codes @ self.codebook_)
        places, last = np.asarray(codes).ravel(), len(self.codebook_) - 1
        if places.dtype.kind not in "iu" or (places != places.clip(0, last)).any():
            raise ValueError(
                f"Codes of this VectorQuantizer are whole numbers from 0 to {last}. Got values of "
                f"type {places.dtype} from {places.min()} to {places.max()}."
            )
        return self.codebook_[places]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    @property
    def _n_features_out(self) -> int:
        return 1 if self.encoding == "index" else len(self.codebook_)
