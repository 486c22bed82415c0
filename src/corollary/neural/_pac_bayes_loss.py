"""The bound that a network with noisy weights minimises, and how such a network is evaluated."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from corollary.neural.mlp import unflatten

# Standard deviations may shrink and grow by this factor only, so that no square overflows.
LARGEST_LOG_RATIO = 5.0
_FIXED = ("prior_mean", "prior_std", "n", "delta")


def noisy_outputs(means: Sequence[Any], stds: Sequence[Any], X: Any, noise: Sequence[Any]) -> Any:
    r"""Evaluate a rectifier network with fresh Gaussian weights for every row.

    Parameters
    ----------
    means : sequence of arrays
        Means of :math:`W_1, b_1, \dots, W_L, b_L`.
    stds : sequence of arrays
        Standard deviations, of the same shapes.
    X : array of shape (n_samples, n_features)
        Inputs; NumPy or JAX.
    noise : sequence of arrays, of shape (n_samples, n_units) each
        Independent standard normal numbers, for each layer.

    Returns
    -------
    outputs : array of shape (n_samples, n_outputs)
        A layer with inputs z has outputs :math:`zW + b + \sqrt{z^2 S^2 + s^2}\,\varepsilon`: for
        each row the exact law under weights of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.neural import noisy_outputs
    >>> means, stds = [np.eye(2), np.zeros(2)], [np.ones((2, 2)), np.zeros(2)]
    >>> noisy_outputs(means, stds, np.array([[3.0, 4.0]]), [np.ones((1, 2))])
    array([[8., 9.]])
    """
    z = X
    for layer, epsilon in enumerate(noise):
        W, b = means[2 * layer], means[2 * layer + 1]
        S, s = stds[2 * layer], stds[2 * layer + 1]
        z = z @ W + b + (z**2 @ S**2 + s**2) ** 0.5 * epsilon
        if layer + 1 < len(noise):
            z = z * (z > 0)
    return z


@dataclass(frozen=True)
class PACBayesLoss:
    """What the network minimises, in the form that ``corollary.core.training`` asks for.

    It is the bound of the posterior where ``batch["bound"]`` is 1, or the cross-entropy under the
    prior's noise where it is 0, so that both are one compiled program; sizes are the numbers of
    units from inputs to outputs.
    """

    sizes: tuple[int, ...]

    def __call__(self, params: Any, batch: Any, key: Any) -> Any:
        """Return the bound, or the cross-entropy, estimated on a batch."""
        from corollary.core.training import weighted_mean
        from corollary.core.xla import jax, jnp

        fixed = {name: jax.lax.stop_gradient(params[name]) for name in _FIXED}
        # All numbers in one draw: each further draw would take half a second to compile.
        units = self.sizes[1:]
        normal = jax.random.normal(key, (batch["x"].shape[0], sum(units)))
        noise = jnp.split(normal, list(accumulate(units[:-1])), axis=1)

        def log_loss(std: Any) -> Any:
            means, stds = unflatten(params["mean"], self.sizes), unflatten(std, self.sizes)
            outputs = noisy_outputs(means, stds, batch["x"], noise)
            chosen = jnp.take_along_axis(outputs, batch["y"][:, None], axis=1)[:, 0]
            return jax.nn.logsumexp(outputs, axis=1) - chosen

        def cross_entropy() -> Any:
            std = jnp.full_like(params["mean"], fixed["prior_std"])
            return weighted_mean(log_loss(std), batch["weight"])

        def bound() -> Any:
            ratio = jnp.clip(params["log_ratio"], -LARGEST_LOG_RATIO, LARGEST_LOG_RATIO)
            # One minus the probability of the label: bounded, and twice it bounds the risk.
            losses = -jnp.expm1(-log_loss(fixed["prior_std"] * jnp.exp(ratio)))
            risk = weighted_mean(losses, batch["weight"])
            shift = (params["mean"] - fixed["prior_mean"]) / fixed["prior_std"]
            divergence = jnp.sum(shift**2 + jnp.exp(2 * ratio) - 1 - 2 * ratio) / 2
            price = divergence + jnp.log(2 * jnp.sqrt(fixed["n"]) / fixed["delta"])
            c = price / (2 * fixed["n"])
            return (jnp.sqrt(risk + c) + jnp.sqrt(c)) ** 2

        return jax.lax.cond(batch["bound"] > 0, bound, cross_entropy)
