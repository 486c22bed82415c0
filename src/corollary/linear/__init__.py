r"""Linear models: least squares and its penalised, Bayesian and robust relatives, and classifiers.

A linear model predicts with :math:`x^\top\beta + b`. The family has the methods as estimators
with scikit-learn's contract, and the formulas behind them as plain functions. Whatever is a sum
over rows is computed block by block, so that models also fit to files and clusters through
``fit_source`` with the same result.
"""

from corollary.linear.least_squares import LeastSquares as LeastSquares
from corollary.linear.least_squares import least_squares as least_squares
from corollary.linear.linear_regression import LinearRegression as LinearRegression
from corollary.linear.ridge import Ridge as Ridge
from corollary.linear.ridge_forms import DualSolution as DualSolution
from corollary.linear.ridge_forms import ridge_dual as ridge_dual
from corollary.linear.ridge_forms import ridge_gradient as ridge_gradient
from corollary.linear.ridge_forms import ridge_objective as ridge_objective
from corollary.linear.ridge_forms import ridge_operator as ridge_operator
from corollary.linear.ridge_forms import ridge_solution as ridge_solution
