"""The criterion of learning: probably approximately correct, stated, requested and measured.

A learner is approximately correct at epsilon when its risk exceeds the best of its class by at most
epsilon, and probably so at delta when that fails in at most a share delta of the training sets. A
:class:`PACLearner` asks for the rows it needs; :func:`pac_curve` measures what any learner does.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.estimator import Count, Probability, checked
from corollary.core.world import World
from corollary.risk import LossLike, Rectangle, algorithm_risk, as_learner
from corollary.theory.concentration.binomial import clopper_pearson_interval


@dataclass(frozen=True)
class PACLearner:
    """A learner together with the number of rows it needs.

    Parameters
    ----------
    learner : estimator or callable
        See :func:`corollary.risk.as_learner`.
    sample_size : callable
        ``sample_size(epsilon, delta)`` returns a number of rows after which the learner has excess
        risk at most epsilon with probability at least 1 - delta.

    Examples
    --------
    >>> from corollary.risk import FiniteWorld, minimise_threshold
    >>> from corollary.theory import PACLearner, realizable_bound
    >>> world = FiniteWorld([[0.5, 0.0], [0.0, 0.5]], outcomes=[-1, 1])
    >>> learner = PACLearner(
    ...     lambda X, y: minimise_threshold(X[:, 0], y),
    ...     lambda epsilon, delta: realizable_bound(n_hypotheses=6, epsilon=epsilon, delta=delta),
    ... )
    >>> predictor, n_samples = learner.learn(world, epsilon=0.1, delta=0.05, random_state=0)
    >>> n_samples, world.risk(predictor)
    (46, 0.0)
    """

    learner: Any
    sample_size: Callable[[float, float], float]

    def learn(
        self, world: World, *, epsilon: float, delta: float, random_state: Any = None
    ) -> tuple[Callable[[Any], np.ndarray], int]:
        """Draw as many rows as needed and learn from them.

        Parameters
        ----------
        world : World
            Where rows come from.
        epsilon : float
            Excess risk that is allowed.
        delta : float
            Probability of failure that is allowed.
        random_state : int, RandomState instance or None, default=None
            Seed or generator.

        Returns
        -------
        predictor : callable
            Maps X to predictions.
        n_samples : int
            Rows that were drawn.
        """
        for name, value in (("epsilon", epsilon), ("delta", delta)):
            if not 0 < value < 1:
                raise ValueError(
                    f"The '{name}' parameter of PACLearner.learn must be a float in the range "
                    f"(0.0, 1.0). Got {value!r} instead."
                )
        n_samples = math.ceil(self.sample_size(epsilon, delta))
        X, y = world.sample(n_samples, check_random_state(random_state))
        return as_learner(self.learner)(X, y), n_samples


class PACCurve(NamedTuple):
    """How often a learner succeeds, by number of training rows.

    Parameters
    ----------
    n_samples : ndarray of shape (n_sizes,)
        Training rows.
    success : ndarray of shape (n_sizes,)
        Share of training sets after which the excess risk is at most epsilon.
    interval : ndarray of shape (n_sizes, 2)
        Exact 95% interval of each share on its own.
    mean_excess : ndarray of shape (n_sizes,)
        Mean excess risk.
    """

    n_samples: np.ndarray
    success: np.ndarray
    interval: np.ndarray
    mean_excess: np.ndarray


def pac_curve(
    learner: Any,
    world: World,
    *,
    sizes: Sequence[int],
    epsilon: float,
    best_risk: float = 0.0,
    loss: LossLike = "zero_one",
    n_repeats: int = 200,
    n_test: int = 10_000,
    random_state: Any = None,
) -> PACCurve:
    """Measure how often a learner is approximately correct.

    Parameters
    ----------
    learner : estimator or callable
        See :func:`corollary.risk.as_learner`.
    world : World
        Where training sets come from.
    sizes : sequence of int
        Numbers of training rows.
    epsilon : float
        Excess risk that is allowed.
    best_risk : float, default=0.0
        Smallest risk in the class; 0 when the labels follow one of its hypotheses.
    loss : str, Loss or callable, default="zero_one"
        The loss.
    n_repeats : int, default=200
        Training sets per size.
    n_test : int, default=10000
        Fresh rows for a risk that the world does not know exactly.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Returns
    -------
    curve : PACCurve
        Shares with exact intervals.

    See Also
    --------
    least_sample_size : Where the curve reaches 1 - delta.

    Examples
    --------
    >>> from corollary.risk import FiniteWorld, minimise_threshold
    >>> from corollary.theory import pac_curve
    >>> world = FiniteWorld([[0.5, 0.0], [0.0, 0.5]], outcomes=[-1, 1])
    >>> learn = lambda X, y: minimise_threshold(X[:, 0], y)
    >>> pac_curve(learn, world, sizes=[1, 20], epsilon=0.1, random_state=0).success[1]
    np.float64(1.0)
    """
    rng, rows = check_random_state(random_state), []
    for size in sizes:
        risk = algorithm_risk(
            learner,
            world,
            loss,
            n_samples=int(size),
            n_repeats=n_repeats,
            n_test=n_test,
            random_state=rng,
        )
        good = int(np.sum(risk.risks - best_risk <= epsilon + 1e-12))
        low, high = clopper_pearson_interval(good, n_repeats, 0.05)
        rows.append((size, good / n_repeats, low, high, risk.mean - best_risk))
    if not rows:
        raise ValueError("The 'sizes' parameter of pac_curve must name at least one size.")
    table = np.array(rows, dtype=float)
    return PACCurve(table[:, 0].astype(int), table[:, 1], table[:, 2:4], table[:, 4])


def least_sample_size(
    learner: Any,
    world: World,
    *,
    epsilon: float,
    delta: float,
    best_risk: float = 0.0,
    loss: LossLike = "zero_one",
    n_repeats: int = 400,
    n_test: int = 10_000,
    max_samples: int = 100_000,
    random_state: Any = None,
) -> int:
    """Search for the smallest training size that suffices in one world.

    Parameters
    ----------
    learner : estimator or callable
        See :func:`corollary.risk.as_learner`.
    world : World
        Where training sets come from.
    epsilon : float
        Excess risk that is allowed.
    delta : float
        Share of training sets in which it may be larger.
    best_risk : float, default=0.0
        Smallest risk in the class.
    loss : str, Loss or callable, default="zero_one"
        The loss.
    n_repeats : int, default=400
        Training sets per size.
    n_test : int, default=10000
        Fresh rows for a risk that the world does not know exactly.
    max_samples : int, default=100000
        Where to give up.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Returns
    -------
    n_samples : int
        The size at which the simulated success share first reaches 1 - delta, found by doubling
        and halving, hence assuming that success grows with the rows. It speaks of this world alone;
        a sample complexity holds for all of them.

    Raises
    ------
    ValueError
        If `max_samples` rows do not suffice.

    Examples
    --------
    >>> from corollary.risk import FiniteWorld, minimise_threshold
    >>> from corollary.theory import least_sample_size
    >>> world = FiniteWorld([[0.5, 0.0], [0.0, 0.5]], outcomes=[-1, 1])
    >>> learn = lambda X, y: minimise_threshold(X[:, 0], y)
    >>> least_sample_size(learn, world, epsilon=0.1, delta=0.1, random_state=0)
    5
    """
    seed = check_random_state(random_state).randint(2**31 - 1)

    def suffices(size: int) -> bool:
        curve = pac_curve(
            learner,
            world,
            sizes=[size],
            epsilon=epsilon,
            best_risk=best_risk,
            loss=loss,
            n_repeats=n_repeats,
            n_test=n_test,
            random_state=seed,
        )
        return bool(curve.success[0] >= 1 - delta)

    high = 1
    while not suffices(high):
        if high >= max_samples:
            raise ValueError(
                f"{max_samples} rows do not bring the excess risk to {epsilon} with probability "
                f"{1 - delta:g} in this world. Raise 'max_samples', 'epsilon' or 'delta'."
            )
        high = min(2 * high, max_samples)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


def tightest_rectangle(X: Any, y: Any) -> Rectangle:
    """Return the smallest axis-aligned box around the positive rows.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Labels -1 and +1.

    Returns
    -------
    rectangle : Rectangle
        Empty if no row is positive. If some box fits the rows without mistake, so does this one,
        and it lies inside.

    See Also
    --------
    rectangle_bound : How good it is.
    corollary.risk.minimise_rectangle : The box with the fewest mistakes when none fits.

    Examples
    --------
    >>> from corollary.theory import tightest_rectangle
    >>> box = tightest_rectangle([[0, 0], [1, 2], [3, 1]], [-1, 1, 1])
    >>> box.lower, box.upper
    (array([1., 1.]), array([3., 2.]))
    """
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    if X.ndim != 2 or len(X) != len(y) or not len(X) or not set(np.unique(y)) <= {-1, 1}:
        raise ValueError(
            "tightest_rectangle needs rows of numbers and one label, -1 or +1, for each. Got "
            f"shape {X.shape} and labels {np.unique(y).tolist()[:5]}."
        )
    if np.isnan(X).any():
        raise ValueError(
            "tightest_rectangle needs rows of numbers: a missing value lies in no box. Got "
            f"{int(np.isnan(X).any(axis=1).sum())} rows with NaN; leave these out."
        )
    inside = X[y == 1]
    lower = inside.min(axis=0, initial=np.inf)
    upper = inside.max(axis=0, initial=-np.inf)
    box = Rectangle(lower, upper, 0.0)
    return box._replace(risk=float(np.mean(box.predict(X) != y)))


@checked
def rectangle_bound(
    *,
    n_samples: Count | None = None,
    epsilon: Probability | None = None,
    delta: Probability | None = None,
    n_features: Count = 2,
    sharp: bool = True,
) -> float:
    r"""Solve the bound on the error of the tightest rectangle.

    .. math::

        P\{L > \epsilon\} \le 2d\,\Bigl(1 - \frac{\epsilon}{2d}\Bigr)^n
        \le 2d\,e^{-n\epsilon/(2d)}

    The true box is missed by more than epsilon only if one of its 2d border strips of probability
    epsilon / 2d holds no row.

    Parameters
    ----------
    n_samples : int or None, default=None
        Number n of independent rows.
    epsilon : float or None, default=None
        Error rate.
    delta : float or None, default=None
        Probability of failure.
    n_features : int, default=2
        Dimension d.
    sharp : bool, default=True
        Whether to use the power instead of the exponential.

    Returns
    -------
    answer : float
        The quantity that was left out; a sample size is a whole number, an error rate at most 1.

    Notes
    -----
    Guarantee: for labels that follow a box, whatever the law of the inputs. Checked by
    ``tests/guarantees/finite_classes.py``.

    Examples
    --------
    >>> from corollary.theory import rectangle_bound
    >>> rectangle_bound(epsilon=0.1, delta=0.05, sharp=False)
    176.0
    """
    if sum(value is not None for value in (n_samples, epsilon, delta)) != 2:
        raise ValueError(
            "rectangle_bound needs exactly two of 'n_samples', 'epsilon' and 'delta' and returns "
            "the third."
        )
    strips = 2 * n_features
    if delta is None:
        assert n_samples is not None
        assert epsilon is not None
        rate = math.log1p(-epsilon / strips) if sharp else -epsilon / strips
        return min(1.0, strips * math.exp(n_samples * rate))
    price = math.log(strips / delta)
    if epsilon is None:
        assert n_samples is not None
        share = -math.expm1(-price / n_samples) if sharp else price / n_samples
        return min(1.0, strips * share)
    rate = -math.log1p(-epsilon / strips) if sharp else epsilon / strips
    return float(math.ceil(price / rate - 1e-9))
