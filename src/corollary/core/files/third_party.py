"""The scikit-learn classes that a model file may contain, and what their state must be.

Only classes whose prediction is plain array arithmetic are listed: a crafted tree or support
vector model could read outside its arrays inside compiled code. The list is part of the library;
no file and no flag extends it.
"""

from functools import cache
from typing import Any

import numpy as np

from corollary.core.files.column_transformer import Columns, Part, column_transformer_fits
from corollary.core.schema import (
    Array,
    DType,
    Flag,
    Instance,
    Integer,
    Labels,
    List,
    Mapping,
    Number,
    Optional,
    Schema,
    Size,
    Sizes,
    Spec,
    Strings,
    Text,
)

# What validation leaves on every fitted scikit-learn estimator.
INPUTS: dict[str, Spec] = {
    "n_features_in_": Size("d"),
    "feature_names_in_": Optional(Strings("d")),
}
# Without names, that many are made up on request.
MOST_UNNAMED = 10**6


class Nothing(Spec):
    """No value at all."""

    def matches(self, value: Any, sizes: Sizes) -> bool:
        """See :class:`corollary.core.schema.Spec`."""
        return value is None


class Steps(Spec):
    """The steps of a pipeline: all but the last change rows."""

    def matches(self, value: Any, sizes: Sizes) -> bool:
        """See :class:`corollary.core.schema.Spec`."""
        if not isinstance(value, list) or not value:
            return False
        for place, step in enumerate(value):
            match step:
                case (str(), None | "passthrough") if isinstance(step, tuple):
                    continue
                case (str(), estimator) if isinstance(step, tuple):
                    last = place == len(value) - 1
                    methods = ("fit", "get_params") if last else ("fit", "get_params", "transform")
                    if Instance(*methods).matches(estimator, sizes):
                        continue
            return False
        names = [name for name, _ in value]
        return len(set(names)) == len(names) and not any("__" in name for name in names)


class NumericType(Spec):
    """The type of numbers to give back: a class or a dtype."""

    def matches(self, value: Any, sizes: Sizes) -> bool:
        """See :class:`corollary.core.schema.Spec`."""
        if isinstance(value, np.dtype):
            return value.kind in "biuf"
        return isinstance(value, type) and issubclass(value, np.number | np.bool_)


class No(Spec):
    """The boolean False."""

    def matches(self, value: Any, sizes: Sizes) -> bool:
        """See :class:`corollary.core.schema.Spec`."""
        return Flag().matches(value, sizes) and not value


class Objects(Spec):
    """An array of objects that are numbers or None.

    Parameters
    ----------
    letter : str
        Letter of its length.
    """

    def __init__(self, letter: str) -> None:
        self.letter = letter

    def matches(self, value: Any, sizes: Sizes) -> bool:
        """See :class:`corollary.core.schema.Spec`."""
        return (
            isinstance(value, np.ndarray)
            and value.ndim == 1
            and value.dtype == object
            and Size(self.letter).matches(len(value), sizes)
            and all(v is None or Number(nan=True).matches(v, {}) for v in value)
        )


class Categories(Spec):
    """The values of a column: distinct, and sorted where they are looked up by bisection."""

    def matches(self, value: Any, sizes: Sizes) -> bool:
        """See :class:`corollary.core.schema.Spec`."""
        if not isinstance(value, np.ndarray) or value.ndim != 1 or not len(value):
            return False
        if value.dtype == object:
            plain = all(v is None or isinstance(v, str | int | float) for v in value)
            return plain and len({"nan" if v != v else (v,) for v in value}) == len(value)
        if value.dtype.kind == "f" and np.isnan(value[-1]):
            value = value[:-1]
        return value.dtype.kind in "biufU" and bool(np.all(value[:-1] < value[1:]))


class Places(Spec):
    """For some columns the place of a category: a dictionary from int to int."""

    def matches(self, value: Any, sizes: Sizes) -> bool:
        """See :class:`corollary.core.schema.Spec`."""
        return isinstance(value, dict) and all(
            Integer(0, sizes.get("d", 0) - 1).matches(column, sizes)
            and Integer(0).matches(place, sizes)
            for column, place in value.items()
        )


