r"""Identities of the evidence of models with a finite latent variable.

All of them are functions of one matrix, the logarithms of the joint density
:math:`\log p_\theta(x_i, z=j)` of every row and every value of its latent variable, and of laws
:math:`q_i(j)` of the latent variables. Each row has a law of its own: a law of all of them is the
product.
"""

from typing import Any, NamedTuple

import numpy as np


class EvidenceSplit(NamedTuple):
    """The logarithm of the evidence as a sum, see :func:`evidence_split`."""

    evidence: float
    lower_bound: float
    divergence: float


class EMGain(NamedTuple):
    """What new parameters gain over old ones, as a sum, see :func:`em_gain`."""

    evidence: float
    q_function: float
    divergence: float


def log_evidence(log_joint: Any) -> np.ndarray:
    r"""Return :math:`\log p(x_i)=\log\sum_j p(x_i,j)` of every row.

    Their sum is the log-likelihood. See :class:`LatentModel` for ``log_joint``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.mixture import log_evidence
    >>> log_evidence(np.log([[0.1, 0.3], [0.2, 0.2]]))
    array([-0.91629073, -0.91629073])
    """
    joint = _joint(log_joint)
    top = joint.max(axis=1)  # SciPy's logsumexp takes nearly three times as long
    return top + np.log(np.exp(joint - top[:, None]).sum(axis=1))


