r"""How unusual a row is, as a number: scores of anomalies, and where they become too large.

What is normal is known by examples only. A density :math:`\hat p` that was fitted to them scores a
row by :math:`-\log\hat p(x)`; of a Gaussian that is half the squared Mahalanobis distance and a
constant. A projection sees nothing of what happens across it: the squared distance from the
subspace is the score of those directions. Clusters score by the distance from the nearest centre.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from corollary.anomaly._rows import Contamination, residuals
from corollary.cluster import nearest_centers
from corollary.conformal import empirical_quantile, weighted_conformal_quantile
from corollary.core.estimator import ArrayLike, RowsLike, checked
from corollary.core.parallel import row_products


def density_score(model: Any, X: Any) -> np.ndarray:
    r"""Score rows by :math:`-\log\hat p(x)` of a fitted density, infinite where that is zero.

    The model is ours or scikit-learn's, or a pipeline that ends with one; without ``score_samples``
    it raises a TypeError. See :class:`ModelScore`.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.anomaly import density_score
    >>> from corollary.density import GaussianDensity
    >>> model = GaussianDensity().fit([[-1.0], [1.0]])
    >>> density_score(model, [[0.0], [2.0]]) - 0.5 * np.log(2 * np.pi)
    array([0., 2.])
    """
    if not hasattr(model, "score_samples"):
        raise TypeError(
            "density_score needs a fitted density with score_samples. "
            f"{type(model).__name__} has none; KernelDensity and GaussianMixture have."
        )
    return 0.0 - np.asarray(model.score_samples(X), dtype=float)


class GaussianScore(NamedTuple):
    """The score of a Gaussian in two parts."""

    half_squares: np.ndarray
    constant: float

    @property
    def score(self) -> np.ndarray:
        """The negative log density of each row."""
        return self.half_squares + self.constant


@checked
def gaussian_score(X: ArrayLike, mean: ArrayLike, covariance: ArrayLike) -> GaussianScore:
    r"""Split the score of one Gaussian into half a squared distance and a constant.

    .. math:: -\log\mathcal N(x;\mu,\Sigma) = \tfrac12 (x-\mu)^\top\Sigma^{-1}(x-\mu)
              + \tfrac12\log\det(2\pi\Sigma)

    The parts are ``half_squares`` for each row and the ``constant``, the score of the mean; their
    sum is ``score``. Of rows of that law the squared distances have the chi-square law of
    n_features degrees of freedom. See :class:`Mahalanobis`.

    Examples
    --------
    >>> from corollary.anomaly import gaussian_score
    >>> parts = gaussian_score([[3.0, 4.0]], [0.0, 0.0], [[1.0, 0.0], [0.0, 4.0]])
    >>> parts.half_squares, round(parts.constant, 4)
    (array([6.5]), 2.531)
    """
    X, mean, covariance = (np.asarray(part, dtype=float) for part in (X, mean, covariance))
    d = len(mean) if mean.ndim == 1 else -1
    if X.ndim != 2 or X.shape[1] != d or covariance.shape != (d, d):
        raise ValueError(
            "gaussian_score needs rows, a mean and a covariance of equally many columns. Got "
            f"shapes {X.shape}, {mean.shape} and {covariance.shape}."
        )
    try:
        factor = linalg.cholesky(covariance, lower=True)
    except linalg.LinAlgError as error:
        raise ValueError(
            "gaussian_score needs a positive definite covariance. Leave out columns that others "
            "determine, or add to its diagonal."
        ) from error
    whitener = linalg.solve_triangular(factor, np.eye(d), lower=True)
    white = row_products(X - mean, np.ascontiguousarray(whitener.T))
    log_det = 2 * np.log(np.diag(factor)).sum()
    constant = 0.5 * (d * math.log(2 * math.pi) + float(log_det))
    return GaussianScore(0.5 * (white**2).sum(axis=1), constant)


@checked
def reconstruction_scores(X: ArrayLike, mean: ArrayLike, components: ArrayLike) -> np.ndarray:
    r"""Score rows by what a projection loses of them.

    .. math:: \|x-\mu-V^\top V(x-\mu)\|^2

    It is the squared distance from the subspace, which no score of the projection sees. The mean is
    a point of the subspace; the components, rows of V, are orthonormal directions of it, as
    :class:`corollary.decomposition.PCA` has them. The expectation of the score is
    :func:`corollary.decomposition.reconstruction_error`. See :class:`Reconstruction`.

    Examples
    --------
    >>> from corollary.anomaly import reconstruction_scores
    >>> reconstruction_scores([[3.0, 4.0], [9.0, 0.0]], [0.0, 0.0], [[1.0, 0.0]])
    array([16.,  0.])
    """
    X, mean, V = (np.asarray(part, dtype=float) for part in (X, mean, components))
    if X.ndim != 2 or V.ndim != 2 or mean.shape != X.shape[1:] or V.shape[1:] != X.shape[1:]:
        raise ValueError(
            "reconstruction_scores needs rows, a mean and directions of equally many columns. Got "
            f"shapes {X.shape}, {mean.shape} and {V.shape}."
        )
    if not np.allclose(V @ V.T, np.eye(len(V)), atol=1e-6):
        raise ValueError(
            "reconstruction_scores needs directions of length one, orthogonal to each other."
        )
    return (residuals(X, mean, V) ** 2).sum(axis=1)


@checked
def cluster_distances(X: RowsLike, centers: ArrayLike) -> np.ndarray:
    r"""Score rows, which may be sparse, by the distance :math:`\min_k\|x-\mu_k\|` from a centre.

    Centres are rows, such as :class:`corollary.cluster.KMeans` has. See :class:`ClusterDistance`.

    Examples
    --------
    >>> from corollary.anomaly import cluster_distances
    >>> cluster_distances([[0.0], [3.0], [11.0]], [[0.0], [10.0]])
    array([0., 3., 1.])
    """
    centers = np.asarray(centers, dtype=float)
    nearest = centers[nearest_centers(X, centers)]
    away = (X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=float)) - nearest
    return np.sqrt((away**2).sum(axis=1))


@checked
def score_threshold(
    scores: ArrayLike, contamination: Contamination, *, sample_weight: ArrayLike | None = None
) -> float:
    r"""Return the score that a share of the rows exceeds.

    The smallest score t with :math:`\sum_{s_i>t}w_i \le c\sum_i w_i`, a quantile of the scores:
    with weights of one and without ties, :math:`\lfloor cn \rfloor` rows lie beyond it. Scores are
    those of training rows, of which a share c, the ``contamination``, are anomalies, at most 0.5.
    New normal rows exceed :func:`corollary.conformal.conformal_quantile` at a rate that is
    guaranteed. See :class:`AnomalyDetector`.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.anomaly import score_threshold
    >>> score_threshold(np.arange(1, 11), 0.2)
    8.0
    >>> score_threshold([1.0, 2.0, 3.0], 0.5, sample_weight=[1.0, 1.0, 4.0])
    3.0
    """
    if sample_weight is None:
        return empirical_quantile(scores, 1 - contamination)
    return float(weighted_conformal_quantile(scores, sample_weight, [0.0], 1 - contamination)[0])
