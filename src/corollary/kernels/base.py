"""What a kernel is: the contract of every similarity in this package.

A kernel is a frozen dataclass. It knows its Gram matrix, its diagonal, their gradients and its
hyper-parameters as a flat vector, and kernels combine to kernels by ``+``, ``*``, ``**``,
:meth:`Kernel.exp`, :meth:`Kernel.normalised` and :meth:`Kernel.with_inputs`. The same code runs on
NumPy arrays, where it is blocked and threaded, and on JAX arrays, where it can be compiled and
differentiated.

A new kernel on vectors implements three methods: ``_prepare(X, Y)`` (work on single inputs, done
once), ``_evaluate(P, Q, same)`` (pairs of prepared inputs; returns a new array, which the caller
may overwrite) and ``_diag(P)``. The rest follows: gradients by JAX, tiles by ``_evaluate``. A
kernel that knows a faster way overrides ``gram_with_gradient``, ``diag_gradient`` or ``tiles``; one
that has a spectral measure defines ``_spectral_sample`` and, if its mass is not one,
``spectral_mass``.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from corollary.kernels import _arrays as arrays
from corollary.kernels import _differentiation as differentiation
from corollary.kernels._parametrised import Parametrised
from corollary.kernels._tiles import GramTiles, KernelTiles


class Kernel(Parametrised, ABC):
    """A positive semi-definite similarity.

    Subclasses are frozen dataclasses. Kernels with equal parameters are equal, and a kernel can
    be a parameter of an estimator and be saved with it.

    Attributes
    ----------
    positive_semidefinite : bool
        Whether every Gram matrix is positive semi-definite; False for :class:`Sigmoid` and what
        is built from it.
    stationary : bool
        Whether the kernel depends on the difference of its inputs only.

    Examples
    --------
    >>> from corollary.kernels import Kernel, Linear, RBF
    >>> kernel = 2.0 * RBF(length_scale=0.5) + Linear()
    >>> isinstance(kernel, Kernel)
    True
    >>> kernel.gram([[0.0], [1.0]]).round(4)
    array([[2.    , 0.2707],
           [0.2707, 3.    ]])
    >>> kernel.diag([[0.0], [1.0]])
    array([2., 3.])
    """

    positive_semidefinite: ClassVar[bool] = True
    stationary: ClassVar[bool] = False

    # -- what a kernel computes ------------------------------------------------------------------

    def gram(self, X: Any, Y: Any = None) -> Any:
        """Return the kernel of all pairs.

        Parameters
        ----------
        X : array-like of shape (n, d), or the kernel's own kind of inputs
            Inputs; JAX arrays give a JAX array.
        Y : like X, with m rows, or None, default=None
            Other inputs; None for those of X, which costs half and gives an exactly symmetric
            matrix.

        Returns
        -------
        K : array of shape (n, m)
            ``K[i, j] = k(X[i], Y[j])``.
        """
        P, Q = self._prepare(self._placed(X), self._placed(Y))
        return arrays.assemble(self._evaluate, P, Q)

    def diag(self, X: Any) -> Any:
        """Return the kernel of every input with itself, without the rest of the Gram matrix.

        Parameters
        ----------
        X : array-like of shape (n, d), or the kernel's own kind of inputs
            Inputs.

        Returns
        -------
        diagonal : array of shape (n,)
            ``k(X[i], X[i])``.
        """
        return self._diag(self._prepare(self._placed(X), None)[0])

    def problem_with(self, X: Any) -> str | None:
        """Say why the kernel cannot compare such inputs; a model file may claim that it can.

        Parameters
        ----------
        X : array-like of shape (n, d), or the kernel's own kind of inputs
            Inputs, of which the first is tried.

        Returns
        -------
        problem : str or None
            A sentence, or None if there is no problem.
        """
        try:
            with np.errstate(all="ignore"):
                finite = np.isfinite(self.gram(X[:1])).all()
        except (ArithmeticError, TypeError, ValueError) as error:
            return f"its kernel cannot compare its rows: {error}"
        return None if finite else "its kernel gives no finite number for its rows"

    def __call__(self, x: Any, y: Any) -> Any:
        """Return the kernel of two single inputs."""
        value = self.gram(self._single(x), self._single(y))[0, 0]
        return float(value) if isinstance(value, np.floating) else value

    def _placed(self, X: Any) -> Any:
        """Return NumPy inputs as JAX arrays if a hyper-parameter is a JAX tracer."""
        if isinstance(X, np.ndarray) and X.dtype.kind in "biuf":
            for _, value, _ in self._leaves(""):
                if arrays.is_traced(value):
                    return value.__array_namespace__().asarray(X)
        return X

    def _single(self, x: Any) -> Any:
        if not hasattr(x, "__array_namespace__"):
            x = np.asarray(x)
        if x.ndim > 1 and x.shape[0] != 1:
            raise ValueError(
                f"{type(self).__name__} as a function takes two single inputs. Got an array of "
                f"shape {tuple(x.shape)}. The kernel of all pairs of rows is gram(X, Y)."
            )
        return x.__array_namespace__().reshape(x, (1, -1))

    @abstractmethod
    def _prepare(self, X: Any, Y: Any) -> tuple[Any, Any]:
        """Do the work on single inputs; the second result is the first if Y is None."""

    @abstractmethod
    def _evaluate(self, P: Any, Q: Any, same: bool) -> Any:
        """Return a new matrix for all pairs of prepared inputs."""

    @abstractmethod
    def _diag(self, P: Any) -> Any:
        """Return the diagonal for prepared inputs."""

    # -- gradients and tiles ---------------------------------------------------------------------

    def gram_with_gradient(
        self, X: Any, Y: Any = None
    ) -> tuple[np.ndarray, differentiation.Pullback]:
        r"""Return the Gram matrix and a function that gives gradients of its inner products.

        A gradient of an objective needs from a kernel only :math:`\sum_{ij}W_{ij}\,\partial K_{ij}`
        for one matrix W, and no array larger than the Gram matrix.

        Parameters
        ----------
        X : array-like of shape (n, d), or the kernel's own kind of inputs
            Inputs.
        Y : like X, with m rows, or None, default=None
            Other inputs, held fixed; None for those of X.

        Returns
        -------
        K : ndarray of shape (n, m)
            The Gram matrix.
        gradient : callable
            ``gradient(W)`` returns two gradients of :math:`\sum_{ij}W_{ij}K_{ij}`: in the vector of
            :meth:`with_parameters`, and in the numbers of X. The second is empty without Y, and if
            X is no matrix of floating-point numbers.

        Notes
        -----
        A kernel that does not know its gradient is differentiated by JAX, in double precision and
        with rows padded to few sizes so that new data rarely compile anew; one that JAX cannot
        trace is differentiated by differences.

        Examples
        --------
        >>> import numpy as np
        >>> from corollary.kernels import RBF
        >>> K, gradient = (2.0 * RBF()).gram_with_gradient([[0.0], [1.0]])
        >>> by_parameters, _ = gradient(np.ones((2, 2)))  # in log 2, in the log of the length scale
        >>> by_parameters.round(6)
        array([6.426123, 2.426123])
        >>> K, gradient = (2.0 * RBF()).gram_with_gradient([[0.0]], [[1.0]])
        >>> by_parameters, by_points = gradient(np.ones((1, 1)))
        >>> by_parameters.round(4), by_points.round(4)
        (array([1.2131, 1.2131]), array([[1.2131]]))
        """
        return self.gram(X, Y), lambda W: differentiation.gram_gradient(self, X, Y, W)

    def diag_gradient(self, X: Any, weight: np.ndarray) -> np.ndarray:
        r"""Return the gradient of :math:`\sum_iw_ik(x_i,x_i)` in the hyper-parameters.

        Parameters
        ----------
        X : array-like of shape (n, d), or the kernel's own kind of inputs
            Inputs.
        weight : ndarray of shape (n,)
            The numbers :math:`w_i`.

        Returns
        -------
        gradient : ndarray of shape (p,)
            In the vector of :meth:`with_parameters`.

        Examples
        --------
        >>> import numpy as np
        >>> from corollary.kernels import RBF
        >>> (2.0 * RBF()).diag_gradient(np.zeros((3, 1)), np.ones(3))
        array([6., 0.])
        """
        return differentiation.diag_gradient(self, X, weight)

    def tiles(self, X: Any) -> GramTiles:
        """Return the Gram matrix of X as something that computes any part of itself.

        Parameters
        ----------
        X : array-like of shape (n, d), or the kernel's own kind of inputs
            Inputs.

        Returns
        -------
        tiles : GramTiles
            The matrix, for solvers that never hold it whole.

        Examples
        --------
        >>> from corollary.kernels import Linear
        >>> tiles = Linear().tiles([[1.0], [2.0], [3.0]])
        >>> tiles.tile(tiles.rows(slice(0, 2)), tiles.columns(slice(1, 3)))
        array([[2., 3.],
               [4., 6.]])
        """
        P = self._prepare(X, None)[0]
        return KernelTiles(P, self._evaluate, self._diag(P))

    # -- spectral measure ------------------------------------------------------------------------

    def spectral_sample(self, n_samples: int, n_features: int, random_state: Any = None) -> Any:
        """Draw frequencies from the normalised spectral measure.

        By Bochner's theorem a continuous stationary kernel is ``k(x, y) = Z E cos(w'(x - y))``
        with ``Z = k(x, x)`` and w drawn from a probability measure.

        Parameters
        ----------
        n_samples : int
            How many frequencies.
        n_features : int
            Their length, the number of features of the inputs.
        random_state : int, Generator, RandomState or None, default=None
            Seed or generator.

        Returns
        -------
        frequencies : ndarray of shape (n_samples, n_features)
            Independent draws.

        Raises
        ------
        TypeError
            If the kernel has no spectral measure that we can draw from.
        """
        if n_samples < 0 or n_features < 1:
            raise ValueError(
                "spectral_sample needs n_samples >= 0 and n_features >= 1. "
                f"Got {n_samples} and {n_features}."
            )
        return self._spectral_sample(n_samples, n_features, arrays.generator(random_state))

    def _spectral_sample(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        raise TypeError(
            f"{type(self).__name__} has no spectral measure to draw from; stationary kernels such "
            "as RBF, Laplacian, Matern, RationalQuadratic and Periodic, their sums, products and "
            "multiples have one."
        )

    def spectral_mass(self) -> float:
        """Return the total mass ``Z = k(x, x)`` of the spectral measure.

        Returns
        -------
        mass : float
            The value of a stationary kernel at difference zero.

        Raises
        ------
        TypeError
            If the kernel is not stationary.
        """
        if not self.stationary:
            raise TypeError(f"{type(self).__name__} is not stationary: it has no spectral measure.")
        return 1.0

    # -- algebra ---------------------------------------------------------------------------------

    def __add__(self, other: Any) -> "Kernel":
        from corollary.kernels.algebra.combinations import Sum
        from corollary.kernels.vectors.dot_product import Constant

        if _is_number(other):
            other = Constant(other)
        return Sum.of(self, other) if isinstance(other, Kernel) else NotImplemented

    __radd__ = __add__

    def __mul__(self, other: Any) -> "Kernel":
        from corollary.kernels.algebra.combinations import Product
        from corollary.kernels.algebra.functions import Scaled

        if _is_number(other):
            return Scaled(other, self)
        return Product.of(self, other) if isinstance(other, Kernel) else NotImplemented

    __rmul__ = __mul__

    def __pow__(self, degree: int) -> "Kernel":
        from corollary.kernels.algebra.functions import Power

        return Power(self, degree)

    def exp(self) -> "Kernel":
        """Return the kernel ``exp(k(x, y))``.

        Returns
        -------
        kernel : Kernel
            The exponential: a power series with positive coefficients.
        """
        from corollary.kernels.algebra.functions import Exponential

        return Exponential(self)

    def polynomial(self, coefficients: Any) -> "Kernel":
        """Return a polynomial of the kernel.

        Parameters
        ----------
        coefficients : array-like of shape (p + 1,)
            Non-negative; entry i multiplies ``k(x, y) ** i``.

        Returns
        -------
        kernel : Kernel
            ``sum_i coefficients[i] k(x, y) ** i``.
        """
        from corollary.kernels.algebra.functions import PolynomialOf

        return PolynomialOf(self, coefficients)

    def normalised(self) -> "Kernel":
        """Return the kernel ``k(x, y) / sqrt(k(x, x) k(y, y))``.

        Returns
        -------
        kernel : Kernel
            The cosine of the angle between features; 0 where an input has no features at all.
        """
        from corollary.kernels.algebra.functions import Normalised

        return Normalised(self)

    def with_inputs(self, map: Callable[[Any], Any]) -> "Kernel":
        """Return the kernel of mapped inputs.

        Parameters
        ----------
        map : callable
            ``map(X)`` takes n inputs and returns what this kernel takes.

        Returns
        -------
        kernel : Kernel
            ``k(map(x), map(y))``; it can be saved if the map can.
        """
        from corollary.kernels.algebra.inputs import InputMap

        return InputMap(self, map)


def _is_number(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, int | float | np.number) or (
        not isinstance(value, Kernel) and getattr(value, "ndim", None) == 0
    )