def _dropped(encoder: Any) -> list[Any]:
    if encoder.drop_idx_ is None:
        return [None] * len(encoder.categories_)
    return encoder.drop_idx_.tolist()


def _one_hot_fits(encoder: Any) -> str | None:
    # The columns of a category are computed from these sizes without any further check: a wrong
    # one would make a sparse matrix whose indices lie outside.
    dropped = _dropped(encoder)
    grouped = encoder._drop_idx_after_grouping
    if (grouped is None) != (encoder.drop_idx_ is None) or (
        grouped is not None and grouped.tolist() != dropped
    ):
        return "the dropped categories are not the same"
    for categories, place, width in zip(
        encoder.categories_, dropped, encoder._n_features_outs, strict=True
    ):
        if not (place is None or Integer(0, len(categories) - 1).matches(place, {})):
            return "a dropped category does not exist"
        if width != len(categories) - (place is not None):
            return "the number of columns is not that of the categories"
    if encoder.drop is None and encoder.drop_idx_ is not None:
        return "categories are dropped, though none should be"
    return None


def _standard_fits(scaler: Any) -> str | None:
    if scaler.with_mean and getattr(scaler, "mean_", None) is None:
        return "it has no mean"
    return _scale_exists(scaler, scaler.with_std)


def _robust_fits(scaler: Any) -> str | None:
    if scaler.with_centering and getattr(scaler, "center_", None) is None:
        return "it has no centre"
    return _scale_exists(scaler, scaler.with_scaling)


def _scale_exists(scaler: Any, wanted: bool) -> str | None:
    return "it has no scale" if wanted and getattr(scaler, "scale_", None) is None else None


def _imputer_fits(imputer: Any) -> str | None:
    from sklearn.impute import MissingIndicator

    indicator = imputer.indicator_
    if imputer.add_indicator:
        if not isinstance(indicator, MissingIndicator) or not hasattr(indicator, "features_"):
            return "its indicator of missing values is not one"
        if indicator.n_features_in_ != imputer.n_features_in_:
            return "its indicator has another number of columns"
    if imputer._fit_dtype.kind not in "biuf":
        return "it was fitted on something else than numbers"
    return None


def _indicator_fits(indicator: Any) -> str | None:
    if indicator.n_features_in_ > MOST_UNNAMED and not hasattr(indicator, "feature_names_in_"):
        return "it has too many columns"
    return None


def _dummy_fits(dummy: Any) -> str | None:
    if dummy._strategy != dummy.strategy:
        return "its strategy is not the one it was fitted with"
    if dummy.n_classes_ < 1 or not np.isclose(dummy.class_prior_.sum(), 1.0):
        return "its probabilities do not add up to 1"
    if dummy.strategy == "constant" and np.ravel(dummy.constant).tolist()[0] not in dummy.classes_:
        return "its constant is not a class"
    return None


@cache
def SCHEMAS() -> dict[type, Schema]:
    """Return the schema of every class that may be saved.

    A function, so that scikit-learn is imported only by those who save or load.
    """
    return _pipelines() | _scalers() | _encoders() | _imputers() | _dummies()


def _pipelines() -> dict[type, Schema]:
    from sklearn import pipeline

    # A memory folder holds pickles: a file that could name one could run code at fit.
    limits = {"memory": Nothing(), "steps": Steps(), "verbose": Flag()}
    return {pipeline.Pipeline: Schema(None, limits)} | _column_transformers()


def _column_transformers() -> dict[type, Schema]:
    from sklearn import compose, preprocessing

    word = Text(("drop", "passthrough"))
    no_functions = ("func", "inverse_func", "kw_args", "inv_kw_args")
    return {
        compose.ColumnTransformer: Schema(
            column_transformer_fits,
            {
                "transformers": List(Part()),
                "remainder": word | Instance("fit", "get_params", "transform"),
                "transformer_weights": Nothing() | Mapping(Number()),
                "verbose": Flag(),
                "verbose_feature_names_out": Flag() | Text(),
            },
            **INPUTS,
            _columns=List(Columns()),
            _transformer_to_input_indices=Mapping(List(Integer(0))),
            _remainder=Part(),
            sparse_output_=Flag(),
            transformers_=List(Part()),
            output_indices_=Mapping(Columns()),
        ),
        # What stands for "passthrough" in a fitted column transformer.
        preprocessing.FunctionTransformer: Schema(
            None,
            dict.fromkeys(no_functions, Nothing())
            | {"feature_names_out": Nothing() | Text(("one-to-one",))},
            **INPUTS,
        ),
    }


