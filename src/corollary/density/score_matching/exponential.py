r"""Exponential families fitted by score matching, without their normalising constant.

For :math:`p\propto e^{\langle\phi(x),\theta\rangle}` the score is :math:`J(x)^\top\theta`, with the
Jacobian J of the features, and with their Laplacians h the loss is a quadratic:

.. math:: \hat L(\theta)=\frac1n\sum_i\|J(x_i)^\top\theta\|^2+2\langle h(x_i),\theta\rangle,\qquad
          \hat\theta=-\Bigl(\sum_iJJ^\top\Bigr)^{\dagger}\sum_ih(x_i).

That is a minimum only if :math:`\sum h` lies in the range of :math:`\sum JJ^\top`; otherwise the
loss falls without limit, and the fit is refused.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Self

import numpy as np
from scipy import linalg

from corollary.core.summary import Chunk, Summary, open_source

Features = Callable[[Any], Any]
#: Curvatures below this share of the largest count as zero, after features are scaled.
_FLAT = 1e-12


def feature_derivatives(features: Features, X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return Jacobians and Laplacians of features at rows.

    Parameters
    ----------
    features : callable
        Maps one row to its features, written with ``jax.numpy``.
    X : array-like of shape (n_samples, n_features)
        Rows.

    Returns
    -------
    jacobian : ndarray of shape (n_samples, n_outputs, n_features)
        First derivatives.
    laplacian : ndarray of shape (n_samples, n_outputs)
        Sums of unmixed second derivatives.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from corollary.density import feature_derivatives
    >>> feature_derivatives(lambda x: jnp.stack([x[0], x[0] ** 2]), [[3.0]])
    (array([[[1.],
            [6.]]]), array([[0., 2.]]))
    """
    from corollary.core.xla import jax

    with jax.enable_x64(True):
        J, laplacian = _derivatives_of(features)(np.asarray(X, dtype=float))
        return np.asarray(J, dtype=float), np.asarray(laplacian, dtype=float)


@lru_cache(maxsize=32)
def _derivatives_of(features: Features) -> Callable[[Any], Any]:
    """Compile Jacobians and Laplacians of features once."""
    from corollary.core.xla import jax, jnp

    def both(x: Any) -> Any:
        laplacian = jnp.trace(jax.hessian(features)(x), axis1=1, axis2=2)
        return jax.jacfwd(features)(x), laplacian

    return jax.jit(jax.vmap(both))


@dataclass(frozen=True, eq=False)
class ScoreMatchingSums(Summary):
    r"""The sums of :math:`JJ^\top` and h over rows, which can be merged.

    A chunk is ``(X,)``, ``(X, None)`` or ``(X, None, sample_weight)``.

    Parameters
    ----------
    features : callable
        Maps one row to its features, written with ``jax.numpy``.
    weight : float, default=0.0
        Weight of the rows so far.
    curvature : ndarray of shape (n_outputs, n_outputs) or float, default=0.0
        Sum of products of Jacobians.
    laplacian : ndarray of shape (n_outputs,) or float, default=0.0
        Sum of Laplacians.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from corollary.density import ScoreMatchingSums
    >>> sums = ScoreMatchingSums(lambda x: jnp.stack([x[0], x[0] ** 2]))
    >>> sums.update(([[1.0], [3.0]],)).curvature
    array([[ 2.,  8.],
           [ 8., 40.]])
    """

    features: Features
    weight: float = 0.0
    curvature: Any = 0.0
    laplacian: Any = 0.0

    def empty(self) -> Self:
        """Return the sums of no rows."""
        return type(self)(self.features)

    def update(self, chunk: Chunk) -> Self:
        """Add the rows of a chunk."""
        J, h = feature_derivatives(self.features, chunk[0])
        weight = chunk[2] if len(chunk) > 2 and chunk[2] is not None else np.ones(len(h))
        curvature = np.einsum("n,npd,nqd->pq", weight, J, J)
        return self.merge(type(self)(self.features, float(weight.sum()), curvature, weight @ h))

    def merge(self, other: Self) -> Self:
        """Unite the sums of two sets of rows."""
        names = ("weight", "curvature", "laplacian")
        return replace(self, **{name: getattr(self, name) + getattr(other, name) for name in names})


