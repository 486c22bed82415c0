"""Regression by feed-forward networks."""

import os
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.metaestimators import available_if

from corollary.core.compat import fit_context
from corollary.core.estimator import ArrayLike, Count, Regressor, fitted, remember_rows
from corollary.core.schema import Array, Number, Optional
from corollary.neural._base import BaseMLP, is_stochastic, location_and_scale


class MLPRegressor(Regressor, BaseMLP):
    """Regressor by a feed-forward network, or the mean of a few.

    A network minimises half the squared error, summed over targets, or half the Poisson deviance.

    Parameters
    ----------
    loss : {"squared_error", "poisson"}, default="squared_error"
        What is minimised; "poisson" predicts the exponential of the outputs.
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
        by the R^2 there, "loss" by their loss, which says more of few rows; otherwise
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
        no scaler is needed in front. Targets are, too, for
        the squared error, and losses are then in units of their variance.
    weight_decay : float, default=0.0
        Decoupled weight decay: every step of "adam" and "sgd" also shrinks parameters by the
        factor ``1 - learning_rate * weight_decay``.
    n_members : int, default=1
        Number of networks that are learned from different starts and averaged. Those that stop
        by a loss hold out disjoint parts of the rows.

    Attributes
    ----------
    coefs_ : list of ndarray of shape (n_in, n_out)
        Weights of each layer; of shape (n_members, n_in, n_out) if there are several networks. With
        ``standardize`` they are on the scale of standardised inputs.
    intercepts_ : list of ndarray of shape (n_out,)
        Biases of each layer; of shape (n_members, n_out) if there are several networks.
    input_mean_, input_scale_ : ndarray of shape (`n_features_in_`,) or None
        What inputs are standardised by, with ``standardize``.
    target_mean_, target_scale_ : float or ndarray of shape (`n_outputs_`,), or None
        What targets are standardised by, with ``standardize``.
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
        With ``early_stopping=True`` the R^2 on held-out rows after each epoch.
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
        Function on the outputs: "identity", or "exp" for Poisson targets.

    See Also
    --------
    MLPClassifier : The same for classes.
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
    >>> from sklearn.datasets import make_friedman1
    >>> from corollary.neural import MLPRegressor
    >>> X, y = make_friedman1(400, random_state=0)
    >>> model = MLPRegressor(standardize=True, learning_rate_init=0.01, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    """

    loss: Literal["squared_error", "poisson"] = "squared_error"
    hidden_layer_sizes: ArrayLike | Count = (100,)
    activation: Literal["identity", "logistic", "tanh", "relu"] = "relu"
    target_mean_: Any = fitted(Optional(Number() | Array("f", "k")))
    target_scale_: Any = fitted(Optional(Number() | Array("f", "k")))

    _FORMER_OUTPUT: ClassVar[str] = "identity"

    def _fits_together(self) -> str | None:
        mean: Any = getattr(self, "target_mean_", None)
        scale: Any = getattr(self, "target_scale_", None)
        if (mean is None) != (scale is None) or np.shape(mean) != np.shape(scale):
            return "the scale of its targets does not fit their mean"
        if mean is not None and np.size(mean) != self.n_outputs_:
            return "the scale of its targets does not fit its outputs"
        if self.out_activation_ not in ("identity", "exp"):
            return "its outputs are no numbers"
        return super()._fits_together()

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
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Non-negative weights of the rows.
        checkpoint : str, path-like or None, default=None
            Folder to keep the state of training in. A fit that was killed goes on from there when
            it is repeated with the same data and an integer ``random_state``, and ends in the
            same networks.

        Returns
        -------
        self : MLPRegressor
            The fitted estimator.
        """
        X, y, weight = self._check(X, y, sample_weight, **_targets(y))
        first = not (self.warm_start and hasattr(self, "coefs_"))
        self._learn_numbers(X, y, weight, first=first, checkpoint=checkpoint)
        return self

    @available_if(is_stochastic)
    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn once from rows, going on from what was learned before.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Non-negative weights of the rows.

        Returns
        -------
        self : MLPRegressor
            The estimator.
        """
        first, seen = not hasattr(self, "coefs_"), getattr(self, "fingerprint_", None)
        X, y, weight = self._check(X, y, sample_weight, reset=first, **_targets(y))
        if seen is not None:
            self.fingerprint_ = seen
            remember_rows(self, X, more=True)
        self._learn_numbers(X, y, weight, first=first, once=True)
        return self

    def _learn_numbers(
        self, X: Any, y: np.ndarray, weight: Any, *, first: bool, **options: Any
    ) -> None:
        """Scale targets if asked to, and learn the networks."""
        y = np.asarray(y, np.float64)
        if y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        poisson = self.loss == "poisson"
        if poisson and y.min() < 0:
            raise ValueError(
                f"MLPRegressor(loss='poisson') needs targets of at least 0. Got {y.min():.6g}. "
                "Use loss='squared_error'."
            )
        if first:
            self.target_mean_ = self.target_scale_ = None
            if self.standardize and not poisson:
                self.target_mean_, self.target_scale_ = location_and_scale(y, weight)
        self.out_activation_ = "exp" if poisson else "identity"
        if self.target_mean_ is not None:
            y = (y - self.target_mean_) / self.target_scale_
        Y = y.reshape(len(y), -1)
        self._learn(X, Y, weight, ("poisson" if poisson else "squared", Y.shape[1]), **options)
        counted = Y if weight is None else Y[weight > 0]
        constant = counted.max(axis=0) == counted.min(axis=0)
        if self.target_mean_ is not None and constant.any() and not counted[:, constant].any():
            # There is nothing to learn but the mean, which networks only come near.
            self.coefs_[-1][..., constant] = self.intercepts_[-1][..., constant] = 0.0

    def _predict(self, X: Any) -> np.ndarray:
        """Return the mean of the networks' predictions, shaped like the targets of training."""
        outputs = self._outputs(X)
        with np.errstate(over="ignore"):
            predicted = np.exp(outputs) if self.out_activation_ == "exp" else outputs
        values = predicted.mean(axis=0).astype(self.coefs_[0].dtype)
        if self.n_outputs_ == 1:
            values = values[:, 0]
        if getattr(self, "target_mean_", None) is None:
            return values
        return values * self.target_scale_ + self.target_mean_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _targets(y: Any) -> dict[str, Any]:
    """Return how targets are checked: there may be several."""
    return {} if y is None else {"multi_output": True, "y_numeric": True}
