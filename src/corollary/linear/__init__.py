r"""Linear models: least squares and its penalised, Bayesian and robust relatives, and classifiers.

A linear model predicts with :math:`x^\top\beta + b`. The family has the methods as estimators
with scikit-learn's contract, and the formulas behind them as plain functions. Whatever is a sum
over rows is computed block by block, so that models also fit to files and clusters through
``fit_source`` with the same result.
"""

from corollary.linear.bayesian.posterior import gaussian_posterior as gaussian_posterior
from corollary.linear.bayesian.posterior import log_evidence as log_evidence
from corollary.linear.bayesian.posterior import marginal_covariance as marginal_covariance
from corollary.linear.bayesian.regression import (
    BayesianLinearRegression as BayesianLinearRegression,
)
from corollary.linear.bridge.penalties import bridge_threshold as bridge_threshold
from corollary.linear.bridge.penalties import largest_modulus_penalty as largest_modulus_penalty
from corollary.linear.bridge.penalties import lq_ball_boundary as lq_ball_boundary
from corollary.linear.bridge.penalties import lq_penalty as lq_penalty
from corollary.linear.bridge.penalties import project_l1_ball as project_l1_ball
from corollary.linear.bridge.regression import BridgeRegression as BridgeRegression
from corollary.linear.generalised.gamma import GammaRegressor as GammaRegressor
from corollary.linear.generalised.poisson import PoissonRegressor as PoissonRegressor
from corollary.linear.generalised.tweedie import TweedieRegressor as TweedieRegressor
from corollary.linear.logistic.cross_entropy import conditional_entropy as conditional_entropy
from corollary.linear.logistic.cross_entropy import expected_kl as expected_kl
from corollary.linear.logistic.cross_entropy import expected_log_loss as expected_log_loss
from corollary.linear.logistic.cross_entropy import softmax_model as softmax_model
from corollary.linear.logistic.logistic_cv import LogisticRegressionCV as LogisticRegressionCV
from corollary.linear.logistic.objective import logistic_objective as logistic_objective
from corollary.linear.logistic.regression import LogisticRegression as LogisticRegression
from corollary.linear.logistic.terms import LogisticTerms as LogisticTerms
from corollary.linear.logistic.terms import log_loss_terms as log_loss_terms
from corollary.linear.path_display import CoefficientPathDisplay as CoefficientPathDisplay
from corollary.linear.quantile.interval import QuantileInterval as QuantileInterval
from corollary.linear.quantile.program import quantile_coefficients as quantile_coefficients
from corollary.linear.quantile.regressor import QuantileRegressor as QuantileRegressor
from corollary.linear.ridge.forms import ridge_dual as ridge_dual
from corollary.linear.ridge.forms import ridge_gradient as ridge_gradient
from corollary.linear.ridge.forms import ridge_objective as ridge_objective
from corollary.linear.ridge.forms import ridge_operator as ridge_operator
from corollary.linear.ridge.forms import ridge_solution as ridge_solution
from corollary.linear.ridge.freedom import lasso_dof as lasso_dof
from corollary.linear.ridge.freedom import ridge_dof as ridge_dof
from corollary.linear.ridge.path import ridge_path as ridge_path
from corollary.linear.ridge.ridge import Ridge as Ridge
from corollary.linear.ridge.ridge_cv import RidgeCV as RidgeCV
from corollary.linear.ridge.shrinkage import posterior_variance_split as posterior_variance_split
from corollary.linear.ridge.shrinkage import ridge_bias as ridge_bias
from corollary.linear.ridge.shrinkage import ridge_covariance as ridge_covariance
from corollary.linear.ridge.shrinkage import ridge_mse as ridge_mse
from corollary.linear.ridge.shrinkage import shrinkage_factors as shrinkage_factors
from corollary.linear.ridge.shrinkage import variance_factors as variance_factors
from corollary.linear.robust.huber import HuberRegressor as HuberRegressor
from corollary.linear.separation.hyperplanes import (
    project_onto_hyperplane as project_onto_hyperplane,
)
from corollary.linear.separation.hyperplanes import signed_distance as signed_distance
from corollary.linear.separation.hyperplanes import threshold_classifier as threshold_classifier
from corollary.linear.separation.margins import canonical_hyperplane as canonical_hyperplane
from corollary.linear.separation.margins import dataset_margin as dataset_margin
from corollary.linear.separation.margins import functional_margin as functional_margin
from corollary.linear.separation.margins import geometric_margin as geometric_margin
from corollary.linear.separation.margins import nearest_to_origin as nearest_to_origin
from corollary.linear.separation.perceptron import Perceptron as Perceptron
from corollary.linear.separation.perceptron_bounds import (
    perceptron_pass_bound as perceptron_pass_bound,
)
from corollary.linear.separation.perceptron_bounds import (
    perceptron_risk_bound as perceptron_risk_bound,
)
from corollary.linear.separation.perceptron_run import perceptron_loo as perceptron_loo
from corollary.linear.separation.perceptron_run import perceptron_run as perceptron_run
from corollary.linear.separation.separability import separability as separability
from corollary.linear.sparse.best_subset import BestSubset as BestSubset
from corollary.linear.sparse.best_subset import least_squares_in_ball as least_squares_in_ball
from corollary.linear.sparse.elastic_net import ElasticNet as ElasticNet
from corollary.linear.sparse.elastic_net_cv import ElasticNetCV as ElasticNetCV
from corollary.linear.sparse.lasso import Lasso as Lasso
from corollary.linear.sparse.lasso import laplace_map_alpha as laplace_map_alpha
from corollary.linear.sparse.lasso import lasso_alpha_max as lasso_alpha_max
from corollary.linear.sparse.lasso import soft_threshold as soft_threshold
from corollary.linear.sparse.lasso_cv import LassoCV as LassoCV
from corollary.linear.sparse.optimality import elastic_net_dual_gap as elastic_net_dual_gap
from corollary.linear.sparse.optimality import (
    elastic_net_kkt_violation as elastic_net_kkt_violation,
)
from corollary.linear.sparse.optimality import elastic_net_objective as elastic_net_objective
from corollary.linear.sparse.optimality import lasso_dual_gap as lasso_dual_gap
from corollary.linear.sparse.optimality import lasso_kkt_violation as lasso_kkt_violation
from corollary.linear.sparse.optimality import lasso_objective as lasso_objective
from corollary.linear.sparse.path import enet_path as enet_path
from corollary.linear.sparse.path import lasso_path as lasso_path
from corollary.linear.squares.intervals import coefficient_intervals as coefficient_intervals
from corollary.linear.squares.least_squares import least_squares as least_squares
from corollary.linear.squares.linear_regression import LinearRegression as LinearRegression
from corollary.linear.squares.normal_equations import NormalEquations as NormalEquations
from corollary.linear.squares.polynomial import PolynomialRegression as PolynomialRegression
from corollary.linear.squares.sampling_law import gauss_markov_excess as gauss_markov_excess
from corollary.linear.squares.sampling_law import gaussian_log_likelihood as gaussian_log_likelihood
from corollary.linear.squares.sampling_law import ols_covariance as ols_covariance
from corollary.linear.squares.sampling_law import residual_variance as residual_variance
from corollary.linear.squares.well_posedness import diagnose as diagnose
from corollary.linear.squares.well_posedness import interpolate as interpolate
