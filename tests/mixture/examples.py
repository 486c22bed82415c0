"""Models and laws that several tests of mixtures use."""

import numpy as np

from corollary.mixture import LatentModel, MixtureLaw


class BinaryMixture(LatentModel):
    """Rows of bits, independent given the component: weights, and probabilities of ones.

    Probabilities are kept from 0.01 to 0.99; the best ones there are cut off at these limits.
    """

    def log_joint(self, X, parameters):
        weights, p = parameters
        return np.log(weights) + X @ np.log(p).T + (1 - X) @ np.log(1 - p).T

    def maximise(self, X, q, parameters):
        totals = q.sum(axis=0)
        return totals / totals.sum(), np.clip(q.T @ X / totals[:, None], 0.01, 0.99)

    def sample(self, n_samples, parameters, random_state=None):
        weights, p = parameters
        z = random_state.choice(len(weights), size=n_samples, p=weights)
        return (random_state.uniform(size=(n_samples, p.shape[1])) < p[z]).astype(float), z


class HalfStep(BinaryMixture):
    """A generalised M-step: half of the way to the maximiser."""

    def maximise(self, X, q, parameters):
        best = super().maximise(X, q, parameters)
        return tuple((old + new) / 2 for old, new in zip(parameters, best))


def binary_parameters(rng, k=3, d=4):
    return rng.dirichlet(np.ones(k)), rng.uniform(0.1, 0.9, size=(k, d))


def random_law(rng, k=3, d=2):
    A = rng.normal(size=(k, d, d))
    covariances = A @ A.transpose(0, 2, 1) + 0.3 * np.eye(d)
    return MixtureLaw(rng.dirichlet(np.full(k, 3.0)), 2 * rng.normal(size=(k, d)), covariances)
