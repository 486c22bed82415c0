"""How networks are learned: the optimisers of mini-batches, and L-BFGS on all rows."""

from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np

from corollary.neural.mlp import MLPLoss, flatten, unflatten

# Learning rates at or below this do not fall any more.
LEAST_RATE, FALL = 1e-6, 0.2


class Solver(NamedTuple):
    """What moves the parameters, under the names of scikit-learn's."""

    name: Literal["adam", "sgd", "lbfgs"]
    learning_rate: float
    schedule: Literal["constant", "invscaling", "adaptive"]
    power_t: float
    momentum: float
    nesterov: bool
    beta_1: float
    beta_2: float
    epsilon: float
    weight_decay: float
    max_fun: int

    def options(self, n: int, n_seen: int) -> dict[str, Any]:
        """Return what ``train`` is told about n rows, after some that were seen before."""
        rates: dict[str, float] = {"learning_rate": self.learning_rate}
        if self.name == "adam":
            rates |= {"b1": self.beta_1, "b2": self.beta_2, "eps": self.epsilon}
            return {"optimizer": _adam, "settings": rates | {"weight_decay": self.weight_decay}}
        rates |= {"momentum": self.momentum, "weight_decay": self.weight_decay}
        options: dict[str, Any] = {"optimizer": _nesterov if self.nesterov else _momentum}
        if self.schedule == "invscaling":
            options["rate"] = lambda epoch: (1 + n_seen + n * epoch) ** -self.power_t
        elif self.schedule == "adaptive":
            from corollary.core.training import Fall

            options["fall"] = Fall(FALL, LEAST_RATE)
        return {**options, "settings": rates}


def _adam(**settings: Any) -> Any:
    import optax

    return optax.adamw(**settings)


def _momentum(
    learning_rate: Any, momentum: Any, weight_decay: Any, *, nesterov: bool = False
) -> Any:
    """Return steps v <- momentum v - rate gradient, so that a new rate changes new parts only."""
    import optax

    return optax.chain(
        optax.add_decayed_weights(weight_decay),
        optax.scale(-learning_rate),
        optax.trace(decay=momentum, nesterov=nesterov),
    )


def _nesterov(learning_rate: Any, momentum: Any, weight_decay: Any) -> Any:
    return _momentum(learning_rate, momentum, weight_decay, nesterov=True)


class Descent(NamedTuple):
    """Where L-BFGS ended, with the names of ``core.training.TrainResult``."""

    params: list[np.ndarray]
    losses: np.ndarray
    n_epochs: int
    status: str
    held_out_losses: None = None
    state: None = None


def minimise_lbfgs(
    loss: MLPLoss,
    start: list[np.ndarray],
    data: dict[str, np.ndarray],
    weight: np.ndarray,
    alpha: float,
    *,
    max_iter: int,
    max_fun: int,
    tol: float,
) -> Descent:
    """Minimise the penalised loss of all rows by SciPy's L-BFGS-B, in double precision."""
    from scipy.optimize import minimize

    from corollary.core.training import bucket, pad_rows
    from corollary.core.xla import jax

    n = len(weight)
    rows = pad_rows({**data, "weight": weight}, bucket(n, minimum=16))
    doubles = {k: v if v.dtype.kind == "i" else v.astype(np.float64) for k, v in rows.items()}
    losses: list[float] = []
    with jax.enable_x64(True):
        batch = jax.device_put({**doubles, "alpha": np.float64(alpha)})
        compiled = _value_and_gradient()

        def value(vector: np.ndarray) -> tuple[float, np.ndarray]:
            number, gradient = compiled(unflatten(vector, loss.sizes), batch, loss=loss)
            return float(number), flatten([np.asarray(part) for part in gradient])

        result = minimize(
            value,
            flatten(start).astype(np.float64),
            method="L-BFGS-B",
            jac=True,
            callback=lambda intermediate_result: losses.append(float(intermediate_result.fun)),
            options={"maxfun": max_fun, "maxiter": max_iter, "gtol": tol},
        )
    return Descent(
        params=unflatten(result.x, loss.sizes),
        losses=np.array(losses or [result.fun]),
        n_epochs=min(int(result.nit), max_iter),
        status="converged" if result.status == 0 else "out of epochs",
    )


@cache
def _value_and_gradient() -> Any:
    """Return the one compiled function of all losses; JAX is imported at the first call."""
    from corollary.core.xla import jax

    def value_and_gradient(parameters: Any, batch: Any, *, loss: MLPLoss) -> Any:
        return jax.value_and_grad(loss)(parameters, batch, None)

    return jax.jit(value_and_gradient, static_argnames="loss")
