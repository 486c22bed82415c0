"""Gaussian process classification by Laplace's approximation as an estimator."""

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np
from scipy.linalg.lapack import dtrtrs
from sklearn.exceptions import ConvergenceWarning

from corollary.core.estimator import (
    Count,
    CountFromZero,
    ProbabilisticClassifier,
    RandomSeed,
    fitted,
    refuse_one_class,
)
from corollary.core.parallel import one_blas_thread
from corollary.core.schema import Array, Instance, Integer, Labels, List, Number
from corollary.gp._defaults import RANGE, spread_of
from corollary.gp.classification.laplace import (
    laplace_evidence_gradient,
    laplace_mode,
    logistic_normal_mean,
)
from corollary.gp.exact.evidence import Observations
from corollary.gp.exact.regressor import BLOCK
from corollary.gp.learning.search import learn_hyperparameters
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


class GaussianProcessClassifier(ProbabilisticClassifier):
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

    kernel: Kernel | None = None
    _: KW_ONLY
    optimizer: Literal["fmin_l_bfgs_b"] | None = "fmin_l_bfgs_b"
    n_restarts_optimizer: CountFromZero = 0
    max_iter: Count = 200
    random_state: RandomSeed = None

    classes_: np.ndarray = fitted(Labels("c"))
    kernels_: list[Kernel] = fitted(List(Instance("gram"), "k"))
    log_marginal_likelihood_value_: float = fitted(Number(infinite=True))
    X_: np.ndarray = fitted(Array("f", "n", "d"))
    slopes_: np.ndarray = fitted(Array("f", "k", "n"))
    roots_: np.ndarray = fitted(Array("f", "k", "n"))
    factors_: np.ndarray = fitted(Array("f", "k", "n", "n"))
    n_iter_: int = fitted(Integer(0))

    _training_rows = {"finite_squares": True}

    def _fits_together(self) -> str | None:
        return next(filter(None, (kernel.problem_with(self.X_) for kernel in self.kernels_)), None)

    def _fit(self, X: np.ndarray, codes: np.ndarray, sample_weight: np.ndarray | None) -> None:
        if self.kernel is not None and not self.kernel.positive_semidefinite:
            raise ValueError(
                "GaussianProcessClassifier needs a positive semi-definite kernel. "
                f"Got {self.kernel!r}."
            )
        weight = np.ones(len(codes)) if sample_weight is None else sample_weight
        keep = weight > 0
        X, weight = X[keep], weight[keep]
        # Classes of which no row has weight are not there.
        present, codes = np.unique(codes[keep], return_inverse=True)
        self.classes_ = self.classes_[present]
        refuse_one_class(self, self.classes_)
        # Equal rows count like one with the share of ones among them: exact, and less work.
        gathered = Observations.of(X, weight)
        self.X_, group, m = gathered.X, gathered.group, len(gathered.X)
        total = np.bincount(group, weight, m)
        self.n_iter_ = 0
        kernels, modes = [], []
        for code in [1] if len(self.classes_) == 2 else range(len(self.classes_)):
            share = np.bincount(group, weight * (codes == code), m) / total
            seen = _Answers(self.X_, share, total)
            kernels.append(self._learn(seen))
            with one_blas_thread():
                modes.append(laplace_mode(kernels[-1].gram(self.X_), share, total))
        self.kernels_ = kernels
        self.slopes_ = np.stack([mode.slope for mode in modes])
        self.roots_ = np.stack([mode.root for mode in modes])
        self.factors_ = np.stack([np.tril(mode.factor.lower) for mode in modes])
        self.log_marginal_likelihood_value_ = float(np.mean([m.log_evidence for m in modes]))

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
                stacklevel=5,
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
        return self._latent_law(self._new(X))

    def _latent_law(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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

    def _probabilities(self, X: np.ndarray) -> np.ndarray:
        share = logistic_normal_mean(*self._latent_law(X))
        if len(self.classes_) == 2:
            return np.column_stack([1.0 - share[:, 0], share[:, 0]])
        total = share.sum(axis=1, keepdims=True)
        return np.where(total > 0, share / np.where(total > 0, total, 1.0), 1 / share.shape[1])
