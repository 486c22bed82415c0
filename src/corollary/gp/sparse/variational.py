r"""The evidence bound of a sparse Gaussian process as a mean over rows, for mini-batches.

The values at the inducing points are whitened, :math:`u=Lv` with :math:`LL^\top=K_{mm}`, and v has
the law :math:`N(\mu,SS^\top)`. With :math:`a_i=L^{-1}k(Z,x_i)` the bound [1]_

.. math:: \sum_iw_i\Bigl(\log N(y_i;a_i^\top\mu,\sigma^2)-\frac{k(x_i,x_i)-a_i^\top a_i
          +|S^\top a_i|^2}{2\sigma^2}\Bigr)-\mathrm{KL}\bigl(N(\mu,SS^\top)\,\|\,N(0,I)\bigr)

is a sum over rows, so that a batch gives an unbiased estimate of it and of its gradient. Its
maximum over :math:`\mu` and S is the collapsed bound, and :func:`whitened_law` is where that is
reached: one natural-gradient step of length one with all rows.

References
----------
.. [1] J. Hensman, N. Fusi, N. D. Lawrence (2013). Gaussian processes for big data. UAI.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dtrtrs

from corollary.gp.exact.evidence import LOG_2PI
from corollary.gp.sparse.sums import JITTER, InducingLaw
from corollary.kernels import Kernel


class WhitenedLaw(NamedTuple):
    """A normal law of the whitened values at the inducing points.

    Parameters
    ----------
    mean : array of shape (m,)
        Mean.
    root : array of shape (m, m)
        Lower triangular root of the covariance.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import WhitenedLaw
    >>> WhitenedLaw(np.zeros(2), np.eye(2)).mean  # the prior
    array([0., 0.])
    """

    mean: Any
    root: Any


def whitened_law(law: InducingLaw) -> WhitenedLaw:
    """Return the best law of the whitened values.

    Parameters
    ----------
    law : InducingLaw
        From :func:`inducing_law`.

    Returns
    -------
    best : WhitenedLaw
        Where :func:`variational_bound` equals the collapsed bound.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import InducingSums, inducing_law, whitened_law
    >>> from corollary.kernels import RBF
    >>> sums = InducingSums.at(RBF(), np.zeros((1, 1)), jitter=0.0)
    >>> sums = sums.update((np.zeros((1, 1)), np.ones(1), None))
    >>> best = whitened_law(inducing_law(sums, 1.0))
    >>> best.mean, best.root.round(4)
    (array([0.5]), array([[0.7071]]))
    """
    covariance = dpotri(law.inner_root, lower=1)[0]
    return WhitenedLaw(law.mean, dpotrf(covariance, lower=1, clean=1)[0])


def variational_bound(
    kernel: Kernel,
    variance: Any,
    Z: Any,
    law: WhitenedLaw,
    X: Any,
    y: Any,
    weight: Any = None,
    *,
    total: Any = None,
    jitter: float = JITTER,
) -> Any:
    """Return the evidence bound of a law of the whitened values, or an estimate from a batch.

    Parameters
    ----------
    kernel : Kernel
        Covariance of f.
    variance : float
        Noise variance.
    Z : array of shape (m, d)
        Inducing points.
    law : WhitenedLaw
        Any normal law.
    X : array of shape (n, d)
        Inputs, of NumPy or of JAX, as all other arrays.
    y : array of shape (n,)
        Targets, with the prior mean subtracted.
    weight : array of shape (n,) or None, default=None
        Non-negative weights; None for ones.
    total : float or None, default=None
        Sum of the weights of all rows, if these are a batch of them; None if they are all.
    jitter : float, default=1e-8
        Share of the mean of its diagonal that is added to the kernel matrix of the points.

    Returns
    -------
    bound : float or array of shape ()
        The bound; its estimate without bias if the batch was drawn uniformly.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import WhitenedLaw, log_evidence, variational_bound
    >>> from corollary.kernels import RBF
    >>> X, y = np.array([[0.0], [1.0]]), np.array([1.0, 0.5])
    >>> prior = WhitenedLaw(np.zeros(2), np.eye(2))
    >>> bool(variational_bound(RBF(), 0.5, X, prior, X, y) < log_evidence(RBF().gram(X), y, 0.5))
    True
    """
    xp = X.__array_namespace__()
    K = kernel.gram(Z)
    m = K.shape[0]
    L = xp.linalg.cholesky(K + jitter * xp.mean(xp.linalg.diagonal(K)) * xp.eye(m, dtype=K.dtype))
    A = _solve_lower(L, kernel.gram(Z, X))
    left = kernel.diag(X) - xp.sum(A * A, axis=0)
    spread = law.root.T @ A
    second = (y - law.mean @ A) ** 2 + left + xp.sum(spread * spread, axis=0)
    rows = -0.5 * (LOG_2PI + xp.log(variance)) - 0.5 * second / variance
    weight = xp.ones_like(y) if weight is None else weight
    share = 1.0 if total is None else total / xp.sum(weight)
    log_root = xp.sum(xp.log(xp.abs(xp.linalg.diagonal(law.root))))
    divergence = 0.5 * (xp.sum(law.root**2) + xp.sum(law.mean**2) - m) - log_root
    return share * xp.sum(weight * rows) - divergence


def _solve_lower(L: Any, B: Any) -> Any:
    if isinstance(L, np.ndarray):
        return dtrtrs(L, B, lower=1)[0]
    from jax.scipy.linalg import solve_triangular

    return solve_triangular(L, B, lower=True)
