"""What a loss is, what a risk is, and what follows from minimising one.

Losses are small frozen objects (:class:`HingeLoss`, :class:`PinballLoss`, ...) that know their
value, slope and curvature, their constants and population minimisers; each is called as a function
of truths and predictions, and has a compiled form of the same name for loops (``logistic_slope``,
or ``loss_slope`` for any of them), which is loaded when it is imported. Risks are expectations of
losses: exact on a :class:`FiniteWorld`, simulated on any other world, averaged on a sample. The
rest of the package asks what the best predictor is (:func:`bayes_error`), how to find a
good one (:func:`minimise_finite`, :func:`minimise_linear`, :class:`ERMClassifier`), how to measure
it without fooling oneself (:func:`three_way_split`), and where its error comes from
(:func:`bias_variance`, :func:`decompose_excess_risk`, :func:`algorithm_risk`).

Conventions: truth first, prediction second; binary labels -1 and +1; ``sign(0) = +1``; cost
matrices have truths as rows.
"""

from typing import TYPE_CHECKING, Any

from corollary.risk.laws.bayes import bayes_error as bayes_error
from corollary.risk.laws.bayes import bayes_regressor as bayes_regressor
from corollary.risk.laws.bayes import cost_sensitive_rule as cost_sensitive_rule
from corollary.risk.laws.bayes import cost_sensitive_sign as cost_sensitive_sign
from corollary.risk.laws.bayes import cost_threshold as cost_threshold
from corollary.risk.laws.bayes import gaussian_bayes_error as gaussian_bayes_error
from corollary.risk.laws.bayes import map_rule as map_rule
from corollary.risk.laws.bayes import ml_rule as ml_rule
from corollary.risk.laws.bayes import posterior_probabilities as posterior_probabilities
from corollary.risk.laws.divergence import binary_kl as binary_kl
from corollary.risk.laws.divergence import check_law as check_law
from corollary.risk.laws.divergence import jensen_shannon as jensen_shannon
from corollary.risk.laws.divergence import jensen_shannon_density as jensen_shannon_density
from corollary.risk.laws.divergence import kl_divergence as kl_divergence
from corollary.risk.laws.divergence import kl_from_draws as kl_from_draws
from corollary.risk.laws.divergence import kl_gaussian as kl_gaussian
from corollary.risk.laws.divergence import total_variation as total_variation
from corollary.risk.laws.divergence import total_variation_gaussian as total_variation_gaussian
from corollary.risk.laws.finite_world import FiniteWorld as FiniteWorld
from corollary.risk.laws.normal_score import crps_normal as crps_normal
from corollary.risk.laws.transport import kantorovich_potential as kantorovich_potential
from corollary.risk.laws.transport import lipschitz_gap as lipschitz_gap
from corollary.risk.laws.transport import wasserstein_distance as wasserstein_distance
from corollary.risk.losses.label_losses import CostLoss as CostLoss
from corollary.risk.losses.label_losses import CrossEntropyLoss as CrossEntropyLoss
from corollary.risk.losses.label_losses import ZeroOneLoss as ZeroOneLoss
from corollary.risk.losses.loss import Loss as Loss
from corollary.risk.losses.loss import LossLike as LossLike
from corollary.risk.losses.loss import check_loss as check_loss
from corollary.risk.losses.loss import loss_names as loss_names
from corollary.risk.losses.loss import sign as sign
from corollary.risk.losses.margin import MarginLoss as MarginLoss
from corollary.risk.losses.margin import check_signs as check_signs
from corollary.risk.losses.margin_losses import ExponentialLoss as ExponentialLoss
from corollary.risk.losses.margin_losses import HingeLoss as HingeLoss
from corollary.risk.losses.margin_losses import LogisticLoss as LogisticLoss
from corollary.risk.losses.margin_losses import PerceptronLoss as PerceptronLoss
from corollary.risk.losses.margin_losses import RampLoss as RampLoss
from corollary.risk.losses.margin_losses import SquaredHingeLoss as SquaredHingeLoss
from corollary.risk.losses.margin_losses import SquareMarginLoss as SquareMarginLoss
from corollary.risk.losses.regression_losses import AbsoluteLoss as AbsoluteLoss
from corollary.risk.losses.regression_losses import EpsilonInsensitiveLoss as EpsilonInsensitiveLoss
from corollary.risk.losses.regression_losses import HuberLoss as HuberLoss
from corollary.risk.losses.regression_losses import PinballLoss as PinballLoss
from corollary.risk.losses.regression_losses import PoissonLoss as PoissonLoss
from corollary.risk.losses.regression_losses import RegressionLoss as RegressionLoss
from corollary.risk.losses.regression_losses import SquareLoss as SquareLoss
from corollary.risk.losses.regression_losses import conditional_mean as conditional_mean
from corollary.risk.losses.regression_losses import conditional_quantile as conditional_quantile
from corollary.risk.losses.surrogates import bound_error_rate as bound_error_rate
from corollary.risk.losses.surrogates import domination_constant as domination_constant
from corollary.risk.losses.surrogates import half_log_odds as half_log_odds
from corollary.risk.losses.surrogates import (
    probability_from_half_log_odds as probability_from_half_log_odds,
)
from corollary.risk.losses.tweedie_loss import TweedieLoss as TweedieLoss
from corollary.risk.minimise.erm import ERMClassifier as ERMClassifier
from corollary.risk.minimise.erm import ERMRegressor as ERMRegressor
from corollary.risk.minimise.finite_classes import Rectangle as Rectangle
from corollary.risk.minimise.finite_classes import Threshold as Threshold
from corollary.risk.minimise.finite_classes import minimise_finite as minimise_finite
from corollary.risk.minimise.finite_classes import minimise_interval as minimise_interval
from corollary.risk.minimise.finite_classes import minimise_rectangle as minimise_rectangle
from corollary.risk.minimise.finite_classes import minimise_threshold as minimise_threshold
from corollary.risk.minimise.learner import Learner as Learner
from corollary.risk.minimise.learner import as_learner as as_learner
from corollary.risk.minimise.learner import as_predictor as as_predictor
from corollary.risk.minimise.learner import order_sensitivity as order_sensitivity
from corollary.risk.minimise.parametric import minimise_linear as minimise_linear
from corollary.risk.minimise.parametric import minimise_parametric as minimise_parametric
from corollary.risk.risks.algorithm_risk import AlgorithmRisk as AlgorithmRisk
from corollary.risk.risks.algorithm_risk import algorithm_risk as algorithm_risk
from corollary.risk.risks.algorithm_risk import estimate_randomised_risk as estimate_randomised_risk
from corollary.risk.risks.algorithm_risk import exact_algorithm_risk as exact_algorithm_risk
from corollary.risk.risks.algorithm_risk import randomised_risk as randomised_risk
from corollary.risk.risks.decomposition import BiasVariance as BiasVariance
from corollary.risk.risks.decomposition import ExcessRisk as ExcessRisk
from corollary.risk.risks.decomposition import bias_variance as bias_variance
from corollary.risk.risks.decomposition import decompose_excess_risk as decompose_excess_risk
from corollary.risk.risks.decomposition import smoother_bias_variance as smoother_bias_variance
from corollary.risk.risks.decomposition import split_mean_squared_error as split_mean_squared_error
from corollary.risk.risks.empirical import check_weights as check_weights
from corollary.risk.risks.empirical import empirical_risk as empirical_risk
from corollary.risk.risks.empirical import regularised_risk as regularised_risk
from corollary.risk.risks.holdout import GuardedTestSet as GuardedTestSet
from corollary.risk.risks.holdout import TestSetError as TestSetError
from corollary.risk.risks.holdout import three_way_split as three_way_split
from corollary.risk.risks.population import conditional_risk as conditional_risk
from corollary.risk.risks.population import population_risk as population_risk

