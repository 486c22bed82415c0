r"""Conformity scores of intervals, as frozen objects that can be saved.

Each of them is the distance of a target from a band that models predict, in a unit:
:math:`\max\{l(x) - y,\ y - u(x)\} / s(x)`, negative inside the band. The interval of a row holds
every target whose score is at most the threshold :math:`\hat s`:
:math:`[l(x) - \hat s\, s(x),\ u(x) + \hat s\, s(x)]`.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from corollary.conformal._checks import count_rows
from corollary.conformal._fitting import Rows, Training
from corollary.conformal.scores._base import Band, IntervalScore
from corollary.core.schema import Instance, Integer, Nullable, Number, Schema

# A learnt scale is kept above this share of the mean absolute error: without a floor one row
# predicted to be perfectly easy would claim an interval of no width.
_FLOOR = 0.1


@dataclass(frozen=True)
class Absolute(IntervalScore):
    """The absolute error of the model: all intervals have one width.

    See Also
    --------
    absolute_score : The score as a function of numbers.
    Scaled : Widths that follow difficulty.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyRegressor
    >>> from corollary.conformal import Absolute, SplitConformalRegressor
    >>> model = SplitConformalRegressor(
    ...     DummyRegressor(), conformity_score=Absolute(), random_state=0
    ... )
    >>> model.fit(np.zeros((40, 1)), np.arange(40.0)).conformity_score_
    Absolute()
    """

    _schema: ClassVar[Schema] = Schema()

    def band(self, rows: Rows) -> Band:
        """Return the prediction as both ends."""
        centre = rows.predict(rows.estimator)
        return Band(centre, centre)


@dataclass(frozen=True)
class Scaled(IntervalScore):
    """The absolute error in units of its expected size: widths follow difficulty.

    Parameters
    ----------
    model : estimator or None, default=None
        Regressor of the absolute error, fitted already if the wrapper is ``prefit``; None for a
        copy of the wrapper's model. After ``fit`` it is the fitted one.
    cv : int, default=5
        Folds by which the errors that it learns are predicted, at least 2: errors of rows that a
        model was fitted to are too small.
    floor : float, default=0.0
        Smallest scale. ``fit`` sets it to a tenth of the mean absolute error.

    See Also
    --------
    normalised_score : The score as a function of numbers.
    Quantiles : Widths between two quantiles.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from corollary.conformal import Scaled, SplitConformalRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(1, 5, size=(400, 1))
    >>> y = X[:, 0] + X[:, 0] * rng.normal(size=400)
    >>> model = SplitConformalRegressor(
    ...     LinearRegression(), conformity_score=Scaled(cv=3), random_state=0
    ... )
    >>> easy, hard = np.diff(model.fit(X, y).predict_interval([[1.0], [5.0]]))[:, 0]
    >>> bool(hard > 2 * easy)
    True
    """

    model: Any = None
    cv: int = 5
    floor: float = 0.0

    _schema: ClassVar[Schema] = Schema(
        model=Nullable(Instance("fit", "predict")), cv=Integer(2), floor=Number(0)
    )

    def __post_init__(self) -> None:
        if not isinstance(self.cv, int | np.integer) or self.cv < 2:
            raise ValueError(
                f"The 'cv' parameter of Scaled must be an int in the range [2, inf). Got "
                f"{self.cv!r} instead."
            )
        if not self.floor >= 0:
            raise ValueError(
                f"The 'floor' parameter of Scaled must not be negative. Got {self.floor!r} instead."
            )

    def models(self) -> dict[str, Any]:
        """Return the model of the scale."""
        return {} if self.model is None else {"scale_estimator": self.model}

    def fit(self, estimator: Any, training: Training) -> tuple[Any, Self]:
        """Fit the model, and that of its errors on rows that it has not seen."""
        fitted = training.fit(estimator)
        errors = training.held_out_errors(estimator, self.cv)
        if self.model is None:
            scale = training.fit(estimator, y=errors)
        else:
            scale = training.fit(self.model, "scale_estimator", errors)
        floor = _FLOOR * float(np.average(errors, weights=training.weight)) or 1.0
        return fitted, replace(self, model=scale, floor=floor)

    def check_models(self, rows: Rows) -> None:
        """Raise if there is no fitted model of the scale."""
        if self.model is None:
            raise ValueError(
                f"{rows.who} with prefit=True and a normalised score needs a fitted "
                "'scale_estimator', the model of Scaled: the scale must be learnt on training "
                "rows, which are not given here. Pass one, or prefit=False."
            )

    def problem(self, estimator: Any) -> str | None:
        """Say why a model that was loaded cannot give the scale, or None."""
        return "it has no model of the scale" if self.model is None else super().problem(estimator)

    def band(self, rows: Rows) -> Band:
        """Return the prediction as both ends, and the predicted scale."""
        centre = rows.predict(rows.estimator)
        scale = np.maximum(rows.predict(self.model), self.floor)
        if np.any(scale <= 0):
            raise ValueError(
                f"The fitted 'scale_estimator' {type(self.model).__name__} must predict positive "
                f"scales. Got {np.nanmin(scale):g}; learn the logarithm of the residual, or use "
                "prefit=False, which keeps scales above a floor."
            )
        return Band(centre, centre, scale)


@dataclass(frozen=True)
class Quantiles(IntervalScore):
    r"""The distance from the interval between two quantiles, negative inside.

    Parameters
    ----------
    low : estimator or None, default=None
        Model of the lower quantile; None for the wrapper's model. If both are given, the
        wrapper's model is there for point predictions alone.
    high : estimator or None, default=None
        Model of the upper quantile. None if the wrapper's model knows both: it has
        ``predict_quantiles``, whose first and last columns are used, or takes its quantile as a
        parameter (``quantile``, or ``alpha`` beside ``loss="quantile"``), and two copies are
        fitted, at (1 - confidence) / 2 and (1 + confidence) / 2. After ``fit`` models are fitted.

    See Also
    --------
    ConformalQuantileRegressor : The wrapper around quantiles.
    quantile_score : The score as a function of numbers.

    References
    ----------
    Romano, Y., Patterson, E. and Candes, E. (2019). Conformalized quantile regression. Advances
    in Neural Information Processing Systems 32.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.conformal import Quantiles, SplitConformalRegressor
    >>> from corollary.linear import LinearRegression, QuantileRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(1, 5, size=(400, 1))
    >>> y = X[:, 0] * rng.normal(size=400)
    >>> ends = [QuantileRegressor(quantile=q, alpha=0.0) for q in (0.05, 0.95)]
    >>> model = SplitConformalRegressor(
    ...     LinearRegression(), conformity_score=Quantiles(*ends), random_state=0
    ... ).fit(X, y)
    >>> narrow, wide = np.diff(model.predict_interval([[1.0], [5.0]]))[:, 0]
    >>> bool(narrow < wide)
    True
    """

    low: Any = None
    high: Any = None

    _schema: ClassVar[Schema] = Schema(
        low=Nullable(Instance("fit", "predict")), high=Nullable(Instance("fit", "predict"))
    )

    def __post_init__(self) -> None:
        if self.high is None and self.low is not None:
            raise ValueError(
                "Quantiles needs a model of the upper quantile beside that of the lower one. Got "
                f"low={self.low!r} alone; pass 'high' too."
            )

    def models(self) -> dict[str, Any]:
        """Return the models of quantiles."""
        both = {"lower_estimator": self.low, "upper_estimator": self.high}
        return {role: model for role, model in both.items() if model is not None}

    def fit(self, estimator: Any, training: Training) -> tuple[Any, Self]:
        """Fit the model of both quantiles, or that of each."""
        if self.high is not None or hasattr(estimator, "predict_quantiles"):
            fitted = training.fit(estimator)
            low, high = (
                None if model is None else training.fit(model, role)
                for role, model in (("lower_estimator", self.low), ("upper_estimator", self.high))
            )
            return fitted, replace(self, low=low, high=high)
        name = _quantile_parameter(estimator)
        if name is None:
            raise _no_quantiles(training.who, estimator)
        miss = 1 - training.confidence
        low, high = (
            training.fit(clone(estimator).set_params(**{name: level}))
            for level in (miss / 2, 1 - miss / 2)
        )
        return low, replace(self, high=high)

    def check_models(self, rows: Rows) -> None:
        """Raise if no model gives the upper quantile."""
        if self.high is None and not hasattr(rows.estimator, "predict_quantiles"):
            raise _no_quantiles(rows.who, rows.estimator)

    def problem(self, estimator: Any) -> str | None:
        """Say why models that were loaded give no two quantiles, or None."""
        if self.high is None and not hasattr(estimator, "predict_quantiles"):
            return "its model has no quantiles"
        return super().problem(estimator)

    def point(self, rows: Rows) -> np.ndarray:
        """Predict the middle between two models of quantiles, or what another model predicts."""
        if self.high is None or self.low is not None:
            return rows.estimator.predict(rows.X)
        lower, upper, _ = self.band(rows)
        return 0.5 * lower + 0.5 * upper

    def band(self, rows: Rows) -> Band:
        """Return the two quantiles."""
        if self.high is not None:
            low = rows.estimator if self.low is None else self.low
            return Band(rows.predict(low), rows.predict(self.high))
        quantiles = np.asarray(rows.estimator.predict_quantiles(rows.X), dtype=float)
        if quantiles.ndim != 2 or quantiles.shape[1] < 2 or len(quantiles) != count_rows(rows.X):
            raise ValueError(
                f"{rows.who} needs at least two quantiles of each row. "
                f"{type(rows.estimator).__name__} gave shape {quantiles.shape}; set e.g. "
                "quantile=[0.05, 0.95]."
            )
        return Band(quantiles[:, 0], quantiles[:, -1])


def _no_quantiles(who: str, model: Any) -> ValueError:
    return ValueError(
        f"{who} needs a model with predict_quantiles, or an 'upper_estimator' beside the model of "
        "the lower quantile, or, unless prefit, a model that has its quantile as a parameter. Got "
        f"{model!r} alone."
    )


def _quantile_parameter(model: Any) -> str | None:
    """Return the name under which a model, or the last step of a pipeline, takes its quantile."""
    steps = getattr(model, "steps", None)
    prefix, last = (f"{steps[-1][0]}__", steps[-1][1]) if steps else ("", model)
    parameters = last.get_params(deep=False) if hasattr(last, "get_params") else {}
    if parameters.get("loss", "quantile") != "quantile":
        return None
    if "quantile" in parameters:
        return f"{prefix}quantile"
    return f"{prefix}alpha" if "loss" in parameters and "alpha" in parameters else None
