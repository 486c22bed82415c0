"""Missing columns given the others."""

from typing import NamedTuple

import numpy as np

from corollary.mixture.em.evidence import latent_posterior
from corollary.mixture.gaussian._whitened import Components, log_joint_of, patterns


class ConditionalMoments(NamedTuple):
    """Rows with the expectation of what was missing, and its variance."""

    mean: np.ndarray
    variance: np.ndarray


def conditional_parts(
    covariances: np.ndarray, columns: np.ndarray, others: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return slopes and covariances of other columns given some, component by component."""
    cross = covariances[:, columns[:, None], others]
    slopes = np.linalg.solve(covariances[:, columns[:, None], columns], cross).transpose(0, 2, 1)
    return slopes, covariances[:, others[:, None], others] - slopes @ cross


def impute(components: Components, X: np.ndarray) -> ConditionalMoments:
    """Return the conditional expectation and variance of what is missing."""
    mean, variance = X.copy(), np.zeros(X.shape)
    covariances = components.matrices
    for rows, columns in patterns(X):
        others = np.setdiff1d(np.arange(X.shape[1]), columns)
        if not len(others):
            continue
        known = X[np.ix_(rows, columns)]
        r = latent_posterior(log_joint_of(components.of_columns(columns), known))
        slopes, rest = conditional_parts(covariances, columns, others)
        steps = np.einsum("kmo,nko->nkm", slopes, known[:, None] - components.means[:, columns])
        guesses = components.means[:, others] + steps
        centre = np.einsum("nk,nkm->nm", r, guesses)
        spread = (guesses - centre[:, None]) ** 2 + rest.diagonal(axis1=1, axis2=2)
        mean[np.ix_(rows, others)] = centre
        variance[np.ix_(rows, others)] = np.einsum("nk,nkm->nm", r, spread)
    return ConditionalMoments(mean, variance)
