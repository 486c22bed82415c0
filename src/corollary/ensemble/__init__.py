"""Many learners as one: votes, averages, bagging, forests and boosting.

Independent voters make a majority that is hardly ever wrong (:func:`majority_error`); averaging
correlated ones lowers the variance down to a floor (:func:`average_variance`). Members are
combined by hand (:class:`VotingClassifier`), by weights learnt from out-of-fold predictions
(:class:`StackingClassifier`), or by the posterior of models (:func:`model_probabilities`). Boosting
adds one weak learner after the other: :class:`AdaBoostClassifier` tracks the bound on its training
error, and :class:`StagewiseRegressor` does the same greedy fit under any loss.

Bagging fits one learner to many bootstrap samples (:class:`BaggingClassifier`); forests are bags of
trees that draw columns, too (:class:`RandomForestClassifier`), with honest out-of-bag predictions
and importances (:func:`permutation_importance`). :class:`CalibratedClassifierCV` gives any
classifier probabilities that hold.
"""

from corollary.ensemble.bagging.bags import BaggingClassifier as BaggingClassifier
from corollary.ensemble.bagging.bags import BaggingRegressor as BaggingRegressor
from corollary.ensemble.bagging.bootstrap import bootstrap_counts as bootstrap_counts
from corollary.ensemble.bagging.bootstrap import expected_distinct_share as expected_distinct_share
from corollary.ensemble.bagging.bootstrap import number_of_draws as number_of_draws
from corollary.ensemble.bagging.extra_trees import ExtraTreesClassifier as ExtraTreesClassifier
from corollary.ensemble.bagging.extra_trees import ExtraTreesRegressor as ExtraTreesRegressor
from corollary.ensemble.bagging.forest import RandomForestClassifier as RandomForestClassifier
from corollary.ensemble.bagging.forest import RandomForestRegressor as RandomForestRegressor
from corollary.ensemble.boosting._binned_rows import BinnedRows as BinnedRows
from corollary.ensemble.boosting.classifier import (
    HistGradientBoostingClassifier as HistGradientBoostingClassifier,
)
from corollary.ensemble.boosting.display import (
    BoostingCurveDisplay as BoostingCurveDisplay,
)
from corollary.ensemble.boosting.histogram import (
    GradientHistogram as GradientHistogram,
)
from corollary.ensemble.boosting.losses import BoostingLoss as BoostingLoss
from corollary.ensemble.boosting.losses import ExponentialBoostingLoss as ExponentialBoostingLoss
from corollary.ensemble.boosting.losses import GammaBoostingLoss as GammaBoostingLoss
from corollary.ensemble.boosting.losses import LogisticBoostingLoss as LogisticBoostingLoss
from corollary.ensemble.boosting.losses import PoissonBoostingLoss as PoissonBoostingLoss
from corollary.ensemble.boosting.losses import SoftmaxBoostingLoss as SoftmaxBoostingLoss
from corollary.ensemble.boosting.losses import SquareBoostingLoss as SquareBoostingLoss
from corollary.ensemble.boosting.normal_loss import NormalBoostingLoss as NormalBoostingLoss
from corollary.ensemble.boosting.normal_loss import calibrated_scale as calibrated_scale
from corollary.ensemble.boosting.quantile_losses import PinballBoostingLoss as PinballBoostingLoss
from corollary.ensemble.boosting.quantile_losses import (
    QuantilesBoostingLoss as QuantilesBoostingLoss,
)
from corollary.ensemble.boosting.quantile_losses import weighted_quantile as weighted_quantile
from corollary.ensemble.boosting.regressor import (
    HistGradientBoostingRegressor as HistGradientBoostingRegressor,
)
from corollary.ensemble.calibrated._pair import CalibratedPair as CalibratedPair
from corollary.ensemble.calibrated.classifier import (
    CalibratedClassifierCV as CalibratedClassifierCV,
)
from corollary.ensemble.calibrated.maps import IsotonicMap as IsotonicMap
from corollary.ensemble.calibrated.maps import SigmoidMap as SigmoidMap
from corollary.ensemble.calibrated.maps import TemperatureMap as TemperatureMap
from corollary.ensemble.calibrated.temperature import temperature_scaling as temperature_scaling
from corollary.ensemble.column_groups import grouped_importance as grouped_importance
from corollary.ensemble.combining.average import average_bias as average_bias
from corollary.ensemble.combining.average import average_moments as average_moments
from corollary.ensemble.combining.average import average_variance as average_variance
from corollary.ensemble.combining.average import equicorrelated_variance as equicorrelated_variance
from corollary.ensemble.combining.crowd import majority_error as majority_error
from corollary.ensemble.combining.crowd import majority_error_bound as majority_error_bound
from corollary.ensemble.combining.mean_weights import mean_weights as mean_weights
from corollary.ensemble.combining.model_averaging import average_log_density as average_log_density
from corollary.ensemble.combining.model_averaging import mixture_moments as mixture_moments
from corollary.ensemble.combining.model_averaging import mixture_quantile as mixture_quantile
from corollary.ensemble.combining.model_averaging import model_probabilities as model_probabilities
from corollary.ensemble.combining.stacking import StackingClassifier as StackingClassifier
from corollary.ensemble.combining.stacking import StackingRegressor as StackingRegressor
from corollary.ensemble.combining.vote import convex_combination as convex_combination
from corollary.ensemble.combining.vote import convex_weights as convex_weights
from corollary.ensemble.combining.vote import sign_vote as sign_vote
from corollary.ensemble.combining.vote import vote_shares as vote_shares
from corollary.ensemble.combining.vote import weighted_vote as weighted_vote
from corollary.ensemble.combining.voting import VotingClassifier as VotingClassifier
from corollary.ensemble.combining.voting import VotingRegressor as VotingRegressor
from corollary.ensemble.gradient.classifier import (
    GradientBoostingClassifier as GradientBoostingClassifier,
)
from corollary.ensemble.gradient.huber_loss import HuberBoostingLoss as HuberBoostingLoss
from corollary.ensemble.gradient.regressor import (
    GradientBoostingRegressor as GradientBoostingRegressor,
)
from corollary.ensemble.importance import permutation_importance as permutation_importance
from corollary.ensemble.stagewise.adaboost import AdaBoostClassifier as AdaBoostClassifier
from corollary.ensemble.stagewise.adaboost_regressor import (
    AdaBoostRegressor as AdaBoostRegressor,
)
from corollary.ensemble.stagewise.adaboost_regressor import relative_losses as relative_losses
from corollary.ensemble.stagewise.additive import AdditiveFunction as AdditiveFunction
from corollary.ensemble.stagewise.additive import linear_sum as linear_sum
from corollary.ensemble.stagewise.additive import stump_sum as stump_sum
from corollary.ensemble.stagewise.additive import stumps_needed as stumps_needed
from corollary.ensemble.stagewise.descent import line_search as line_search
from corollary.ensemble.stagewise.descent import stagewise_dictionary as stagewise_dictionary
from corollary.ensemble.stagewise.display import AdaBoostDisplay as AdaBoostDisplay
from corollary.ensemble.stagewise.models import StagewiseClassifier as StagewiseClassifier
from corollary.ensemble.stagewise.models import StagewiseRegressor as StagewiseRegressor
from corollary.ensemble.stagewise.reweighting import boosting_distribution as boosting_distribution
from corollary.ensemble.stagewise.reweighting import classifier_weight as classifier_weight
from corollary.ensemble.stagewise.reweighting import normaliser as normaliser
from corollary.ensemble.stagewise.reweighting import population_step as population_step
from corollary.ensemble.stagewise.reweighting import reweight as reweight
from corollary.ensemble.stagewise.stump import Stump as Stump
from corollary.ensemble.stagewise.stump import StumpClassifier as StumpClassifier
from corollary.ensemble.stagewise.stump import StumpRegressor as StumpRegressor
from corollary.ensemble.stagewise.stump import best_stump as best_stump
from corollary.ensemble.stagewise.training_error import (
    rounds_for_zero_error as rounds_for_zero_error,
)
from corollary.ensemble.stagewise.training_error import training_error_bound as training_error_bound
from corollary.ensemble.stagewise.training_error import training_error_chain as training_error_chain
