r"""Score matching for normal laws in closed form.

The score of a normal law is linear: :math:`f(x)=-G(x-\theta)` with the precision G. Its loss

.. math:: \hat L=\frac1n\sum_i\|G(x_i-\theta)\|^2-2\operatorname{tr}G

has the gradients :math:`-2G^\top G(\bar x-\theta)` and :math:`2GS_\theta-2I`, where
:math:`S_\theta` is the second moment about :math:`\theta`. Its minimum :math:`-\operatorname{tr}
S^{-1}` lies at the mean and the inverse covariance, as that of the likelihood does.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from corollary.core.summary import Moments
from corollary.density.score_matching.applicability import check_score_matching
from corollary.risk import check_weights


class GaussianScores(NamedTuple):
    """A normal law by its score.

    Parameters
    ----------
    mean : ndarray of shape (n_features,)
        Where the score is zero.
    precision : ndarray of shape (n_features, n_features)
        Its slope, with the sign turned.
    loss : float
        Score-matching loss there.

    Examples
    --------
    >>> from corollary.density import fit_gaussian_scores
    >>> fit_gaussian_scores([[0.0], [2.0]])
    GaussianScores(mean=array([1.]), precision=array([[1.]]), loss=-1.0)
    """

    mean: np.ndarray
    precision: np.ndarray
    loss: float


def gaussian_score_loss(
    X: Any, mean: Any, precision: Any, *, sample_weight: Any = None
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the score-matching loss of a normal law, and its gradients in mean and precision.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows.
    mean, precision : array-like of shape (n_features,) and (n_features, n_features)
        Where the score is zero, and any matrix, symmetric or not.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Non-negative weights.

    Examples
    --------
    >>> from corollary.density import gaussian_score_loss
    >>> gaussian_score_loss([[1.0], [3.0]], [1.0], [[1.0]])
    (0.0, array([-2.]), array([[2.]]))
    """
    X, theta = np.asarray(X, dtype=float), np.asarray(mean, dtype=float)
    G = np.asarray(precision, dtype=float)
    weight = check_weights("gaussian_score_loss", sample_weight, len(X))
    away = X - theta
    S = np.average(away[:, :, np.newaxis] * away[:, np.newaxis], axis=0, weights=weight)
    loss = np.trace(G @ S @ G.T) - 2 * np.trace(G)
    shift = np.average(away, axis=0, weights=weight)
    return float(loss), -2 * G.T @ G @ shift, 2 * G @ S - 2 * np.eye(len(G))


def fit_gaussian_scores(X: Any, *, sample_weight: Any = None) -> GaussianScores:
    """Fit a normal law by score matching.

    Mean and inverse covariance are those of the largest likelihood, which :class:`GaussianDensity`
    has as an estimator, and the loss is minus the trace of the latter.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows that vary in every direction: in a plane the precision would be infinite.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Non-negative weights.

    Examples
    --------
    >>> from corollary.density import fit_gaussian_scores
    >>> fit_gaussian_scores([[0.0], [2.0], [4.0]])  # variance 8/3
    GaussianScores(mean=array([2.]), precision=array([[0.375]]), loss=-0.375)
    """
    X = np.asarray(X, dtype=float)
    check_score_matching(X, sample_weight=sample_weight).require("fit_gaussian_scores")
    weight = check_weights("fit_gaussian_scores", sample_weight, len(X))
    moments = Moments.of_columns([X], weight)
    precision = linalg.inv(moments.covariance())
    return GaussianScores(moments.mean, precision, -float(np.trace(precision)))
