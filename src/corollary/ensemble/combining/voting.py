"""Votes and averages of named estimators, with scikit-learn's names."""

from dataclasses import KW_ONLY
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.preprocessing import LabelEncoder
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from corollary.core.compat import fit_context
from corollary.core.estimator import ArrayLike, NoEffect, Regressor, fitted
from corollary.core.schema import Labels
from corollary.ensemble._members import (
    aligned_probabilities,
    label_codes,
    members_fit,
    winners,
)
from corollary.ensemble.combining._named import NamedEnsemble
from corollary.ensemble.combining.vote import convex_combination, convex_weights, vote_shares


class _Voting(NamedEnsemble):
    """Fitting and weights."""

    _: KW_ONLY
    weights: ArrayLike | None = None
    n_jobs: int | None = None
    verbose: NoEffect = False

    _uses_weights: ClassVar[bool] = False

    def _fits_together(self) -> str | None:
        if len(self._active()) != len(self.estimators_):
            return "its fitted members are not those it lists"
        self._member_weights()
        return members_fit(self)

    def _member_weights(self) -> np.ndarray:
        if self.weights is None:
            return convex_weights(None, len(self._active()))
        if len(self.weights) != len(self.estimators):
            raise ValueError(
                f"The 'weights' parameter of {type(self).__name__} must have one number for each "
                f"of the {len(self.estimators)} estimators. Got {len(self.weights)} instead."
            )
        pairs = zip(self.weights, self.estimators)
        kept = [weight for weight, (_, member) in pairs if member != "drop"]
        return convex_weights(kept, len(kept))

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the members.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Their targets or labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Non-negative weights; then every member must take them.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        self._active()
        self._member_weights()
        X, y, sample_weight = self._check_rows(X, y, sample_weight)
        self.estimators_ = self._fit_members(X, y, self._fit_parameters(sample_weight))
        return self


