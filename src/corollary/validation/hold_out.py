"""The error on rows that were kept aside, and how far it can be from the truth.

Rows are kept aside by :func:`corollary.risk.three_way_split`, which guards the test rows; here are
the estimate for one model, its confidence limits, and the price of looking more than once.
"""

import math
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from corollary.core.compat import safe_indexing
from corollary.core.display import Tabular
from corollary.core.estimator import AnyReal, ArrayLike, Count, Probability, RandomSeed, checked
from corollary.core.population import Population
from corollary.risk import LossLike
from corollary.theory import (
    betting_mean_bound,
    check_losses,
    clopper_pearson_interval,
    clopper_pearson_upper,
    empirical_bernstein_radius,
    hoeffding_bound,
    unit_means,
)
from corollary.validation._losses import loss_of
from corollary.validation._units import check_rows, population_of, read_moments, read_units
from corollary.validation.splits.time import split_latest
from corollary.validation.splits.units import split_units

_ALIKE = Population()


@dataclass(frozen=True, eq=False, repr=False)
class HoldOut(Tabular):
    """A model and its losses on rows it never saw.

    Parameters
    ----------
    model : estimator
        Fitted on the other rows.
    losses : ndarray of shape (n_held_out,)
        One loss per held-out row.
    rows : ndarray of shape (n_held_out,)
        Positions of the held-out rows.
    units : ndarray of shape (n_held_out,) or None, default=None
        Number of each held-out row's unit; None if rows were not grouped.
    population : Population
        Of which rows the losses speak: such rows, rows of new units, or those of a period.
    """

    model: Any
    losses: np.ndarray
    rows: np.ndarray
    units: np.ndarray | None = None
    population: Population = _ALIKE

    def __repr__(self) -> str:
        return f"HoldOut(risk={self.risk:.6g}, {len(self.losses)} rows, model={self.model!r})"

    def __str__(self) -> str:
        return (
            f"The mean loss of {self.population.rows} is {self.risk:.4g}, on {len(self.losses):,} "
            "rows that the model has not seen."
        )

    def _columns(self) -> dict[str, np.ndarray]:
        units = {} if self.units is None else {"unit": self.units}
        return {"row": self.rows, **units, "loss": self.losses}

    @property
    def risk(self) -> float:
        """Mean loss, of units' means if there are units: without bias for this model's risk."""
        if self.units is None:
            return float(self.losses.mean())
        return float(unit_means(self.losses, self.units).mean())


@checked
def hold_out(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    loss: Annotated[LossLike, "no_validation"] = "auto",
    test_size: Probability = 0.25,
    groups: Any = None,
    time: Any = None,
    method: str = "predict",
    random_state: RandomSeed = None,
) -> HoldOut:
    """Fit a model on part of the rows and measure it on the rest.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn estimator, a whole pipeline included; it is cloned.
    X : array-like or data frame of shape (n_samples, n_features)
        Inputs, handed to the estimator as they came.
    y : array-like of shape (n_samples,)
        Outputs.
    loss : str, Loss or callable, default="auto"
        ``loss(y_true, prediction)``, entry by entry. "auto" is the zero-one loss, for
        regressors the squared one.
    test_size : float, default=0.25
        Share of rows that are held out, at least one; with `groups` share of the units.
    groups : array-like of shape (n_samples,) or None, default=None
        The unit of each row: whole units are held out (:func:`split_units`), and the risk is that
        of a row of a new unit.
    time : array-like of shape (n_samples,) or None, default=None
        When each row happened: the latest rows are held out (:func:`split_latest`). With `groups`
        as well, time decides which rows are held out, and units are counted.
    method : str, default="predict"
        Which method of the estimator predicts.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the split.

    Returns
    -------
    outcome : HoldOut
        Model, losses and rows.

    See Also
    --------
    hold_out_interval : Limits of the risk.
    corollary.risk.three_way_split : Keeps validation and test rows apart.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from corollary.linear import LogisticRegression
    >>> from corollary.validation import hold_out
    >>> X, y = load_iris(return_X_y=True)
    >>> hold_out(LogisticRegression(), X, y, random_state=0).risk < 0.1
    True
    """
    n = check_rows("hold_out", X, y)
    if n < 2:
        raise ValueError(f"hold_out needs at least two rows. Got {n}.")
    units = None if groups is None else read_units("hold_out", groups, n, least=2)
    moments = None if time is None else read_moments("hold_out", time, n)
    if moments is not None:
        others, rows = split_latest(moments, test_size)
    elif units is not None:
        others, rows = split_units(units, test_size, random_state)
    else:
        order = check_random_state(random_state).permutation(n)
        held = min(n - 1, max(1, round(test_size * n)))
        rows, others = np.sort(order[:held]), np.sort(order[held:])
    model = clone(estimator).fit(safe_indexing(X, others), safe_indexing(y, others))
    prediction = getattr(model, method)(safe_indexing(X, rows))
    losses = np.asarray(loss_of(estimator, loss)(np.asarray(y)[rows], prediction), dtype=float)
    return HoldOut(
        model,
        losses,
        rows,
        None if units is None else units[rows],
        population_of(groups, None if moments is None else moments[rows]),
    )


