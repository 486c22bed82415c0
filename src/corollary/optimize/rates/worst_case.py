"""Functions on which methods do no better than their bounds."""

import numpy as np

from corollary.core.estimator import Count, CountFromZero, Positive, checked
from corollary.optimize.problem.functions import Function, Quadratic


@checked
def descent_worst_case(
    *, n_steps: CountFromZero, smoothness: Positive = 1.0, radius: Positive = 1.0
) -> Function:
    r"""Return the function on which N steps of gradient descent attain :math:`LR^2/(4N+2)`.

    It is Huber's function :math:`h(\|x\|)`: a parabola :math:`\tfrac L2r^2` up to
    :math:`r=R/(2N+1)` and a line beyond. From distance R every step of 1/L has the same length, and
    N of them end on the line. Its minimum is 0 at 0.

    See :class:`Function`; N is ``n_steps``, L the ``smoothness``, and R the ``radius``, the
    distance of the first point from the minimiser.

    Examples
    --------
    >>> from corollary.optimize import GradientDescent, descent_worst_case, iterate
    >>> f = descent_worst_case(n_steps=12, smoothness=10.0)
    >>> run = iterate(GradientDescent(f), [1.0], max_iter=12)
    >>> round(run.state.value, 12)  # 10 / (4 * 12 + 2)
    0.2
    """
    return _huber(smoothness, radius / (2 * n_steps + 1))


@checked
def acceleration_worst_case(
    *, n_steps: Count, smoothness: Positive = 1.0, radius: Positive = 1.0
) -> Function:
    """Return the function on which N accelerated steps attain :math:`2LR^2/((N+2)(N+3))`.

    It is Huber's function with its line from :math:`r=4R/((N+2)(N+3))` (Drori and Teboulle 2014).
    On a line, accelerated steps of 1/L grow like :math:`(k+2)/4`, and N of them end on the line.
    The bound :math:`2LR^2/(N+1)^2` can so be improved by lower-order terms only.

    See :class:`Function`; the parameters are those of :func:`descent_worst_case`.

    Examples
    --------
    >>> from corollary.optimize import Nesterov, acceleration_worst_case, iterate
    >>> f = acceleration_worst_case(n_steps=8, smoothness=11.0)
    >>> run = iterate(Nesterov(f), [1.0], max_iter=8)
    >>> round(run.state.value, 12)  # 2 * 11 / (10 * 11)
    0.2
    """
    return _huber(smoothness, 4 * radius / ((n_steps + 2) * (n_steps + 3)))


def _huber(smoothness: float, bend: float) -> Function:
    """Return a parabola of the distance from 0 that goes on as a line."""

    def value(x: np.ndarray) -> float:
        r = float(np.linalg.norm(x))
        return smoothness * (r * r / 2 if r <= bend else bend * (r - bend / 2))

    def gradient(x: np.ndarray) -> np.ndarray:
        return smoothness * x * (bend / max(float(np.linalg.norm(x)), bend))

    return Function(value, gradient, convex=True, smoothness=smoothness)


@checked
def subgradient_worst_case(*, n_steps: Count, lipschitz: Positive = 1.0) -> Function:
    r"""Return the function on which k subgradient steps attain :math:`RG/\sqrt k`.

    It is :math:`G\max_ix_i` in k dimensions, with the subgradient of the first largest entry. From
    0 every step lowers another entry, so that all k points have the value 0, while
    :math:`-\tfrac R{\sqrt k}(1,\dots,1)` has the value :math:`-RG/\sqrt k`. It is convex.
    See :class:`Function`; k is ``n_steps``, and G is ``lipschitz``, the length of all subgradients.

    Examples
    --------
    >>> from corollary.optimize import subgradient_worst_case
    >>> f = subgradient_worst_case(n_steps=4)
    >>> f.gradient([0.0, 0.0, 0.0, 0.0]), f.value([-0.5, -0.5, -0.5, -0.5])
    (array([1., 0., 0., 0.]), -0.5)
    """

    def gradient(x: np.ndarray) -> np.ndarray:
        return lipschitz * np.eye(n_steps)[int(np.argmax(x))]

    return Function(lambda x: lipschitz * float(np.max(x)), gradient, convex=True)


@checked
def nesterov_worst_case(*, n_features: Count, smoothness: Positive = 1.0) -> Quadratic:
    r"""Return Nesterov's chain, on which no first-order method is fast.

    It is :math:`\tfrac L4(\tfrac12x^\top Tx-x_1)` with T tridiagonal (-1, 2, -1). From 0, gradients
    reveal one more entry in each step. Any method that moves within the span of the gradients it
    has seen is, after k steps with :math:`2k+1=n`, at least :math:`\tfrac{3LR^2}{32(k+1)^2}` above
    the minimum. See :class:`Quadratic`; n is ``n_features``, and the chain approaches the
    ``smoothness`` L from below as it grows.

    Examples
    --------
    >>> from corollary.optimize import nesterov_worst_case
    >>> nesterov_worst_case(n_features=3, smoothness=4.0).minimiser()
    array([0.75, 0.5 , 0.25])
    """
    chain = 2 * np.eye(n_features) - np.eye(n_features, k=1) - np.eye(n_features, k=-1)
    return Quadratic(smoothness / 4 * chain, -smoothness / 4 * np.eye(n_features)[0])
