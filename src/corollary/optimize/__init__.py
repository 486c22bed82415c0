"""Solvers, their stopping rules, their rates, and proofs that a point is the best.

A method is an object with ``init`` and ``step`` (:class:`Iteration`); :func:`iterate` runs any of
them, with tolerances (:class:`Stop`), history, progress, interruption and warm restart. What a
solver returns is a :class:`Solution`: a point together with an :class:`Optimality`, which says how
far its value can lie above the least one. That number is computed at the point itself, from the
problem; a status is "optimal" only if it is within the tolerance. :func:`minimize` is the entrance
for plain functions, bounds and constraints.

Functions are objects that know their constants (:class:`Quadratic`, or :class:`Function` for plain
NumPy or JAX functions), because steps, rates and certificates follow from them;
:class:`EmpiricalRisk` knows those of linear predictors. :func:`refute_convexity` and its kin look
for points where a claimed constant is wrong, :func:`first_order_bound` says what a method
guarantees after a number of steps, and :func:`first_order_steps` how many are enough.

A :class:`Program` has constraints with names. :func:`solve` takes those over cones,
:func:`primal_dual` dense quadratic ones, :func:`barrier` those with smooth functions; where there
is no solution they prove it.
"""

from corollary.optimize.conic.no_solution import Infeasible as Infeasible
from corollary.optimize.conic.no_solution import Unbounded as Unbounded
from corollary.optimize.conic.no_solution import prove_infeasible as prove_infeasible
from corollary.optimize.conic.no_solution import prove_unbounded as prove_unbounded
from corollary.optimize.conic.solve import slater_point as slater_point
from corollary.optimize.conic.solve import solve as solve
from corollary.optimize.coordinate.box import box_sweep as box_sweep
from corollary.optimize.coordinate.box import dual_sweep as dual_sweep
from corollary.optimize.coordinate.descent import CoordinateDescent as CoordinateDescent
from corollary.optimize.coordinate.descent import certify_elastic_net as certify_elastic_net
from corollary.optimize.coordinate.descent import coordinate_descent as coordinate_descent
from corollary.optimize.coordinate.gap import elastic_net_gap as elastic_net_gap
from corollary.optimize.coordinate.preparation import prepare_columns as prepare_columns
from corollary.optimize.coordinate.working_set import WorkingSetSolver as WorkingSetSolver
from corollary.optimize.displays.pictures import DescentPathDisplay as DescentPathDisplay
from corollary.optimize.displays.pictures import GapDisplay as GapDisplay
from corollary.optimize.displays.pictures import SensitivityDisplay as SensitivityDisplay
from corollary.optimize.general.minimize import minimize as minimize
from corollary.optimize.interior.barrier import Barrier as Barrier
from corollary.optimize.interior.barrier import barrier_stages as barrier_stages
from corollary.optimize.interior.phases import barrier as barrier
from corollary.optimize.interior.primal_dual import PrimalDual as PrimalDual
from corollary.optimize.interior.primal_dual import primal_dual as primal_dual
from corollary.optimize.iteration.certified import Certified as Certified
from corollary.optimize.iteration.certified import solve_by as solve_by
from corollary.optimize.iteration.driver import Interrupted as Interrupted
from corollary.optimize.iteration.driver import Iteration as Iteration
from corollary.optimize.iteration.driver import iterate as iterate
from corollary.optimize.iteration.stopping import Info as Info
from corollary.optimize.iteration.stopping import Stop as Stop
from corollary.optimize.modelling.discipline import BrokenRule as BrokenRule
from corollary.optimize.modelling.discipline import Discipline as Discipline
from corollary.optimize.modelling.discipline import check_discipline as check_discipline
from corollary.optimize.modelling.discipline import conic_program as conic_program
from corollary.optimize.modelling.lyapunov import CommonLyapunov as CommonLyapunov
from corollary.optimize.modelling.lyapunov import common_lyapunov as common_lyapunov
from corollary.optimize.modelling.nearest_covariance import covariance_program as covariance_program
from corollary.optimize.modelling.nearest_covariance import nearest_covariance as nearest_covariance
from corollary.optimize.modelling.robust import robust_program as robust_program
from corollary.optimize.modelling.robust import worst_coefficients as worst_coefficients
from corollary.optimize.optimality import Optimality as Optimality
from corollary.optimize.problem.convexity import estimate_curvature as estimate_curvature
from corollary.optimize.problem.convexity import refute_convexity as refute_convexity
from corollary.optimize.problem.convexity import refute_smoothness as refute_smoothness
from corollary.optimize.problem.finite_sum import Average as Average
from corollary.optimize.problem.finite_sum import EmpiricalRisk as EmpiricalRisk
from corollary.optimize.problem.finite_sum import FiniteSum as FiniteSum
from corollary.optimize.problem.functions import Function as Function
from corollary.optimize.problem.functions import Quadratic as Quadratic
from corollary.optimize.problem.functions import Smooth as Smooth
from corollary.optimize.problem.minimum import certify_minimum as certify_minimum
from corollary.optimize.problem.penalties import L1 as L1
from corollary.optimize.problem.penalties import ElasticNetPenalty as ElasticNetPenalty
from corollary.optimize.problem.penalties import GroupNorm as GroupNorm
from corollary.optimize.problem.penalties import LargestModulus as LargestModulus
from corollary.optimize.problem.penalties import NuclearNorm as NuclearNorm
from corollary.optimize.problem.penalties import Penalty as Penalty
from corollary.optimize.problem.penalties import Zero as Zero
from corollary.optimize.problem.penalties import soft_threshold as soft_threshold
from corollary.optimize.problem.sets import Affine as Affine
from corollary.optimize.problem.sets import Ball as Ball
from corollary.optimize.problem.sets import Box as Box
from corollary.optimize.problem.sets import ConvexSet as ConvexSet
from corollary.optimize.problem.sets import Ellipsoid as Ellipsoid
from corollary.optimize.problem.sets import HalfSpace as HalfSpace
from corollary.optimize.problem.sets import L1Ball as L1Ball
from corollary.optimize.problem.sets import PositiveSemidefinite as PositiveSemidefinite
from corollary.optimize.problem.sets import Simplex as Simplex
from corollary.optimize.problem.sets import project_l1_ball as project_l1_ball
from corollary.optimize.problem.sets import project_simplex as project_simplex
from corollary.optimize.program.constraints import Constraint as Constraint
from corollary.optimize.program.constraints import function_inequality as function_inequality
from corollary.optimize.program.constraints import linear_equality as linear_equality
from corollary.optimize.program.constraints import linear_inequality as linear_inequality
from corollary.optimize.program.constraints import matrix_inequality as matrix_inequality
from corollary.optimize.program.constraints import norm_inequality as norm_inequality
from corollary.optimize.program.constraints import quadratic_inequality as quadratic_inequality
from corollary.optimize.program.duality import dual_function as dual_function
from corollary.optimize.program.duality import dual_program as dual_program
from corollary.optimize.program.duality import lagrangian as lagrangian
from corollary.optimize.program.optimality_conditions import KKT as KKT
from corollary.optimize.program.optimality_conditions import certify_program as certify_program
from corollary.optimize.program.optimality_conditions import kkt_multipliers as kkt_multipliers
from corollary.optimize.program.optimality_conditions import kkt_residuals as kkt_residuals
from corollary.optimize.program.optimality_conditions import repair_dual as repair_dual
from corollary.optimize.program.program import Program as Program
from corollary.optimize.program.sensitivity import Sensitivities as Sensitivities
from corollary.optimize.program.sensitivity import sensitivities as sensitivities
from corollary.optimize.proximal.proximal_gradient import ProximalGradient as ProximalGradient
from corollary.optimize.proximal.proximal_gradient import projected_gradient as projected_gradient
from corollary.optimize.proximal.proximal_gradient import proximal_gradient as proximal_gradient
from corollary.optimize.rates.first_order import first_order_bound as first_order_bound
from corollary.optimize.rates.first_order import first_order_steps as first_order_steps
from corollary.optimize.rates.first_order import subgradient_bound as subgradient_bound
from corollary.optimize.rates.gradient_norm import batch_noise as batch_noise
from corollary.optimize.rates.gradient_norm import gradient_noise as gradient_noise
from corollary.optimize.rates.gradient_norm import gradient_norm_bound as gradient_norm_bound
from corollary.optimize.rates.gradient_norm import gradient_norm_steps as gradient_norm_steps
from corollary.optimize.rates.gradient_norm import (
    sgd_gradient_norm_bound as sgd_gradient_norm_bound,
)
from corollary.optimize.rates.gradient_norm import (
    sgd_high_probability_bound as sgd_high_probability_bound,
)
from corollary.optimize.rates.gradient_norm import sgd_sqrt_rate as sgd_sqrt_rate
from corollary.optimize.rates.inequalities import co_coercivity as co_coercivity
from corollary.optimize.rates.inequalities import descent_bound as descent_bound
from corollary.optimize.rates.inequalities import guaranteed_decrease as guaranteed_decrease
from corollary.optimize.rates.inequalities import step_distance as step_distance
from corollary.optimize.rates.inequalities import step_expansion as step_expansion
from corollary.optimize.rates.plan import Plan as Plan
from corollary.optimize.rates.plan import plan_steps as plan_steps
from corollary.optimize.rates.schedules import ConstantRate as ConstantRate
from corollary.optimize.rates.schedules import CosineRate as CosineRate
from corollary.optimize.rates.schedules import CyclicRate as CyclicRate
from corollary.optimize.rates.schedules import PowerRate as PowerRate
from corollary.optimize.rates.schedules import Schedule as Schedule
from corollary.optimize.rates.schedules import StepRate as StepRate
from corollary.optimize.rates.schedules import WarmUpRate as WarmUpRate
from corollary.optimize.rates.schedules import as_schedule as as_schedule
from corollary.optimize.rates.worst_case import acceleration_worst_case as acceleration_worst_case
from corollary.optimize.rates.worst_case import descent_worst_case as descent_worst_case
from corollary.optimize.rates.worst_case import nesterov_worst_case as nesterov_worst_case
from corollary.optimize.rates.worst_case import subgradient_worst_case as subgradient_worst_case
from corollary.optimize.second_order.ascent import Ascent as Ascent
from corollary.optimize.second_order.ascent import ascend as ascend
from corollary.optimize.second_order.ascent import difference_curvature as difference_curvature
from corollary.optimize.second_order.bfgs import BFGS as BFGS
from corollary.optimize.second_order.bfgs import bfgs as bfgs
from corollary.optimize.second_order.bfgs import bfgs_inverse_update as bfgs_inverse_update
from corollary.optimize.second_order.bfgs import bfgs_update as bfgs_update
from corollary.optimize.second_order.bfgs import lbfgs as lbfgs
from corollary.optimize.second_order.bfgs import two_loop as two_loop
from corollary.optimize.second_order.chord import NewtonResult as NewtonResult
from corollary.optimize.second_order.chord import newton_minimise as newton_minimise
from corollary.optimize.second_order.chord import newton_step as newton_step
from corollary.optimize.second_order.conjugate_gradients import (
    ConjugateGradients as ConjugateGradients,
)
from corollary.optimize.second_order.conjugate_gradients import (
    conjugate_gradient_bound as conjugate_gradient_bound,
)
from corollary.optimize.second_order.conjugate_gradients import (
    conjugate_gradients as conjugate_gradients,
)
from corollary.optimize.second_order.newton import Newton as Newton
from corollary.optimize.second_order.newton import newton as newton
from corollary.optimize.second_order.proximal_newton import l1_violation as l1_violation
from corollary.optimize.second_order.proximal_newton import proximal_newton as proximal_newton
from corollary.optimize.second_order.scaling import equilibrate as equilibrate
from corollary.optimize.second_order.scaling import jacobi_scaling as jacobi_scaling
from corollary.optimize.second_order.scaling import rescale as rescale
from corollary.optimize.simplex.weights import simplex_least_squares as simplex_least_squares
from corollary.optimize.simplex.weights import simplex_log_loss as simplex_log_loss
from corollary.optimize.smooth.descent import GradientDescent as GradientDescent
from corollary.optimize.smooth.descent import Nesterov as Nesterov
from corollary.optimize.smooth.descent import gradient_descent as gradient_descent
from corollary.optimize.smooth.descent import nesterov as nesterov
from corollary.optimize.smooth.gradient_map import Expansion as Expansion
from corollary.optimize.smooth.gradient_map import GradientMap as GradientMap
from corollary.optimize.smooth.gradient_map import expand_descent as expand_descent
from corollary.optimize.smooth.gradient_map import quadratic_descent as quadratic_descent
from corollary.optimize.smooth.gradient_map import trace_points as trace_points
from corollary.optimize.smooth.subgradient import Subgradient as Subgradient
from corollary.optimize.smooth.subgradient import subgradient_method as subgradient_method
from corollary.optimize.solution import Solution as Solution
from corollary.optimize.splitting.admm import ADMM as ADMM
from corollary.optimize.splitting.admm import admm as admm
from corollary.optimize.splitting.admm import proximal_point as proximal_point
from corollary.optimize.splitting.augmented_lagrangian import (
    AugmentedLagrangian as AugmentedLagrangian,
)
from corollary.optimize.splitting.augmented_lagrangian import (
    augmented_lagrangian as augmented_lagrangian,
)
from corollary.optimize.splitting.augmented_lagrangian import certify_equality as certify_equality
from corollary.optimize.splitting.consensus import Consensus as Consensus
from corollary.optimize.splitting.consensus import consensus as consensus
from corollary.optimize.splitting.consensus import row_blocks as row_blocks
from corollary.optimize.stochastic.robbins_monro import RobbinsMonro as RobbinsMonro
from corollary.optimize.stochastic.robbins_monro import robbins_monro as robbins_monro
from corollary.optimize.stochastic.row_average import RowAverage as RowAverage
from corollary.optimize.stochastic.rules import AdaGrad as AdaGrad
from corollary.optimize.stochastic.rules import Adam as Adam
from corollary.optimize.stochastic.rules import Momentum as Momentum
from corollary.optimize.stochastic.rules import UpdateRule as UpdateRule
from corollary.optimize.stochastic.stochastic_gradient import (
    StochasticGradient as StochasticGradient,
)
from corollary.optimize.stochastic.stochastic_gradient import draw_rows as draw_rows
from corollary.optimize.stochastic.stochastic_gradient import (
    stochastic_gradient as stochastic_gradient,
)
