r"""From covers to complexities: one step, and Dudley's sum over all scales.

Distances between functions are root mean squares over the points,
:math:`\|f\|_{L_2(P_n)}^2=\tfrac1n\sum_if(x_i)^2`. All bounds are on the empirical Rademacher
complexity, given an upper bound on the metric entropy :math:`\log N(\varepsilon)`, which a greedy
cover provides for finite classes.
"""

import math
from collections.abc import Callable
from numbers import Integral
from typing import Annotated, Any

import numpy as np

from corollary.core.compat import Interval
from corollary.core.estimator import Count, Positive, checked
from corollary.theory.complexity.covering import farthest_points

Entropy = Callable[[float], float]


def empirical_seminorm(values: Any) -> Any:
    """Compute root mean squares of functions over points.

    Parameters
    ----------
    values : array-like of shape (n_points,) or (n_functions, n_points)
        Values of functions.

    Returns
    -------
    norm : float or ndarray of shape (n_functions,)
        One for each function; the largest is the scale B of a class.

    Examples
    --------
    >>> from corollary.theory import empirical_seminorm
    >>> empirical_seminorm([3.0, 4.0, 0.0, 0.0])
    2.5
    """
    values = np.asarray(values, dtype=float)
    if values.ndim not in (1, 2) or not values.size:
        raise ValueError(
            "empirical_seminorm needs values of one or more functions at points. Got shape "
            f"{values.shape}."
        )
    norm = np.sqrt(np.mean(values**2, axis=-1))
    return float(norm) if values.ndim == 1 else norm


def linear_class_scale(X: Any) -> float:
    """Compute the largest root mean square of a linear score with unit weights.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Points.

    Returns
    -------
    scale : float
        Operator norm of X over the root of n.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import linear_class_scale
    >>> linear_class_scale(np.eye(4))
    0.5
    """
    X = np.asarray(X, dtype=float)
    if X.ndim != 2 or not X.size:
        raise ValueError(f"linear_class_scale needs points, one per row. Got shape {X.shape}.")
    return float(np.linalg.norm(X, 2)) / math.sqrt(len(X))


def greedy_entropy(values: Any) -> Entropy:
    """Return an upper bound on the metric entropy of a finite class at every scale.

    Parameters
    ----------
    values : array-like of shape (n_functions, n_points)
        Values of the functions.

    Returns
    -------
    entropy : callable
        ``entropy(epsilon)`` is the log of the number of balls of a greedy cover: never below the
        true entropy, and at most that of half the radius.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import greedy_entropy
    >>> entropy = greedy_entropy([[0.0, 0.0], [1.0, 1.0]])
    >>> entropy(1.0), round(entropy(0.5), 4)
    (0.0, 0.6931)
    """
    values = np.asarray(values, dtype=float)
    if values.ndim != 2 or not values.size:
        raise ValueError(
            "greedy_entropy needs values of shape (n_functions, n_points). Got shape "
            f"{values.shape}."
        )
    radii = farthest_points(values / math.sqrt(values.shape[1])).radii

    def entropy(epsilon: float) -> float:
        # The first point covers at radii[0], the first two at radii[1], and so on.
        return math.log(1 + int(np.count_nonzero(radii > epsilon)))

    return entropy


@checked
def one_step_bound(entropy: Callable[..., Any], *, scale: Positive, n_samples: Count) -> float:
    r"""Bound a Rademacher complexity by the best single cover.

    Parameters
    ----------
    entropy : callable
        ``entropy(epsilon)`` bounds the log of the covering number.
    scale : float
        Largest root mean square B of a function.
    n_samples : int
        Number n of points.

    Returns
    -------
    bound : float
        :math:`\inf_\alpha\{\alpha+B\sqrt{2\log N(\alpha)/n}\}` over a fine grid of radii, each of
        which is valid.

    See Also
    --------
    dudley_bound : All scales at once.

    Examples
    --------
    >>> from math import log1p
    >>> from corollary.theory import one_step_bound
    >>> ball = lambda epsilon: 5 * log1p(2 / epsilon)
    >>> round(one_step_bound(ball, scale=1.0, n_samples=10_000), 4)
    0.0822
    """
    grid = scale * np.geomspace(1e-6, 1.0, 400)
    return min(
        float(alpha) + scale * math.sqrt(2 * entropy(float(alpha)) / n_samples) for alpha in grid
    )


