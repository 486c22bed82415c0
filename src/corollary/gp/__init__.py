"""Gaussian processes: regression whose predictions come with their uncertainty.

A Gaussian process puts a normal law on functions; observations condition it. The package has the
conditioning of Gaussian vectors, the evidence of a kernel with its gradient, exact regression with
hyper-parameters learnt, posterior draws and closed-form leave-one-out, sparse regression through
inducing points for many rows, classification by Laplace's approximation, ways to choose a kernel,
and the Kalman filter and smoother. Covariances are the kernels of :mod:`corollary.kernels`.
"""

from typing import Any

from corollary.gp.classification.classifier import (
    GaussianProcessClassifier as GaussianProcessClassifier,
)
from corollary.gp.classification.laplace import (
    laplace_evidence_gradient as laplace_evidence_gradient,
)
from corollary.gp.classification.laplace import laplace_mode as laplace_mode
from corollary.gp.classification.laplace import logistic_normal_mean as logistic_normal_mean
from corollary.gp.conditioning import GaussianLaw as GaussianLaw
from corollary.gp.conditioning import block_inverse as block_inverse
from corollary.gp.conditioning import condition_gaussian as condition_gaussian
from corollary.gp.conditioning import schur_complement as schur_complement
from corollary.gp.display import GaussianProcessDisplay as GaussianProcessDisplay
from corollary.gp.exact.evidence import Observations as Observations
from corollary.gp.exact.evidence import evidence_of as evidence_of
from corollary.gp.exact.evidence import log_evidence as log_evidence
from corollary.gp.exact.paths import PosteriorPaths as PosteriorPaths
from corollary.gp.exact.posterior import Predictions as Predictions
from corollary.gp.exact.posterior import draw_gaussian as draw_gaussian
from corollary.gp.exact.posterior import gp_posterior as gp_posterior
from corollary.gp.exact.posterior import leave_one_out as leave_one_out
from corollary.gp.exact.prior import sample_prior as sample_prior
from corollary.gp.exact.regressor import GaussianProcessRegressor as GaussianProcessRegressor
from corollary.gp.kalman import StateSpaceModel as StateSpaceModel
from corollary.gp.kalman import kalman_filter as kalman_filter
from corollary.gp.kalman import kalman_smoother as kalman_smoother
from corollary.gp.learning.search import Search as Search
from corollary.gp.learning.search import learn_hyperparameters as learn_hyperparameters
from corollary.gp.selection import gaussian_divergence as gaussian_divergence
from corollary.gp.selection import normal_scores as normal_scores
from corollary.gp.selection import rank_kernels as rank_kernels
from corollary.gp.selection import teacher_student as teacher_student
from corollary.gp.sparse.collapsed import collapsed_bound as collapsed_bound
from corollary.gp.sparse.inducing import learn_inducing as learn_inducing
from corollary.gp.sparse.inducing import spread_points as spread_points
from corollary.gp.sparse.regressor import (
    SparseGaussianProcessRegressor as SparseGaussianProcessRegressor,
)
from corollary.gp.sparse.sums import InducingSums as InducingSums
from corollary.gp.sparse.sums import inducing_law as inducing_law
from corollary.gp.sparse.variational import WhitenedLaw as WhitenedLaw
from corollary.gp.sparse.variational import variational_bound as variational_bound
from corollary.gp.sparse.variational import whitened_law as whitened_law

# Where names that were here have gone.
_MOVED = {
    "cross_gram_with_gradient": "the method gram_with_gradient(X, Y) of a kernel",
    "diagonal_gradient": "the method diag_gradient(X, weight) of a kernel",
    "gram_with_gradient": "the method gram_with_gradient(X) of a kernel",
}


def __getattr__(name: str) -> Any:
    """Say where a name has gone."""
    if name in _MOVED:
        raise ImportError(f"corollary.gp.{name} is now {_MOVED[name]} of corollary.kernels.")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