def _scalers() -> dict[type, Schema]:
    from sklearn import preprocessing

    learnt = Array("f", "d", nan=True)  # of a column without any value
    return {
        preprocessing.StandardScaler: Schema(
            _standard_fits,
            **INPUTS,
            mean_=Optional(learnt),
            var_=Optional(learnt),
            scale_=Optional(learnt),
            n_samples_seen_=Number(0) | Array("fiu", "d", low=0),
        ),
        preprocessing.MinMaxScaler: Schema(
            **INPUTS,
            min_=learnt,
            scale_=learnt,
            data_min_=learnt,
            data_max_=learnt,
            data_range_=learnt,
            n_samples_seen_=Integer(0),
        ),
        preprocessing.MaxAbsScaler: Schema(
            **INPUTS,
            max_abs_=learnt,
            scale_=learnt,
            n_samples_seen_=Integer(0),
        ),
        preprocessing.RobustScaler: Schema(
            _robust_fits,
            **INPUTS,
            center_=Optional(learnt),
            scale_=Optional(learnt),
        ),
    }


def _encoders() -> dict[type, Schema]:
    from sklearn import preprocessing

    categories = List(Categories(), "d")
    dropped = Optional(Objects("d"))
    limits = {"dtype": NumericType(), "min_frequency": Nothing(), "max_categories": Nothing()}
    return {
        preprocessing.OneHotEncoder: Schema(
            _one_hot_fits,
            limits | {"feature_name_combiner": Text(("concat",))},
            **INPUTS,
            categories_=categories,
            drop_idx_=dropped,
            _drop_idx_after_grouping=dropped,
            _infrequent_enabled=No(),
            _n_features_outs=List(Integer(0), "d"),
        ),
        preprocessing.OrdinalEncoder: Schema(
            None,
            limits
            | {
                "unknown_value": Nothing() | Number(nan=True),
                "encoded_missing_value": Number(nan=True),
            },
            **INPUTS,
            categories_=categories,
            _infrequent_enabled=No(),
            _missing_indices=Places(),
        ),
    }


def _imputers() -> dict[type, Schema]:
    from sklearn import impute

    value = Nothing() | Number(nan=True) | Text()
    return {
        impute.SimpleImputer: Schema(
            _imputer_fits,
            {"missing_values": value, "fill_value": value},
            **INPUTS,
            statistics_=Array("f", "d", nan=True) | Objects("d"),
            indicator_=Nothing() | Instance("transform"),
            _fit_dtype=DType(),
            _fill_dtype=DType(),
        ),
        impute.MissingIndicator: Schema(
            _indicator_fits,
            {"missing_values": value},
            **INPUTS,
            features_=Array("i", "*", low=0, below="d"),
            _n_features=Size("d"),
            _precomputed=Flag(),
        ),
    }


def _dummies() -> dict[type, Schema]:
    from sklearn import dummy

    return {
        dummy.DummyClassifier: Schema(
            _dummy_fits,
            n_features_in_=Optional(Size("d")),
            feature_names_in_=Optional(Strings("d")),
            classes_=Labels("k"),
            class_prior_=Array("f", "k", low=0),
            n_classes_=Size("k"),
            n_outputs_=Integer(1, 1),
            sparse_output_=No(),
            _strategy=Text(),
        ),
        dummy.DummyRegressor: Schema(
            n_features_in_=Optional(Size("d")),
            feature_names_in_=Optional(Strings("d")),
            constant_=Array("fiu", 1, 1),
            n_outputs_=Integer(1, 1),
        ),
    }


@cache
def NAMES() -> dict[type, str]:
    """Return the name under which each class is saved, such as ``"sklearn.StandardScaler"``."""
    return {cls: f"sklearn.{cls.__name__}" for cls in SCHEMAS()}
