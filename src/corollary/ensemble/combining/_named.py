"""What votes and stacks share: a list of named estimators that take rows as they come."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import TransformerMixin, clone, is_classifier, is_regressor
from sklearn.utils import Bunch, get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from corollary.core.compat import BaseComposition, check_feature_names_in
from corollary.core.estimator import fitted
from corollary.core.schema import Instance, List, Spec, Text
from corollary.ensemble._members import MemberEnsemble


class NamedEstimators(Spec):
    """A list of pairs: a name, and an estimator or "drop"."""

    def matches(self, value: Any, sizes: dict[str, int]) -> bool:
        """See :class:`corollary.core.schema.Spec`."""
        if not isinstance(value, list | tuple):
            return False
        return all(
            isinstance(pair, list | tuple)
            and len(pair) == 2
            and isinstance(pair[0], str)
            and (Text(("drop",)) | Instance("fit", "predict", "get_params")).matches(pair[1], {})
            for pair in value
        )


class NamedEnsemble(TransformerMixin, MemberEnsemble, BaseComposition):
    """An ensemble of named estimators.

    Its subclasses have ``n_jobs``; parameters of members are set by
    ``set_params(name__parameter=...)``, and ``set_params(name="drop")`` leaves one out.
    """

    estimators: list[Any] | tuple[Any, ...]

    estimators_: list[Any] = fitted(List(Instance("fit", "predict"), "b"))

    _takes_regressors: ClassVar[bool] = False
    _saved_parameters: ClassVar[dict[str, Spec]] = {"estimators": NamedEstimators()}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the ensemble and of its members.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the members and their parameters.

        Returns
        -------
        params : dict
            Names to values.
        """
        return self._get_params("estimators", deep=deep)

    def set_params(self, **params: Any) -> Any:
        """Set parameters of the ensemble or of its members.

        Parameters
        ----------
        **params
            Names to values, ``name__parameter`` for those of members; an estimator or "drop"
            under the name of a member replaces it.

        Returns
        -------
        self : estimator
            The same object.
        """
        self._set_params("estimators", **params)
        return self

    @property
    def named_estimators(self) -> Bunch:
        """Members by name, as they were given."""
        return Bunch(**dict(self.estimators))

    @property
    def named_estimators_(self) -> Bunch:
        """Fitted members by name, with "drop" in place of those that were left out."""
        check_is_fitted(self)
        names = [name for name, _ in self._active()]
        return Bunch(**(dict(self.estimators) | dict(zip(names, self.estimators_))))

    def _names_out(self, counts: list[int], input_features: Any, *, more: bool) -> np.ndarray:
        """Name the columns of members, and the features behind them if there are more."""
        check_is_fitted(self)
        features = check_feature_names_in(self, input_features, generate_names=more)
        stem = type(self).__name__.lower()
        names = [
            f"{stem}_{name}{'' if count == 1 else i}"
            for (name, _), count in zip(self._active(), counts)
            for i in range(count)
        ]
        return np.array([*names, *(features if more else [])], dtype=object)

    def _active(self) -> list[tuple[str, Any]]:
        """Check the list of estimators and return those that are not dropped."""
        who = type(self).__name__
        pairs = self.estimators
        if (
            not isinstance(pairs, list | tuple)
            or not pairs
            or not all(
                isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str)
                for pair in pairs
            )
        ):
            raise ValueError(
                f"The 'estimators' parameter of {who} must be a non-empty list of (str, estimator) "
                "tuples."
            )
        self._validate_names([name for name, _ in pairs])
        active = [(name, member) for name, member in pairs if member != "drop"]
        if not active:
            raise ValueError(f"All estimators of {who} are dropped. Keep at least one.")
        kind = is_classifier if is_classifier(self) else is_regressor
        for name, member in active:
            if not (kind(member) or (self._takes_regressors and is_regressor(member))):
                raise ValueError(
                    f"{who} needs {kind.__name__[3:]}s as estimators. {name!r} is a "
                    f"{type(member).__name__}, which is not one."
                )
        return active

    def _inner(self) -> dict[str, Any]:
        return dict(self._active())

    def _fit_members(self, X: Any, y: np.ndarray, keywords: dict[str, Any]) -> list[Any]:
        """Fit a clone of every member to all rows, with its own keywords of fit."""
        return list(
            Parallel(n_jobs=self.n_jobs)(
                delayed(clone(member).fit)(X, y, **keywords[name])
                for name, member in self._active()
            )
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        pairs = self.estimators if isinstance(self.estimators, list | tuple) else []
        inner = [
            get_tags(pair[1]).input_tags
            for pair in pairs
            if isinstance(pair, list | tuple) and len(pair) == 2 and hasattr(pair[1], "fit")
        ]
        tags.input_tags.sparse = bool(inner) and all(t.sparse for t in inner)
        tags.input_tags.allow_nan = bool(inner) and all(t.allow_nan for t in inner)
        return tags
