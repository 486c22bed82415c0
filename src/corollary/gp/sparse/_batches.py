"""Learning a sparse process by Adam on mini-batches."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from corollary.gp.learning.search import Search
from corollary.gp.sparse._learnt import LearntInducing
from corollary.gp.sparse.variational import WhitenedLaw, variational_bound
from corollary.kernels import Kernel

# A search that does not improve in this many steps, and three epochs, is over.
STEPS_WITHOUT = 100


@dataclass(frozen=True)
class BatchLoss:
    """The negative bound for each row, as the loss of :func:`corollary.core.training.train`."""

    form: Kernel
    learn_noise: bool
    learn_points: bool

    def __call__(self, params: Any, batch: Any, key: Any) -> Any:
        """Return the loss of a batch."""
        from corollary.core.xla import jax, jnp

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


class Schedule(NamedTuple):
    """How long Adam learns, and by which steps."""

    batch_size: int = 1024
    learning_rate: float = 0.01
    epochs: int = 100
    tol: float = 3e-4
    seed: int = 0


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
    schedule: Schedule,
) -> LearntInducing:
    """Maximise the variational bound over everything by Adam on mini-batches."""
    import optax

    from corollary.core.training import train
    from corollary.core.xla import jax

    theta, n_batches = search.theta, -(-len(y) // schedule.batch_size)
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
            settings={"learning_rate": schedule.learning_rate},
            weight=weight,
            epochs=schedule.epochs,
            batch_size=schedule.batch_size,
            patience=max(3, -(-STEPS_WITHOUT // n_batches)),
            tol=schedule.tol * min(1.0, n_batches / STEPS_WITHOUT),
            seed=schedule.seed,
            description="sparse Gaussian process",
        )
    learnt = result.params
    return LearntInducing(
        np.clip(learnt["theta"], search.low, search.high),
        learnt["points"] * scale,
        result.n_epochs,
        result.status == "converged",
    )