@checked
def hold_out_interval(
    losses: ArrayLike,
    delta: Probability,
    *,
    low: AnyReal = 0.0,
    high: AnyReal = 1.0,
    sides: Literal[1, 2] = 2,
    method: Literal["auto", "exact", "hoeffding", "bernstein", "betting"] = "auto",
    units: Any = None,
) -> tuple[float, float]:
    r"""Compute confidence limits of a risk from losses on held-out rows.

    Parameters
    ----------
    losses : array-like of shape (n_samples,)
        Losses of a model that was fixed before these rows were seen.
    delta : float
        Probability that the risk lies outside.
    low : float, default=0.0
        Smallest possible loss.
    high : float, default=1.0
        Largest possible loss.
    sides : {1, 2}, default=2
        2 for an interval; 1 for an upper limit, with `low` as the lower one.
    method : {"auto", "exact", "hoeffding", "bernstein", "betting"}, default="auto"
        "hoeffding": mean plus or minus :math:`(b-a)\sqrt{\log(m/\delta)/(2n)}` with m sides;
        "bernstein": by the observed variance; "exact": Clopper and Pearson, for losses that are one
        of the two ends; "betting": :func:`corollary.theory.betting_mean_bound`.
        "auto" takes "betting" for units, otherwise "exact" where it can and "hoeffding" where it
        cannot, a choice that does not look at how long the intervals are.
    units : array-like of shape (n_samples,) or None, default=None
        The unit of each row. The limits are then those of the mean loss of a row of a new unit, and
        count units: their mean losses are independent, rows of one unit are not.

    Returns
    -------
    lower : float
        Lower limit, at least `low`.
    upper : float
        Upper limit, at most `high`.

    Notes
    -----
    Guarantee: checked by ``tests/guarantees/validation.py``.

    Rows that come in time are not drawn alike. By method "hoeffding" the limits are still a theorem
    about the period of these rows, under any dependence: they hold for the mean over the period of
    the expected loss given what came before (Hoeffding and Azuma), and say nothing about later
    rows.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.validation import hold_out_interval
    >>> [round(limit, 4) for limit in hold_out_interval(np.r_[np.ones(2), np.zeros(141)], 0.05)]
    [0.0017, 0.0496]
    """
    losses = check_losses(losses, low, high, who="hold_out_interval")
    if losses.ndim != 1:
        raise ValueError(f"hold_out_interval needs one loss per row. Got shape {losses.shape}.")
    if units is not None:
        codes = read_units("hold_out_interval", units, len(losses))
        # A mean of the largest losses may exceed them by rounding.
        losses = np.clip(unit_means(losses, codes), low, high)
        if method == "exact":
            raise ValueError(
                "method='exact' of hold_out_interval counts rows that are hits or not, which units "
                "are not. Use method='betting'."
            )
        method = "betting" if method == "auto" else method
    n, width = len(losses), high - low
    if method == "betting":
        share = delta / sides
        upper = betting_mean_bound(losses, share, low=low, high=high)
        # From below: the mirror image of the losses, from above.
        mirrored = np.clip(low + high - losses, low, high)
        lower = low + high - betting_mean_bound(mirrored, share, low=low, high=high)
        return lower if sides == 2 else low, upper
    ends = bool(np.isin(losses, (low, high)).all())
    if method == "exact" and not ends:
        raise ValueError(
            "method='exact' of hold_out_interval needs losses that are one of the two ends. Use "
            "method='hoeffding' or 'bernstein'."
        )
    if method == "exact" or (method == "auto" and ends):
        errors = int(np.sum(losses == high))
        if sides == 2:
            lower, upper = clopper_pearson_interval(errors, n, delta)
        else:
            lower, upper = 0.0, clopper_pearson_upper(errors, n, delta)
        return low + width * float(lower), low + width * float(upper)
    if method == "bernstein":
        radius = empirical_bernstein_radius(losses, delta, low=low, high=high, sides=sides)
    else:
        radius = hoeffding_bound(n_samples=n, delta=delta, low=low, high=high, sides=sides)
    mean = float(losses.mean())
    lower = max(low, mean - radius) if sides == 2 else low
    return lower, min(high, mean + radius)


@checked
def look_price(*, n_samples: Count, looks: Count, delta: Probability) -> float:
    r"""Return what repeated looks at one test set cost in confidence.

    Parameters
    ----------
    n_samples : int
        Test rows n.
    looks : int
        How many models have been measured on them, :attr:`corollary.risk.GuardedTestSet.looks`.
    delta : float
        Probability that any of the limits fails.

    Returns
    -------
    price : float
        How much wider Hoeffding's radius is than at the first look, for losses in [0, 1]:
        :math:`\sqrt{\log(k/\delta)/(2n)}-\sqrt{\log(1/\delta)/(2n)}`, zero for one look. It covers
        looks whose models were chosen because of earlier ones only when all candidates were named
        beforehand; otherwise count each candidate that could have been chosen.

    Examples
    --------
    >>> from corollary.validation import look_price
    >>> look_price(n_samples=1000, looks=1, delta=0.05)
    0.0
    >>> round(look_price(n_samples=1000, looks=20, delta=0.05), 4)
    0.016
    """
    return math.sqrt(math.log(looks / delta) / (2 * n_samples)) - hoeffding_bound(
        n_samples=n_samples, delta=delta
    )