if TYPE_CHECKING:
    from corollary.risk._loops import absolute_slope as absolute_slope
    from corollary.risk._loops import absolute_value as absolute_value
    from corollary.risk._loops import epsilon_insensitive_slope as epsilon_insensitive_slope
    from corollary.risk._loops import epsilon_insensitive_value as epsilon_insensitive_value
    from corollary.risk._loops import exponential_slope as exponential_slope
    from corollary.risk._loops import exponential_value as exponential_value
    from corollary.risk._loops import hinge_slope as hinge_slope
    from corollary.risk._loops import hinge_value as hinge_value
    from corollary.risk._loops import logistic_curvature as logistic_curvature
    from corollary.risk._loops import logistic_slope as logistic_slope
    from corollary.risk._loops import logistic_value as logistic_value
    from corollary.risk._loops import loss_curvature as loss_curvature
    from corollary.risk._loops import loss_slope as loss_slope
    from corollary.risk._loops import loss_value as loss_value
    from corollary.risk._loops import perceptron_slope as perceptron_slope
    from corollary.risk._loops import perceptron_value as perceptron_value
    from corollary.risk._loops import pinball_slope as pinball_slope
    from corollary.risk._loops import pinball_value as pinball_value
    from corollary.risk._loops import poisson_curvature as poisson_curvature
    from corollary.risk._loops import poisson_slope as poisson_slope
    from corollary.risk._loops import poisson_value as poisson_value
    from corollary.risk._loops import ramp_slope as ramp_slope
    from corollary.risk._loops import ramp_value as ramp_value
    from corollary.risk._loops import square_margin_slope as square_margin_slope
    from corollary.risk._loops import square_margin_value as square_margin_value
    from corollary.risk._loops import square_slope as square_slope
    from corollary.risk._loops import square_value as square_value
    from corollary.risk._loops import squared_hinge_curvature as squared_hinge_curvature
    from corollary.risk._loops import squared_hinge_slope as squared_hinge_slope
    from corollary.risk._loops import squared_hinge_value as squared_hinge_value


def __getattr__(name: str) -> Any:
    """Import the compiled form of a loss, and Numba with it, when a loop asks for it."""
    if name.startswith("_") or not name.endswith(("_value", "_slope", "_curvature")):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from corollary.risk import _loops

    return getattr(_loops, name)
