"""Prediction with a guaranteed coverage, around any model.

Split conformal prediction keeps some rows aside, scores how badly their targets fit the model, and
returns for a new row every target that fits no worse than most of them. Coverage holds for every
model and every law, as long as the rows kept aside and the new one are exchangeable.

The estimators wrap any scikit-learn estimator. Conformity scores (:class:`Absolute`,
:class:`Scaled`, :class:`Quantiles`, :class:`LAC`, :class:`APS`, :class:`RAPS`) and partitions into
groups (:class:`Groups`, :class:`Bands`, :class:`PerClass`) are frozen objects that model files
hold; the quantile, the scores and the laws of coverage are plain functions too.
"""

from corollary.conformal.adaptive import AdaptiveThreshold as AdaptiveThreshold
from corollary.conformal.adaptive import adaptive_coverage_bound as adaptive_coverage_bound
from corollary.conformal.ahead import ahead_quantile as ahead_quantile
from corollary.conformal.ahead import slow_errors as slow_errors
from corollary.conformal.coverage.law_display import CoverageLawDisplay as CoverageLawDisplay
from corollary.conformal.coverage.laws import coverage_dkw as coverage_dkw
from corollary.conformal.coverage.laws import coverage_law as coverage_law
from corollary.conformal.coverage.laws import coverage_score as coverage_score
from corollary.conformal.coverage.laws import mean_size as mean_size
from corollary.conformal.coverage.laws import naive_coverage as naive_coverage
from corollary.conformal.coverage.laws import trivial_sets as trivial_sets
from corollary.conformal.coverage.set_sizes import SetSizeDisplay as SetSizeDisplay
from corollary.conformal.coverage.set_sizes import coverage_by_size as coverage_by_size
from corollary.conformal.full import full_conformal_neighbors as full_conformal_neighbors
from corollary.conformal.full import full_conformal_ridge as full_conformal_ridge
from corollary.conformal.hierarchical import group_maxima as group_maxima
from corollary.conformal.hierarchical import hierarchical_quantile as hierarchical_quantile
from corollary.conformal.plus.after_bootstrap import (
    JackknifeAfterBootstrapRegressor as JackknifeAfterBootstrapRegressor,
)
from corollary.conformal.plus.cv_plus import CVPlusRegressor as CVPlusRegressor
from corollary.conformal.plus.hierarchical import (
    hierarchical_plus_coverage as hierarchical_plus_coverage,
)
from corollary.conformal.plus.hierarchical import (
    hierarchical_plus_intervals as hierarchical_plus_intervals,
)
from corollary.conformal.plus.intervals import plus_coverage as plus_coverage
from corollary.conformal.plus.intervals import plus_intervals as plus_intervals
from corollary.conformal.predicted.ahead import (
    calibrate_intervals_ahead as calibrate_intervals_ahead,
)
from corollary.conformal.predicted.intervals import Difficulty as Difficulty
from corollary.conformal.predicted.intervals import IntervalCalibration as IntervalCalibration
from corollary.conformal.predicted.intervals import calibrate_intervals as calibrate_intervals
from corollary.conformal.predicted.intervals import learn_difficulty as learn_difficulty
from corollary.conformal.predicted.sets import SetCalibration as SetCalibration
from corollary.conformal.predicted.sets import calibrate_sets as calibrate_sets
from corollary.conformal.quantile import conformal_quantile as conformal_quantile
from corollary.conformal.quantile import conformal_rank as conformal_rank
from corollary.conformal.quantile import empirical_quantile as empirical_quantile
from corollary.conformal.quantile import group_conditional_quantiles as group_conditional_quantiles
from corollary.conformal.quantile import smallest_calibration_size as smallest_calibration_size
from corollary.conformal.risk_control import (
    hoeffding_bentkus_p_values as hoeffding_bentkus_p_values,
)
from corollary.conformal.risk_control import learn_then_test as learn_then_test
from corollary.conformal.risk_control import risk_controlling_setting as risk_controlling_setting
from corollary.conformal.scores.functions import absolute_score as absolute_score
from corollary.conformal.scores.functions import aps_score as aps_score
from corollary.conformal.scores.functions import aps_sets as aps_sets
from corollary.conformal.scores.functions import lac_score as lac_score
from corollary.conformal.scores.functions import normalised_score as normalised_score
from corollary.conformal.scores.functions import quantile_score as quantile_score
from corollary.conformal.scores.functions import raps_score as raps_score
from corollary.conformal.scores.functions import reach as reach
from corollary.conformal.scores.intervals import Absolute as Absolute
from corollary.conformal.scores.intervals import Quantiles as Quantiles
from corollary.conformal.scores.intervals import Scaled as Scaled
from corollary.conformal.scores.probabilities import class_probabilities as class_probabilities
from corollary.conformal.scores.sets import APS as APS
from corollary.conformal.scores.sets import LAC as LAC
from corollary.conformal.scores.sets import RAPS as RAPS
from corollary.conformal.split.classifier import (
    SplitConformalClassifier as SplitConformalClassifier,
)
from corollary.conformal.split.partitions import Bands as Bands
from corollary.conformal.split.partitions import Groups as Groups
from corollary.conformal.split.partitions import PerClass as PerClass
from corollary.conformal.split.quantile_regressor import (
    ConformalQuantileRegressor as ConformalQuantileRegressor,
)
from corollary.conformal.split.regressor import SplitConformalRegressor as SplitConformalRegressor
from corollary.conformal.testing.exchangeability import exchangeability_test as exchangeability_test
from corollary.conformal.testing.p_values import conformal_p_values as conformal_p_values
from corollary.conformal.testing.p_values import weighted_selection as weighted_selection
from corollary.conformal.weighted import effective_sample_size as effective_sample_size
from corollary.conformal.weighted import weighted_conformal_quantile as weighted_conformal_quantile
