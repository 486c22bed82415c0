"""How good a model is, and how one knows.

Estimates of risk (:func:`hold_out`, :func:`cross_validate`, :func:`bootstrap_risk`) take any
scikit-learn estimator, refit whole pipelines per fold and return losses row by row, so that models
can be compared on the same rows. :func:`tune` chooses parameters and :func:`nested_risk` says what
the choice is worth; :func:`compare_learners` compares with a variance that fits. Proper scores and
:func:`reliability_curve` judge probabilities; :func:`permutation_test` and its siblings say how
often chance alone would do as much; :func:`holm` and :func:`benjamini_hochberg` allow for many
looks. Shares, means and
quantiles have intervals (:func:`share_interval`, :func:`mean_interval`,
:func:`quantile_interval`).

Where rows belong to clients, patients or other units, or come in time, say so by ``groups=`` and
``time=``: folds then leave out whole units (:func:`unit_folds`) or go forward
(:func:`forward_folds`), and what is claimed counts units (:func:`unit_mean_interval`,
:func:`unit_share_upper`, :func:`unit_quantile_interval`). Where nobody says so,
:func:`find_dependence` looks for copies, owners and time, and measures what they are worth.

The guarded test set lives in :mod:`corollary.risk`, bounds on risks in :mod:`corollary.theory`.
"""

from corollary.risk import crps_normal as crps_normal
from corollary.theory import unit_means as unit_means
from corollary.validation.bootstrap import BootstrapLaw as BootstrapLaw
from corollary.validation.bootstrap import BootstrapRisk as BootstrapRisk
from corollary.validation.bootstrap import bootstrap as bootstrap
from corollary.validation.bootstrap import bootstrap_risk as bootstrap_risk
from corollary.validation.bootstrap import inclusion_probability as inclusion_probability
from corollary.validation.comparison import compare_learners as compare_learners
from corollary.validation.cross_validated_intervals import (
    cross_validated_error as cross_validated_error,
)
from corollary.validation.cross_validated_intervals import (
    cross_validated_interval as cross_validated_interval,
)
from corollary.validation.cross_validated_intervals import overlap_inflation as overlap_inflation
from corollary.validation.cross_validation import cross_validate as cross_validate
from corollary.validation.dependence.agreement import agreeing_pairs as agreeing_pairs
from corollary.validation.dependence.agreement import agreement_lift as agreement_lift
from corollary.validation.dependence.excess import unit_excess as unit_excess
from corollary.validation.dependence.find import find_dependence as find_dependence
from corollary.validation.dependence.moments import serial_correlation as serial_correlation
from corollary.validation.dependence.moments import stretches as stretches
from corollary.validation.dependence.near_copies import near_copies as near_copies
from corollary.validation.dependence.near_copies import nearest_ratios as nearest_ratios
from corollary.validation.dependence.records import Dependence as Dependence
from corollary.validation.dependence.records import Sign as Sign
from corollary.validation.dependence.records import Unit as Unit
from corollary.validation.dependence.records import UnitEffect as UnitEffect
from corollary.validation.dependence.records import UnitKind as UnitKind
from corollary.validation.dependence.residuals import (
    intraclass_correlation as intraclass_correlation,
)
from corollary.validation.dependence.residuals import intraclass_p_value as intraclass_p_value
from corollary.validation.dependence.residuals import sibling_correction as sibling_correction
from corollary.validation.dependence.sizes import even_sizes_p_value as even_sizes_p_value
from corollary.validation.dependence.slopes import slope_correction as slope_correction
from corollary.validation.dependence.slopes import slope_p_values as slope_p_values
from corollary.validation.hold_out import hold_out as hold_out
from corollary.validation.hold_out import hold_out_interval as hold_out_interval
from corollary.validation.hold_out import look_price as look_price
from corollary.validation.hypothesis_tests import exact_p_value as exact_p_value
from corollary.validation.hypothesis_tests import monte_carlo_p_value as monte_carlo_p_value
from corollary.validation.hypothesis_tests import permutation_test as permutation_test
from corollary.validation.hypothesis_tests import wald_test as wald_test
from corollary.validation.intervals import Estimate as Estimate
from corollary.validation.intervals import mean_interval as mean_interval
from corollary.validation.intervals import quantile_interval as quantile_interval
from corollary.validation.intervals import share_interval as share_interval
from corollary.validation.intervals import share_upper as share_upper
from corollary.validation.leave_one_out import least_squares_loo as least_squares_loo
from corollary.validation.leave_one_out import retrain_without as retrain_without
from corollary.validation.leave_one_out import smoother_loo as smoother_loo
from corollary.validation.multiple_tests import benjamini_hochberg as benjamini_hochberg
from corollary.validation.multiple_tests import holm as holm
from corollary.validation.probabilities.posterior_agreement import (
    agreement_curve as agreement_curve,
)
from corollary.validation.probabilities.posterior_agreement import (
    posterior_agreement as posterior_agreement,
)
from corollary.validation.probabilities.posterior_agreement import (
    posterior_log_loss as posterior_log_loss,
)
from corollary.validation.probabilities.reliability import ReliabilityDisplay as ReliabilityDisplay
from corollary.validation.probabilities.reliability import reliability_curve as reliability_curve
from corollary.validation.probabilities.scores import brier_score as brier_score
from corollary.validation.probabilities.scores import crps_sample as crps_sample
from corollary.validation.probabilities.scores import log_score as log_score
from corollary.validation.reuse import best_of_guesses as best_of_guesses
from corollary.validation.reuse import optimism_scale as optimism_scale
from corollary.validation.reuse import reuse_experiment as reuse_experiment
from corollary.validation.splits.splitters import BlockKFold as BlockKFold
from corollary.validation.splits.splitters import ForwardChaining as ForwardChaining
from corollary.validation.splits.splitters import UnitKFold as UnitKFold
from corollary.validation.splits.time import block_folds as block_folds
from corollary.validation.splits.time import forward_folds as forward_folds
from corollary.validation.splits.time import split_latest as split_latest
from corollary.validation.splits.units import split_units as split_units
from corollary.validation.splits.units import unit_folds as unit_folds
from corollary.validation.tuning import nested_risk as nested_risk
from corollary.validation.tuning import tune as tune
from corollary.validation.unit_intervals import unit_mean_interval as unit_mean_interval
from corollary.validation.unit_intervals import unit_quantile_interval as unit_quantile_interval
from corollary.validation.unit_intervals import unit_share_upper as unit_share_upper