@checked
def dudley_bound(
    entropy: Callable[..., Any],
    *,
    scale: Positive,
    n_samples: Count,
    truncate: bool = True,
    sharp: bool = True,
) -> float:
    r"""Bound a Rademacher complexity by Dudley's entropy integral.

    .. math:: \inf_{\alpha\ge0}\Bigl\{4\alpha+12\int_\alpha^{B}
              \sqrt{\frac{\log N(\varepsilon)}{n}}\,d\varepsilon\Bigr\}

    Parameters
    ----------
    entropy : callable
        ``entropy(epsilon)`` bounds the log of the covering number and does not rise with epsilon.
    scale : float
        Largest root mean square B of a function.
    n_samples : int
        Number n of points.
    truncate : bool, default=True
        Whether to cut the integral at the best alpha; False for the plain integral from 0, infinite
        if the entropy is not integrable there.
    sharp : bool, default=True
        True to end the integral at B / 2, as the proof allows; False at B.

    Returns
    -------
    bound : float
        The bound. The integral is rounded upwards: it is summed over intervals at whose left ends,
        where the entropy is largest, the root is taken.

    See Also
    --------
    dudley_sum : The sum over halvings that the integral bounds.

    Examples
    --------
    >>> from math import log1p
    >>> from corollary.theory import dudley_bound
    >>> ball = lambda epsilon: 5 * log1p(2 / epsilon)
    >>> round(dudley_bound(ball, scale=1.0, n_samples=10_000), 4)
    0.2094
    """
    end = scale / 2 if sharp else scale
    # Geometric intervals: an integrable singularity at 0 is resolved, and what is left of the
    # first point is bounded by 4 alpha in any case.
    grid = end * np.geomspace(1e-9, 1.0, 2001)
    roots = np.sqrt(np.array([entropy(float(epsilon)) for epsilon in grid]) / n_samples)
    pieces = 12 * roots[:-1] * np.diff(grid)
    tails = np.append(np.cumsum(pieces[::-1])[::-1], 0.0)
    values = 4 * grid + tails
    return float(values.min() if truncate else values[0])


@checked
def dudley_sum(entropy: Callable[..., Any], *, scale: Positive, n_samples: Count) -> float:
    r"""Bound a Rademacher complexity by the sum over halved scales.

    Parameters
    ----------
    entropy : callable
        ``entropy(epsilon)`` bounds the log of the covering number.
    scale : float
        Largest root mean square B of a function.
    n_samples : int
        Number n of points.

    Returns
    -------
    bound : float
        :math:`\min_k\{\varepsilon_k+6\sum_{i=1}^k\varepsilon_i\sqrt{\log N(\varepsilon_i)/n}\}`
        with :math:`\varepsilon_i=B2^{-i}`: what is left after k halvings costs at most the radius.

    Examples
    --------
    >>> from math import log1p
    >>> from corollary.theory import dudley_sum
    >>> ball = lambda epsilon: 5 * log1p(2 / epsilon)
    >>> round(dudley_sum(ball, scale=1.0, n_samples=10_000), 4)
    0.1971
    """
    total, best = 0.0, scale
    for i in range(1, 61):
        epsilon = scale * 2.0**-i
        total += 6 * epsilon * math.sqrt(entropy(epsilon) / n_samples)
        best = min(best, epsilon + total)
    return best


@checked
def linear_chaining_bound(
    *, n_samples: Count, n_features: Count, scale: Positive = 1.0, sharp: bool = True
) -> float:
    r"""Bound the complexity of linear scores with unit weights by chaining.

    Parameters
    ----------
    n_samples : int
        Number n of points.
    n_features : int
        Dimension d.
    scale : float, default=1.0
        Largest root mean square B of a score, see :func:`linear_class_scale`.
    sharp : bool, default=True
        True for the integral :math:`\int_0^1\sqrt{\log(1+2/\varepsilon)}\,d\varepsilon=1.3526`
        itself; False for its simple bound 2.

    Returns
    -------
    bound : float
        :math:`12\cdot1.3526\,B\sqrt{d/n}`, or :math:`24B\sqrt{d/n}`. The direct bound by the dual
        norm is smaller; chaining earns its keep where there is none.

    Examples
    --------
    >>> from corollary.theory import linear_chaining_bound
    >>> round(linear_chaining_bound(n_samples=10_000, n_features=4), 4)
    0.3246
    """
    from scipy.integrate import quad

    integral = quad(lambda e: math.sqrt(math.log1p(2 / e)), 0, 1)[0] if sharp else 2.0
    return 12 * integral * scale * math.sqrt(n_features / n_samples)


