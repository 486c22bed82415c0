"""Prediction with a guaranteed coverage, around any model.

Split conformal prediction keeps some rows aside, scores how badly their targets fit the model, and
returns for a new row every target that fits no worse than most of them. Coverage holds for every
model and every law, as long as the rows kept aside and the new one are exchangeable.

The estimators wrap any scikit-learn estimator; the quantile, the scores and the laws of coverage
are plain functions.
"""

from corollary.conformal.classifier import SplitConformalClassifier as SplitConformalClassifier
from corollary.conformal.classifier import class_probabilities as class_probabilities
from corollary.conformal.coverage import coverage_dkw as coverage_dkw
from corollary.conformal.coverage import coverage_law as coverage_law
from corollary.conformal.coverage import coverage_score as coverage_score
from corollary.conformal.coverage import mean_size as mean_size
from corollary.conformal.coverage import naive_coverage as naive_coverage
from corollary.conformal.coverage import trivial_sets as trivial_sets
from corollary.conformal.cv_plus import CVPlusRegressor as CVPlusRegressor
from corollary.conformal.plus import plus_coverage as plus_coverage
from corollary.conformal.plus import plus_intervals as plus_intervals
from corollary.conformal.quantile import conformal_quantile as conformal_quantile
from corollary.conformal.quantile import conformal_rank as conformal_rank
from corollary.conformal.quantile import empirical_quantile as empirical_quantile
from corollary.conformal.quantile import group_conditional_quantiles as group_conditional_quantiles
from corollary.conformal.quantile import smallest_calibration_size as smallest_calibration_size
from corollary.conformal.regressor import SplitConformalRegressor as SplitConformalRegressor
from corollary.conformal.scores import absolute_score as absolute_score
from corollary.conformal.scores import aps_score as aps_score
from corollary.conformal.scores import aps_sets as aps_sets
from corollary.conformal.scores import lac_score as lac_score
from corollary.conformal.scores import normalised_score as normalised_score
from corollary.conformal.scores import quantile_score as quantile_score
