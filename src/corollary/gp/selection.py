"""Choice among kernels: by evidence, leave-one-out or held-out scores, and against a teacher."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from corollary.core.estimator import checked
from corollary.gp.conditioning import GaussianLaw
from corollary.gp.exact.evidence import LOG_2PI
from corollary.gp.exact.posterior import Predictions
from corollary.gp.exact.regressor import GaussianProcessRegressor
from corollary.kernels import Kernel
from corollary.risk import crps_normal, kl_gaussian


class NormalScores(NamedTuple):
    """Mean scores of normal predictions.

    Parameters
    ----------
    squared_error : float
        Mean squared error of the means; smaller is better.
    log_density : float
        Mean log density of what happened; larger is better. It is proper: no prediction has a
        better expectation than the true law.
    crps : float
        Mean continuous ranked probability score, in units of the target; smaller is better.
        Proper too, and less hard on outliers.
    """

    squared_error: float
    log_density: float
    crps: float


class RankedKernel(NamedTuple):
    """A kernel with what speaks for it.

    Parameters
    ----------
    name : str
        Its name.
    model : GaussianProcessRegressor
        The model fitted with it.
    evidence : float
        Log evidence.
    scores : NormalScores
        Scores of leave-one-out predictions, or of held-out rows.
    """

    name: str
    model: GaussianProcessRegressor
    evidence: float
    scores: NormalScores


def normal_scores(y: Any, mean: Any, std: Any) -> NormalScores:
    r"""Score normal predictions.

    Parameters
    ----------
    y : array-like of shape (n,)
        What happened.
    mean : array-like of shape (n,)
        Predicted means.
    std : array-like of shape (n,)
        Predicted standard deviations, positive.

    Returns
    -------
    scores : NormalScores
        Means over the rows.

    See Also
    --------
    corollary.validation.crps_normal : The last score, row by row.

    Examples
    --------
    >>> from corollary.gp import normal_scores
    >>> scores = normal_scores([0.0], [0.0], [1.0])
    >>> round(scores.log_density, 4), round(scores.crps, 4)
    (-0.9189, 0.2337)
    """
    y, mean, std = (np.asarray(a, dtype=float) for a in (y, mean, std))
    if not (y.shape == mean.shape == std.shape) or not y.size or not (std > 0).all():
        raise ValueError(
            "normal_scores needs as many means and positive standard deviations as values. Got "
            f"shapes {y.shape}, {mean.shape} and {std.shape}."
        )
    z = (y - mean) / std
    return NormalScores(
        float(np.mean((y - mean) ** 2)),
        float(np.mean(-0.5 * z**2 - np.log(std) - 0.5 * LOG_2PI)),
        float(np.mean(crps_normal(y, mean, std))),
    )


@checked
def rank_kernels(
    kernels: Mapping[str, Kernel],
    X: Any,
    y: Any,
    *,
    by: Literal["evidence", "squared_error", "log_density", "crps"] = "evidence",
    held_out: tuple[Any, Any] | None = None,
    alpha: float | Literal["evidence"] = "evidence",
    optimizer: Literal["fmin_l_bfgs_b"] | None = "fmin_l_bfgs_b",
    n_restarts_optimizer: int = 0,
    random_state: Any = None,
) -> list[RankedKernel]:
    """Fit a Gaussian process with each kernel and rank them.

    Parameters
    ----------
    kernels : mapping of str to Kernel
        Kernels by name; their hyper-parameters are where the search starts.
    X : array-like of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Targets.
    by : {"evidence", "squared_error", "log_density", "crps"}, default="evidence"
        What decides. On real data the answers may differ: the model is never quite true.
    held_out : tuple of X and y or None, default=None
        Rows to compute the scores on; None for leave-one-out in closed form.
    alpha : float or "evidence", default="evidence"
        Noise variance, see :class:`GaussianProcessRegressor`.
    optimizer : "fmin_l_bfgs_b" or None, default="fmin_l_bfgs_b"
        None keeps the kernels as they are.
    n_restarts_optimizer : int, default=0
        Random starts for each kernel.
    random_state : int, RandomState instance or None, default=None
        Determines the searches.

    Returns
    -------
    ranking : list of RankedKernel
        Best first.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import rank_kernels
    >>> from corollary.kernels import RBF, Linear
    >>> X = np.linspace(0.0, 6.0, 30)[:, None]
    >>> kernels = {"line": 1.0 * Linear() + 1.0, "smooth": 1.0 * RBF()}
    >>> [r.name for r in rank_kernels(kernels, X, np.sin(X).ravel(), random_state=0)]
    ['smooth', 'line']
    """
    if not kernels:
        raise ValueError("rank_kernels needs at least one kernel. Got none.")
    ranking = []
    for name, kernel in kernels.items():
        model = GaussianProcessRegressor(
            kernel,
            alpha=alpha,
            optimizer=optimizer,
            n_restarts_optimizer=n_restarts_optimizer,
            random_state=random_state,
        ).fit(X, y)
        if held_out is None:
            predictions, truth = model.leave_one_out(), y
        else:
            predictions = Predictions(*model.predict(held_out[0], return_std=True, noisy=True))
            truth = held_out[1]
        scores = normal_scores(truth, predictions.mean, predictions.std)
        evidence = model.log_marginal_likelihood_value_
        ranking.append(RankedKernel(name, model, evidence, scores))

    def loss(ranked: RankedKernel) -> float:
        if by == "evidence":
            return -ranked.evidence
        value = getattr(ranked.scores, by)
        return -value if by == "log_density" else value

    return sorted(ranking, key=loss)


def gaussian_divergence(p: GaussianLaw, q: GaussianLaw) -> float:
    r"""Return the Kullback-Leibler divergence of two normal laws.

    Parameters
    ----------
    p : GaussianLaw
        The law that is true.
    q : GaussianLaw
        The law that is used; its covariance, and that of p, must be positive definite.

    Returns
    -------
    divergence : float
        :math:`\tfrac12\bigl(\operatorname{tr}(\Sigma_q^{-1}\Sigma_p)-n
        +(\mu_q-\mu_p)^\top\Sigma_q^{-1}(\mu_q-\mu_p)+\log\det\Sigma_q-\log\det\Sigma_p\bigr)`.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import GaussianLaw, gaussian_divergence
    >>> gaussian_divergence(GaussianLaw(np.ones(1), np.eye(1)), GaussianLaw(np.zeros(1), np.eye(1)))
    0.5
    """
    return kl_gaussian(p.mean, p.covariance, q.mean, q.covariance)


def teacher_student(
    kernels: Mapping[str, Kernel], X: Any, X_new: Any, noise: float = 0.01
) -> np.ndarray:
    r"""Compare what each kernel predicts on data that another one made.

    A teacher draws a function and noisy values at X; a student with its own kernel predicts the
    noisy values at new points jointly. By the chain rule the expected divergence of the student's
    prediction from the teacher's is the divergence of their laws at all points less that at X, so
    no simulation is needed.

    Parameters
    ----------
    kernels : mapping of str to Kernel
        Kernels by name.
    X : array-like of shape (n, d)
        Observed points.
    X_new : array-like of shape (m, d)
        New points.
    noise : float, default=0.01
        Noise variance of every observation, positive.

    Returns
    -------
    matrix : ndarray of shape (k, k)
        Row: teacher, column: student. Expected log density lost per new point, in nats; zero on
        the diagonal and nowhere negative.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import teacher_student
    >>> from corollary.kernels import RBF
    >>> X = np.arange(5.0)[:, None]
    >>> lost = teacher_student({"short": RBF(0.5), "long": RBF(2.0)}, X, X + 0.5)
    >>> np.diag(lost), bool((lost[[0, 1], [1, 0]] > 0).all())
    (array([0., 0.]), True)
    """
    if not noise > 0:
        raise ValueError(
            "The 'noise' parameter of teacher_student must be a float in the range (0.0, inf). "
            f"Got {noise!r} instead."
        )
    X, X_new = np.asarray(X, dtype=float), np.asarray(X_new, dtype=float)
    n, points = len(X), np.concatenate([X, X_new])
    if len(points) == n:
        raise ValueError("teacher_student needs at least one new point. Got none.")
    laws = [kernel.gram(points) + noise * np.eye(len(points)) for kernel in kernels.values()]
    zeros = np.zeros(len(points))
    lost = np.zeros((len(laws), len(laws)))
    for i, teacher in enumerate(laws):
        for j, student in enumerate(laws):
            if i != j:
                whole = gaussian_divergence(
                    GaussianLaw(zeros, teacher), GaussianLaw(zeros, student)
                )
                seen = gaussian_divergence(
                    GaussianLaw(zeros[:n], teacher[:n, :n]), GaussianLaw(zeros[:n], student[:n, :n])
                )
                # The difference of two divergences may be rounded below zero.
                lost[i, j] = max(whole - seen, 0.0) / len(X_new)
    return lost
