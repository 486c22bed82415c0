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

from corollary.decomposition.completion.imputation import SoftImpute as SoftImpute
from corollary.decomposition.completion.nuclear_norm import SquaredErrorOnSeen as SquaredErrorOnSeen
from corollary.decomposition.completion.nuclear_norm import soft_impute as soft_impute
from corollary.decomposition.completion.nuclear_norm import (
    soft_impute_alpha_max as soft_impute_alpha_max,
)
from corollary.decomposition.completion.nuclear_norm import soft_impute_path as soft_impute_path
from corollary.decomposition.completion.nuclear_norm import soft_impute_step as soft_impute_step
from corollary.decomposition.components.kernel_pca import KernelPCA as KernelPCA
from corollary.decomposition.components.n_components import (
    components_for_share as components_for_share,
)
from corollary.decomposition.components.n_components import minka_evidence as minka_evidence
from corollary.decomposition.components.n_components import profile_likelihood as profile_likelihood
from corollary.decomposition.components.pca import PCA as PCA
from corollary.decomposition.components.variance_display import (
    ExplainedVarianceDisplay as ExplainedVarianceDisplay,
)
from corollary.decomposition.latent.gaussian_subspace import (
    subspace_log_density as subspace_log_density,
)
from corollary.decomposition.latent.latent_gaussian import latent_posterior as latent_posterior
from corollary.decomposition.latent.latent_gaussian import probabilistic_pca as probabilistic_pca
from corollary.decomposition.latent.latent_gaussian import (
    probabilistic_pca_em as probabilistic_pca_em,
)
from corollary.decomposition.latent.probabilistic import ProbabilisticPCA as ProbabilisticPCA
from corollary.decomposition.optimality.directions import deflate as deflate
from corollary.decomposition.optimality.directions import deflation as deflation
from corollary.decomposition.optimality.directions import power_iteration as power_iteration
from corollary.decomposition.optimality.eigenspace import leading_eigenspace as leading_eigenspace
from corollary.decomposition.optimality.eigenspace import (
    least_reconstruction_error as least_reconstruction_error,
)
from corollary.decomposition.optimality.eigenspace import trace_inequality as trace_inequality
from corollary.decomposition.optimality.projection import (
    orthogonal_projector as orthogonal_projector,
)
from corollary.decomposition.optimality.projection import projection_moments as projection_moments
from corollary.decomposition.optimality.projection import (
    reconstruction_error as reconstruction_error,
)
from corollary.decomposition.optimality.variational import best_pca_subspace as best_pca_subspace
from corollary.decomposition.optimality.variational import pca_bound as pca_bound
