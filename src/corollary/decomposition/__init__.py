"""Few directions instead of many features.

:class:`PCA` projects rows on the directions along which they vary most, in memory, row by row of a
stream, or in one pass over files and clusters. Why these directions is the matter of plain
functions: no subspace keeps more of the variance, or loses less of the rows, than the leading
eigenspace (:func:`leading_eigenspace`, :func:`reconstruction_error`, :func:`trace_inequality`), and
which subspace a variational model would choose depends on its prior (:func:`best_pca_subspace`).
:class:`ProbabilisticPCA` is the Gaussian model behind it, :class:`KernelPCA` the same in the
feature space of a kernel, and :class:`SoftImpute` fills tables by a matrix of low rank with a proof
of how near to optimal it is. Whitening is :class:`corollary.representation.Whitener`.
"""

from corollary.decomposition._subspace_model import subspace_log_density as subspace_log_density
from corollary.decomposition.directions import deflate as deflate
from corollary.decomposition.directions import deflation as deflation
from corollary.decomposition.directions import power_iteration as power_iteration
from corollary.decomposition.imputation import SoftImpute as SoftImpute
from corollary.decomposition.kernel_pca import KernelPCA as KernelPCA
from corollary.decomposition.n_components import components_for_share as components_for_share
from corollary.decomposition.n_components import minka_evidence as minka_evidence
from corollary.decomposition.n_components import profile_likelihood as profile_likelihood
from corollary.decomposition.nuclear_norm import SquaredErrorOnSeen as SquaredErrorOnSeen
from corollary.decomposition.nuclear_norm import soft_impute as soft_impute
from corollary.decomposition.nuclear_norm import soft_impute_alpha_max as soft_impute_alpha_max
from corollary.decomposition.nuclear_norm import soft_impute_path as soft_impute_path
from corollary.decomposition.nuclear_norm import soft_impute_step as soft_impute_step
from corollary.decomposition.pca import PCA as PCA
from corollary.decomposition.probabilistic import ProbabilisticPCA as ProbabilisticPCA
from corollary.decomposition.probabilistic import latent_posterior as latent_posterior
from corollary.decomposition.probabilistic import probabilistic_pca as probabilistic_pca
from corollary.decomposition.probabilistic import probabilistic_pca_em as probabilistic_pca_em
from corollary.decomposition.subspaces import leading_eigenspace as leading_eigenspace
from corollary.decomposition.subspaces import (
    least_reconstruction_error as least_reconstruction_error,
)
from corollary.decomposition.subspaces import orthogonal_projector as orthogonal_projector
from corollary.decomposition.subspaces import projection_moments as projection_moments
from corollary.decomposition.subspaces import reconstruction_error as reconstruction_error
from corollary.decomposition.subspaces import trace_inequality as trace_inequality
from corollary.decomposition.variance_display import (
    ExplainedVarianceDisplay as ExplainedVarianceDisplay,
)
from corollary.decomposition.variational import best_pca_subspace as best_pca_subspace
from corollary.decomposition.variational import pca_bound as pca_bound
