"""Estimates of laws: likelihoods, what bounds any estimator, kernels and matched scores.

A :class:`Family` of densities says its log density once. :func:`maximum_likelihood` and
:func:`maximum_a_posteriori` return parameters with standard errors, :func:`profile_interval`
intervals; conjugate priors and :class:`ModelPosterior` apply Bayes' rule. What an estimator can do
is the matter of :func:`estimator_moments` and :func:`cramer_rao_bound`, over all samples of a law
or over simulated ones. Where no family is known, :class:`KernelDensity` puts a kernel on every row,
exactly and with bandwidths that follow the data; where the normalising constant is not known,
:func:`fit_exponential_family` matches scores instead, and says when it cannot.
"""

from corollary.density.estimation.consistency import ConsistencyCurve as ConsistencyCurve
from corollary.density.estimation.consistency import consistency_curve as consistency_curve
from corollary.density.estimation.cramer_rao import CramerRaoBound as CramerRaoBound
from corollary.density.estimation.cramer_rao import cramer_rao_bound as cramer_rao_bound
from corollary.density.estimation.cramer_rao import cramer_rao_matrix as cramer_rao_matrix
from corollary.density.estimation.cramer_rao import efficiency as efficiency
from corollary.density.estimation.outcomes import EstimatorMoments as EstimatorMoments
from corollary.density.estimation.outcomes import Outcomes as Outcomes
from corollary.density.estimation.outcomes import bias_jacobian as bias_jacobian
from corollary.density.estimation.outcomes import draw_outcomes as draw_outcomes
from corollary.density.estimation.outcomes import estimator_moments as estimator_moments
from corollary.density.estimation.outcomes import list_outcomes as list_outcomes
from corollary.density.estimation.outcomes import score_moments as score_moments
from corollary.density.estimation.unbiased import likeliest_range as likeliest_range
from corollary.density.estimation.unbiased import sample_mean as sample_mean
from corollary.density.estimation.unbiased import unbiased_range as unbiased_range
from corollary.density.kernel.bandwidth import (
    leave_one_out_log_likelihood as leave_one_out_log_likelihood,
)
from corollary.density.kernel.bandwidth import likelihood_bandwidth as likelihood_bandwidth
from corollary.density.kernel.bandwidth import neighbor_bandwidths as neighbor_bandwidths
from corollary.density.kernel.bandwidth import reference_bandwidth as reference_bandwidth
from corollary.density.kernel.bandwidth import scott_bandwidth as scott_bandwidth
from corollary.density.kernel.bandwidth import silverman_bandwidth as silverman_bandwidth
from corollary.density.kernel.density_display import DensityDisplay as DensityDisplay
from corollary.density.kernel.density_display import mass_levels as mass_levels
from corollary.density.kernel.kernel_density import KernelDensity as KernelDensity
from corollary.density.kernel.kernel_sum import KernelSum as KernelSum
from corollary.density.kernel.profiles import draw_from_kernel as draw_from_kernel
from corollary.density.kernel.profiles import log_kernel_integral as log_kernel_integral
from corollary.density.kernel.smoothed import smoothed_log_density as smoothed_log_density
from corollary.density.kernel.smoothed import smoothed_score as smoothed_score
from corollary.density.likelihood.bayes import BetaPrior as BetaPrior
from corollary.density.likelihood.bayes import GammaPrior as GammaPrior
from corollary.density.likelihood.bayes import ModelPosterior as ModelPosterior
from corollary.density.likelihood.bayes import NormalPrior as NormalPrior
from corollary.density.likelihood.cross_entropy import CrossEntropy as CrossEntropy
from corollary.density.likelihood.cross_entropy import family_cross_entropy as family_cross_entropy
from corollary.density.likelihood.cross_entropy import finite_cross_entropy as finite_cross_entropy
from corollary.density.likelihood.cross_entropy import (
    gaussian_cross_entropy as gaussian_cross_entropy,
)
from corollary.density.likelihood.estimate import Estimate as Estimate
from corollary.density.likelihood.estimate import wald_interval as wald_interval
from corollary.density.likelihood.families import Bernoulli as Bernoulli
from corollary.density.likelihood.families import Exponential as Exponential
from corollary.density.likelihood.families import Gamma as Gamma
from corollary.density.likelihood.families import Normal as Normal
from corollary.density.likelihood.families import NormalVector as NormalVector
from corollary.density.likelihood.families import Poisson as Poisson
from corollary.density.likelihood.family import Family as Family
from corollary.density.likelihood.family import LogDensity as LogDensity
from corollary.density.likelihood.gaussian_density import GaussianDensity as GaussianDensity
from corollary.density.likelihood.maximum import maximum_a_posteriori as maximum_a_posteriori
from corollary.density.likelihood.maximum import maximum_likelihood as maximum_likelihood
from corollary.density.likelihood.maximum import profile_interval as profile_interval
from corollary.density.likelihood.uniform import DiscreteUniform as DiscreteUniform
from corollary.density.likelihood.uniform import Uniform as Uniform
from corollary.density.score_matching.applicability import Applicability as Applicability
from corollary.density.score_matching.applicability import Obstacle as Obstacle
from corollary.density.score_matching.applicability import (
    check_score_matching as check_score_matching,
)
from corollary.density.score_matching.exponential import (
    ExponentialFamilyFit as ExponentialFamilyFit,
)
from corollary.density.score_matching.exponential import ScoreMatchingSums as ScoreMatchingSums
from corollary.density.score_matching.exponential import feature_derivatives as feature_derivatives
from corollary.density.score_matching.exponential import (
    fit_exponential_family as fit_exponential_family,
)
from corollary.density.score_matching.gaussian import GaussianScores as GaussianScores
from corollary.density.score_matching.gaussian import fit_gaussian_scores as fit_gaussian_scores
from corollary.density.score_matching.gaussian import gaussian_score_loss as gaussian_score_loss
from corollary.density.score_matching.identity import ScoreMatchingIdentity as ScoreMatchingIdentity
from corollary.density.score_matching.identity import (
    score_matching_identity as score_matching_identity,
)
from corollary.density.score_matching.identity import score_matching_loss as score_matching_loss
