"""Calibrated probabilities of any classifier, by cross-validation."""

from collections.abc import Iterator
from dataclasses import KW_ONLY
from typing import Annotated, Any, Literal, Self

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import LeaveOneOut, check_cv
from sklearn.utils import get_tags
from sklearn.utils.parallel import Parallel, delayed

from corollary.core.compat import HasMethods, fit_context, safe_indexing
from corollary.core.estimator import fitted
from corollary.core.schema import Instance, Labels, List
from corollary.ensemble._members import MemberEnsemble, label_codes
from corollary.ensemble.calibrated._pair import (
    CalibratedPair,
    Method,
    aligned_responses,
    calibrate,
    responses,
)

_PROBABLE, _SCORED = HasMethods(["fit", "predict_proba"]), HasMethods(["fit", "decision_function"])


class CalibratedClassifierCV(ClassifierMixin, MemberEnsemble):
    r"""Give any classifier probabilities that hold: of rows called 80%, about 80% are right.

    The classifier is fitted to some folds of the rows, and its scores of the others, which it has
    not seen, are mapped to probabilities: by Platt's sigmoid, by the increasing step function of
    least squares (isotonic regression), or by one temperature. With more than two classes the first
    two map each class against the others and divide by the sum.

    Parameters
    ----------
    estimator : estimator or None, default=None
        A classifier with ``decision_function`` or ``predict_proba``; None for
        :class:`corollary.svm.LinearSVC`. One in :class:`sklearn.frozen.FrozenEstimator` is fitted
        already and gets its maps from all rows given.
    method : {"sigmoid", "isotonic", "temperature"}, default="sigmoid"
        "sigmoid" suits scores of machines and few rows; "isotonic" bends as it must and wants some
        thousand rows; "temperature" has one number and keeps every decision.
    cv : int, splitter, iterable or None, default=None
        Folds; None for five, stratified.
    n_jobs : int or None, default=None
        Folds to fit at a time; None for one.
    ensemble : bool or "auto", default="auto"
        Whether each fold keeps its classifier and maps, whose probabilities are averaged. If not,
        maps are learnt from the held-out scores of all folds, for one classifier that is fitted to
        all rows. "auto" is True unless the estimator is frozen.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    calibrated_classifiers_ : list
        Pairs of a fitted ``estimator`` and its ``calibrators``, each with ``predict_proba``.

    See Also
    --------
    temperature_scaling : The temperature.
    corollary.svm.platt_scaling : The sigmoid.
    corollary.validation.reliability_curve : Whether probabilities hold.

    References
    ----------
    .. [1] A. Niculescu-Mizil, R. Caruana (2005). Predicting good probabilities with supervised
       learning. ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import CalibratedClassifierCV
    >>> from corollary.svm import LinearSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 1))
    >>> y = rng.random(2000) < 1 / (1 + np.exp(-2 * X[:, 0]))  # 88% at x = 1
    >>> model = CalibratedClassifierCV(LinearSVC()).fit(X, y)
    >>> model.predict_proba([[1.0]]).round(2)
    array([[0.11, 0.89]])
    """

    estimator: Annotated[Any, _PROBABLE, _SCORED] | None = None
    _: KW_ONLY
    method: Method = "sigmoid"
    cv: Annotated[Any, "cv_object"] = None
    n_jobs: int | None = None
    ensemble: bool | Literal["auto"] = "auto"

    classes_: np.ndarray = fitted(Labels("k"))
    calibrated_classifiers_: list[Any] = fitted(List(Instance("predict_proba"), "b"))

    def _fits_together(self) -> str | None:
        for pair in self.calibrated_classifiers_:
            if not isinstance(pair, CalibratedPair):
                return "a member is not a classifier with its maps"
            if not np.array_equal(pair.classes, self.classes_):
                return "a member has other classes"
            if (
                getattr(pair.estimator, "n_features_in_", self.n_features_in_)
                != self.n_features_in_
            ):
                return "a member has other columns"
        return None

    def _template(self) -> Any:
        from corollary.svm import LinearSVC

        return LinearSVC(random_state=0) if self.estimator is None else self.estimator

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit classifiers to folds, and maps to the rows that they have not seen.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Training rows; they reach the classifier as they came.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Non-negative weights, for the classifier and for the maps.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        X, y, weight = self._check_rows(X, y, sample_weight)
        alone = {} if weight is None else {"sample_weight": weight}  # for the default estimator
        frozen = isinstance(self.estimator, FrozenEstimator)
        keywords = {} if frozen else self._fit_parameters(weight).get("estimator", alone)
        folds = list(self._folds(X, y))
        fits = Parallel(n_jobs=self.n_jobs)(
            delayed(_scored)(self._template(), X, y, train, held_out, keywords)
            for train, held_out in folds
        )
        codes = label_codes(type(self).__name__, self.classes_, y)
        if not frozen if self.ensemble == "auto" else self.ensemble:
            self.calibrated_classifiers_ = [
                self._pair(model, scores, codes[rows], None if weight is None else weight[rows])
                for (model, scores), (_, rows) in zip(fits, folds)
            ]
            return self
        places = np.concatenate([held_out for _, held_out in folds])
        if len(places) != len(y) or len(np.unique(places)) != len(y):
            raise ValueError(
                "CalibratedClassifierCV(ensemble=False) needs every row held out once. Got folds "
                "that leave rows out or repeat them; use such as StratifiedKFold, or ensemble=True."
            )
        columns = [aligned_responses(model, scores, self.classes_) for model, scores in fits]
        scores = np.vstack(columns)[np.argsort(places)]
        whole = clone(self._template())
        whole.fit(X, y, **keywords)
        self.calibrated_classifiers_ = [self._pair(whole, scores, codes, weight)]
        return self

    def _pair(self, model: Any, scores: Any, codes: np.ndarray, weight: Any) -> CalibratedPair:
        return calibrate(model, scores, codes, self.classes_, self.method, weight)

    def _folds(self, X: Any, y: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Divide the rows; every class must occur in every fold."""
        splitter = check_cv(self.cv, y, classifier=True)
        least = int(np.unique(y, return_counts=True)[1].min())
        n_folds = self.cv if isinstance(self.cv, int) else getattr(self.cv, "n_splits", None)
        if isinstance(splitter, LeaveOneOut) or (n_folds and least < n_folds):
            raise ValueError(
                f"CalibratedClassifierCV(cv={self.cv!r}) needs every class among the held-out rows "
                f"of every fold; provided are {least} rows of the rarest class, which is less than "
                "the folds. Use fewer folds, or collect rows of it."
            )
        return splitter.split(X, y)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return calibrated probabilities.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        X = self._new(X)
        answers = [pair.predict_proba(X) for pair in self.calibrated_classifiers_]
        return sum(answers[1:], start=answers[0]) / len(answers)

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable labels, which may differ from those of the classifier.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels.
        """
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._template()).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        return tags


def _scored(
    template: Any, X: Any, y: np.ndarray, train: Any, held_out: Any, keywords: dict[str, Any]
) -> tuple[Any, np.ndarray]:
    """Fit a clone to some rows, and return it with its scores of others."""
    part = {name: values[train] for name, values in keywords.items()}
    model = clone(template)
    model.fit(safe_indexing(X, train), y[train], **part)  # which users' own may return nothing from
    return model, responses(model, safe_indexing(X, held_out))
