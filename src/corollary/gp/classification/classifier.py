"""Gaussian process classification by Laplace's approximation as an estimator."""

import warnings
from dataclasses import KW_ONLY
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from corollary.core.compat import Only, warn_at_bounds
from corollary.core.estimator import (
    Count,
    CountFromZero,
    NoEffect,
    ProbabilisticClassifier,
    RandomSeed,
    fitted,
    refuse_one_class,
)
from corollary.core.parallel import one_blas_thread, row_products, row_solves
from corollary.core.schema import (
    Array,
    Instance,
    Integer,
    Labels,
    List,
    Nullable,
    Number,
    Optional,
    Spec,
)
from corollary.gp._namesake import (
    Covariance,
    Optimizer,
    ask,
    climb_as_theirs,
    is_foreign,
    refuse_compound,
    separates_equal_rows,
    slopes,
)
from corollary.gp.classification._learning import (
    Answers,
    LaplaceSearch,
    LearntKernel,
    default_kernel,
    learn,
    learn_default,
)
from corollary.gp.classification.laplace import laplace_mode, logistic_normal_mean
from corollary.gp.exact.evidence import Observations
from corollary.gp.exact.regressor import BLOCK
from corollary.kernels import Kernel, as_kernel, as_sklearn_kernel


class GaussianProcessClassifier(ProbabilisticClassifier):
    r"""Gaussian process classification with the logistic likelihood and Laplace's approximation.

    A latent function f with a Gaussian process prior gives the odds of a class,
    :math:`P(y=1\mid x)=\sigma(f(x))`. With more than two classes each is set against the rest, and
    the probabilities are normalised.

    Parameters
    ----------
    kernel : Kernel, scikit-learn's kernel object or None, default=None
        Covariance of f. None for a constant times an RBF kernel of the standardised features, with
        one length scale for all or, if the evidence is clearly better, one for each. Of
        scikit-learn's objects bounds and fixed hyper-parameters are kept to.
    optimizer : "fmin_l_bfgs_b", callable or None, default="fmin_l_bfgs_b"
        None keeps the kernel as it is. A function ``optimizer(objective, initial_theta, bounds)``
        returns the best theta and the value of the objective there; ``objective(theta)`` returns
        the negative log evidence and its gradient.
    n_restarts_optimizer : int, default=0
        Random starts of the search besides the first.
    max_iter_predict : int, default=100
        Newton steps at most to the mode of the posterior.
    warm_start : bool, default=False
        Whether the search starts from the kernels of the last fit.
    copy_X_train : bool, default=True
        Accepted for scikit-learn's sake: rows are always copied.
    random_state : int, RandomState instance or None, default=None
        Determines restarts and the parts of the data that the search begins with.
    multi_class : "one_vs_rest", default="one_vs_rest"
        Each class is set against the rest; for pairs of classes put scikit-learn's
        ``OneVsOneClassifier`` around a process.
    n_jobs : int or None, default=None
        Accepted for scikit-learn's sake: classes are learnt one after another.
    max_iter : int, default=200
        Steps of the search at most.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_classes_ : int
        Their number.
    kernel_ : Kernel, scikit-learn's kernel object, or list of Kernel
        The kernel with the hyper-parameters used, of the kind that was given. With more than two
        classes one for each, in a list or in scikit-learn's ``CompoundKernel``.
    base_estimator_ : GaussianProcessClassifier
        The model itself, which holds what scikit-learn keeps in an estimator of its own.
    kernels_ : list of Kernel
        The kernels as ours: one for two classes, else one for each class.
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
    shares_ : ndarray of shape (n_models, n_rows)
        Shares of the class among rows that are equal.
    weights_ : ndarray of shape (n_rows,)
        Their weights.
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
    scikit-learn's, the default kernel is learnt, and probabilities are exact to ten digits where
    scikit-learn's are to two.

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

    kernel: Covariance | None = None
    _: KW_ONLY
    optimizer: Optimizer = "fmin_l_bfgs_b"
    n_restarts_optimizer: CountFromZero = 0
    max_iter_predict: Count = 100
    warm_start: bool = False
    copy_X_train: NoEffect = True
    random_state: RandomSeed = None
    multi_class: Annotated[str, Only("one_vs_rest", instead="OneVsOneClassifier around it")] = (
        "one_vs_rest"
    )
    n_jobs: NoEffect = None
    max_iter: Count = 200

    classes_: np.ndarray = fitted(Labels("c"))
    kernels_: list[Kernel] = fitted(List(Instance("gram"), "k"))
    log_marginal_likelihood_value_: float = fitted(Number(infinite=True))
    X_: np.ndarray = fitted(Array("f", "n", "d"))
    slopes_: np.ndarray = fitted(Array("f", "k", "n"))
    roots_: np.ndarray = fitted(Array("f", "k", "n"))
    factors_: np.ndarray = fitted(Array("f", "k", "n", "n"))
    shares_: np.ndarray = fitted(Optional(Array("f", "k", "n", low=0)))
    weights_: np.ndarray = fitted(Optional(Array("f", "n", low=0)))
    n_iter_: int = fitted(Integer(0))

    _saved_parameters: ClassVar[dict[str, Spec]] = {"kernel": Nullable(Instance("gram"))}
    _training_rows = {"finite_squares": True}

    def _fits_together(self) -> str | None:
        return next(filter(None, (kernel.problem_with(self.X_) for kernel in self.kernels_)), None)

    def _fit(self, X: np.ndarray, codes: np.ndarray, sample_weight: np.ndarray | None) -> None:
        kernel: Kernel | None = None
        if self.kernel is not None:
            refuse_compound(self.kernel)
            kernel = as_kernel(self.kernel, n_features=X.shape[1])
        if kernel is not None and not kernel.positive_semidefinite:
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
        single = kernel is not None and separates_equal_rows(kernel, X)
        gathered = Observations.of(X, weight, gather=not single)
        self.X_, group, m = gathered.X, gathered.group, len(gathered.X)
        total = np.bincount(group, weight, m)
        self.n_iter_ = 0
        asked = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        shares = [np.bincount(group, weight * (codes == code), m) / total for code in asked]
        earlier = getattr(self, "kernels_", []) if self.warm_start else []
        starts = earlier if len(earlier) == len(shares) else [kernel] * len(shares)
        kernels, modes = [], []
        for share, start in zip(shares, starts):
            # The search for a kernel takes many small products, which threads would wait over.
            with one_blas_thread():
                kernels.append(self._learn(Answers(self.X_, share, total), start))
                K = kernels[-1].gram(self.X_)
                modes.append(laplace_mode(K, share, total, max_iter=self.max_iter_predict))
        self.kernels_, self.shares_, self.weights_ = kernels, np.stack(shares), total
        if is_foreign(self.kernel) and self.optimizer is not None:
            for kernel in kernels:
                warn_at_bounds(as_sklearn_kernel(self.kernel, kernel))
        self.slopes_ = np.stack([mode.slope for mode in modes])
        self.roots_ = np.stack([mode.root for mode in modes])
        self.factors_ = np.stack([np.tril(mode.factor.lower) for mode in modes])
        self.log_marginal_likelihood_value_ = float(np.mean([m.log_evidence for m in modes]))

    def _learn(self, seen: Answers, start: Kernel | None) -> Kernel:
        """Learn the kernel of one class against the rest."""
        if start is None:
            default = default_kernel(seen.X)
            if self.optimizer is None:
                return default
            if not callable(self.optimizer):
                learnt = learn_default(
                    seen, self.max_iter, self.n_restarts_optimizer, self.random_state
                )
                self._note(learnt)
                return learnt.kernel
            start = default
        low, high = start.parameters().bounds.T
        if self.optimizer is None or not len(low):
            return start
        search = LaplaceSearch(start, low, high, self.max_iter_predict)
        if callable(self.optimizer):
            return start.with_parameters(ask(self.optimizer, self.kernel, search, seen))
        foreign = is_foreign(self.kernel)
        restarts = 0 if foreign else self.n_restarts_optimizer
        learnt = learn(seen, search, self.max_iter, restarts, self.random_state)
        self._note(learnt)
        if not foreign:
            return learnt.kernel
        theta = learnt.kernel.parameters().vector
        climb = climb_as_theirs(
            self.kernel, len(seen.X), self.n_restarts_optimizer, self.random_state
        )
        return start.with_parameters(ask(climb, self.kernel, search, seen, start=theta))

    def _note(self, learnt: LearntKernel) -> None:
        """Count the steps of a search, and warn if it could have gone on."""
        self.n_iter_ = max(self.n_iter_, learnt.n_iter)
        if not learnt.converged:
            warnings.warn(
                f"The evidence was still rising after max_iter={self.max_iter} steps, at "
                f"{learnt.value:.6g}. Raise max_iter.",
                ConvergenceWarning,
                stacklevel=6,
            )

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.classes_)

    @property
    def kernel_(self) -> Any:
        """The kernel with the hyper-parameters used, of the kind that was given."""
        kernels: list[Any] = self.kernels_
        if is_foreign(self.kernel):
            kernels = [as_sklearn_kernel(self.kernel, kernel) for kernel in kernels]
        if len(kernels) == 1:
            return kernels[0]
        if is_foreign(self.kernel):
            from sklearn.gaussian_process.kernels import CompoundKernel

            return CompoundKernel(kernels)
        return kernels

    @property
    def base_estimator_(self) -> Self:
        """The model itself."""
        check_is_fitted(self)
        return self

    def log_marginal_likelihood(
        self, theta: Any = None, eval_gradient: bool = False, clone_kernel: bool = True
    ) -> Any:
        """Return the approximate log evidence of the labels.

        Parameters
        ----------
        theta : array-like of shape (p,) or (n_models * p,), or None, default=None
            Hyper-parameters, for all classes or for each: ``parameters().vector`` of a kernel of
            ours, ``theta`` of an object of scikit-learn's. None for those of the model.
        eval_gradient : bool, default=False
            Whether the gradient is returned too; for two classes only.
        clone_kernel : bool, default=True
            Whether the kernel of the model is left as it is, or set to ``theta``.

        Returns
        -------
        value : float
            The log evidence; with more than two classes, the mean over the classes.
        gradient : ndarray of shape (p,)
            Only with ``eval_gradient``.
        """
        check_is_fitted(self)
        if theta is None:
            if eval_gradient:
                raise ValueError(
                    "Gradient can only be evaluated for theta!=None. Give log_marginal_likelihood "
                    "the hyper-parameters."
                )
            return self.log_marginal_likelihood_value_
        if eval_gradient and len(self.kernels_) > 1:
            raise NotImplementedError(
                "Gradient of log-marginal-likelihood not implemented for multi-class GPC. Ask for "
                "it for one class against the rest."
            )
        theta, k = np.asarray(theta, dtype=float), len(self.kernels_)
        theirs: Any = self.kernel
        foreign = is_foreign(theirs)
        p = len(theirs.theta if foreign else self.kernels_[0].parameters().vector)
        if theta.shape not in ((p,), (k * p,)):
            raise ValueError(
                f"log_marginal_likelihood needs {p} hyper-parameters, or {p} for each of {k} "
                f"models. Got an array of shape {theta.shape}."
            )
        values, kernels = [], []
        parts = np.broadcast_to(theta, (k, p)) if theta.shape == (p,) else theta.reshape(k, p)
        for part, own, share in zip(parts, self.kernels_, self.shares_):
            kernel = own.with_parameters(part) if not foreign else as_kernel(
                theirs.clone_with_theta(part), n_features=self.n_features_in_
            )  # fmt: skip
            search = LaplaceSearch(kernel, max_iter=self.max_iter_predict)
            seen = Answers(self.X_, share, self.weights_)
            with one_blas_thread():
                value, gradient = search.evidence(seen, kernel.parameters().vector)
            values.append(value)
            kernels.append(kernel)
        if not clone_kernel:
            self.kernels_ = kernels
        if not eval_gradient:
            return float(np.mean(values))
        if foreign:
            gradient = slopes(theirs.clone_with_theta(theta)) @ gradient
        return values[0], gradient

    def latent_mean_and_variance(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance of the latent function of two classes.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            New inputs.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
            Approximate posterior means of f, in logits of the second class.
        variance : ndarray of shape (n_samples,)
            Its variances, never negative.
        """
        X = self._new(X)
        if len(self.classes_) > 2:
            raise ValueError(
                "Returning the mean and variance of the latent function f is only supported for "
                f"binary classification. Got {len(self.classes_)} classes; latent_law has a "
                "column for each."
            )
        mean, variance = self._latent_law(X)
        return mean[:, 0], variance[:, 0]

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
                    mean[rows, j] = row_products(cross, self.slopes_[j])
                    V = row_solves(self.factors_[j], cross * self.roots_[j])
                    left = kernel.diag(X[rows]) - np.einsum("ij,ij->i", V, V)
                    variance[rows, j] = np.maximum(left, 0.0)
        return mean, variance

    def _probabilities(self, X: np.ndarray) -> np.ndarray:
        share = logistic_normal_mean(*self._latent_law(X))
        if len(self.classes_) == 2:
            return np.column_stack([1.0 - share[:, 0], share[:, 0]])
        total = share.sum(axis=1, keepdims=True)
        return np.where(total > 0, share / np.where(total > 0, total, 1.0), 1 / share.shape[1])
