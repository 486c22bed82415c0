"""From a table of mixed columns to a matrix of numbers.

The encoder looks at each column (:class:`Column`), learns a plan for it (:class:`ColumnPlan`) and
scales the features to unit spread:

================  ================================================================================
kind of column    features
================  ================================================================================
numeric, boolean  the number (filled where missing, see ``_fill.py``); its logarithm too if it is
                  positive and skewed; an indicator per frequent word among numbers; an indicator
                  of missing values if training rows had any
category          an indicator per level; rare levels share one, unknown levels are rare; with more
                  than ``max_levels`` levels: log frequency and smoothed target statistics instead
date              year, month, day, weekday, time of day (where it varies), seconds since 1970
text              hashed character n-grams, weighted by rarity, projected on their first singular
                  directions
================  ================================================================================
"""

from dataclasses import KW_ONLY
from numbers import Integral
from typing import Annotated, Any, Literal

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from corollary.core.compat import Interval, fit_context
from corollary.core.estimator import Count, Estimator, fitted
from corollary.core.frames import as_pandas
from corollary.core.schema import (
    Array,
    List,
    Mapping,
    Nullable,
    Optional,
    Plain,
    Record,
    Size,
    Strings,
)
from corollary.representation.table._fill import (
    Moments,
    learn_moments,
    location_and_spread,
    predict_missing,
)
from corollary.representation.table._plans import PlanSpec, learn_plan, read_plan
from corollary.representation.table.column import Column, ColumnTable
from corollary.representation.table.level_plans import LevelPlan
from corollary.representation.table.number_plan import NumberPlan
from corollary.representation.table.plan import ColumnPlan, UnusedPlan

#: Folds in which target statistics of training rows are cross-fitted.
FOLDS = 5
#: Classes whose share is taken as a statistic of a level, commonest first.
MOST_CLASSES = 10
#: Numbers that predict each other where one is missing, at most; and rows to learn that from.
FILL_FEATURES, FILL_ROWS = 100, 50_000
#: Share of a number's variance that the others must explain to fill it; else the median does.
EXPLAINED = 0.5


def _is_positive_definite(matrix: np.ndarray) -> bool:
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return np.allclose(matrix, matrix.T)


def _feature_columns(plans: list[ColumnPlan]) -> np.ndarray:
    """Tell for each feature the position of its column."""
    return np.repeat(np.arange(len(plans)), [plan.width for plan in plans])


def _quantities(plans: list[ColumnPlan]) -> np.ndarray:
    """Find the features that are numbers or their logarithms."""
    kinds = [
        plan.kind == "numeric" and suffix in ("", " log")
        for plan in plans
        for suffix, _ in plan.features
    ]
    return np.flatnonzero(kinds)


