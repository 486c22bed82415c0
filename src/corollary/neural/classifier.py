"""Classification by feed-forward networks."""

import os
from dataclasses import KW_ONLY
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils import column_or_1d, compute_sample_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from corollary.core.compat import fit_context
from corollary.core.estimator import (
    ArrayLike,
    ClassWeight,
    Count,
    ProbabilisticClassifier,
    remember_rows,
)
from corollary.neural._base import BaseMLP, is_stochastic


class MLPClassifier(ProbabilisticClassifier, BaseMLP):
    """Classifier by a feed-forward network, or the mean of a few.

    A network minimises the cross-entropy of a softmax over its outputs, or for two classes and for
    several labels in a row, that of a logistic function of each output.

    Parameters
    ----------
    hidden_layer_sizes : array-like of int or int, default=(100,)
        Units of each hidden layer; ``()`` is a linear model.
    activation : {"identity", "logistic", "tanh", "relu"}, default="relu"
        Activation of the hidden layers.
    solver : {"adam", "sgd", "lbfgs"}, default="adam"
        Adam or gradient descent with momentum on batches of rows, in single precision, or L-BFGS on
        all rows at once, in double precision.
    alpha : float, default=0.0001
        Strength of the penalty on the squares of the weights: half of alpha times their sum,
        divided by the weight of the rows of a batch, is added to the loss.
    batch_size : int or "auto", default="auto"
        Rows per step; "auto" is 200. At least the number of rows means full batch.
    learning_rate : {"constant", "invscaling", "adaptive"}, default="constant"
        How the step size of "sgd" changes: not at all, as ``learning_rate_init / (1 + t_) **
        power_t``, or to a fifth whenever training would stop, until it is below 1e-6.
    learning_rate_init : float, default=0.001
        Step size of "adam" and "sgd" at the start.
    power_t : float, default=0.5
        Exponent of "invscaling".
    max_iter : int, default=200
        Epochs at most; steps of "lbfgs".
    shuffle : bool, default=True
        Whether each epoch has a new random order of the rows.
    random_state : int, RandomState instance or None, default=None
        Determines starts, held-out rows and the order of rows.
    tol : float, default=1e-4
        The smallest improvement of the loss, or of the score with ``early_stopping=True``, that
        counts as one; for "lbfgs" the largest slope at which it ends.
    verbose : bool, default=False
        Whether the loss of each epoch is printed.
    warm_start : bool, default=False
        Whether the next fit starts from the networks of the last one; the state of the optimiser is
        not kept, as it is from ``partial_fit`` to ``partial_fit``.
    momentum : float, default=0.9
        Momentum of "sgd".
    nesterovs_momentum : bool, default=True
        Whether it is Nesterov's.
    early_stopping : bool or "loss", default=False
        Whether "adam" and "sgd" stop by held-out rows and go back to their best epoch. True stops
        by the accuracy there, "loss" by their loss, which says more of few rows; otherwise
        training stops by its own loss.
    validation_fraction : float, default=0.1
        Share of rows that each network holds out.
    beta_1 : float, default=0.9
        Decay of the first moment of "adam".
    beta_2 : float, default=0.999
        Decay of the second one.
    epsilon : float, default=1e-8
        What keeps the steps of "adam" finite.
    n_iter_no_change : int, inf or "auto", default=10
        Training stops at the epoch after this many without improvement. "auto" is 20, and more on
        small tables, whose epochs have few steps: as many as 250 steps take.
    max_fun : int, default=15000
        Evaluations of the loss at most, of "lbfgs".
    standardize : bool, default=False
        Whether inputs are standardised inside (mean 0, variance 1 per column, by weight), so that
        no scaler is needed in front.
    weight_decay : float, default=0.0
        Decoupled weight decay: every step of "adam" and "sgd" also shrinks parameters by the
        factor ``1 - learning_rate * weight_decay``.
    n_members : int, default=1
        Number of networks that are learned from different starts and averaged. Those that stop
        by a loss hold out disjoint parts of the rows.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, as in scikit-learn.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels; numbers of columns for several labels in a row.
    coefs_ : list of ndarray of shape (n_in, n_out)
        Weights of each layer; of shape (n_members, n_in, n_out) if there are several networks. With
        ``standardize`` they are on the scale of standardised inputs.
    intercepts_ : list of ndarray of shape (n_out,)
        Biases of each layer; of shape (n_members, n_out) if there are several networks.
    input_mean_, input_scale_ : ndarray of shape (`n_features_in_`,) or None
        What inputs are standardised by, with ``standardize``.
    loss_ : float
        Training loss of the last epoch.
    loss_curve_ : list of float
        Training loss of each epoch, also of earlier fits with ``warm_start`` and ``partial_fit``;
        of several networks the mean over those that still learned.
    loss_curves_ : list of ndarray
        The same for each network.
    best_loss_ : float or None
        The smallest loss that was reached, averaged over networks: on held-out rows if networks
        stop by it, else in training. None with ``early_stopping=True``.
    validation_scores_ : list of float or None
        With ``early_stopping=True`` the accuracy on held-out rows after each epoch.
    best_validation_score_ : float or None
        The best of them.
    validation_curves_ : list of ndarray or None
        With ``early_stopping="loss"`` the loss of each network on its held-out rows.
    n_iter_ : int
        Epochs of the network that ran longest.
    t_ : int
        Rows that "adam" or "sgd" has learned from, counted as often as they were used.
    n_layers_ : int
        Number of layers, inputs and outputs included.
    n_outputs_ : int
        Number of outputs.
    out_activation_ : str
        Function on the outputs: "softmax", or "logistic" for two classes or several labels.

    See Also
    --------
    MLPRegressor : The same for numeric targets.
    corollary.core.training.train : The training loop.

    Notes
    -----
    With ``solver`` "adam" or "sgd" training runs in single precision on JAX; predicting runs in
    double precision on NumPy. The first fit in a process compiles the loop (about a second); later
    fits with the same numbers of columns, outputs and units reuse it, whatever their number of rows
    and their other parameters. Sparse rows are learned from as dense ones.

    With a full batch and no held-out rows, a row of weight k counts as k copies of it.

    References
    ----------
    D. Kingma, J. Ba, "Adam: a method for stochastic optimization", ICLR 2015, algorithm 1.
    I. Loshchilov, F. Hutter, "Decoupled weight decay regularization", ICLR 2019, algorithm 2.
    B. Lakshminarayanan, A. Pritzel, C. Blundell, "Simple and scalable predictive uncertainty
    estimation using deep ensembles", NeurIPS 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from corollary.neural import MLPClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MLPClassifier(learning_rate_init=0.01, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    """

    hidden_layer_sizes: ArrayLike | Count = (100,)
    activation: Literal["identity", "logistic", "tanh", "relu"] = "relu"
    _: KW_ONLY
    class_weight: ClassWeight = None

    _FORMER_OUTPUT: ClassVar[str] = "softmax"

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Learn the networks.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or for several labels in a row zeros and ones.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Non-negative weights of the rows.
        checkpoint : str, path-like or None, default=None
            Folder to keep the state of training in. A fit that was killed goes on from there when
            it is repeated with the same data and an integer ``random_state``, and ends in the
            same networks.

        Returns
        -------
        self : MLPClassifier
            The fitted estimator.
        """
        X, y, weight = self._check(X, y, sample_weight, **_targets(y))
        y, classes = _labels(y)
        earlier = getattr(self, "classes_", classes)
        if self.warm_start and not np.array_equal(earlier, classes):
            raise ValueError(
                "warm_start can only be used where `y` has the same classes as in the previous "
                f"call to fit. Previously got {earlier}, `y` has {classes}. Set warm_start=False "
                "to start afresh."
            )
        self.classes_ = classes
        self._learn_labels(X, y, weight, checkpoint=checkpoint)
        return self

    @available_if(is_stochastic)
    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn once from rows, going on from what was learned before.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Their labels.
        classes : array-like of shape (n_classes,) or None, default=None
            All classes that will come; needed at the first call.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Non-negative weights of the rows.

        Returns
        -------
        self : MLPClassifier
            The estimator.
        """
        first = not hasattr(self, "classes_")
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        earlier = np.unique(classes) if first else self.classes_
        if classes is not None and not np.array_equal(earlier, np.unique(classes)):
            raise ValueError(
                f"`classes={classes}` is not the same as on last call to partial_fit, was: "
                f"{earlier}. Give the same classes, or none."
            )
        seen = getattr(self, "fingerprint_", None)
        X, y, weight = self._check(X, y, sample_weight, reset=first, **_targets(y))
        if seen is not None:
            self.fingerprint_ = seen
            remember_rows(self, X, more=True)
        y, present = _labels(y)
        if y.ndim == 1 and len(np.setdiff1d(present, earlier)):
            raise ValueError(
                f"`y` has classes not in `self.classes_`. `self.classes_` has {earlier}. 'y' has "
                f"{present}. Name all classes at the first call of partial_fit."
            )
        self.classes_ = earlier
        self._learn_labels(X, y, weight, once=True)
        return self

    def _learn_labels(self, X: Any, y: np.ndarray, weight: Any, **options: Any) -> None:
        """Code labels as the outputs' targets, and learn the networks."""
        if self.class_weight is not None:
            by_class = compute_sample_weight(self.class_weight, y)
            weight = by_class if weight is None else weight * by_class
        if y.ndim == 2:
            self.out_activation_, loss, codes = "logistic", ("logistic", y.shape[1]), None
            targets = y
        else:
            codes = np.searchsorted(self.classes_, y)
            if len(self.classes_) == 2:
                self.out_activation_, loss, targets = "logistic", ("logistic", 1), codes[:, None]
            else:
                loss, targets = ("cross-entropy", len(self.classes_)), codes
                self.out_activation_ = "softmax"
        self._learn(X, targets, weight, loss, labels=codes, **options)

    def _has_many_labels(self) -> bool:
        return self.out_activation_ == "logistic" and self.n_outputs_ == len(self.classes_)

    def _choose(self, scores: np.ndarray) -> np.ndarray:
        if self._has_many_labels():
            return (scores > 0.5).astype(int)
        return super()._choose(scores)

    def _probabilities(self, X: Any) -> np.ndarray:
        """Return the mean of the networks' probabilities."""
        from scipy.special import expit, softmax

        outputs = self._outputs(X)
        if self.out_activation_ == "softmax":
            return softmax(outputs, axis=2).mean(axis=0)
        positive = expit(outputs).mean(axis=0)
        if self._has_many_labels():
            return positive
        return np.hstack([expit(-outputs).mean(axis=0), positive])

    def _log_probabilities(self, X: Any) -> np.ndarray:
        from scipy.special import log_expit, log_softmax, logsumexp

        outputs = self._outputs(X)
        if self.out_activation_ == "softmax":
            logs = log_softmax(outputs, axis=2)
        elif self._has_many_labels():
            return super()._log_probabilities(X)
        else:
            logs = log_expit(np.concatenate([-outputs, outputs], axis=2))
        return logsumexp(logs, axis=0) - np.log(len(logs))

    def _fits_together(self) -> str | None:
        outputs = {"softmax": len(self.classes_), "logistic": self.n_outputs_}
        binary = self.out_activation_ == "logistic" and len(self.classes_) == 2
        allowed = {len(self.classes_)} | ({1} if binary else set())
        if outputs.get(self.out_activation_) != self.n_outputs_ or self.n_outputs_ not in allowed:
            return "its outputs do not fit its classes"
        return super()._fits_together()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def _targets(y: Any) -> dict[str, Any]:
    """Return how targets are checked: rows may have several labels."""
    return {} if y is None else {"multi_output": True}


def _labels(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return labels, or zeros and ones for several labels in a row, and the classes."""
    y = y.toarray() if hasattr(y, "toarray") else y
    if y.ndim == 2 and y.shape[1] == 1:
        y = column_or_1d(y, warn=True)
    check_classification_targets(y)
    if type_of_target(y).startswith("multilabel"):
        return y, np.arange(y.shape[1])
    if y.ndim == 2:
        raise ValueError(
            "MLPClassifier needs one label for each row, or zeros and ones for several. Got "
            f"targets of shape {y.shape} with other values; use MultiOutputClassifier."
        )
    return y, np.unique(y)
