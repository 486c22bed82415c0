"""Learning theory as code: bounds as plain functions of numbers and arrays.

The arguments of a bound are the theorem's symbols by their full names; it states its direction, its
probability and its assumptions, refuses data that violate them, and is checked by simulation.
:class:`BoundDisplay` draws a bound beside what it bounds. What bounds say about a fitted model is
computed by :func:`corollary.certify`, see :mod:`corollary.certificates`.

``delta`` is the probability that a bound fails, ``confidence`` is 1 - delta. The folders are
``concentration`` (sums, counts, quantiles and sequences), ``complexity`` (classes of functions),
``pac_bayes``, ``stability`` and ``learnability``.
"""

from corollary.core.moved import refuse_moved as _refuse_moved
from corollary.theory.complexity.chaining import dudley_bound as dudley_bound
from corollary.theory.complexity.chaining import dudley_sum as dudley_sum
from corollary.theory.complexity.chaining import empirical_seminorm as empirical_seminorm
from corollary.theory.complexity.chaining import greedy_entropy as greedy_entropy
from corollary.theory.complexity.chaining import linear_chaining_bound as linear_chaining_bound
from corollary.theory.complexity.chaining import linear_class_scale as linear_class_scale
from corollary.theory.complexity.chaining import lipschitz_cube_bound as lipschitz_cube_bound
from corollary.theory.complexity.chaining import (
    lipschitz_cube_complexity as lipschitz_cube_complexity,
)
from corollary.theory.complexity.chaining import (
    lipschitz_parameter_bound as lipschitz_parameter_bound,
)
from corollary.theory.complexity.chaining import one_step_bound as one_step_bound
from corollary.theory.complexity.covering import covering_number as covering_number
from corollary.theory.complexity.covering import farthest_points as farthest_points
from corollary.theory.complexity.covering import greedy_packing as greedy_packing
from corollary.theory.complexity.covering import packing_number as packing_number
from corollary.theory.complexity.covering import unit_ball_covering as unit_ball_covering
from corollary.theory.complexity.covering import volume_covering as volume_covering
from corollary.theory.complexity.halfspaces import fits_rectangle as fits_rectangle
from corollary.theory.complexity.halfspaces import halfspace_dichotomies as halfspace_dichotomies
from corollary.theory.complexity.halfspaces import (
    halfspace_shattered_set as halfspace_shattered_set,
)
from corollary.theory.complexity.halfspaces import halfspace_weights as halfspace_weights
from corollary.theory.complexity.halfspaces import interval_growth as interval_growth
from corollary.theory.complexity.halfspaces import linear_dichotomies as linear_dichotomies
from corollary.theory.complexity.halfspaces import radon_partition as radon_partition
from corollary.theory.complexity.halfspaces import (
    rectangle_shattered_set as rectangle_shattered_set,
)
from corollary.theory.complexity.halfspaces import separating_halfspace as separating_halfspace
from corollary.theory.complexity.halfspaces import sine_labels as sine_labels
from corollary.theory.complexity.halfspaces import sine_parameter as sine_parameter
from corollary.theory.complexity.halfspaces import threshold_growth as threshold_growth
from corollary.theory.complexity.halfspaces import unrealisable_labels as unrealisable_labels
from corollary.theory.complexity.margin import margin_bound as margin_bound
from corollary.theory.complexity.margin import margin_mistakes as margin_mistakes
from corollary.theory.complexity.margin import sign_class_bound as sign_class_bound
from corollary.theory.complexity.margin import uniform_margin_bound as uniform_margin_bound
from corollary.theory.complexity.norm_balls import dual_order as dual_order
from corollary.theory.complexity.norm_balls import ellipsoid_bound as ellipsoid_bound
from corollary.theory.complexity.norm_balls import euclidean_ball_bound as euclidean_ball_bound
from corollary.theory.complexity.norm_balls import (
    gaussian_ball_complexity as gaussian_ball_complexity,
)
from corollary.theory.complexity.norm_balls import kernel_ball_bound as kernel_ball_bound
from corollary.theory.complexity.norm_balls import norm_ball_complexity as norm_ball_complexity
from corollary.theory.complexity.norm_balls import operator_norm_bound as operator_norm_bound
from corollary.theory.complexity.norm_balls import path_norm as path_norm
from corollary.theory.complexity.norm_balls import relu_network_bound as relu_network_bound
from corollary.theory.complexity.norm_balls import sign_data_bound as sign_data_bound
from corollary.theory.complexity.norm_balls import sparse_class_bound as sparse_class_bound
from corollary.theory.complexity.rademacher import all_signs_complexity as all_signs_complexity
from corollary.theory.complexity.rademacher import contraction_bound as contraction_bound
from corollary.theory.complexity.rademacher import (
    dependent_symmetrisation as dependent_symmetrisation,
)
from corollary.theory.complexity.rademacher import (
    expected_rademacher_complexity as expected_rademacher_complexity,
)
from corollary.theory.complexity.rademacher import (
    growth_complexity_bound as growth_complexity_bound,
)
from corollary.theory.complexity.rademacher import lipschitz_loss_bound as lipschitz_loss_bound
from corollary.theory.complexity.rademacher import massart_bound as massart_bound
from corollary.theory.complexity.rademacher import mean_absolute_walk as mean_absolute_walk
from corollary.theory.complexity.rademacher import rademacher_bound as rademacher_bound
from corollary.theory.complexity.rademacher import rademacher_complexity as rademacher_complexity
from corollary.theory.complexity.rademacher import symmetrisation_sides as symmetrisation_sides
from corollary.theory.complexity.shattering import count_dichotomies as count_dichotomies
from corollary.theory.complexity.shattering import growth_function as growth_function
from corollary.theory.complexity.shattering import is_shattered as is_shattered
from corollary.theory.complexity.shattering import shattered_set as shattered_set
from corollary.theory.complexity.shattering import vc_dimension as vc_dimension
from corollary.theory.complexity.vc import invert_log as invert_log
from corollary.theory.complexity.vc import log_growth_bound as log_growth_bound
from corollary.theory.complexity.vc import realizable_rates as realizable_rates
from corollary.theory.complexity.vc import vc_bound as vc_bound
from corollary.theory.complexity.vc import vc_of_finite_class as vc_of_finite_class
from corollary.theory.complexity.vc import vc_of_margin_halfspaces as vc_of_margin_halfspaces
from corollary.theory.complexity.vc import vc_of_union as vc_of_union
from corollary.theory.complexity.vc import vc_sample_size as vc_sample_size
from corollary.theory.complexity.volumes import log_ball_volume as log_ball_volume
from corollary.theory.concentration.bernstein import bernstein_bound as bernstein_bound
from corollary.theory.concentration.betting_mean import betting_mean_bound as betting_mean_bound
from corollary.theory.concentration.binomial import (
    binomial_tail_inversion as binomial_tail_inversion,
)
from corollary.theory.concentration.binomial import (
    clopper_pearson_interval as clopper_pearson_interval,
)
from corollary.theory.concentration.binomial import clopper_pearson_lower as clopper_pearson_lower
from corollary.theory.concentration.binomial import clopper_pearson_upper as clopper_pearson_upper
from corollary.theory.concentration.binomial import quantile_rows_needed as quantile_rows_needed
from corollary.theory.concentration.binomial import quantile_upper_bound as quantile_upper_bound
from corollary.theory.concentration.bounded_differences import azuma_bound as azuma_bound
from corollary.theory.concentration.bounded_differences import (
    bounded_differences as bounded_differences,
)
from corollary.theory.concentration.bounded_differences import doob_martingale as doob_martingale
from corollary.theory.concentration.bounded_differences import mcdiarmid_bound as mcdiarmid_bound
from corollary.theory.concentration.bounded_losses import check_losses as check_losses
from corollary.theory.concentration.bounded_losses import (
    empirical_bernstein_radius as empirical_bernstein_radius,
)
from corollary.theory.concentration.bounded_losses import hoeffding_bound as hoeffding_bound
from corollary.theory.concentration.cdf_band import cdf_band as cdf_band
from corollary.theory.concentration.cdf_band import dkw_bound as dkw_bound
from corollary.theory.concentration.confidence_sequence import betting_sequence as betting_sequence
from corollary.theory.concentration.confidence_sequence import (
    stitched_boundary as stitched_boundary,
)
from corollary.theory.concentration.confidence_sequence import (
    stitched_sequence as stitched_sequence,
)
from corollary.theory.concentration.kl_inverse import kl_confidence_limit as kl_confidence_limit
from corollary.theory.concentration.kl_inverse import kl_lower_inverse as kl_lower_inverse
from corollary.theory.concentration.kl_inverse import kl_upper_inverse as kl_upper_inverse
from corollary.theory.concentration.paired import compare_losses as compare_losses
from corollary.theory.concentration.period_risk import period_risk_bound as period_risk_bound
from corollary.theory.concentration.rows_needed import rows_needed as rows_needed
from corollary.theory.concentration.rows_needed import smallest_size as smallest_size
from corollary.theory.concentration.run_risk import run_risk_bound as run_risk_bound
from corollary.theory.concentration.sub_gaussian import combine_parameters as combine_parameters
from corollary.theory.concentration.sub_gaussian import (
    expected_gaussian_maximum as expected_gaussian_maximum,
)
from corollary.theory.concentration.sub_gaussian import (
    gaussian_poincare_bound as gaussian_poincare_bound,
)
from corollary.theory.concentration.sub_gaussian import maximal_bound as maximal_bound
from corollary.theory.concentration.sub_gaussian import range_parameter as range_parameter
from corollary.theory.concentration.sub_gaussian import sub_gaussian_moment as sub_gaussian_moment
from corollary.theory.concentration.sub_gaussian import (
    sub_gaussian_parameter as sub_gaussian_parameter,
)
from corollary.theory.concentration.sub_gaussian import sub_gaussian_tail as sub_gaussian_tail
from corollary.theory.concentration.tails import chernoff_bound as chernoff_bound
from corollary.theory.concentration.tails import chernoff_kl_bound as chernoff_kl_bound
from corollary.theory.concentration.tails import chernoff_lower_tail as chernoff_lower_tail
from corollary.theory.concentration.tails import clt_radius as clt_radius
from corollary.theory.concentration.tails import markov_bound as markov_bound
from corollary.theory.concentration.tails import reverse_markov_bound as reverse_markov_bound
from corollary.theory.concentration.tails import union_bound as union_bound
from corollary.theory.concentration.units import one_row_per_unit as one_row_per_unit
from corollary.theory.concentration.units import unit_means as unit_means
from corollary.theory.concentration.units import unit_medians as unit_medians
from corollary.theory.display import BoundCurve as BoundCurve
from corollary.theory.display import BoundDisplay as BoundDisplay
from corollary.theory.display import bound_curve as bound_curve
from corollary.theory.learnability.finite_class import agnostic_sample_size as agnostic_sample_size
from corollary.theory.learnability.finite_class import (
    countable_class_radius as countable_class_radius,
)
from corollary.theory.learnability.finite_class import erm_excess_bound as erm_excess_bound
from corollary.theory.learnability.finite_class import finite_class_bound as finite_class_bound
from corollary.theory.learnability.finite_class import float32_class_radius as float32_class_radius
from corollary.theory.learnability.finite_class import realizable_bound as realizable_bound
from corollary.theory.learnability.finite_class import (
    realizable_expected_risk as realizable_expected_risk,
)
from corollary.theory.learnability.finite_class import uniform_deviation as uniform_deviation
from corollary.theory.learnability.no_free_lunch import memoriser_error as memoriser_error
from corollary.theory.learnability.no_free_lunch import no_free_lunch as no_free_lunch
from corollary.theory.learnability.no_free_lunch import no_free_lunch_points as no_free_lunch_points
from corollary.theory.learnability.pac import PACLearner as PACLearner
from corollary.theory.learnability.pac import least_sample_size as least_sample_size
from corollary.theory.learnability.pac import pac_curve as pac_curve
from corollary.theory.learnability.pac import rectangle_bound as rectangle_bound
from corollary.theory.learnability.pac import tightest_rectangle as tightest_rectangle
from corollary.theory.pac_bayes.bounds import gaussian_shift_divergence as gaussian_shift_divergence
from corollary.theory.pac_bayes.bounds import gibbs_posterior as gibbs_posterior
from corollary.theory.pac_bayes.bounds import mcallester_bound as mcallester_bound
from corollary.theory.pac_bayes.bounds import noisy_linear_errors as noisy_linear_errors
from corollary.theory.pac_bayes.bounds import pac_bayes_bound as pac_bayes_bound
from corollary.theory.pac_bayes.bounds import (
    pac_bayes_fixed_divergence_bound as pac_bayes_fixed_divergence_bound,
)
from corollary.theory.pac_bayes.bounds import pac_bayes_kl_bound as pac_bayes_kl_bound
from corollary.theory.pac_bayes.bounds import pac_bayes_range_bound as pac_bayes_range_bound
from corollary.theory.pac_bayes.gibbs import gibbs_erm as gibbs_erm
from corollary.theory.pac_bayes.gibbs import gibbs_stability as gibbs_stability
from corollary.theory.pac_bayes.occam import bit_length_prior as bit_length_prior
from corollary.theory.pac_bayes.occam import occam_bound as occam_bound
from corollary.theory.pac_bayes.variational import donsker_varadhan as donsker_varadhan
from corollary.theory.pac_bayes.variational import gibbs_measure as gibbs_measure
from corollary.theory.pac_bayes.variational import kl_lower_bound as kl_lower_bound
from corollary.theory.pac_bayes.variational import log_moment as log_moment
from corollary.theory.stability.compression import compression_bound as compression_bound
from corollary.theory.stability.descent import coupled_sgd as coupled_sgd
from corollary.theory.stability.descent import reshuffled_sgd_stability as reshuffled_sgd_stability
from corollary.theory.stability.descent import sgd_row_distances as sgd_row_distances
from corollary.theory.stability.descent import sgd_stability as sgd_stability
from corollary.theory.stability.descent import strong_sgd_stability as strong_sgd_stability
from corollary.theory.stability.uniform import empirical_stability as empirical_stability
from corollary.theory.stability.uniform import (
    linear_system_perturbation as linear_system_perturbation,
)
from corollary.theory.stability.uniform import replace_one_gap as replace_one_gap
from corollary.theory.stability.uniform import ridge_norm_bound as ridge_norm_bound
from corollary.theory.stability.uniform import ridge_stability as ridge_stability
from corollary.theory.stability.uniform import stability_bound as stability_bound

_certificates = (
    "Certificate",
    "Evidence",
    "LearningCurve",
    "LearningCurveDisplay",
    "Quantity",
    "Theorem",
    "anytime_certificate",
    "certify",
    "coverage_certificates",
    "empirical_bernstein_certificate",
    "error_quantile_certificate",
    "error_rate_certificate",
    "hoeffding_certificate",
    "learning_curve",
    "left_out_losses",
    "online_to_batch_certificate",
    "register_theorem",
    "theorems",
    "tightest",
)
__getattr__ = _refuse_moved(
    "corollary.theory",
    {
        **{name: f"corollary.certificates.{name}" for name in _certificates},
        "LinearRule": "corollary.core.protocols.Plane",
        "PACBayesClassifier": "corollary.neural.PACBayesClassifier",
        "linear_rule": "corollary.core.protocols.Plane",
        "noisy_outputs": "corollary.neural.noisy_outputs",
        "refuse_training_rows": "corollary.core.guard.refuse_training_rows",
    },
)