class TableEncoder(TransformerMixin, Estimator):
    """Turn a data frame of any columns into a matrix of numbers.

    Numbers, booleans, categories (also with thousands of levels), dates, numbers and dates
    written as strings, and free text each get features that linear models and networks can use.
    Missing values are filled and marked; infinities count as missing. A missing number is filled
    by the best linear prediction from the row's other numbers where these explain at least half of
    its variance, and by the median elsewhere. Columns that carry nothing
    (empty, constant, an identifier) are left out, with the reason in ``left_out_``.

    Parameters
    ----------
    max_levels : int, default=30
        A category with at most this many levels gets one feature per level; one with more is
        described by its frequency and by the mean target of its level.
    text_dimensions : int, default=30
        Features per text column, at most.
    target : {"auto", "classes", "number"}, default="auto"
        What ``y`` holds; "auto" decides as scikit-learn does.
    scale : bool, default=True
        Whether to centre and scale the features that are quantities to unit spread. Indicators
        stay 0 and 1.
    random_state : int, default=0
        Seed of the folds for target statistics and of the text projection.

    Attributes
    ----------
    plans_ : list of ColumnPlan
        One plan per column, in the order of the table.
    left_out_ : dict of str to str
        Columns that are not used, with the reason.
    notes_ : dict of str to list of str
        What had to be decided about columns.
    centre_ : ndarray of shape (n_features_out,)
        Subtracted from the features.
    scale_ : ndarray of shape (n_features_out,)
        The features are divided by it.
    feature_columns_ : ndarray of shape (n_features_out,)
        For each feature, the position of the column it comes from.
    moments_ : dict of str to ndarray, or None
        Means, spreads and inverse correlations of the features that are numbers, by which missing
        ones are predicted; None where rows were too few to learn them.

    See Also
    --------
    sklearn.compose.ColumnTransformer : Encode columns by transformers of your choice.

    Notes
    -----
    Target statistics leak a row's own target into its features. ``fit_transform`` therefore
    encodes each training row by the statistics of the other folds, and differs from
    ``fit(X, y).transform(X)`` on columns with many levels; ``transform`` is for rows whose target
    was not used.

    Quantities beyond the training range are followed for one more width of that range and then
    held, so that no slipped decimal point dominates a prediction.

    Examples
    --------
    >>> import pandas as pd
    >>> from corollary.representation import TableEncoder
    >>> table = pd.DataFrame({"size": [1.0, None, 3.0], "colour": ["red", "blue", "red"]})
    >>> encoder = TableEncoder().fit(table)
    >>> encoder.get_feature_names_out().tolist()
    ['size', 'size missing', 'colour=red']
    """

    _: KW_ONLY
    max_levels: Count = 30
    text_dimensions: Count = 30
    target: Literal["auto", "classes", "number"] = "auto"
    scale: bool = True
    random_state: Annotated[int, Interval(Integral, 0, 2**32 - 1, closed="both")] = 0

    n_features_in_: int = fitted(Size("c"))
    feature_names_in_: np.ndarray = fitted(Optional(Strings("c")))
    plans_: list[ColumnPlan] = fitted(List(PlanSpec(), "c"))
    left_out_: dict[str, str] = fitted(Mapping(Plain()))
    notes_: dict[str, list[str]] = fitted(Mapping(Plain()))
    centre_: np.ndarray = fitted(Array("f", "f"))
    scale_: np.ndarray = fitted(Array("f", "f", low=np.finfo(np.float64).tiny))
    feature_columns_: np.ndarray = fitted(Array("i", "f", low=0, below="c"))
    moments_: dict[str, np.ndarray] | None = fitted(
        Nullable(
            Record(
                mean=Array("f", "q"),
                spread=Array("f", "q", low=np.finfo(np.float64).tiny),
                precision=Array("f", "q", "q"),
            )
        )
    )

    def _fits_together(self) -> str | None:
        self.plans_ = [read_plan(plan) for plan in self.plans_]
        if not np.array_equal(_feature_columns(self.plans_), self.feature_columns_):
            return "the features do not belong to the columns"
        if (moments := self.moments_) is not None:
            mean, precision = moments["mean"], moments["precision"]
            if len(mean) != len(_quantities(self.plans_)) or not _is_positive_definite(precision):
                return "the moments do not belong to the features"
        return None

    def fit(self, X: Any, y: Any = None) -> "TableEncoder":
        """Learn the encoding.

        Parameters
        ----------
        X : data frame, ColumnTable or array-like of shape (n_samples, n_columns)
            Training rows.
        y : array-like of shape (n_samples,) or None, default=None
            Target, for the statistics of columns with many levels.

        Returns
        -------
        self : TableEncoder
            The fitted encoder.
        """
        self.fit_transform(X, y)
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Learn the encoding and encode the training rows.

        Parameters
        ----------
        X : data frame, ColumnTable or array-like of shape (n_samples, n_columns)
            Training rows.
        y : array-like of shape (n_samples,) or None, default=None
            Target, for the statistics of columns with many levels.

        Returns
        -------
        features : ndarray of shape (n_samples, n_features_out)
            The encoded rows; see Notes on cross-fitting.
        """
        table = self._read(X, reset=True)
        if len(table) < 2:
            raise ValueError(
                "TableEncoder needs at least 2 rows to see which columns vary. Got n_samples=1."
            )
        target = None
        if y is not None:
            check_consistent_length(np.empty(len(table)), y)
            target = _as_numbers(y, self.target)
        rng = np.random.default_rng(self.random_state)
        folds = rng.permutation(len(table)) % FOLDS
        self.plans_ = []
        blocks = []
        for column in table.columns:
            plan = learn_plan(
                column,
                target,
                max_levels=self.max_levels,
                dimensions=self.text_dimensions,
                seed=self.random_state,
            )
            self.plans_.append(plan)
            if target is not None and isinstance(plan, LevelPlan) and len(table) >= FOLDS:
                blocks.append(plan.cross_fit(column, target, folds))
            else:
                blocks.append(plan.apply(column, fill=False))
        unused = [plan for plan in self.plans_ if isinstance(plan, UnusedPlan)]
        self.left_out_ = {plan.name: plan.why for plan in unused}
        self.notes_ = {plan.name: plan.notes for plan in self.plans_ if plan.notes}
        self.feature_columns_ = _feature_columns(self.plans_)
        features = np.hstack(blocks)
        quantities = features[:, _quantities(self.plans_)]
        moments = None
        if quantities.shape[1] <= FILL_FEATURES:
            apart = -(-len(quantities) // FILL_ROWS)
            moments = learn_moments(quantities[::apart])
        self.moments_ = None if moments is None else moments._asdict()
        return self._learn_scale(self._fill(features))

    def _fill(self, features: np.ndarray) -> np.ndarray:
        """Fill the numbers that are missing."""
        places = _quantities(self.plans_)
        missing = np.isnan(features[:, places])
        rows = np.flatnonzero(missing.any(axis=1))
        if not len(rows):
            return features
        table, unexplained = features[np.ix_(rows, places)], np.ones((len(rows), len(places)))
        if self.moments_ is not None:
            table, unexplained = predict_missing(table, Moments(**self.moments_))
        table = np.where(unexplained <= 1.0 - EXPLAINED, table, np.nan)
        at = dict(zip(places.tolist(), range(len(places))))
        start = np.searchsorted(self.feature_columns_, np.arange(len(self.plans_)))
        for j, plan in enumerate(self.plans_):
            if (k := at.get(int(start[j]))) is None or not isinstance(plan, NumberPlan):
                continue
            gaps = missing[rows, k]
            # The logarithm of a skewed number is the easier one to predict.
            guess = np.exp(table[gaps, k + 1]) if plan.log else table[gaps, k]
            guess = np.where(np.isnan(guess), plan.median, guess)
            guess = np.clip(guess, plan.low, plan.high)
            features[rows[gaps], start[j]] = guess
            if plan.log:
                features[rows[gaps], start[j] + 1] = plan.logarithm(guess)
        return features

    def _learn_scale(self, features: np.ndarray) -> np.ndarray:
        centres, scales = [], []
        for j, plan in enumerate(self.plans_):
            centre, spread = location_and_spread(features[:, self.feature_columns_ == j])
            how = [mode for _, mode in plan.features]
            joint = spread.max(initial=0.0) or 1.0
            by = {"each": np.where(spread > 0, spread, 1.0), "joint": np.full(len(how), joint)}
            for k, mode in enumerate(how):
                moved = self.scale and mode != "no"
                centres.append(centre[k] if moved else 0.0)
                scales.append(by[mode][k] if moved else 1.0)
        self.centre_ = np.asarray(centres, dtype=np.float64)
        self.scale_ = np.asarray(scales, dtype=np.float64)
        return (features - self.centre_) / self.scale_

    def transform(self, X: Any) -> np.ndarray:
        """Encode rows.

        Parameters
        ----------
        X : data frame, ColumnTable or array-like of shape (n_samples, n_columns)
            Rows with the columns of training.

        Returns
        -------
        features : ndarray of shape (n_samples, n_features_out)
            The encoded rows.
        """
        check_is_fitted(self)
        columns = self._read(X, reset=False).columns
        blocks = [plan.apply(column, fill=False) for plan, column in zip(self.plans_, columns)]
        return (self._fill(np.hstack(blocks)) - self.centre_) / self.scale_

    def transform_column(self, position: int, values: Any) -> np.ndarray:
        """Encode one column, as it stands in the matrix of :meth:`transform`.

        Missing numbers are filled by the median, since the other columns are not known.

        Parameters
        ----------
        position : int
            Position of the column in the table.
        values : array-like of shape (n_samples,)
            Its values.

        Returns
        -------
        block : ndarray of shape (n_samples, n_features_of_column)
            Its features.
        """
        import pandas as pd

        check_is_fitted(self)
        here = self.feature_columns_ == position
        block = self.plans_[position].apply(Column(pd.Series(values)))
        return (block - self.centre_[here]) / self.scale_[here]

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Name the features.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Checked against the names of training; a nameless table may be given names here.

        Returns
        -------
        names : ndarray of shape (n_features_out,)
            Column name and what the feature says of it.
        """
        check_is_fitted(self)
        names = [plan.name for plan in self.plans_]
        if input_features is not None:
            renamed = [str(name) for name in input_features]
            if len(renamed) != len(names):
                raise ValueError(
                    f"input_features should have length equal to number of features "
                    f"({len(names)}), got {len(renamed)}"
                )
            if hasattr(self, "feature_names_in_") and renamed != list(self.feature_names_in_):
                raise ValueError("input_features is not equal to feature_names_in_")
            names = renamed
        suffixes = [suffix for plan in self.plans_ for suffix, _ in plan.features]
        out = [names[j] + suffix for j, suffix in zip(self.feature_columns_, suffixes)]
        return np.asarray(out, dtype=object)

    def _read(self, X: Any, *, reset: bool) -> ColumnTable:
        import pandas as pd

        if isinstance(X, ColumnTable):
            header = pd.DataFrame(columns=X.names)
            validate_data(self, header, reset=reset, skip_check_array=True)
            return X
        X = as_pandas(X)
        if not isinstance(X, pd.DataFrame):
            X = check_array(X, dtype=None, ensure_all_finite=False, estimator=self)
        elif X.shape[0] == 0 or X.shape[1] == 0:
            raise ValueError(
                f"TableEncoder needs at least one row and one column. Got a table of shape "
                f"{X.shape[0]} x {X.shape[1]} (0 sample(s) or 0 feature(s))."
            )
        validate_data(self, X, reset=reset, skip_check_array=True)
        if not isinstance(X, pd.DataFrame):
            X = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
        return ColumnTable.of(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _as_numbers(y: Any, kind: str) -> np.ndarray:
    """Give the target as numbers to average: itself, or an indicator per (common) class."""
    y = np.asarray(y)
    if kind == "auto":
        kind = "number" if type_of_target(y).startswith("continuous") else "classes"
    if kind == "number":
        return y.astype(np.float64).reshape(len(y), -1)
    classes, codes = np.unique(y, return_inverse=True)
    counts = np.bincount(codes.ravel())
    kept = np.sort(np.argsort(-counts, kind="stable")[:MOST_CLASSES])
    kept = kept[1:] if len(classes) == 2 else kept  # the shares of two classes sum to one
    return (codes.ravel()[:, None] == kept).astype(np.float64)
