"""Many learners as one: votes, averages, bagging, forests and boosting.

Independent voters make a majority that is hardly ever wrong (:func:`majority_error`); averaging
correlated ones lowers the variance down to a floor (:func:`average_variance`). Members are
combined by hand (:class:`VotingClassifier`), by weights learnt from out-of-fold predictions
(:class:`StackingClassifier`), or by the posterior of models (:func:`model_probabilities`). Boosting
adds one weak learner after the other: :class:`AdaBoostClassifier` tracks the bound on its training
error, and :class:`StagewiseRegressor` does the same greedy fit under any loss.

Bagging fits one learner to many bootstrap samples (:class:`BaggingClassifier`); forests are bags of
trees that draw columns, too (:class:`RandomForestClassifier`), with honest out-of-bag predictions
and importances (:func:`permutation_importance`).
"""

from corollary.ensemble.adaboost import AdaBoostClassifier as AdaBoostClassifier
from corollary.ensemble.adaboost_bound import TrainingErrorChain as TrainingErrorChain
from corollary.ensemble.adaboost_bound import rounds_for_zero_error as rounds_for_zero_error
from corollary.ensemble.adaboost_bound import training_error_bound as training_error_bound
from corollary.ensemble.adaboost_bound import training_error_chain as training_error_chain
from corollary.ensemble.adaboost_display import AdaBoostDisplay as AdaBoostDisplay
from corollary.ensemble.adaboost_steps import boosting_distribution as boosting_distribution
from corollary.ensemble.adaboost_steps import classifier_weight as classifier_weight
from corollary.ensemble.adaboost_steps import normaliser as normaliser
from corollary.ensemble.adaboost_steps import population_step as population_step
from corollary.ensemble.adaboost_steps import reweight as reweight
from corollary.ensemble.additive_class import AdditiveFunction as AdditiveFunction
from corollary.ensemble.additive_class import linear_sum as linear_sum
from corollary.ensemble.additive_class import stump_sum as stump_sum
from corollary.ensemble.additive_class import stumps_needed as stumps_needed
from corollary.ensemble.average import AverageMoments as AverageMoments
from corollary.ensemble.average import average_bias as average_bias
from corollary.ensemble.average import average_moments as average_moments
from corollary.ensemble.average import average_variance as average_variance
from corollary.ensemble.average import equicorrelated_variance as equicorrelated_variance
from corollary.ensemble.bagging import BaggingClassifier as BaggingClassifier
from corollary.ensemble.bagging import BaggingRegressor as BaggingRegressor
from corollary.ensemble.boosting_losses import BoostingLoss as BoostingLoss
from corollary.ensemble.boosting_losses import ExponentialBoostingLoss as ExponentialBoostingLoss
from corollary.ensemble.boosting_losses import LogisticBoostingLoss as LogisticBoostingLoss
from corollary.ensemble.boosting_losses import NormalBoostingLoss as NormalBoostingLoss
from corollary.ensemble.boosting_losses import PoissonBoostingLoss as PoissonBoostingLoss
from corollary.ensemble.boosting_losses import SoftmaxBoostingLoss as SoftmaxBoostingLoss
from corollary.ensemble.boosting_losses import SquareBoostingLoss as SquareBoostingLoss
from corollary.ensemble.boosting_quantiles import PinballBoostingLoss as PinballBoostingLoss
from corollary.ensemble.boosting_quantiles import QuantilesBoostingLoss as QuantilesBoostingLoss
from corollary.ensemble.boosting_quantiles import weighted_quantile as weighted_quantile
from corollary.ensemble.bootstrap import bootstrap_counts as bootstrap_counts
from corollary.ensemble.bootstrap import expected_distinct_share as expected_distinct_share
from corollary.ensemble.crowd import majority_error as majority_error
from corollary.ensemble.crowd import majority_error_bound as majority_error_bound
from corollary.ensemble.gradient_boosting_classifier import (
    GradientBoostingClassifier as GradientBoostingClassifier,
)
from corollary.ensemble.gradient_boosting_display import (
    BoostingCurveDisplay as BoostingCurveDisplay,
)
from corollary.ensemble.gradient_boosting_histogram import (
    GradientHistogram as GradientHistogram,
)
from corollary.ensemble.gradient_boosting_regressor import (
    GradientBoostingRegressor as GradientBoostingRegressor,
)
from corollary.ensemble.gradient_boosting_source import BinnedRows as BinnedRows
from corollary.ensemble.importance import PermutationImportance as PermutationImportance
from corollary.ensemble.importance import permutation_importance as permutation_importance
from corollary.ensemble.model_averaging import MixtureMoments as MixtureMoments
from corollary.ensemble.model_averaging import average_log_density as average_log_density
from corollary.ensemble.model_averaging import mixture_moments as mixture_moments
from corollary.ensemble.model_averaging import mixture_quantile as mixture_quantile
from corollary.ensemble.model_averaging import model_probabilities as model_probabilities
from corollary.ensemble.random_forest import RandomForestClassifier as RandomForestClassifier
from corollary.ensemble.random_forest import RandomForestRegressor as RandomForestRegressor
from corollary.ensemble.simplex import simplex_least_squares as simplex_least_squares
from corollary.ensemble.simplex import simplex_log_loss as simplex_log_loss
from corollary.ensemble.stacking import StackingClassifier as StackingClassifier
from corollary.ensemble.stacking import StackingRegressor as StackingRegressor
from corollary.ensemble.stagewise import StagewisePath as StagewisePath
from corollary.ensemble.stagewise import line_search as line_search
from corollary.ensemble.stagewise import stagewise_dictionary as stagewise_dictionary
from corollary.ensemble.stagewise_models import StagewiseClassifier as StagewiseClassifier
from corollary.ensemble.stagewise_models import StagewiseRegressor as StagewiseRegressor
from corollary.ensemble.stump import Stump as Stump
from corollary.ensemble.stump import StumpClassifier as StumpClassifier
from corollary.ensemble.stump import StumpRegressor as StumpRegressor
from corollary.ensemble.stump import best_stump as best_stump
from corollary.ensemble.vote import convex_combination as convex_combination
from corollary.ensemble.vote import convex_weights as convex_weights
from corollary.ensemble.vote import sign_vote as sign_vote
from corollary.ensemble.vote import vote_shares as vote_shares
from corollary.ensemble.vote import weighted_vote as weighted_vote
from corollary.ensemble.voting import VotingClassifier as VotingClassifier
from corollary.ensemble.voting import VotingRegressor as VotingRegressor
