"""Gaussian process classification by Laplace's approximation as an estimator."""

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy.linalg.lapack import dtrtrs
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets

from corollary.core.blas import one_blas_thread
from corollary.core.compat import Interval, StrOptions, fit_context
from corollary.core.estimator import check_new_data, check_training_data
from corollary.core.schema import (
    Array,
    Instance,
    Integer,
    Labels,
    List,
    Number,
    Optional,
    Schema,
    Size,
    Strings,
)
from corollary.gp.evidence import Observations
from corollary.gp.laplace import laplace_evidence_gradient, laplace_mode, logistic_normal_mean
from corollary.gp.learning import learn_hyperparameters
from corollary.gp.regressor import BLOCK, RANGE, spread_of
from corollary.kernels import RBF, Kernel

# Squared amplitude that a default kernel starts at, two logits up or down, and its range.
AMPLITUDE, AMPLITUDES = 4.0, (1e-2, 25.0)


@dataclass(frozen=True)
class _Answers:
    """Yes-or-no answers at points, in the form that the search for hyper-parameters takes."""

    X: np.ndarray
    t: np.ndarray
    weight: np.ndarray

    def take(self, points: np.ndarray) -> "_Answers":
        return _Answers(self.X[points], self.t[points], self.weight[points])


@dataclass(frozen=True)
class _Search:
    """The approximate evidence as a function of the kernel's parameters."""

    kernel: Kernel
    low: np.ndarray
    high: np.ndarray
    learn_noise: bool = False

    @property
    def theta(self) -> np.ndarray:
        return np.clip(self.kernel.parameters().vector, self.low, self.high)

    def evidence(self, seen: _Answers, theta: np.ndarray) -> tuple[float, np.ndarray]:
        K, pull = self.kernel.with_parameters(theta).gram_with_gradient(seen.X)
        mode = laplace_mode(K, seen.t, seen.weight)
        V = laplace_evidence_gradient(K, mode, seen.weight)
        return mode.log_evidence, pull(V)[0]


