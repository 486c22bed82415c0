"""Kernels: one algebra of similarities under everything that compares inputs.

A :class:`Kernel` is a small frozen object with a Gram matrix, a diagonal, hyper-parameters as a
flat vector and, if it is stationary, a spectral measure. Kernels on vectors (:class:`RBF`,
:class:`Matern`, :class:`Polynomial`, ...) combine by ``+``, ``*``, ``**``, ``exp``, normalisation
and input maps to kernels again. The same code runs blocked and threaded on NumPy arrays, and
compiled and differentiated on JAX arrays.

Conventions: ``RBF(length_scale)`` is ``exp(-|x - y|^2 / (2 length_scale^2))``; a length scale may
be one number or one for each feature; an amplitude is a factor, ``amplitude**2 * RBF()``.
"""

from corollary.kernels._parametrised import hyperparameter as hyperparameter
from corollary.kernels._tiles import GramTiles as GramTiles
from corollary.kernels._tiles import PrecomputedTiles as PrecomputedTiles
from corollary.kernels.algebra.combinations import Product as Product
from corollary.kernels.algebra.combinations import Sum as Sum
from corollary.kernels.algebra.functions import Exponential as Exponential
from corollary.kernels.algebra.functions import Normalised as Normalised
from corollary.kernels.algebra.functions import PolynomialOf as PolynomialOf
from corollary.kernels.algebra.functions import Power as Power
from corollary.kernels.algebra.functions import Scaled as Scaled
from corollary.kernels.algebra.inputs import InputMap as InputMap
from corollary.kernels.algebra.inputs import from_feature_map as from_feature_map
from corollary.kernels.algebra.restricted import Restricted as Restricted
from corollary.kernels.base import Kernel as Kernel
from corollary.kernels.features.arc_cosine import ArcCosineFeatures as ArcCosineFeatures
from corollary.kernels.features.arc_cosine import arc_cosine_features as arc_cosine_features
from corollary.kernels.features.exponentials import exponential_map as exponential_map
from corollary.kernels.features.exponentials import rbf_map as rbf_map
from corollary.kernels.features.exponentials import rbf_map_error as rbf_map_error
from corollary.kernels.features.feature_count import feature_count as feature_count
from corollary.kernels.features.fourier import RandomFourierFeatures as RandomFourierFeatures
from corollary.kernels.features.fourier import fourier_features as fourier_features
from corollary.kernels.features.monomials import Columns as Columns
from corollary.kernels.features.monomials import MonomialMap as MonomialMap
from corollary.kernels.features.monomials import bias_map as bias_map
from corollary.kernels.features.monomials import monomial_exponents as monomial_exponents
from corollary.kernels.features.monomials import monomial_map as monomial_map
from corollary.kernels.features.monomials import polynomial_map as polynomial_map
from corollary.kernels.features.monomials import subset_map as subset_map
from corollary.kernels.features.nystroem import Nystroem as Nystroem
from corollary.kernels.features.nystroem import nystroem_projection as nystroem_projection
from corollary.kernels.features.positive_features import (
    PositiveRandomFeatures as PositiveRandomFeatures,
)
from corollary.kernels.features.positive_features import linear_attention as linear_attention
from corollary.kernels.features.positive_features import (
    positive_log_features as positive_log_features,
)
from corollary.kernels.features.positive_features import softmax_attention as softmax_attention
from corollary.kernels.matrix_display import KernelMatrixDisplay as KernelMatrixDisplay
from corollary.kernels.models.kernel_erm import minimise_kernel_risk as minimise_kernel_risk
from corollary.kernels.models.kernel_ridge import KernelRidge as KernelRidge
from corollary.kernels.models.kernel_ridge import kernel_ridge_solution as kernel_ridge_solution
from corollary.kernels.models.kernel_risk_models import KernelERMClassifier as KernelERMClassifier
from corollary.kernels.models.kernel_risk_models import KernelERMRegressor as KernelERMRegressor
from corollary.kernels.named import check_kernel as check_kernel
from corollary.kernels.named import chosen_kernel as chosen_kernel
from corollary.kernels.named import median_length_scale as median_length_scale
from corollary.kernels.scikit_learn import as_kernel as as_kernel
from corollary.kernels.scikit_learn import as_sklearn_kernel as as_sklearn_kernel
from corollary.kernels.statistics.independence import centred_gram as centred_gram
from corollary.kernels.statistics.independence import hsic as hsic
from corollary.kernels.statistics.independence import hsic_test as hsic_test
from corollary.kernels.statistics.mercer import MercerExpansion as MercerExpansion
from corollary.kernels.statistics.mercer import mercer_expansion as mercer_expansion
from corollary.kernels.statistics.two_sample import mmd_test as mmd_test
from corollary.kernels.statistics.two_sample import squared_mmd as squared_mmd
from corollary.kernels.statistics.validity import gram_features as gram_features
from corollary.kernels.statistics.validity import invariance_test as invariance_test
from corollary.kernels.statistics.validity import psd_test as psd_test
from corollary.kernels.structures.distributions import Bhattacharyya as Bhattacharyya
from corollary.kernels.structures.distributions import HellingerRBF as HellingerRBF
from corollary.kernels.structures.graphs import Diffusion as Diffusion
from corollary.kernels.structures.graphs import EdgeCount as EdgeCount
from corollary.kernels.structures.graphs import graph_laplacian as graph_laplacian
from corollary.kernels.structures.strings import Spectrum as Spectrum
from corollary.kernels.structures.strings import Subsequence as Subsequence
from corollary.kernels.vectors.coordinates import ANOVA as ANOVA
from corollary.kernels.vectors.coordinates import ArcCosine as ArcCosine
from corollary.kernels.vectors.coordinates import Bilinear as Bilinear
from corollary.kernels.vectors.dot_product import Constant as Constant
from corollary.kernels.vectors.dot_product import DotProduct as DotProduct
from corollary.kernels.vectors.dot_product import ExponentialDot as ExponentialDot
from corollary.kernels.vectors.dot_product import Linear as Linear
from corollary.kernels.vectors.dot_product import Polynomial as Polynomial
from corollary.kernels.vectors.dot_product import Sigmoid as Sigmoid
from corollary.kernels.vectors.dot_product import TruncatedExponential as TruncatedExponential
from corollary.kernels.vectors.pairwise import PairwiseFunction as PairwiseFunction
from corollary.kernels.vectors.radial import RBF as RBF
from corollary.kernels.vectors.radial import Matern as Matern
from corollary.kernels.vectors.radial import Radial as Radial
from corollary.kernels.vectors.radial import RationalQuadratic as RationalQuadratic
from corollary.kernels.vectors.radial import gamma_from_length_scale as gamma_from_length_scale
from corollary.kernels.vectors.radial import length_scale_from_gamma as length_scale_from_gamma
from corollary.kernels.vectors.stationary import Laplacian as Laplacian
from corollary.kernels.vectors.stationary import Periodic as Periodic
from corollary.kernels.vectors.stationary import Stationary as Stationary
from corollary.kernels.vectors.white import White as White