def latent_posterior(log_joint: Any) -> np.ndarray:
    """Return the posterior law of the latent variable of every row, the exact E-step.

    See :class:`LatentModel` for ``log_joint``, whose shape the posterior has; its rows sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.mixture import latent_posterior
    >>> latent_posterior(np.log([[0.1, 0.3]]))
    array([[0.25, 0.75]])
    """
    joint = _joint(log_joint)
    powers = np.exp(joint - joint.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def expected_log_joint(q: Any, log_joint: Any) -> float:
    r"""Return :math:`\sum_i\mathbb E_{z\sim q_i}\log p_\theta(x_i,z)`, the function Q of EM.

    For Q the law ``q`` is the posterior under old parameters, and ``log_joint`` that of the
    parameters that are judged. See :class:`LatentModel`. The value is minus infinity if q gives
    weight to what is impossible.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.mixture import expected_log_joint
    >>> round(expected_log_joint([[0.5, 0.5]], np.log([[0.1, 0.4]])), 4)
    -1.6094
    """
    joint = _joint(log_joint)
    q = _law(q, joint)
    possible = q > 0  # zero times the log of zero is zero
    return float(np.sum(q[possible] * joint[possible]))


def free_energy(q: Any, log_joint: Any) -> float:
    r"""Return :math:`F(q,\theta)=\sum_i\mathbb E_{q_i}[\log p_\theta(x_i,z)]+H(q_i)`.

    It is the evidence lower bound. EM is coordinate ascent on it: the E-step maximises it in q, the
    M-step in the parameters, and any step that does not lower it may take the place of either. At
    the posterior it equals the log-likelihood. See :class:`LatentModel` for ``q`` and
    ``log_joint``.

    References
    ----------
    Neal and Hinton (1998), A view of the EM algorithm that justifies incremental, sparse, and other
    variants.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.mixture import free_energy
    >>> joint = np.log([[0.1, 0.3]])
    >>> round(free_energy([[0.25, 0.75]], joint), 4), round(free_energy([[0.5, 0.5]], joint), 4)
    (-0.9163, -1.0601)
    """
    from scipy.special import xlogy

    q = _law(q, _joint(log_joint))
    return expected_log_joint(q, log_joint) - float(np.sum(xlogy(q, q)))


def evidence_split(q: Any, log_joint: Any) -> EvidenceSplit:
    r"""Split the log-likelihood into a lower bound and a divergence, for any law q.

    .. math:: \log p_\theta(x)=F(q,\theta)+\mathrm{KL}(q\,\|\,p_\theta(z\mid x))

    The three terms, ``evidence``, ``lower_bound`` (the free energy of q) and ``divergence`` (of q
    from the posterior, never negative), are computed apart. See :class:`LatentModel` for ``q`` and
    ``log_joint``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.mixture import evidence_split
    >>> split = evidence_split([[0.5, 0.5]], np.log([[0.1, 0.3]]))
    >>> round(split.evidence, 4), round(split.lower_bound + split.divergence, 4)
    (-0.9163, -0.9163)
    """
    joint = _joint(log_joint)
    q = _law(q, joint)
    divergence = _divergence(q, latent_posterior(joint))
    return EvidenceSplit(float(log_evidence(joint).sum()), free_energy(q, joint), divergence)


def em_gain(log_joint: Any, new_log_joint: Any) -> EMGain:
    r"""Split what the log-likelihood gains from old parameters to any new ones.

    .. math:: \log p_{\theta'}(x)-\log p_\theta(x)=Q(\theta',\theta)-Q(\theta,\theta)
              +\mathrm{KL}(p_\theta(z\mid x)\,\|\,p_{\theta'}(z\mid x))

    The result holds the gain of the ``evidence``, that of the ``q_function``, which an M-step makes
    non-negative, and the ``divergence``, which is never negative. See :class:`LatentModel` for the
    two matrices, under old and under new parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.mixture import em_gain
    >>> gain = em_gain(np.log([[0.1, 0.3]]), np.log([[0.2, 0.4]]))
    >>> round(gain.evidence, 4), round(gain.q_function + gain.divergence, 4)
    (0.4055, 0.4055)
    """
    before, after = _joint(log_joint), _joint(new_log_joint)
    q = latent_posterior(before)
    return EMGain(
        float(np.sum(log_evidence(after) - log_evidence(before))),
        expected_log_joint(q, after) - expected_log_joint(q, before),
        _divergence(q, latent_posterior(after)),
    )


def em_ascent_bound(log_joint: Any, new_log_joint: Any) -> float:
    r"""Bound the log-likelihood of new parameters from below by the old posterior.

    With :math:`q` the posterior under the old parameters,

    .. math:: \log p_{\theta'}(x)\ge F(q,\theta')

    for all new parameters, and :math:`F(q,\theta')\ge F(q,\theta)=\log p_\theta(x)` for those of an
    M-step: EM never lowers the log-likelihood. See :class:`LatentModel` for the two matrices, under
    old and under new parameters.

    References
    ----------
    Dempster, Laird and Rubin (1977), Maximum likelihood from incomplete data via the EM algorithm.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.mixture import em_ascent_bound, log_evidence
    >>> new = np.log([[0.2, 0.4]])
    >>> round(em_ascent_bound(np.log([[0.1, 0.3]]), new), 4), log_evidence(new).round(4)
    (-0.5272, array([-0.5108]))
    """
    return free_energy(latent_posterior(log_joint), new_log_joint)


def evidence_gradient(log_joint: Any, gradients: Any) -> np.ndarray:
    r"""Return the gradient of the log-likelihood in the parameters.

    It is the posterior mean of gradients,
    :math:`\nabla\log p_\theta(x)=\sum_i\mathbb E_{p(z\mid x_i)}\nabla\log p_\theta(x_i,z)`.
    It serves gradient ascent, the alternative to EM for finite latent variables.
    See :class:`LatentModel` for ``log_joint``, whose ``gradients`` in the parameters have the shape
    (n_samples, n_states, n_parameters).

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.mixture import evidence_gradient
    >>> evidence_gradient(np.log([[0.1, 0.3]]), [[[4.0], [0.0]]])
    array([1.])
    """
    slopes = np.asarray(gradients, dtype=float)
    return np.einsum("ij,ijp->p", latent_posterior(log_joint), slopes)


def _divergence(q: np.ndarray, p: np.ndarray) -> float:
    """Return the divergence of q from p, summed over rows."""
    from scipy.special import rel_entr

    return float(rel_entr(q, p).sum())


def _joint(log_joint: Any) -> np.ndarray:
    """Return the matrix of log densities, or refuse it."""
    joint = np.asarray(log_joint, dtype=float)
    if joint.ndim != 2 or joint.size == 0 or not (joint.max(axis=1) > -np.inf).all():
        raise ValueError(
            "log_joint must be a matrix with a row for each sample and a column for each state, at "
            f"least one of them possible. Got shape {joint.shape}"
            + (" with an impossible or undefined row." if joint.ndim == 2 else ".")
        )
    if not (joint < np.inf).all():
        raise ValueError("log_joint must be less than infinity. Got infinity or NaN.")
    return joint


def _law(q: Any, joint: np.ndarray) -> np.ndarray:
    """Return the laws of the latent variables, or refuse them."""
    q = np.asarray(q, dtype=float)
    if q.shape != joint.shape or not (q >= 0).all() or np.abs(q.sum(axis=1) - 1).max() > 1e-8:
        raise ValueError(
            "q must hold a law for each sample: non-negative numbers whose rows sum to one, of the "
            f"shape {joint.shape} of log_joint. Got shape {q.shape}"
            + (f" and row sums from {q.sum(axis=1).min():g}." if q.ndim == 2 and q.size else ".")
        )
    return q
