r"""What a step makes of the gradients so far: momentum, AdaGrad and Adam, computed by Optax.

With a gradient g and a step size :math:`\eta`:

- momentum (heavy ball): :math:`v\leftarrow\mu v-\eta g,\;x\leftarrow x+v`;
- AdaGrad: :math:`s\leftarrow s+g^2,\;x\leftarrow x-\eta g/\sqrt{s+\varepsilon}`;
- Adam: :math:`m\leftarrow\beta_1m+(1-\beta_1)g,\;v\leftarrow\beta_2v+(1-\beta_2)g^2`,
  :math:`x\leftarrow x-\eta\hat m/(\sqrt{\hat v}+\varepsilon)` with
  :math:`\hat m=m/(1-\beta_1^t)` and :math:`\hat v=v/(1-\beta_2^t)`.

Squares, roots and quotients are entry by entry. What is proved about averaged SGD is not proved
about these: Adam's direction is no unbiased gradient, and Adam can fail on convex functions.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np


class UpdateRule(ABC):
    """A way to make steps of gradients.

    ``init(x)`` is what is remembered before the first step, ``apply(x, gradient, rate, memory)``
    takes one step and returns the point and what is remembered next, and ``transform(rate)`` is
    Optax's transformation of gradients, whose updates are added to the point.

    Examples
    --------
    >>> from corollary.optimize import Momentum, UpdateRule
    >>> rule = Momentum(0.5)
    >>> memory = rule.init([1.0])
    >>> isinstance(rule, UpdateRule), rule.apply([1.0], [2.0], 0.1, memory)[0]
    (True, array([0.8]))
    """

    def init(self, x: Any) -> Any:
        """Return what is remembered before the first step. See :class:`UpdateRule`."""
        from corollary.core.xla import jax

        with jax.enable_x64(True):
            return self.transform(0.0).init(np.asarray(x, dtype=float))

    def apply(self, x: Any, gradient: Any, rate: float, memory: Any) -> tuple[np.ndarray, Any]:
        """Take one step. See :class:`UpdateRule`."""
        from corollary.core.xla import jax
        from corollary.optimize.stochastic._programs import apply_rule

        x, gradient = np.asarray(x, dtype=float), np.asarray(gradient, dtype=float)
        with jax.enable_x64(True):
            point, memory = apply_rule(x, memory, gradient, float(rate), rule=self)
            return np.array(point), memory

    @abstractmethod
    def transform(self, rate: Any) -> Any:
        """Return Optax's transformation for a step size. See :class:`UpdateRule`."""


@dataclass(frozen=True)
class Momentum(UpdateRule):
    r"""Heavy ball: each step keeps a share ``decay`` :math:`\mu`, in [0, 1), of the last one.

    With ``nesterov`` the gradient's step is added once more on top of the new velocity's share.
    See :class:`UpdateRule`.

    Examples
    --------
    >>> from corollary.optimize import Average, Momentum, Quadratic, StochasticGradient
    >>> from corollary.optimize import trace_points
    >>> bowl = Average([Quadratic([[1.0]])])
    >>> method = StochasticGradient(bowl, 0.5, rule=Momentum(0.5), averaged=False)
    >>> trace_points(method, [8.0], 3)[:, 0]  # steps -4, -2 - 2, -2 - 0
    array([ 8.,  4.,  0., -2.])
    """

    decay: float = 0.9
    nesterov: bool = False

    def __post_init__(self) -> None:
        _check(self, "decay")

    def transform(self, rate: Any) -> Any:
        """Return Optax's transformation."""
        import optax

        return optax.chain(optax.scale(-rate), optax.trace(self.decay, self.nesterov))


@dataclass(frozen=True)
class AdaGrad(UpdateRule):
    r"""Steps divided, entry by entry, by the root of the sum of all squared gradients.

    The sum begins with ``initial``, and ``eps`` :math:`\varepsilon` is added to it under the root.
    Both may be 0: an entry whose gradients are all 0 does not move. See :class:`UpdateRule`.

    Examples
    --------
    >>> from corollary.optimize import AdaGrad
    >>> rule = AdaGrad()
    >>> x, memory = rule.apply([0.0, 0.0], [3.0, 0.0], 0.5, rule.init([0.0, 0.0]))
    >>> x, rule.apply(x, [4.0, -2.0], 0.5, memory)[0]  # 4 / sqrt(9 + 16)
    (array([-0.5,  0. ]), array([-0.9,  0.5]))
    """

    initial: float = 0.0
    eps: float = 0.0

    def __post_init__(self) -> None:
        _check(self, "initial", "eps", below=np.inf)

    def transform(self, rate: Any) -> Any:
        """Return Optax's transformation."""
        import optax

        return optax.chain(optax.scale_by_rss(self.initial, self.eps), optax.scale(-rate))


@dataclass(frozen=True)
class Adam(UpdateRule):
    r"""Running means of gradients over the roots of running means of their squares.

    The shares ``b1`` :math:`\beta_1` and ``b2`` :math:`\beta_2` of the old means are in [0, 1), and
    ``eps`` :math:`\varepsilon` is added to the root (Kingma and Ba, ICLR 2015; where it fails:
    Reddi, Kale and Kumar, ICLR 2018). See :class:`UpdateRule`.

    Examples
    --------
    >>> from corollary.optimize import Adam
    >>> rule = Adam(eps=0.0)
    >>> rule.apply([1.0, 1.0], [100.0, -0.01], 0.25, rule.init([1.0, 1.0]))[0].round(6)
    array([0.75, 1.25])
    """

    b1: float = 0.9
    b2: float = 0.999
    eps: float = 1e-8

    def __post_init__(self) -> None:
        _check(self, "b1", "b2")
        _check(self, "eps", below=np.inf)

    def transform(self, rate: Any) -> Any:
        """Return Optax's transformation."""
        import optax

        return optax.chain(optax.scale_by_adam(self.b1, self.b2, self.eps), optax.scale(-rate))


def _check(rule: UpdateRule, *names: str, below: float = 1.0) -> None:
    """Refuse numbers outside [0, below)."""
    for name in names:
        if not 0 <= getattr(rule, name) < below:
            raise ValueError(
                f"The {name!r} parameter of {type(rule).__name__} must be a float in the range "
                f"[0, {below:g}). Got {getattr(rule, name)!r} instead."
            )