class GaussianProcessClassifier(ClassifierMixin, BaseEstimator):
    r"""Gaussian process classification with the logistic likelihood and Laplace's approximation.

    A latent function f with a Gaussian process prior gives the odds of a class,
    :math:`P(y=1\mid x)=\sigma(f(x))`. With more than two classes each is set against the rest, and
    the probabilities are normalised.

    Parameters
    ----------
    kernel : Kernel or None, default=None
        Covariance of f. None for a constant times an RBF kernel with one length scale for each
        feature, which starts at the scales of the data.
    optimizer : "fmin_l_bfgs_b" or None, default="fmin_l_bfgs_b"
        None keeps the kernel as it is.
    n_restarts_optimizer : int, default=0
        Random starts of the search besides the first.
    max_iter : int, default=200
        Steps of the search at most.
    random_state : int, RandomState instance or None, default=None
        Determines restarts and the parts of the data that the search begins with.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    kernels_ : list of Kernel
        The kernel with the hyper-parameters used: one for two classes, else one for each class.
    log_marginal_likelihood_value_ : float
        Approximate log evidence; with more than two classes, the mean over the classes.
    X_ : ndarray of shape (n_rows, n_features)
        Distinct training rows of positive weight.
    slopes_ : ndarray of shape (n_models, n_rows)
        Gradients of the log likelihood at the mode: the weights of the rows in predictions of f.
    roots_ : ndarray of shape (n_models, n_rows)
        Square roots of the curvature at the mode.
    factors_ : ndarray of shape (n_models, n_rows, n_rows)
        Cholesky factors of the Newton matrices at the mode.
    n_iter_ : int
        Steps of the longest search; 0 if nothing was learnt.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if they have names.
    fingerprint_ : Fingerprint
        Memory of the training rows.

    See Also
    --------
    GaussianProcessRegressor : For numbers.

    Notes
    -----
    Probabilities average the logistic function over the approximate posterior of f, exactly; they
    are nearer to one half than the most probable f would say. The amplitude of the default kernel
    is kept below five logits: the evidence of separable classes has no maximum. Unlike
    scikit-learn's, the default kernel is learnt.

    References
    ----------
    .. [1] C. E. Rasmussen and C. K. I. Williams, Gaussian Processes for Machine Learning, 2006,
       algorithms 3.1, 3.2 and 5.1.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import GaussianProcessClassifier
    >>> X = np.linspace(-3.0, 3.0, 30)[:, None]
    >>> y = np.where(np.abs(X.ravel()) < 1.5, "inside", "outside")
    >>> model = GaussianProcessClassifier(random_state=0).fit(X, y)
    >>> model.predict([[0.0], [2.5]])
    array(['inside', 'outside'], dtype='<U7')
    >>> bool(model.predict_proba([[0.0]])[0, 0] > 0.8)
    True
    """

    _parameter_constraints = {
        "kernel": [Kernel, None],
        "optimizer": [StrOptions({"fmin_l_bfgs_b"}), None],
        "n_restarts_optimizer": [Interval(Integral, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }
    _schema = Schema(
        classes_=Labels("c"),
        kernels_=List(Instance("gram"), "k"),
        log_marginal_likelihood_value_=Number(),
        X_=Array("f", "n", "d"),
        slopes_=Array("f", "k", "n"),
        roots_=Array("f", "k", "n"),
        factors_=Array("f", "k", "n", "n"),
        n_iter_=Integer(0),
        n_features_in_=Size("d"),
        feature_names_in_=Optional(Strings("d")),
        fingerprint_=Optional(Instance("merge", "overlap")),
    )

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        optimizer: str | None = "fmin_l_bfgs_b",
        n_restarts_optimizer: int = 0,
        max_iter: int = 200,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.optimizer = optimizer
        self.n_restarts_optimizer = n_restarts_optimizer
        self.max_iter = max_iter
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the hyper-parameters and find the mode of the posterior.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Non-negative weights; a row of weight k counts like k equal rows.

        Returns
        -------
        self : GaussianProcessClassifier
            The fitted model.
        """
        X, y, weight = check_training_data(
            self, X, y, sample_weight=sample_weight, finite_squares=True
        )
        check_classification_targets(y)
        if self.kernel is not None and not self.kernel.positive_semidefinite:
            raise ValueError(
                "GaussianProcessClassifier needs a positive semi-definite kernel. "
                f"Got {self.kernel!r}."
            )
        weight = np.ones(len(y)) if weight is None else weight
        keep = weight > 0
        X, y, weight = X[keep], y[keep], weight[keep]
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError(
                "GaussianProcessClassifier needs at least two classes. Got one class only: "
                f"{str(self.classes_[0])!r}."
            )
        positives = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        # Equal rows count like one with the share of ones among them: exact, and less work.
        gathered = Observations.of(X, weight)
        self.X_, group, m = gathered.X, gathered.group, len(gathered.X)
        total = np.bincount(group, weight, m)
        self.n_iter_ = 0
        kernels, modes = [], []
        for label in positives:
            share = np.bincount(group, weight * (y == label), m) / total
            seen = _Answers(self.X_, share, total)
            kernels.append(self._learn(seen))
            with one_blas_thread():
                modes.append(laplace_mode(kernels[-1].gram(self.X_), share, total))
        self.kernels_ = kernels
        self.slopes_ = np.stack([mode.slope for mode in modes])
        self.roots_ = np.stack([mode.root for mode in modes])
        self.factors_ = np.stack([np.tril(mode.factor.lower) for mode in modes])
        self.log_marginal_likelihood_value_ = float(np.mean([m.log_evidence for m in modes]))
        return self

    def _learn(self, seen: _Answers) -> Kernel:
        if self.kernel is None:
            spread = spread_of(seen.X)
            kernel: Kernel = AMPLITUDE * RBF(spread * np.sqrt(len(spread)))
            scales = np.log(np.concatenate([[AMPLITUDE], spread]))
            low, high = scales + np.log(RANGE[0]), scales + np.log(RANGE[1])
            # Separable classes would drive the amplitude to infinity, and with it the variance
            # that the approximation ascribes to f where all answers agree.
            low[0], high[0] = np.log(AMPLITUDES)
        else:
            kernel = self.kernel
            low, high = kernel.parameters().bounds.T
        if self.optimizer is None or not len(low):
            return kernel
        search = _Search(kernel, low, high)
        learnt = learn_hyperparameters(
            seen,
            search,
            n_restarts=self.n_restarts_optimizer,
            max_iter=self.max_iter,
            random_state=self.random_state,
        )
        self.n_iter_ = max(self.n_iter_, learnt.n_iter)
        if not learnt.converged:
            warnings.warn(
                f"The evidence was still rising after max_iter={self.max_iter} steps, at "
                f"{learnt.value:.6g}. Raise max_iter.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return kernel.with_parameters(learnt.theta)

    def latent_law(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance of the latent functions.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            New inputs.

        Returns
        -------
        mean : ndarray of shape (n_samples, n_models)
            Approximate posterior means of f, in logits: one column for two classes.
        variance : ndarray of shape (n_samples, n_models)
            Its variances, never negative.
        """
        X = check_new_data(self, X)
        mean = np.empty((len(X), len(self.kernels_)))
        variance = np.empty_like(mean)
        with one_blas_thread():
            for j, kernel in enumerate(self.kernels_):
                for i in range(0, len(X), BLOCK):
                    rows = slice(i, i + BLOCK)
                    cross = kernel.gram(X[rows], self.X_)
                    mean[rows, j] = cross @ self.slopes_[j]
                    V = dtrtrs(self.factors_[j], (cross * self.roots_[j]).T, lower=1)[0]
                    left = kernel.diag(X[rows]) - np.einsum("ij,ij->j", V, V)
                    variance[rows, j] = np.maximum(left, 0.0)
        return mean, variance

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            New inputs.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        share = logistic_normal_mean(*self.latent_law(X))
        if len(self.classes_) == 2:
            return np.column_stack([1.0 - share[:, 0], share[:, 0]])
        total = share.sum(axis=1, keepdims=True)
        return np.where(total > 0, share / np.where(total > 0, total, 1.0), 1 / share.shape[1])

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable classes.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            New inputs.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The classes; a tie of two goes to the second.
        """
        probabilities = self.predict_proba(X)
        if len(self.classes_) == 2:
            return self.classes_[(probabilities[:, 1] >= 0.5).astype(int)]
        return self.classes_[np.argmax(probabilities, axis=1)]
