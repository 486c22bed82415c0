"""Regression by feed-forward networks."""

import os
from typing import Any, Self

import numpy as np
from sklearn.utils import column_or_1d

from corollary.core.compat import fit_context
from corollary.core.estimator import Regressor, fitted
from corollary.core.schema import Array, Number
from corollary.neural._base import BaseMLP, location_and_scale


class MLPRegressor(Regressor, BaseMLP):
    """Regressor that averages a few feed-forward networks.

    Each of ``n_members`` networks minimises the squared error by AdamW from a random start of its
    own. With ``early_stopping`` each holds out another part of the rows, stops when the loss there
    no longer falls, and goes back to its best epoch. The prediction is the mean over networks.
    Inputs and targets are standardised inside, so that no scaler is needed around it.

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
        The smallest improvement of the loss (half the squared error, in units of the targets'
        variance) that counts as one.
    warm_start : bool, default=False
        Whether the next fit starts from the networks of the last one. Their scaling of inputs and
        targets is kept, the state of the optimiser is not.
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

    Attributes
    ----------
    coefs_ : list of ndarray of shape (n_members, n_in, n_out)
        Weights of each layer, on the scale of standardised inputs.
    intercepts_ : list of ndarray of shape (n_members, n_out)
        Biases of each layer.
    input_mean_, input_scale_ : ndarray of shape (`n_features_in_`,)
        What inputs are standardised by.
    target_mean_, target_scale_ : float or ndarray of shape (`n_outputs_`,)
        What targets are standardised by; numbers if targets were one-dimensional.
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
    MLPClassifier : The same for classes.
    corollary.core.training.train : The training loop.

    Notes
    -----
    Training runs in single precision on JAX, predicting in double precision on NumPy. The first
    fit in a process compiles the loop (about a second); later fits with the same numbers of
    columns, outputs and units reuse it, whatever their number of rows.

    With a full batch and ``early_stopping=False``, a row of weight k counts as k copies of it.

    References
    ----------
    I. Loshchilov, F. Hutter, "Decoupled weight decay regularization", ICLR 2019, algorithm 2.
    B. Lakshminarayanan, A. Pritzel, C. Blundell, "Simple and scalable predictive uncertainty
    estimation using deep ensembles", NeurIPS 2017.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from corollary.neural import MLPRegressor
    >>> X, y = make_friedman1(400, random_state=0)
    >>> model = MLPRegressor(n_members=2, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    """

    target_mean_: Any = fitted(Number() | Array("f", "k"))
    target_scale_: Any = fitted(Number() | Array("f", "k"))

    def _fits_together(self) -> str | None:
        shapes = {np.shape(self.target_mean_), np.shape(self.target_scale_)}
        if len(shapes) != 1 or (shapes == {()} and self.n_outputs_ != 1):
            return "the scale of its targets does not fit its outputs"
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
        X : array-like of shape (n_samples, n_features)
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
        checks: dict[str, Any] = {} if y is None else {"multi_output": True, "y_numeric": True}
        X, y, weight = self._check(X, y, sample_weight, **checks)
        y = np.asarray(y, np.float64)
        if y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        if not (self.warm_start and hasattr(self, "coefs_")):
            self.target_mean_, self.target_scale_ = location_and_scale(y, weight)
        Y = ((y - self.target_mean_) / self.target_scale_).reshape(len(y), -1)
        self._fit_networks(X, Y, weight, ("squared", Y.shape[1]), checkpoint)
        counted = Y if weight is None else Y[weight > 0]
        constant = counted.max(axis=0) == counted.min(axis=0)
        if constant.any() and not counted[:, constant].any():
            # There is nothing to learn but the mean, which networks only come near.
            self.coefs_[-1][:, :, constant] = self.intercepts_[-1][:, constant] = 0.0
        return self

    def _predict(self, X: np.ndarray) -> np.ndarray:
        """Return the mean of the networks' predictions, shaped like the targets of training."""
        outputs = self._outputs(X).mean(axis=0)
        if np.ndim(self.target_mean_) == 0:
            outputs = outputs[:, 0]
        return outputs * self.target_scale_ + self.target_mean_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
