r"""Feed-forward networks as pure functions of a list of arrays.

A network with layer sizes :math:`d_0, \dots, d_L` has parameters
:math:`[W_1, b_1, \dots, W_L, b_L]`, and maps :math:`z_0 = x` by

.. math:: a_\ell = z_{\ell-1} W_\ell + b_\ell, \qquad z_\ell = \phi(a_\ell),

to the output :math:`a_L`: the last layer is linear, so that a loss can put its own link on top.
Rows are points, hence :math:`W_\ell` has shape :math:`(d_{\ell-1}, d_\ell)`.

Every function here runs on NumPy and on JAX arrays alike. Learning uses JAX; predicting with a
learned network needs NumPy only, which spares a process that only predicts the import of JAX.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.parallel import row_products

_ACTIVATIONS = ("identity", "logistic", "tanh", "relu")


def init_mlp(
    sizes: Sequence[int],
    *,
    activation: str = "relu",
    rule: Literal["he", "glorot"] = "he",
    random_state: Any = None,
) -> list[np.ndarray]:
    r"""Draw parameters from which a network learns well.

    By the rule of He weights are uniform on :math:`\pm\sqrt{6 / d_{\ell-1}}` for "relu" and on
    :math:`\pm\sqrt{6 / (d_{\ell-1} + d_\ell)}` otherwise and in the last layer, which keeps the
    scale of activations and gradients from layer to layer, and biases start at zero. By the rule
    of Glorot, as scikit-learn draws them, weights and biases are uniform on the second range for
    every activation but "logistic", whose slope is smaller and whose range has 2 in place of 6.

    Parameters
    ----------
    sizes : sequence of int
        Numbers of units :math:`d_0, \dots, d_L`, from inputs to outputs.
    activation : {"identity", "logistic", "tanh", "relu"}, default="relu"
        The activation of the hidden layers.
    rule : {"he", "glorot"}, default="he"
        How parameters are drawn.
    random_state : int, RandomState instance or None, default=None
        Determines the draw.

    Returns
    -------
    parameters : list of ndarray
        :math:`W_1, b_1, \dots, W_L, b_L` in single precision.

    References
    ----------
    K. He, X. Zhang, S. Ren, J. Sun, "Delving deep into rectifiers", ICCV 2015, equation 10.
    X. Glorot, Y. Bengio, "Understanding the difficulty of training deep feedforward neural
    networks", AISTATS 2010, equation 16.

    Examples
    --------
    >>> from corollary.neural import init_mlp
    >>> [array.shape for array in init_mlp([4, 8, 3], random_state=0)]
    [(4, 8), (8,), (8, 3), (3,)]
    """
    _check_activation(activation, "init_mlp")
    if len(sizes) < 2 or min(sizes) < 1:
        raise ValueError(
            "The 'sizes' parameter of init_mlp must be at least two numbers of units, each 1 or "
            f"more. Got {list(sizes)} instead."
        )
    rng = check_random_state(random_state)
    parameters = []
    for layer, (n_in, n_out) in enumerate(pairwise(sizes), start=1):
        if rule == "he" and activation == "relu" and layer < len(sizes) - 1:
            limit = np.sqrt(6 / n_in)
        else:
            factor = 2 if rule == "glorot" and activation == "logistic" else 6
            limit = np.sqrt(factor / (n_in + n_out))
        parameters.append(rng.uniform(-limit, limit, (n_in, n_out)).astype(np.float32))
        bias = rng.uniform(-limit, limit, n_out) if rule == "glorot" else np.zeros(n_out)
        parameters.append(bias.astype(np.float32))
    return parameters


def apply_mlp(parameters: Sequence[Any], X: Any, *, activation: str = "relu") -> Any:
    r"""Evaluate a network: the output :math:`a_L` for every row.

    Parameters
    ----------
    parameters : sequence of arrays
        :math:`W_1, b_1, \dots, W_L, b_L`, or stacks of them with the same leading axes, which
        evaluate several networks at once.
    X : array of shape (n_samples, n_features)
        Inputs; NumPy or JAX.
    activation : {"identity", "logistic", "tanh", "relu"}, default="relu"
        The activation of the hidden layers.

    Returns
    -------
    outputs : array of shape (..., n_samples, n_outputs)
        The values before any link, with the leading axes of the parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.neural import apply_mlp
    >>> W, b = np.array([[1.0, -1.0]]), np.zeros(2)
    >>> V, c = np.array([[1.0], [1.0]]), np.zeros(1)
    >>> apply_mlp([W, b, V, c], np.array([[-3.0], [2.0]])).ravel()  # |x| = relu(x) + relu(-x)
    array([3., 2.])
    """
    _check_activation(activation, "apply_mlp")
    z = X
    for layer in range(0, len(parameters), 2):
        W, b = parameters[layer], parameters[layer + 1]
        z = _product(z, W) + b[..., None, :]
        if layer + 2 < len(parameters):
            z = _activate(z, activation)
    return z


def _product(z: Any, W: Any) -> Any:
    """Multiply; in NumPy a row of the result depends on its row alone, to the last bit."""
    plain = isinstance(z, np.ndarray) and isinstance(W, np.ndarray) and z.ndim == W.ndim == 2
    return row_products(z, W) if plain else z @ W


def flatten(parameters: Sequence[np.ndarray]) -> np.ndarray:
    """Join parameters into one vector.

    Parameters
    ----------
    parameters : sequence of ndarray
        Weights and biases of a network.

    Returns
    -------
    vector : ndarray of shape (n_parameters,)
        All entries, in order.

    Examples
    --------
    >>> from corollary.neural import flatten, init_mlp
    >>> flatten(init_mlp([4, 8, 3])).shape
    (67,)
    """
    return np.concatenate([np.ravel(array) for array in parameters])


def unflatten(vector: Any, sizes: Sequence[int]) -> list[Any]:
    """Split a vector into the parameters of a network: the inverse of :func:`flatten`.

    Parameters
    ----------
    vector : array of shape (n_parameters,)
        NumPy or JAX.
    sizes : sequence of int
        Numbers of units from inputs to outputs.

    Returns
    -------
    parameters : list of arrays
        Weights and biases.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.neural import unflatten
    >>> unflatten(np.arange(3.0), [2, 1])
    [array([[0.],
           [1.]]), array([2.])]
    """
    shapes: list[tuple[int, ...]] = []
    for n_in, n_out in pairwise(sizes):
        shapes += [(n_in, n_out), (n_out,)]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    if vector.shape != (ends[-1],):
        raise ValueError(
            f"The 'vector' parameter of unflatten must have shape ({ends[-1]},) for sizes "
            f"{list(sizes)}. Got {vector.shape} instead."
        )
    parts = vector.__array_namespace__().split(vector, ends[:-1].tolist())
    return [part.reshape(shape) for part, shape in zip(parts, shapes)]


@dataclass(frozen=True)
class MLPLoss:
    """The training loss of a network, in the form that ``corollary.core.training`` asks for.

    Training batches may hold ``alpha``, the strength of a penalty on the squares of the weights:
    the loss of a batch is then larger by half of alpha times their sum, divided by the weight of
    its rows.

    Parameters
    ----------
    sizes : tuple of int
        Numbers of units from inputs to outputs.
    activation : {"identity", "logistic", "tanh", "relu"}
        The activation of the hidden layers.
    kind : {"cross-entropy", "logistic", "squared", "poisson"}
        ``-log softmax(a)[y]`` for class numbers y; the sum over outputs of
        ``log(1 + exp(a)) - y a`` for y of zeros and ones; half the squared distance to y; half the
        Poisson deviance of y from ``exp(a)``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.neural import MLPLoss
    >>> loss = MLPLoss(sizes=(1, 2), activation="relu", kind="cross-entropy")
    >>> batch = {"x": np.ones((3, 1)), "y": np.array([0, 1, 1]), "weight": np.ones(3)}
    >>> round(float(loss(np.zeros(4), batch, None)), 4)  # log 2: both classes equally likely
    0.6931
    """

    sizes: tuple[int, ...]
    activation: str
    kind: str

    def __call__(self, parameters: Any, batch: Any, key: Any) -> Any:
        """Return the weighted mean loss of a batch, by a list of arrays or their vector."""
        from corollary.core.training import weighted_mean
        from corollary.core.xla import jnp

        if not isinstance(parameters, list):
            parameters = unflatten(parameters, self.sizes)
        outputs = apply_mlp(parameters, batch["x"], activation=self.activation)
        mean = weighted_mean(self._losses(outputs, batch["y"]), batch["weight"])
        if "alpha" not in batch:
            return mean
        squares = sum(jnp.sum(W**2) for W in parameters[0::2])
        return mean + 0.5 * batch["alpha"] * squares / jnp.sum(batch["weight"])

    def _losses(self, outputs: Any, y: Any) -> Any:
        """Return the loss of each row."""
        from jax.nn import logsumexp, softplus
        from jax.scipy.special import xlogy

        from corollary.core.xla import jnp

        if self.kind == "cross-entropy":
            chosen = jnp.take_along_axis(outputs, y[:, None], axis=1)[:, 0]
            return logsumexp(outputs, axis=1) - chosen
        if self.kind == "logistic":
            losses = softplus(outputs) - y * outputs
        elif self.kind == "poisson":
            losses = jnp.exp(outputs) - y * outputs + xlogy(y, y) - y
        else:
            losses = 0.5 * (outputs - y) ** 2
        return jnp.sum(losses, axis=1)


def _activate(z: Any, activation: str) -> Any:
    xp = z.__array_namespace__()
    if activation == "relu":
        return xp.maximum(z, 0)
    if activation == "tanh":
        return xp.tanh(z)
    if activation == "logistic":
        # Equal to 1 / (1 + exp(-z)), but cannot overflow.
        return 0.5 + 0.5 * xp.tanh(0.5 * z)
    return z


def _check_activation(activation: str, function: str) -> None:
    if activation not in _ACTIVATIONS:
        raise ValueError(
            f"The 'activation' parameter of {function} must be one of {list(_ACTIVATIONS)}. "
            f"Got {activation!r} instead."
        )
