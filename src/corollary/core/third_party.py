"""The scikit-learn classes that a model file may contain, and what their state must be.

Only classes whose prediction is plain array arithmetic are listed: a crafted tree or support
vector model could read outside its arrays inside compiled code. The list is part of the library;
no file and no flag extends it.
"""

from functools import cache
from typing import Any

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
    Plain,
    Schema,
    Size,
    Sizes,
    Spec,
    Strings,
    Text,
)

# What validation leaves on every fitted scikit-learn estimator.
INPUTS: dict[str, Spec] = {
    "n_features_in_": Optional(Size("d")),
    "feature_names_in_": Optional(Strings("d")),
}


class Nothing(Spec):
    """No value at all."""

    def matches(self, value: Any, sizes: Sizes) -> bool:
        """See :class:`corollary.core.schema.Spec`."""
        return value is None


class Step(Spec):
    """A named step of a pipeline."""

    def matches(self, value: Any, sizes: Sizes) -> bool:
        """See :class:`corollary.core.schema.Spec`."""
        match value:
            case (str(), None | "passthrough"):
                return True
            case (str(), estimator):
                return Instance("fit", "get_params").matches(estimator, sizes)
        return False


@cache
def SCHEMAS() -> dict[type, Schema]:
    """Return the schema of every third-party class that may be saved.

    Returns
    -------
    schemas : dict of type to Schema
        A function, so that scikit-learn is imported only by those who save or load.
    """
    from sklearn import dummy, impute, pipeline, preprocessing

    values = List(Labels("*"), "d")
    return {
        # A memory folder holds pickles: a file that could name one could run code at fit.
        pipeline.Pipeline: Schema(
            None,
            {
                "memory": Nothing(),
                "steps": List(Step()),
                "verbose": Flag(),
            },
        ),
        preprocessing.StandardScaler: Schema(
            **INPUTS,
            mean_=Optional(Array("f", "d")),
            var_=Optional(Array("f", "d")),
            scale_=Optional(Array("f", "d")),
            n_samples_seen_=Number(0) | Array("fiu", "d", low=0),
        ),
        preprocessing.MinMaxScaler: Schema(
            **INPUTS,
            min_=Array("f", "d"),
            scale_=Array("f", "d"),
            data_min_=Array("f", "d"),
            data_max_=Array("f", "d"),
            data_range_=Array("f", "d"),
            n_samples_seen_=Integer(0),
        ),
        preprocessing.MaxAbsScaler: Schema(
            **INPUTS,
            max_abs_=Array("f", "d"),
            scale_=Array("f", "d"),
            n_samples_seen_=Integer(0),
        ),
        preprocessing.RobustScaler: Schema(
            **INPUTS,
            center_=Optional(Array("f", "d")),
            scale_=Optional(Array("f", "d")),
        ),
        preprocessing.OneHotEncoder: Schema(
            **INPUTS,
            categories_=values,
            drop_idx_=Optional(List(Plain())),
            _drop_idx_after_grouping=Optional(List(Plain())),
            _infrequent_enabled=Flag(),
            _n_features_outs=List(Integer(0), "d"),
        ),
        preprocessing.OrdinalEncoder: Schema(
            **INPUTS,
            categories_=values,
            _infrequent_enabled=Flag(),
            _missing_indices=Optional(Mapping(Integer(0)) | Plain()),
        ),
        impute.SimpleImputer: Schema(
            **INPUTS,
            statistics_=Array("f", "d"),
            indicator_=Optional(Instance("transform")),
            _fit_dtype=DType(),
            _fill_dtype=Optional(DType()),
        ),
        impute.MissingIndicator: Schema(
            **INPUTS,
            features_=Array("i", "*", low=0, below="d"),
            _n_features=Size("d"),
            _precomputed=Optional(Flag()),
        ),
        dummy.DummyClassifier: Schema(
            **INPUTS,
            classes_=Labels("k"),
            class_prior_=Array("f", "k", low=0),
            n_classes_=Size("k"),
            n_outputs_=Integer(1, 1),
            sparse_output_=Flag(),
            _strategy=Text(),
        ),
        dummy.DummyRegressor: Schema(
            **INPUTS, constant_=Array("fiu", 1, 1), n_outputs_=Integer(1, 1)
        ),
    }


@cache
def NAMES() -> dict[type, str]:
    """Return the name under which each third-party class is saved.

    Returns
    -------
    names : dict of type to str
        For example ``"sklearn.StandardScaler"``.
    """
    return {cls: f"sklearn.{cls.__name__}" for cls in SCHEMAS()}
