"""Mixtures: models with latent variables, Gaussian mixtures, and mixtures of unknown size.

Expectation-maximisation stands here three times, as the theory does: as identities of the evidence
(:func:`evidence_split`, :func:`em_gain`), as ascent on the free energy for any model with a finite
latent variable (:func:`expectation_maximisation`), and as the fit of a :class:`GaussianMixture`,
which takes weights, missing values, files and clusters. Where the number of components is not known
it has a law: that of a Dirichlet process, drawn by breaking a stick (:func:`gem_weights`) or by
seating guests (:func:`chinese_restaurant`), and :class:`DirichletProcessMixture` samples what the
rows say about it.
"""

from corollary.mixture.bayesian.dirichlet import beta_log_density as beta_log_density
from corollary.mixture.bayesian.dirichlet import dirichlet_by_sticks as dirichlet_by_sticks
from corollary.mixture.bayesian.dirichlet import dirichlet_log_density as dirichlet_log_density
from corollary.mixture.bayesian.dirichlet import dirichlet_posterior as dirichlet_posterior
from corollary.mixture.bayesian.dirichlet import gem_weights as gem_weights
from corollary.mixture.bayesian.dirichlet import stick_weights as stick_weights
from corollary.mixture.bayesian.dirichlet_process import (
    dirichlet_process_marginals as dirichlet_process_marginals,
)
from corollary.mixture.bayesian.dirichlet_process import (
    draw_dirichlet_process as draw_dirichlet_process,
)
from corollary.mixture.bayesian.generators import draw_bayesian_mixture as draw_bayesian_mixture
from corollary.mixture.bayesian.generators import draw_process_mixture as draw_process_mixture
from corollary.mixture.bayesian.restaurant import chinese_restaurant as chinese_restaurant
from corollary.mixture.bayesian.restaurant import expected_tables as expected_tables
from corollary.mixture.bayesian.restaurant import expected_tables_bound as expected_tables_bound
from corollary.mixture.bayesian.restaurant import (
    partition_log_probability as partition_log_probability,
)
from corollary.mixture.bayesian.restaurant import tables_distribution as tables_distribution
from corollary.mixture.display import ClusterTraceDisplay as ClusterTraceDisplay
from corollary.mixture.display import MixtureDisplay as MixtureDisplay
from corollary.mixture.em.evidence import em_ascent_bound as em_ascent_bound
from corollary.mixture.em.evidence import em_gain as em_gain
from corollary.mixture.em.evidence import evidence_gradient as evidence_gradient
from corollary.mixture.em.evidence import evidence_split as evidence_split
from corollary.mixture.em.evidence import expected_log_joint as expected_log_joint
from corollary.mixture.em.evidence import free_energy as free_energy
from corollary.mixture.em.evidence import latent_posterior as latent_posterior
from corollary.mixture.em.evidence import log_evidence as log_evidence
from corollary.mixture.em.expectation_maximisation import (
    ExpectationMaximisation as ExpectationMaximisation,
)
from corollary.mixture.em.expectation_maximisation import LatentModel as LatentModel
from corollary.mixture.em.expectation_maximisation import (
    expectation_maximisation as expectation_maximisation,
)
from corollary.mixture.gaussian.choice import ComponentChoice as ComponentChoice
from corollary.mixture.gaussian.choice import choose_components as choose_components
from corollary.mixture.gaussian.complete import GaussianLatentModel as GaussianLatentModel
from corollary.mixture.gaussian.complete import complete_log_likelihood as complete_log_likelihood
from corollary.mixture.gaussian.complete import complete_maximiser as complete_maximiser
from corollary.mixture.gaussian.complete import gaussian_m_step as gaussian_m_step
from corollary.mixture.gaussian.complete import mixture_q_function as mixture_q_function
from corollary.mixture.gaussian.complete import simplex_log_maximum as simplex_log_maximum
from corollary.mixture.gaussian.gradients import gaussian_gradient as gaussian_gradient
from corollary.mixture.gaussian.gradients import log_det_gradient as log_det_gradient
from corollary.mixture.gaussian.gradients import trace_inverse_gradient as trace_inverse_gradient
from corollary.mixture.gaussian.hard_limit import soft_lloyd_step as soft_lloyd_step
from corollary.mixture.gaussian.law import MixtureLaw as MixtureLaw
from corollary.mixture.gaussian.mixture import GaussianMixture as GaussianMixture
from corollary.mixture.process.mixture import DirichletProcessMixture as DirichletProcessMixture
from corollary.mixture.process.normal_inverse_wishart import (
    NormalInverseWishart as NormalInverseWishart,
)
from corollary.mixture.process.partitions import pair_agreement as pair_agreement
from corollary.mixture.process.partitions import summarise_partitions as summarise_partitions
