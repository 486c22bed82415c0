"""Kernels: one algebra of similarities under everything that compares inputs.

A :class:`Kernel` is a small frozen object with a Gram matrix, a diagonal, hyper-parameters as a
flat vector and, if it is stationary, a spectral measure. Kernels on vectors (:class:`RBF`,
:class:`Matern`, :class:`Polynomial`, ...) combine by ``+``, ``*``, ``**``, ``exp``, normalisation
and input maps to kernels again. The same code runs blocked and threaded on NumPy arrays, and
compiled and differentiated on JAX arrays.

Conventions: ``RBF(length_scale)`` is ``exp(-|x - y|^2 / (2 length_scale^2))``; a length scale may
be one number or one for each feature; an amplitude is a factor, ``amplitude**2 * RBF()``.
"""

from corollary.kernels.algebra import Exponential as Exponential
from corollary.kernels.algebra import InputMap as InputMap
from corollary.kernels.algebra import Normalised as Normalised
from corollary.kernels.algebra import PolynomialOf as PolynomialOf
from corollary.kernels.algebra import Power as Power
from corollary.kernels.algebra import Product as Product
from corollary.kernels.algebra import Scaled as Scaled
from corollary.kernels.algebra import Sum as Sum
from corollary.kernels.algebra import from_feature_map as from_feature_map
from corollary.kernels.base import Kernel as Kernel
from corollary.kernels.base import KernelParameters as KernelParameters
from corollary.kernels.distributions import Bhattacharyya as Bhattacharyya
from corollary.kernels.distributions import HellingerRBF as HellingerRBF
from corollary.kernels.dot_product import ANOVA as ANOVA
from corollary.kernels.dot_product import ArcCosine as ArcCosine
from corollary.kernels.dot_product import Bilinear as Bilinear
from corollary.kernels.dot_product import Constant as Constant
from corollary.kernels.dot_product import DotProduct as DotProduct
from corollary.kernels.dot_product import ExponentialDot as ExponentialDot
from corollary.kernels.dot_product import Linear as Linear
from corollary.kernels.dot_product import Polynomial as Polynomial
from corollary.kernels.dot_product import Sigmoid as Sigmoid
from corollary.kernels.dot_product import TruncatedExponential as TruncatedExponential
from corollary.kernels.feature_maps import Columns as Columns
from corollary.kernels.feature_maps import MonomialMap as MonomialMap
from corollary.kernels.feature_maps import bias_map as bias_map
from corollary.kernels.feature_maps import exponential_map as exponential_map
from corollary.kernels.feature_maps import monomial_exponents as monomial_exponents
from corollary.kernels.feature_maps import monomial_map as monomial_map
from corollary.kernels.feature_maps import polynomial_map as polynomial_map
from corollary.kernels.feature_maps import rbf_map as rbf_map
from corollary.kernels.feature_maps import rbf_map_error as rbf_map_error
from corollary.kernels.feature_maps import subset_map as subset_map
from corollary.kernels.graphs import Diffusion as Diffusion
from corollary.kernels.graphs import EdgeCount as EdgeCount
from corollary.kernels.graphs import graph_laplacian as graph_laplacian
from corollary.kernels.independence import centred_gram as centred_gram
from corollary.kernels.independence import hsic as hsic
from corollary.kernels.independence import hsic_test as hsic_test
from corollary.kernels.kernel_erm import KernelRisk as KernelRisk
from corollary.kernels.kernel_erm import minimise_kernel_risk as minimise_kernel_risk
from corollary.kernels.kernel_ridge import KernelRidge as KernelRidge
from corollary.kernels.kernel_ridge import KernelRidgeSolution as KernelRidgeSolution
from corollary.kernels.kernel_ridge import kernel_ridge_solution as kernel_ridge_solution
from corollary.kernels.kernel_risk_models import KernelERMClassifier as KernelERMClassifier
from corollary.kernels.kernel_risk_models import KernelERMRegressor as KernelERMRegressor
from corollary.kernels.matrix_display import KernelMatrixDisplay as KernelMatrixDisplay
from corollary.kernels.named import check_kernel as check_kernel
from corollary.kernels.named import median_length_scale as median_length_scale
from corollary.kernels.nystroem import Nystroem as Nystroem
from corollary.kernels.nystroem import nystroem_projection as nystroem_projection
from corollary.kernels.positive_features import PositiveRandomFeatures as PositiveRandomFeatures
from corollary.kernels.positive_features import linear_attention as linear_attention
from corollary.kernels.positive_features import positive_log_features as positive_log_features
from corollary.kernels.positive_features import softmax_attention as softmax_attention
from corollary.kernels.random_features import ArcCosineFeatures as ArcCosineFeatures
from corollary.kernels.random_features import FeatureCount as FeatureCount
from corollary.kernels.random_features import RandomFourierFeatures as RandomFourierFeatures
from corollary.kernels.random_features import arc_cosine_features as arc_cosine_features
from corollary.kernels.random_features import feature_count as feature_count
from corollary.kernels.random_features import fourier_features as fourier_features
from corollary.kernels.stationary import RBF as RBF
from corollary.kernels.stationary import Laplacian as Laplacian
from corollary.kernels.stationary import Matern as Matern
from corollary.kernels.stationary import Periodic as Periodic
from corollary.kernels.stationary import Radial as Radial
from corollary.kernels.stationary import RationalQuadratic as RationalQuadratic
from corollary.kernels.stationary import Stationary as Stationary
from corollary.kernels.stationary import gamma_from_length_scale as gamma_from_length_scale
from corollary.kernels.stationary import length_scale_from_gamma as length_scale_from_gamma
from corollary.kernels.strings import Spectrum as Spectrum
from corollary.kernels.strings import Subsequence as Subsequence
from corollary.kernels.two_sample import PermutationTest as PermutationTest
from corollary.kernels.two_sample import mmd_test as mmd_test
from corollary.kernels.two_sample import squared_mmd as squared_mmd
from corollary.kernels.validity import GramFeatures as GramFeatures
from corollary.kernels.validity import InvarianceTest as InvarianceTest
from corollary.kernels.validity import PSDTest as PSDTest
from corollary.kernels.validity import gram_features as gram_features
from corollary.kernels.validity import invariance_test as invariance_test
from corollary.kernels.validity import psd_test as psd_test
