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
from corollary.kernels.stationary import RBF as RBF
from corollary.kernels.stationary import Laplacian as Laplacian
from corollary.kernels.stationary import Matern as Matern
from corollary.kernels.stationary import Periodic as Periodic
from corollary.kernels.stationary import Radial as Radial
from corollary.kernels.stationary import RationalQuadratic as RationalQuadratic
from corollary.kernels.stationary import Stationary as Stationary
from corollary.kernels.stationary import gamma_from_length_scale as gamma_from_length_scale
from corollary.kernels.stationary import length_scale_from_gamma as length_scale_from_gamma