class VotingRegressor(_Voting, Regressor):
    r"""Average several regressors, :math:`f=\sum_bp_bf_b`.

    Parameters
    ----------
    estimators : list of (str, estimator)
        Names and regressors; "drop" in place of one leaves it out. Rows reach them as they came.
    weights : array-like of shape (n_estimators,) or None, default=None
        Non-negative weights, divided by their sum; None for equal ones.
    n_jobs : int or None, default=None
        Members to fit at a time; None for one.
    verbose : bool, default=False
        Changes nothing: in a terminal long work shows its progress by itself.

    Attributes
    ----------
    estimators_ : list of estimators
        Fitted members.
    named_estimators_ : Bunch
        Fitted members by name.

    See Also
    --------
    StackingRegressor : Weights learnt from out-of-fold predictions.
    average_variance : What averaging does to the variance.

    Examples
    --------
    >>> from corollary.ensemble import VotingRegressor
    >>> from corollary.linear import Ridge
    >>> members = [("weak", Ridge(alpha=0.1)), ("strong", Ridge(alpha=10.0))]
    >>> model = VotingRegressor(members, weights=[3, 1]).fit([[0.0], [1.0], [2.0]], [0, 1, 2])
    >>> model.predict([[3.0]]).round(3)
    array([2.512])
    """

    def _predict(self, X: Any) -> np.ndarray:
        predictions = [member.predict(X) for member in self.estimators_]
        return convex_combination(predictions, self._member_weights())

    def transform(self, X: Any) -> np.ndarray:
        """Return the predictions of all members.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        predictions : ndarray of shape (n_samples, n_members)
            A column for each member that is not dropped.
        """
        X = self._new(X)
        return np.column_stack([member.predict(X) for member in self.estimators_])

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Name the columns of :meth:`transform`.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the features; checked, but not used.

        Returns
        -------
        names : ndarray of str
            Such as ``votingregressor_ridge``.
        """
        return self._names_out([1] * len(self._active()), input_features, more=False)


def _is_soft(self: "VotingClassifier") -> bool:
    if self.voting == "hard":
        raise AttributeError(f"predict_proba is not available when voting={self.voting!r}")
    return True


class VotingClassifier(ClassifierMixin, _Voting):
    r"""Let several classifiers vote, or average their probabilities.

    Parameters
    ----------
    estimators : list of (str, estimator)
        Names and classifiers; "drop" in place of one leaves it out. Rows reach them as they came.
    weights : array-like of shape (n_estimators,) or None, default=None
        Non-negative weights, divided by their sum; None for equal ones.
    n_jobs : int or None, default=None
        Members to fit at a time; None for one.
    verbose : bool, default=False
        Changes nothing: in a terminal long work shows its progress by itself.
    voting : {"hard", "soft"}, default="hard"
        "hard" counts labels, "soft" averages probabilities, which all members must give.
    flatten_transform : bool, default=True
        Whether :meth:`transform` puts the probabilities of soft voting side by side.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    estimators_ : list of estimators
        Fitted members.
    named_estimators_ : Bunch
        Fitted members by name.

    See Also
    --------
    StackingClassifier : Weights learnt from out-of-fold predictions.
    weighted_vote : The vote itself.
    majority_error : How good a majority of independent voters is.

    Notes
    -----
    Of labels with equal weight the smallest wins. Members are fitted to the labels themselves,
    not to their numbers.

    Examples
    --------
    >>> from corollary.ensemble import StumpClassifier, VotingClassifier
    >>> from corollary.linear import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["low", "low", "high", "high"]
    >>> members = [("stump", StumpClassifier()), ("line", LogisticRegression())]
    >>> VotingClassifier(members, voting="soft").fit(X, y).predict([[0.2], [2.9]])
    array(['low', 'high'], dtype='<U4')
    """

    _: KW_ONLY
    voting: Literal["hard", "soft"] = "hard"
    flatten_transform: bool = True

    classes_: np.ndarray = fitted(Labels("k"))

    def _active(self) -> list[tuple[str, Any]]:
        active = super()._active()
        for name, member in active if self.voting == "soft" else []:
            if not hasattr(member, "predict_proba"):
                raise ValueError(
                    f"VotingClassifier(voting='soft') needs members with predict_proba. "
                    f"{name!r} has none; use voting='hard' or calibrate it."
                )
        return active

    @property
    def le_(self) -> LabelEncoder:
        """What turns labels into their numbers."""
        check_is_fitted(self)
        return LabelEncoder().fit(self.classes_)

    def _answers(self, X: Any) -> np.ndarray:
        """Return the probabilities, or the numbers of the labels, that members give."""
        X = self._new(X)
        who, classes = "VotingClassifier", self.classes_
        if self.voting == "soft":
            return np.array([aligned_probabilities(who, classes, m, X) for m in self.estimators_])
        return np.array([label_codes(who, classes, m.predict(X)) for m in self.estimators_])

    def _shares(self, X: Any) -> np.ndarray:
        answers, weights = self._answers(X), self._member_weights()
        if self.voting == "soft":
            return convex_combination(list(answers), weights)
        return vote_shares(answers, len(self.classes_), weights)

    def transform(self, X: Any) -> np.ndarray:
        """Return the probabilities or labels of all members.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        answers : ndarray of shape (n_samples, n_members * n_classes), (n_members, n_samples, \
                n_classes) or (n_samples, n_members)
            Probabilities side by side; or one table for each member, unless
            ``flatten_transform``; with hard voting the positions of labels in ``classes_``.
        """
        answers = self._answers(X)
        if self.voting == "hard":
            return answers.T
        return np.hstack(list(answers)) if self.flatten_transform else answers

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Name the columns of :meth:`transform`.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the features; checked, but not used.

        Returns
        -------
        names : ndarray of str
            Such as ``votingclassifier_tree`` or, with soft voting, ``votingclassifier_tree0``.
        """
        if self.voting == "soft" and not self.flatten_transform:
            raise ValueError(
                "VotingClassifier(flatten_transform=False) gives a table for each member, whose "
                "columns have no names. Set flatten_transform=True."
            )
        width = 1 if self.voting == "hard" else len(self.classes_)
        return self._names_out([width] * len(self._active()), input_features, more=False)

    def predict(self, X: Any) -> np.ndarray:
        """Return the winning labels.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels.
        """
        best = winners(self._shares(X))
        return self.classes_[best]

    @available_if(_is_soft)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the averaged probabilities.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return self._shares(X)
