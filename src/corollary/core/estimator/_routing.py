"""Meta-estimators: which of the estimators inside another get the weights of rows.

By default weights go to every estimator inside, and one whose ``fit`` takes none is refused. With
``sklearn.set_config(enable_metadata_routing=True)`` each estimator inside says by its
``set_fit_request`` whether it wants them, and one that has not said so is refused.
"""

from typing import Any, ClassVar

from sklearn import get_config
from sklearn.base import MetaEstimatorMixin
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.validation import has_fit_parameter


class MetaEstimator(MetaEstimatorMixin):
    """A mixin for estimators that fit others; it stands before other bases.

    ``_inner`` returns the estimators that ``fit`` will fit, by name. ``_uses_weights`` is whether
    weights do something besides being passed on; an estimator around this one must then ask for
    them here, too.
    """

    _uses_weights: ClassVar[bool] = True

    def _inner(self) -> dict[str, Any]:
        """Return the estimators inside, as they were given."""
        estimator = self.estimator
        return {} if estimator is None else {"estimator": estimator}

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which weights go where, as scikit-learn's metadata routing asks for it.

        Returns
        -------
        router : MetadataRouter
            The requests of the estimators inside and, if it uses weights itself, its own.
        """
        router = MetadataRouter(owner=self)
        if self._uses_weights:
            router.add_self_request(self)
        both = MethodMapping().add(caller="fit", callee="fit")
        return router.add(method_mapping=both, **self._inner())

    def _fit_parameters(self, sample_weight: Any) -> dict[str, dict[str, Any]]:
        """Return, for each of the estimators inside, how its ``fit`` is given weights."""
        inner = self._inner()
        if sample_weight is None:
            return {name: {} for name in inner}
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", sample_weight=sample_weight)
            return {name: dict(routed[name].fit) for name in inner}
        return {
            name: weight_parameters(self, estimator, sample_weight)
            for name, estimator in inner.items()
        }


def takes_weights(estimator: Any) -> bool:
    """Tell whether an estimator may be fitted with weights that are made for it."""
    if get_config()["enable_metadata_routing"]:
        return bool(get_routing_for_object(estimator).consumes("fit", ["sample_weight"]))
    return bool(has_fit_parameter(estimator, "sample_weight"))


def weight_parameters(meta: Any, estimator: Any, sample_weight: Any) -> dict[str, Any]:
    """Return how the ``fit`` of an estimator is given weights of rows, if it takes any."""
    if has_fit_parameter(estimator, "sample_weight"):
        return {"sample_weight": sample_weight}
    steps = getattr(estimator, "steps", None)
    if steps and has_fit_parameter(steps[-1][1], "sample_weight"):
        return {f"{steps[-1][0]}__sample_weight": sample_weight}
    last = steps[-1][1] if steps else estimator
    raise ValueError(
        f"{type(meta).__name__} passes weights of rows on, and the fit of {type(last).__name__} "
        "doesn't support it: it has no sample_weight. Use an estimator that weighs rows, such as a "
        "tree, a stump or LogisticRegression, or fit without sample weights where the method "
        "allows it."
    )
