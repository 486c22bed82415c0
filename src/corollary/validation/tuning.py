"""Choosing a tuning parameter by held-out loss, and what the choice is worth.

The loss of the best of many settings is too small: it was chosen because it was small. The risk of
"tune, then fit" as a learner is estimated by :func:`nested_risk`, which tunes inside each fold.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from corollary.core.compat import safe_indexing
from corollary.core.display import Tabular
from corollary.core.estimator import checked
from corollary.risk import LossLike
from corollary.validation._fold_loop import fold_losses, time_of
from corollary.validation._units import count_rows
from corollary.validation.cross_validation import CrossValidation, cross_validate


@dataclass(frozen=True, eq=False, repr=False)
class Tuning(Tabular):
    """A chosen setting and the losses that spoke for it.

    Parameters
    ----------
    settings : tuple of dict
        All settings that were tried, in order.
    outcomes : tuple of CrossValidation
        Their cross-validations, on the same folds.
    chosen : int
        Position of the chosen setting.
    model : estimator
        Fitted with it on all rows.
    """

    settings: tuple[dict[str, Any], ...]
    outcomes: tuple[CrossValidation, ...]
    chosen: int
    model: Any

    def __repr__(self) -> str:
        return f"Tuning(best={self.best!r} of {len(self.settings)} settings, model={self.model!r})"

    def __str__(self) -> str:
        return (
            f"{self.best} was chosen of {len(self.settings)} settings, with a risk of "
            f"{self.risks[self.chosen]:.4g}. A risk that was chosen for being small is too small; "
            "nested_risk estimates that of the choice."
        )

    def _columns(self) -> dict[str, list[Any]]:
        names = list(dict.fromkeys(name for setting in self.settings for name in setting))
        columns: dict[str, list[Any]] = {
            name: [setting.get(name, "") for setting in self.settings] for name in names
        }
        columns["risk"] = self.risks.tolist()
        columns["chosen"] = [i == self.chosen for i in range(len(self.settings))]
        return columns

    @property
    def best(self) -> dict[str, Any]:
        """The chosen setting."""
        return self.settings[self.chosen]

    @property
    def risks(self) -> np.ndarray:
        """Mean held-out loss of each setting; that of the chosen one is too small."""
        return np.array([outcome.risk for outcome in self.outcomes])


@checked
def tune(
    estimator: Any,
    settings: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]],
    X: Any,
    y: Any,
    *,
    loss: Annotated[LossLike, "no_validation"] = "auto",
    cv: Any = 5,
    groups: Any = None,
    time: Any = None,
    rule: Literal["best", "one_standard_error"] = "best",
    method: str = "predict",
    n_jobs: int | None = None,
    random_state: Any = None,
) -> Tuning:
    """Choose parameters of an estimator by held-out loss.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn estimator or pipeline.
    settings : mapping of str to sequence, or sequence of mappings
        Values to combine for each parameter, or the settings one by one. The first one wins ties,
        so list simpler settings first.
    X : array-like or data frame of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Outputs.
    loss : str, Loss or callable, default="auto"
        The loss. "auto" is the zero-one loss, for
        regressors the squared one.
    cv : int, "loo", splitter or iterable, default=5
        As for :func:`cross_validate`; every setting sees the same folds.
    groups : array-like of shape (n_samples,) or None, default=None
        The unit of each row: whole units are left out, or the choice favours what remembers them.
    time : array-like of shape (n_samples,) or None, default=None
        When each row happened: later rows are predicted from earlier ones.
    rule : {"best", "one_standard_error"}, default="best"
        The smallest loss, or the first setting within one standard error of it, which prefers
        simpler ones when the difference is noise.
    method : str, default="predict"
        Which method predicts.
    n_jobs : int or None, default=None
        Folds in parallel.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds.

    Returns
    -------
    tuning : Tuning
        Chosen setting, losses of all, and the model fitted on all rows.

    See Also
    --------
    nested_risk : The risk of doing this.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from corollary.linear import Ridge
    >>> from corollary.validation import tune
    >>> X, y = load_diabetes(return_X_y=True)
    >>> tune(Ridge(), {"alpha": [10.0, 0.1]}, X, y, loss="square", random_state=0).best
    {'alpha': 0.1}
    """
    tried = [
        dict(setting)
        for setting in (ParameterGrid(settings) if isinstance(settings, Mapping) else settings)
    ]
    if not tried:
        raise ValueError("The 'settings' parameter of tune must name at least one setting.")
    # One seed for all settings, drawn here, so that they are compared on the same folds.
    seed = int(np.random.RandomState(_seed(random_state)).randint(2**31 - 1))
    outcomes = [
        cross_validate(
            clone(estimator).set_params(**setting),
            X,
            y,
            loss=loss,
            cv=cv,
            groups=groups,
            time=time,
            method=method,
            n_jobs=n_jobs,
            random_state=seed,
        )
        for setting in tried
    ]
    risks = np.array([outcome.risk for outcome in outcomes])
    if np.isnan(risks).all():
        raise ValueError("tune found no setting with a finite held-out loss.")
    chosen = int(np.nanargmin(risks))
    if rule == "one_standard_error":
        limit = risks[chosen] + np.nan_to_num(outcomes[chosen].standard_error)
        chosen = int(np.flatnonzero(risks <= limit)[0])
    model = clone(estimator).set_params(**tried[chosen]).fit(X, y)
    return Tuning(tuple(tried), tuple(outcomes), chosen, model)


def nested_risk(
    estimator: Any,
    settings: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]],
    X: Any,
    y: Any,
    *,
    loss: LossLike = "auto",
    cv: Any = 5,
    inner_cv: Any = 5,
    groups: Any = None,
    rule: Literal["best", "one_standard_error"] = "best",
    method: str = "predict",
    n_jobs: int | None = None,
    random_state: Any = None,
) -> CrossValidation:
    """Estimate the risk of tuning and fitting, without leakage.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn estimator or pipeline.
    settings : mapping of str to sequence, or sequence of mappings
        As for :func:`tune`.
    X : array-like or data frame of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Outputs.
    loss : str, Loss or callable, default="auto"
        The loss. "auto" is the zero-one loss, for
        regressors the squared one.
    cv : int, "loo", splitter or iterable, default=5
        Outer folds, which measure. With :class:`ForwardChaining` or :class:`BlockKFold` inner folds
        read the same moments: a number of them predicts later training rows from earlier ones.
    inner_cv : int, "loo", splitter or iterable, default=5
        Inner folds, which choose, inside the training rows of each outer fold.
    groups : array-like of shape (n_samples,) or None, default=None
        The unit of each row: outer and inner folds leave out whole units.
    rule : {"best", "one_standard_error"}, default="best"
        As for :func:`tune`.
    method : str, default="predict"
        Which method predicts.
    n_jobs : int or None, default=None
        Outer folds in parallel.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds.

    Returns
    -------
    outcome : CrossValidation
        Losses of rows under models that were tuned and fitted without them.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from corollary.linear import Ridge
    >>> from corollary.validation import nested_risk
    >>> X, y = load_diabetes(return_X_y=True)
    >>> grid = {"alpha": [0.1, 10.0]}
    >>> nested_risk(Ridge(), grid, X, y, loss="square", random_state=0).risk < 3200
    True
    """
    seed, time = _seed(random_state), time_of(cv, count_rows(X))

    def tuned(train: np.ndarray) -> Any:
        rows = {
            name: None if values is None else safe_indexing(values, train)
            for name, values in (("groups", groups), ("time", time))
        }
        return tune(
            estimator,
            settings,
            safe_indexing(X, train),
            safe_indexing(y, train),
            loss=loss,
            cv=inner_cv,
            rule=rule,
            method=method,
            random_state=seed,
            **rows,
        ).model

    outcome = fold_losses(
        tuned,
        estimator,
        X,
        y,
        loss=loss,
        cv=cv,
        groups=groups,
        time=time,
        method=method,
        n_jobs=n_jobs,
        random_state=seed,
    )
    return CrossValidation(*outcome)


def _seed(random_state: Any) -> Any:
    if isinstance(random_state, np.random.RandomState):
        return random_state.randint(2**31 - 1)
    return random_state
