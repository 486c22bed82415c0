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

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dtrtrs

from corollary.gp.collapsed import JITTER, InducingLaw
from corollary.gp.evidence import LOG_2PI
from corollary.gp.inducing import LearntInducing
from corollary.gp.learning import Search
from corollary.kernels import Kernel

# A search that does not improve in this many steps, and three epochs, is over.
STEPS_WITHOUT = 100


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


@dataclass(frozen=True)
class BatchLoss:
    """The negative bound for each row, as the loss of :func:`corollary.core.training.train`.

    Parameters
    ----------
    form : Kernel
        The kernel; its numbers are replaced by those that are learnt.
    learn_noise : bool
        Whether the last hyper-parameter is the logarithm of the noise variance.
    learn_points : bool
        Whether the inducing points move.

    Examples
    --------
    >>> from corollary.gp import BatchLoss
    >>> from corollary.kernels import RBF
    >>> BatchLoss(RBF(), True, True) == BatchLoss(RBF(), True, True)  # shares compiled code
    True
    """

    form: Kernel
    learn_noise: bool
    learn_points: bool

    def __call__(self, params: Any, batch: Any, key: Any) -> Any:
        """Return the loss of a batch."""
        import jax
        import jax.numpy as jnp

        theta = params["theta"]
        hold = jax.lax.stop_gradient  # Adam leaves alone what has no gradient
        log_variance = theta[-1] if self.learn_noise else hold(params["log_variance"])
        kernel = self.form.with_parameters(theta[:-1] if self.learn_noise else theta)
        points = params["points"] if self.learn_points else hold(params["points"])
        total = 1.0 / jnp.max(batch["per_row"])
        law = WhitenedLaw(params["mean"], jnp.tril(params["root"]))
        bound = variational_bound(
            kernel,
            jnp.exp(log_variance),
            points * hold(params["scale"]),
            law,
            batch["X"],
            batch["y"],
            batch["weight"],
            total=total,
        )
        return -bound / total


def learn_by_batches(
    X: np.ndarray,
    y: np.ndarray,
    search: Search,
    Z: np.ndarray,
    law: WhitenedLaw,
    *,
    weight: np.ndarray | None = None,
    learn_points: bool = True,
    scale: Any = 1.0,
    batch_size: int = 1024,
    learning_rate: float = 0.01,
    epochs: int = 100,
    tol: float = 3e-4,
    seed: int = 0,
) -> LearntInducing:
    """Maximise the variational bound over everything by Adam on mini-batches.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Inputs.
    y : ndarray of shape (n,)
        Targets, with the prior mean subtracted.
    search : Search
        Kernel and noise: what is learnt, from where and how far.
    Z : ndarray of shape (m, d)
        Inducing points to start from.
    law : WhitenedLaw
        Law of the whitened values to start from.
    weight : ndarray of shape (n,) or None, default=None
        Positive weights of the rows; None for ones.
    learn_points : bool, default=True
        Whether the points move.
    scale : float or ndarray of shape (d,), default=1.0
        Units in which they move.
    batch_size : int, default=1024
        Rows of a batch.
    learning_rate : float, default=0.01
        Step size of Adam.
    epochs : int, default=100
        Passes over the rows at most.
    tol : float, default=3e-4
        Improvement of the bound for each row, in an epoch or, if epochs are shorter, in a hundred
        steps, that counts; three epochs, or as many as have a hundred steps, without one end the
        search.
    seed : int, default=0
        Determines the batches.

    Returns
    -------
    learnt : LearntInducing
        Hyper-parameters and points; the law of the values is then known in closed form.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import Search, WhitenedLaw, learn_by_batches
    >>> from corollary.kernels import RBF
    >>> X = np.linspace(0.0, 6.0, 100)[:, None]
    >>> search = Search(1.0 * RBF(), 0.5, True, np.full(3, -9.0), np.full(3, 9.0))
    >>> prior = WhitenedLaw(np.zeros(5), np.eye(5))
    >>> learnt = learn_by_batches(X, np.sin(X.ravel()), search, X[::20], prior, batch_size=50)
    >>> bool(np.exp(learnt.theta[-1]) < 0.5)  # there is less noise
    True
    """
    import jax
    import optax

    from corollary.core.training import train

    theta, n_batches = search.theta, -(-len(y) // batch_size)
    form = search.kernel.with_parameters(np.zeros(len(search.kernel.parameters().values)))
    weight = np.ones(len(y)) if weight is None else weight
    params = {
        "theta": theta,
        "points": Z / scale,
        "mean": np.asarray(law.mean),
        "root": np.asarray(law.root),
        "scale": np.broadcast_to(np.asarray(scale, dtype=float), Z.shape[1:]),
        "log_variance": np.array(np.log(search.variance)),
    }
    with jax.enable_x64(True):
        result = train(
            BatchLoss(form, search.learn_noise, learn_points),
            params,
            {"X": X, "y": y, "per_row": np.full(len(y), 1.0 / weight.sum())},
            optimizer=optax.adam,
            settings={"learning_rate": learning_rate},
            weight=weight,
            epochs=epochs,
            batch_size=batch_size,
            patience=max(3, -(-STEPS_WITHOUT // n_batches)),
            tol=tol * min(1.0, n_batches / STEPS_WITHOUT),
            seed=seed,
            description="sparse Gaussian process",
        )
    found = result.params
    return LearntInducing(
        np.clip(found["theta"], search.low, search.high),
        found["points"] * scale,
        result.n_epochs,
        result.status == "converged",
    )