@dataclass(frozen=True, eq=False)
class ExponentialFamilyFit:
    """Natural parameters that match the scores of rows.

    Parameters
    ----------
    features : callable
        Maps one row to its features.
    theta : ndarray of shape (n_outputs,)
        Natural parameters; the shortest of all that fit equally well.
    loss : float
        Score-matching loss at the minimum.
    n_samples : float
        Number, or weight, of the rows.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from corollary.density import fit_exponential_family
    >>> fit = fit_exponential_family(lambda x: jnp.stack([x[0], x[0] ** 2]), [[1.0], [3.0]])
    >>> fit.theta, fit.score([[2.0], [3.0]]).round(9) + 0.0  # mean 2, variance 1
    (array([ 2. , -0.5]), array([[ 0.],
           [-1.]]))
    """

    features: Features
    theta: np.ndarray
    loss: float
    n_samples: float

    def score(self, X: Any) -> np.ndarray:
        """Return the gradient of the log density at each row, known without its constant.

        See :class:`ExponentialFamilyFit`.
        """
        J, _ = feature_derivatives(self.features, X)
        return np.einsum("npd,p->nd", J, self.theta)

    def log_unnormalised(self, X: Any) -> np.ndarray:
        """Return the log density of rows up to a constant. See :class:`ExponentialFamilyFit`."""
        from corollary.core.xla import jax

        with jax.enable_x64(True):
            values = np.asarray(jax.vmap(self.features)(np.asarray(X, dtype=float)), dtype=float)
        return values @ self.theta


def fit_exponential_family(
    features: Features, data: Any, *, n_jobs: int | None = None, **options: Any
) -> ExponentialFamilyFit:
    """Fit an exponential family by score matching.

    Parameters
    ----------
    features : callable
        Maps one row to its features, written with ``jax.numpy``.
    data : array-like of shape (n_samples, n_features), path, Dask collection or chunks
        Rows, or ``(X, None, sample_weight)``; see :func:`corollary.core.summary.open_source`.
    n_jobs : int or None, default=None
        Threads; the result does not depend on them.
    **options : object
        Passed to :func:`corollary.core.summary.open_source`: names of columns and of weights.

    Raises
    ------
    ValueError
        If the loss has no minimum, or derivatives of features are not finite at a row.

    Notes
    -----
    Whether scores say enough about the law is :func:`check_score_matching`'s matter. Nothing makes
    the fitted function integrable: parameters of a negative quadratic may come out positive. The
    sums are merged as :class:`ScoreMatchingSums`.

    References
    ----------
    A. Hyvärinen (2007). Some extensions of score matching. Computational Statistics and Data
    Analysis 51(5), 2499-2512.

    Examples
    --------
    >>> import jax.numpy as jnp, numpy as np
    >>> from corollary.density import fit_exponential_family
    >>> X = np.random.default_rng(0).normal(3.0, 2.0, size=(1000, 1))
    >>> theta = fit_exponential_family(lambda x: jnp.stack([x[0], x[0] ** 2]), X).theta
    >>> bool(np.allclose(theta, [X.mean() / X.var(), -0.5 / X.var()]))  # the likeliest normal law
    True
    """
    data = (np.asarray(data, dtype=float),) if _is_rows(data) else data
    source = open_source(data, supervised=False, **options)
    sums = source.reduce(ScoreMatchingSums(features), n_jobs)
    A, h = sums.curvature / sums.weight, sums.laplacian / sums.weight
    if not (np.isfinite(A).all() and np.isfinite(h).all()):
        raise ValueError(
            "fit_exponential_family needs features with finite first and second derivatives at "
            "every row. Leave out the rows where they have none, or smooth the features."
        )
    # Features differ by orders of magnitude: with unit curvatures rounding is judged fairly.
    curved = np.diag(A) > 0
    scale = np.sqrt(np.diag(A)[curved])
    values, vectors = linalg.eigh(A[np.ix_(curved, curved)] / np.outer(scale, scale))
    steep = values > _FLAT * values.max(initial=0.0)
    slope = vectors.T @ (h[curved] / scale)
    if h[~curved].any() or np.linalg.norm(slope[~steep]) > 1e-8 * np.linalg.norm(slope):
        raise ValueError(
            "fit_exponential_family finds no minimum: the loss falls without limit along a "
            "direction in which no score changes. Leave out features that are flat at all rows, "
            "or give more rows."
        )
    theta = np.zeros(len(h))
    theta[curved] = -vectors[:, steep] @ (slope[steep] / values[steep]) / scale
    loss = float(theta @ A @ theta + 2 * h @ theta)
    return ExponentialFamilyFit(features, theta, loss, sums.weight)


def _is_rows(data: Any) -> bool:
    """Say whether data are one array, or a list of rows."""
    if isinstance(data, np.ndarray):
        return True
    return isinstance(data, list) and all(np.ndim(row) == 1 for row in data)