@checked
def lipschitz_parameter_bound(
    *, n_samples: Count, n_parameters: Count, radius: Positive, lipschitz: Positive
) -> float:
    r"""Bound the complexity of bounded functions that depend smoothly on parameters.

    Parameters
    ----------
    n_samples : int
        Number n of points.
    n_parameters : int
        Number d of parameters.
    radius : float
        Largest length B of the parameter vector.
    lipschitz : float
        Lipschitz constant L of the values, which lie in [-1, 1], in the parameters.

    Returns
    -------
    bound : float
        :math:`12\sqrt{d/n}\,(\sqrt{\log(1+2BL)}+\sqrt\pi/2)`: the length of the parameters enters
        through a logarithm only.

    Examples
    --------
    >>> from corollary.theory import lipschitz_parameter_bound
    >>> round(lipschitz_parameter_bound(
    ...     n_samples=100_000, n_parameters=10, radius=1.0, lipschitz=1.0), 4)
    0.2321
    """
    log_term = math.sqrt(math.log1p(2 * radius * lipschitz))
    return 12 * math.sqrt(n_parameters / n_samples) * (log_term + math.sqrt(math.pi) / 2)


@checked
def lipschitz_cube_bound(
    *,
    n_samples: Count,
    n_features: Annotated[int, Interval(Integral, 3, None, closed="left")],
    entropy_constant: Positive = 8.0,
) -> float:
    r"""Bound the complexity of Lipschitz functions on a cube: the curse of dimension.

    Parameters
    ----------
    n_samples : int
        Number n of points.
    n_features : int
        Dimension d, at least 3.
    entropy_constant : float, default=8.0
        :math:`c_0` with :math:`\log N(\varepsilon)\le(c_0/\varepsilon)^d` in the largest absolute
        difference, for functions from [-1, 1]^d to [-1, 1] that are 1-Lipschitz in the largest
        absolute coordinate. A grid of cells of side epsilon / 2 with rounded values shows that 8
        will do.

    Returns
    -------
    bound : float
        :math:`c_0(4+\tfrac{24}{d-2})\,n^{-1/d}`, at most 1.

    See Also
    --------
    lipschitz_cube_complexity : The exact value on given points.

    Examples
    --------
    >>> from corollary.theory import lipschitz_cube_bound
    >>> lipschitz_cube_bound(n_samples=10_000, n_features=3)
    1.0
    """
    constant = entropy_constant * (4 + 24 / (n_features - 2))
    return min(1.0, constant * n_samples ** (-1 / n_features))


def lipschitz_cube_complexity(X: Any, signs: Any) -> float:
    r"""Compute the supremum over Lipschitz functions for given points and signs.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Points in [-1, 1]^d.
    signs : array-like of shape (n_draws, n_samples)
        Sign vectors.

    Returns
    -------
    complexity : float
        Mean over the sign vectors of :math:`\sup_f\tfrac1n\sum_i\varepsilon_if(x_i)` over functions
        to [-1, 1] that are 1-Lipschitz in the largest absolute coordinate, exact by linear
        programming: values at the points extend to such a function when they are Lipschitz.

    Examples
    --------
    >>> from corollary.theory import lipschitz_cube_complexity
    >>> lipschitz_cube_complexity([[-1.0], [1.0]], [[1, -1]])
    1.0
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array
    from scipy.spatial.distance import pdist

    X, signs = np.asarray(X, dtype=float), np.atleast_2d(np.asarray(signs, dtype=float))
    if X.ndim != 2 or not X.size or signs.shape[1] != len(X):
        raise ValueError(
            "lipschitz_cube_complexity needs points, one per row, and one sign for each. Got "
            f"shapes {X.shape} and {signs.shape}."
        )
    n = len(X)
    distance = pdist(X, "chebyshev")
    i, j = np.triu_indices(n, k=1)
    rows = np.arange(len(i))
    ones = np.ones(len(i))
    A = coo_array(
        (
            np.concatenate([ones, -ones, -ones, ones]),
            (
                np.concatenate([rows, rows, rows + len(i), rows + len(i)]),
                np.concatenate([i, j, i, j]),
            ),
        ),
        shape=(2 * len(i), n),
    ).tocsr()
    limits = np.concatenate([distance, distance])
    suprema = [-linprog(-e, A_ub=A, b_ub=limits, bounds=(-1, 1), method="highs").fun for e in signs]
    return float(np.mean(suprema)) / n
