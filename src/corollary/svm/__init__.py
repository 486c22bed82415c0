"""Support vector machines: widest margins, by one exact and fast solver.

:class:`SVC`, :class:`NuSVC`, :class:`SVR`, :class:`NuSVR` and :class:`OneClassSVM` take any kernel
of :mod:`corollary.kernels`, a name or a Gram matrix, and report what they reached: the duality gap,
the violation of the optimality conditions and the objective. Their quadratic programs are one
problem, which :func:`smo` solves; :func:`svm_pair` is the machine for two classes as a function,
:func:`svm_path` the same for every price of slack at once, and :func:`svm_leave_one_out` its exact
leave-one-out error. :class:`LinearSVC` and :class:`LinearSVR` are for many rows and features,
:class:`MulticlassSVC` treats all classes together, :class:`StructuralSVM` predicts sequences and
other structures.

Scores are no probabilities: ``SVC(probability=True)`` and :func:`calibrate_machine` turn held-out
ones into probabilities.
"""

from corollary.svm.boundary_display import SVMBoundaryDisplay as SVMBoundaryDisplay
from corollary.svm.dual._pairs import PairSolution as PairSolution
from corollary.svm.dual.leave_one_out import choose_C as choose_C
from corollary.svm.dual.leave_one_out import support_vector_bound as support_vector_bound
from corollary.svm.dual.leave_one_out import svm_leave_one_out as svm_leave_one_out
from corollary.svm.dual.optimality import SMOResult as SMOResult
from corollary.svm.dual.optimality import duality_gap as duality_gap
from corollary.svm.dual.pair import svm_pair as svm_pair
from corollary.svm.dual.path import SVMPath as SVMPath
from corollary.svm.dual.path import svm_path as svm_path
from corollary.svm.dual.solver import smo as smo
from corollary.svm.linear.linear_dual import constrained_hinge as constrained_hinge
from corollary.svm.linear.linear_dual import linear_svm as linear_svm
from corollary.svm.linear.linear_dual import price_of_penalty as price_of_penalty
from corollary.svm.linear.linear_svc import LinearSVC as LinearSVC
from corollary.svm.linear.linear_svr import LinearSVR as LinearSVR
from corollary.svm.linear.primal import primal_svm as primal_svm
from corollary.svm.linear.sparse_weights import sparse_svm as sparse_svm
from corollary.svm.machines.calibrated import CalibratedMachine as CalibratedMachine
from corollary.svm.machines.calibrated import calibrate_machine as calibrate_machine
from corollary.svm.machines.multiclass import MulticlassSVC as MulticlassSVC
from corollary.svm.machines.multiclass import joint_svm as joint_svm
from corollary.svm.machines.nu_svr import NuSVR as NuSVR
from corollary.svm.machines.one_class import OneClassSVM as OneClassSVM
from corollary.svm.machines.platt import couple_pairs as couple_pairs
from corollary.svm.machines.platt import platt_scaling as platt_scaling
from corollary.svm.machines.svc import SVC as SVC
from corollary.svm.machines.svc import NuSVC as NuSVC
from corollary.svm.machines.svr import SVR as SVR
from corollary.svm.structural.estimator import StructuralSVM as StructuralSVM
from corollary.svm.structural.problem import ClassLabels as ClassLabels
from corollary.svm.structural.problem import LabelChain as LabelChain
from corollary.svm.structural.problem import StructuredProblem as StructuredProblem
from corollary.svm.structural.solver import structural_svm as structural_svm
