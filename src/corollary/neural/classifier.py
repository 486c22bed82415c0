"""Classification by feed-forward networks."""

import os
from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from sklearn.utils import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets

from corollary.core.compat import fit_context
from corollary.core.estimator import ClassWeight, ProbabilisticClassifier
from corollary.neural._base import BaseMLP


class MLPClassifier(ProbabilisticClassifier, BaseMLP):
    """Classifier that averages a few feed-forward networks.

    Each of ``n_members`` networks minimises the cross-entropy of a softmax over its outputs by
    AdamW from a random start of its own. With ``early_stopping`` each holds out another part of
    the rows, stops when the loss there no longer falls, and goes back to its best epoch.
    Probabilities are the mean over networks. Inputs are standardised inside (mean 0, variance 1
    per column, by weight), so that no scaler is needed in front.

    Parameters
    ----------
    hidden_layer_sizes : array-like of int or int, default=(100,)
        Units of each hidden layer; ``()`` is a linear model.
    activation : {"identity", "logistic", "tanh", "relu"}, default="relu"
        Activation of the hidden layers.
    alpha : float, default=0.01
        Decoupled weight decay: every step shrinks parameters by the factor
        ``1 - learning_rate_init * alpha``. It does not depend on the number of rows, unlike the
        penalty of the same name in scikit-learn.
    batch_size : int or "auto", default="auto"
        Rows per step; "auto" is 32 up to 2,048 rows and grows to 256. At least the number of rows
        means full batch.
    learning_rate_init : float, default=0.003
        Step size of AdamW.
    max_iter : int, default=1000
        Epochs at most.
    random_state : int, RandomState instance or None, default=None
        Determines starts, held-out rows and the order of rows.
    tol : float, default=1e-4
        The smallest improvement of the loss, in nats, that counts as one.
    warm_start : bool, default=False
        Whether the next fit starts from the networks of the last one. Their scaling of the inputs
        is kept, the state of the optimiser is not.
    early_stopping : bool, default=True
        Whether to stop by held-out rows; otherwise by the training loss. Tables with too few rows
        to hold out two are trained on whole.
    validation_fraction : float, default=0.1
        Share of rows that each network holds out.
    n_iter_no_change : int or "auto", default="auto"
        Epochs without improvement after which a network stops; "auto" is 20, and more on small
        tables, whose epochs have few steps: as many as 250 steps take.
    n_members : int, default=5
        Number of networks. 1 gives scikit-learn's model.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, as in scikit-learn.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    coefs_ : list of ndarray of shape (n_members, n_in, n_out)
        Weights of each layer, on the scale of standardised inputs.
    intercepts_ : list of ndarray of shape (n_members, n_out)
        Biases of each layer.
    input_mean_, input_scale_ : ndarray of shape (`n_features_in_`,)
        What inputs are standardised by.
    loss_curves_ : list of ndarray
        For each network the mean training loss of each epoch.
    validation_curves_ : list of ndarray or None
        For each network the held-out loss after each epoch; None if no rows were held out.
    best_loss_ : float
        The loss that networks stopped by at the epoch they kept, averaged over networks.
    n_iter_ : int
        Epochs of the network that ran longest.
    n_layers_ : int
        Number of layers, inputs and outputs included.
    n_outputs_ : int
        Number of outputs.

    See Also
    --------
    MLPRegressor : The same for numeric targets.
    corollary.core.training.train : The training loop.

    Notes
    -----
    Training runs in single precision on JAX, predicting in double precision on NumPy. The first
    fit in a process compiles the loop (about a second); later fits with the same numbers of
    columns, classes and units reuse it, whatever their number of rows.

    With a full batch and ``early_stopping=False``, a row of weight k counts as k copies of it.

    References
    ----------
    I. Loshchilov, F. Hutter, "Decoupled weight decay regularization", ICLR 2019, algorithm 2.
    B. Lakshminarayanan, A. Pritzel, C. Blundell, "Simple and scalable predictive uncertainty
    estimation using deep ensembles", NeurIPS 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from corollary.neural import MLPClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MLPClassifier(n_members=2, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    """

    _: KW_ONLY
    class_weight: ClassWeight = None

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
        X : array-like of shape (n_samples, n_features)
            Training inputs.
        y : array-like of shape (n_samples,)
            Class labels.
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
        X, y, weight = self._check(X, y, sample_weight)
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        earlier = getattr(self, "classes_", classes)
        if self.warm_start and not np.array_equal(earlier, classes):
            raise ValueError(
                f"warm_start=True needs the classes of the last fit, {earlier}. "
                f"Got {classes} instead. Set warm_start=False to start afresh."
            )
        self.classes_ = classes
        if self.class_weight is not None:
            by_class = compute_sample_weight(self.class_weight, y)
            weight = by_class if weight is None else weight * by_class
        self._fit_networks(X, codes, weight, ("cross-entropy", len(classes)), checkpoint)
        return self

    def _probabilities(self, X: np.ndarray) -> np.ndarray:
        """Return the mean of the networks' probabilities."""
        from scipy.special import softmax

        return softmax(self._outputs(X), axis=2).mean(axis=0)

    def _log_probabilities(self, X: np.ndarray) -> np.ndarray:
        from scipy.special import log_softmax, logsumexp

        outputs = log_softmax(self._outputs(X), axis=2)
        return logsumexp(outputs, axis=0) - np.log(len(outputs))
