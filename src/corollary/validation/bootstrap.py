r"""Resampling rows: the law of a statistic, and risks between too small and too large.

A bootstrap sample draws n rows with replacement; each row is missing from it with probability
:math:`(1-1/n)^n`, about 0.368. Models fitted on resamples and measured on the rows they miss are
pessimistic, measured on all rows optimistic; the 0.632 rules mix the two.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from corollary.core.compat import safe_indexing
from corollary.core.estimator import Count, checked
from corollary.ensemble import expected_distinct_share
from corollary.risk import LossLike
from corollary.validation._losses import loss_of
from corollary.validation._units import check_rows, read_units

# Probability that a row is in a bootstrap sample of its own size, in the limit.
_INCLUSION = 1 - math.exp(-1)


class BootstrapLaw(NamedTuple):
    """Values of a statistic on resampled rows.

    Parameters
    ----------
    draws : ndarray of shape (n_resamples, k)
        The statistic on each resample.
    value : ndarray of shape (k,)
        The statistic on the rows themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.validation import BootstrapLaw
    >>> law = BootstrapLaw(np.array([[0.0], [2.0], [4.0]]), np.array([2.0]))
    >>> law
    BootstrapLaw(value=[2.0], standard_deviation=[2.0], 3 resamples)
    >>> law.mean
    array([2.])
    """

    draws: np.ndarray
    value: np.ndarray

    def __repr__(self) -> str:
        spread = np.sqrt(np.diag(self.covariance)) if len(self.draws) > 1 else self.value * np.nan
        return (
            f"BootstrapLaw(value={self.value.tolist()}, standard_deviation={spread.tolist()}, "
            f"{len(self.draws)} resamples)"
        )

    @property
    def mean(self) -> np.ndarray:
        """Mean over resamples; less `value` it estimates the bias."""
        return self.draws.mean(axis=0)

    @property
    def covariance(self) -> np.ndarray:
        """Covariance over resamples, of shape (k, k)."""
        return np.atleast_2d(np.cov(self.draws, rowvar=False, ddof=1))

    def interval(self, confidence: float = 0.95) -> np.ndarray:
        """Return basic bootstrap intervals, of shape (k, 2).

        Parameters
        ----------
        confidence : float, default=0.95
            Share of coverage that is aimed at, in the limit of many rows.

        Returns
        -------
        interval : ndarray of shape (k, 2)
            Limits around the value: the quantiles of the resampled errors, reflected.
        """
        if not 0 < confidence < 1:
            raise ValueError(
                "The 'confidence' parameter of BootstrapLaw.interval must be a float in the range "
                f"(0.0, 1.0). Got {confidence!r} instead."
            )
        tail = (1 - confidence) / 2
        low, high = np.quantile(self.draws, [tail, 1 - tail], axis=0)
        return np.stack([2 * self.value - high, 2 * self.value - low], axis=1)


def bootstrap(
    statistic: Callable[..., Any],
    *data: Any,
    n_resamples: int = 1000,
    groups: Any = None,
    random_state: Any = None,
) -> BootstrapLaw:
    """Resample rows and compute a statistic each time.

    Parameters
    ----------
    statistic : callable
        ``statistic(*data)`` returns a number or a vector: a mean, a coefficient, a score.
    *data : array-like
        One or more arrays or data frames with a row for each observation; rows are drawn together.
    n_resamples : int, default=1000
        Resamples B.
    groups : array-like of shape (n_samples,) or None, default=None
        The unit of each row: whole units are drawn, with all their rows, as many as there are. For
        rows that come in time, stretches longer than their memory are units.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Returns
    -------
    law : BootstrapLaw
        Draws with their mean, covariance and intervals.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.validation import bootstrap
    >>> x = np.array([1.0, 2.0, 3.0, 6.0])
    >>> law = bootstrap(np.mean, x, n_resamples=4000, random_state=0)
    >>> bool(abs(law.covariance[0, 0] - x.var() / 4) < 0.1)
    True
    """
    if not data or n_resamples < 2:
        raise ValueError("bootstrap needs data and at least two resamples.")
    n = len(data[0])
    if n == 0 or any(len(part) != n for part in data):
        raise ValueError(
            "bootstrap needs data with the same positive number of rows. Got "
            f"{[len(part) for part in data]}."
        )
    rng, owned = check_random_state(random_state), _rows_of_units("bootstrap", groups, n)
    value = np.atleast_1d(np.asarray(statistic(*data), dtype=float))
    draws = np.empty((n_resamples, len(value)))
    for b in range(n_resamples):
        rows = _resample(rng, n, owned)
        draws[b] = statistic(*(safe_indexing(part, rows) for part in data))
    return BootstrapLaw(draws, value)


@checked
def inclusion_probability(n_samples: Count, n_draws: Count | None = None) -> float:
    r"""Return the probability that a row is in a bootstrap sample.

    Parameters
    ----------
    n_samples : int
        Rows n.
    n_draws : int or None, default=None
        Draws m with replacement; None for n.

    Returns
    -------
    probability : float
        :math:`1-(1-1/n)^m`, also the expected share of different rows in the sample; about 0.632
        for m = n.

    Examples
    --------
    >>> from corollary.validation import inclusion_probability
    >>> round(inclusion_probability(5), 5), round(inclusion_probability(1000), 5)
    (0.67232, 0.6323)
    """
    return expected_distinct_share(n_samples, n_draws)


class BootstrapRisk(NamedTuple):
    """Estimates of a learner's risk from one set of resamples.

    Parameters
    ----------
    training : float
        Training error of the fit on all rows: optimistic.
    in_sample : float
        Resampled fits measured on all rows: optimistic, since most rows were seen.
    leave_one_out : float
        Resampled fits measured on the rows they miss: pessimistic, since a resample holds about
        63% of the rows.
    no_information : float
        Loss if predictions had nothing to do with outputs.
    n_missed : int
        Rows that no resample missed, left out of `leave_one_out`.

    Examples
    --------
    >>> from corollary.validation import BootstrapRisk
    >>> round(BootstrapRisk(0.0, 0.2, 0.5, 0.5, 0).point_632, 3)
    0.316
    """

    training: float
    in_sample: float
    leave_one_out: float
    no_information: float
    n_missed: int

    @property
    def point_632(self) -> float:
        """The mixture ``0.368 training + 0.632 leave_one_out`` (Efron 1983).

        It is misled by learners that fit anything: one nearest neighbour on pure noise gets 0.316
        of 0.5.
        """
        return (1 - _INCLUSION) * self.training + _INCLUSION * self.leave_one_out

    @property
    def point_632_plus(self) -> float:
        """The mixture with a weight that grows with overfitting (Efron and Tibshirani 1997)."""
        capped = min(self.leave_one_out, self.no_information)
        room = self.no_information - self.training
        rate = (capped - self.training) / room if room > 0 and capped > self.training else 0.0
        weight = _INCLUSION / (1 - (1 - _INCLUSION) * rate)
        return (1 - weight) * self.training + weight * capped


def bootstrap_risk(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    loss: LossLike = "auto",
    n_resamples: int = 100,
    groups: Any = None,
    method: str = "predict",
    n_jobs: int | None = None,
    random_state: Any = None,
) -> BootstrapRisk:
    """Estimate the risk of a learner from resampled rows.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn estimator or pipeline.
    X : array-like or data frame of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Outputs.
    loss : str, Loss or callable, default="auto"
        The loss. "auto" is the zero-one loss, for
        regressors the squared one.
    n_resamples : int, default=100
        Resamples B.
    groups : array-like of shape (n_samples,) or None, default=None
        The unit of each row: whole units are drawn, a resample is measured on units that it misses,
        and each unit counts once in all means.
    method : str, default="predict"
        Which method predicts.
    n_jobs : int or None, default=None
        Resamples in parallel, through joblib.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Returns
    -------
    risk : BootstrapRisk
        The estimates and their 0.632 mixtures.

    Raises
    ------
    ValueError
        If every resample held every row.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from corollary.linear import LogisticRegression
    >>> from corollary.validation import bootstrap_risk
    >>> X, y = load_iris(return_X_y=True)
    >>> risk = bootstrap_risk(LogisticRegression(), X, y, n_resamples=20, random_state=0)
    >>> risk.training <= risk.point_632 <= risk.leave_one_out
    True
    """
    from joblib import Parallel, delayed

    y_array, measure = np.asarray(y), loss_of(estimator, loss)
    n, rng = check_rows("bootstrap_risk", X, y), check_random_state(random_state)
    owned = _rows_of_units("bootstrap_risk", groups, n)
    samples = [_draw(rng, y_array, owned) for _ in range(n_resamples)]
    weights = np.ones(n)
    for rows in owned or []:
        weights[rows] = 1 / len(rows)

    def mean(values: Any, which: Any = slice(None)) -> float:
        return float(np.average(np.asarray(values, dtype=float)[which], weights=weights[which]))

    def fit(rows: np.ndarray | None) -> np.ndarray:
        if rows is None:
            model = clone(estimator).fit(X, y)
        else:
            model = clone(estimator).fit(safe_indexing(X, rows), safe_indexing(y, rows))
        return np.asarray(getattr(model, method)(X))

    predictions = Parallel(n_jobs=n_jobs)(delayed(fit)(rows) for rows in [None, *samples])
    losses = [np.asarray(measure(y_array, prediction), dtype=float) for prediction in predictions]
    sums, counts = np.zeros(n), np.zeros(n)
    for rows, loss_rows in zip(samples, losses[1:]):
        out = np.ones(n, dtype=bool)
        out[rows] = False
        sums[out] += loss_rows[out]
        counts[out] += 1
    if not counts.any():
        raise ValueError(
            "bootstrap_risk found no row outside of any resample. Give more rows or resamples."
        )
    missing = counts > 0
    # Every output against every prediction, through shifted rows: no n x n table is made.
    shifts = range(1, n) if n <= 200 else rng.randint(1, n, size=200)
    shuffled = [mean(measure(np.roll(y_array, int(shift)), predictions[0])) for shift in shifts]
    return BootstrapRisk(
        training=mean(losses[0]),
        in_sample=float(np.mean([mean(row) for row in losses[1:]])),
        leave_one_out=mean(sums / np.maximum(counts, 1), missing),
        no_information=float(np.mean(shuffled)),
        n_missed=int(np.sum(~missing)),
    )


def _rows_of_units(who: str, groups: Any, n: int) -> list[np.ndarray] | None:
    """Return the positions of the rows of each unit; None if rows are not grouped."""
    if groups is None:
        return None
    units = read_units(who, groups, n, least=2)
    return np.split(np.argsort(units, kind="stable"), np.cumsum(np.bincount(units))[:-1])


def _resample(rng: np.random.RandomState, n: int, owned: list[np.ndarray] | None) -> np.ndarray:
    """Draw rows, or whole units, with replacement."""
    if owned is None:
        return rng.randint(n, size=n)
    return np.concatenate([owned[unit] for unit in rng.randint(len(owned), size=len(owned))])


def _draw(rng: np.random.RandomState, y: np.ndarray, owned: list[np.ndarray] | None) -> np.ndarray:
    """Draw rows with replacement, again if only one class was drawn: no classifier fits that."""
    classes = np.unique(y) if y.dtype.kind in "OUSb" or len(np.unique(y)) <= 20 else None
    for _ in range(100):
        rows = _resample(rng, len(y), owned)
        if classes is None or len(classes) < 2 or len(np.unique(y[rows])) > 1:
            return rows
    return rows
