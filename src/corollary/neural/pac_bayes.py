r"""A network with noisy weights that minimises its own certificate.

Part of the rows trains the centre :math:`\mu_0` of a Gaussian prior over the weights. The other n
rows were not seen by it; they train a Gaussian posterior :math:`N(\mu, \operatorname{diag}s^2)` by
descending the PAC-Bayes bound itself,

.. math:: \Bigl(\sqrt{E_w\hat\ell + c} + \sqrt c\Bigr)^2, \qquad
          c = \frac{\mathrm{KL} + \log(2\sqrt n/\delta)}{2n},

for :math:`\ell` one minus the probability of the true label. The certificate is then the kl form of
the bound for the zero-one loss.

Given the values of a layer, its outputs under Gaussian weights are independent and normal. So fresh
weights for every row cost two matrix products, not one network per row, and the posterior's
training error is estimated from independent draws for all rows.
"""

import math
from dataclasses import KW_ONLY
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.certificate import Assumption, Certificate, Quantity, format_share
from corollary.core.compat import fit_context
from corollary.core.estimator import (
    ArrayLike,
    Count,
    Positive,
    ProbabilisticClassifier,
    Probability,
    RandomSeed,
    fitted,
)
from corollary.core.parallel import one_blas_thread
from corollary.core.schema import Array, Integer, List, Number
from corollary.neural._base import auto_batch_size, location_and_scale, standardise
from corollary.neural._pac_bayes_loss import LARGEST_LOG_RATIO, PACBayesLoss, noisy_outputs
from corollary.neural.mlp import apply_mlp, flatten, init_mlp, unflatten
from corollary.risk import kl_gaussian
from corollary.theory import kl_confidence_limit, pac_bayes_kl_bound

_RANDOMISED = Quantity(
    "error rate of the randomised classifier",
    predicate="are classified wrongly by weights drawn afresh for each",
)
_DRAWN = Assumption(
    "The training rows are independent draws, and their classes were known.", "draws"
)
# Part of delta that pays for the drawn estimate of the posterior's training error.
_MONTE_CARLO_SHARE = 0.1
# The bound is no mean over rows: small batches would minimise something else.
_POSTERIOR_BATCH = 1024


class PACBayesClassifier(ProbabilisticClassifier):
    """Network with noisy weights, trained to minimise a bound on its error rate.

    Parameters
    ----------
    hidden_layer_sizes : array-like of int, default=(100,)
        Units of each hidden layer; ``()`` is a linear model.
    prior_fraction : float, default=0.7
        Share of the rows that train the prior. The others give the certificate.
    prior_std : float, default=0.05
        Standard deviation of every weight under the prior; the posterior starts there.
    prior_epochs : int, default=150
        Passes over the rows of the prior.
    max_iter : int, default=100
        Passes over the other rows that train the posterior.
    learning_rate_init : float, default=0.003
        Step size for the prior.
    posterior_learning_rate : float, default=0.0003
        Step size for the posterior.
    batch_size : int or None, default=None
        Rows per step; None for 1,024 in the training of the posterior, and 32 up to 2,048 rows,
        growing to 256, in that of the prior.
    confidence : float, default=0.95
        Confidence of the certificate.
    n_draws : int, default=200
        Draws of the weights for each row in the certificate.
    random_state : int, RandomState instance or None, default=None
        Determines the split, the start, the order of rows and the noise.

    Attributes
    ----------
    certificate_ : Certificate
        Bound on the error rate of the randomised classifier, :meth:`predict_random`.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    coefs_ : list of ndarray of shape (n_in, n_out)
        Mean weights of each layer, for standardised inputs.
    intercepts_ : list of ndarray of shape (n_out,)
        Mean biases of each layer.
    coef_stds_ : list of ndarray of shape (n_in, n_out)
        Standard deviations of the weights.
    intercept_stds_ : list of ndarray of shape (n_out,)
        Standard deviations of the biases.
    input_mean_, input_scale_ : ndarray of shape (`n_features_in_`,)
        What inputs are standardised by; from the rows of the prior.
    divergence_ : float
        KL divergence of the posterior from the prior.
    risk_ : float
        Share of wrong draws among the rows of the certificate.
    n_bound_rows_ : int
        Number of these rows.
    loss_curve_ : ndarray of shape (max_iter,)
        Value of the bound on the surrogate loss, by epoch.
    n_iter_ : int
        Passes of that training.

    See Also
    --------
    MLPClassifier : Networks without a certificate.
    corollary.theory.pac_bayes_kl_bound : The theorem.
    corollary.certify : Certificates of any model.

    Notes
    -----
    The certificate is about :meth:`predict_random`, which draws weights afresh for every row.
    :meth:`predict` and :meth:`predict_proba` take the mean weights, which are usually a little
    better, but nothing is proved about them.

    Guarantee: with probability `confidence` over the rows and the draws, the error rate of the
    randomised classifier is at most ``certificate_.bound``. A tenth of the failure probability
    pays for the drawn training error, by Chernoff's bound, the rest for the PAC-Bayes-kl theorem.
    The classes are taken as known. Checked by
    ``tests/neural/test_pac_bayes.py::test_certificate_holds_in_repeated_trials``.

    On three quarters of scikit-learn's digits (1,347 rows, 404 of them for the certificate), in
    eight random splits, the certificate at 95% lies between 0.057 and 0.083; on the other quarter
    the randomised classifier errs on 1.6% to 4.4% of the rows, the mean weights on 0.9% to 3.8%.
    For comparison, training of this kind reached a certificate of about 0.023 at a test error of
    about 0.014 on the 60,000 rows of MNIST [2]_; the distance is mostly the number of rows, since
    404 rows prove no less than 0.017 even without an error.

    References
    ----------
    .. [1] G. K. Dziugaite, D. M. Roy (2017). Computing nonvacuous generalization bounds for deep
       (stochastic) neural networks with many more parameters than training data. UAI.
    .. [2] M. Perez-Ortiz, O. Rivasplata, J. Shawe-Taylor, C. Szepesvari (2021). Tighter risk
       certificates for neural networks. Journal of Machine Learning Research 22.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from corollary.neural import PACBayesClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = PACBayesClassifier(hidden_layer_sizes=(16,), random_state=0).fit(X, y)
    >>> model.certificate_.bound < 0.15
    True
    """

    _: KW_ONLY
    hidden_layer_sizes: ArrayLike = (100,)
    prior_fraction: Probability = 0.7
    prior_std: Positive = 0.05
    prior_epochs: Count = 150
    max_iter: Count = 100
    learning_rate_init: Positive = 0.003
    posterior_learning_rate: Positive = 0.0003
    batch_size: Count | None = None
    confidence: Probability = 0.95
    n_draws: Count = 200
    random_state: RandomSeed = None

    coefs_: list[np.ndarray] = fitted(List(Array("f", "*", "*"), "l"))
    intercepts_: list[np.ndarray] = fitted(List(Array("f", "*"), "l"))
    coef_stds_: list[np.ndarray] = fitted(List(Array("f", "*", "*", low=0), "l"))
    intercept_stds_: list[np.ndarray] = fitted(List(Array("f", "*", low=0), "l"))
    input_mean_: np.ndarray = fitted(Array("f", "d"))
    input_scale_: np.ndarray = fitted(Array("f", "d", low=np.finfo(np.float64).tiny))
    divergence_: float = fitted(Number(0))
    risk_: float = fitted(Number(0, 1))
    n_bound_rows_: int = fitted(Integer(1))
    loss_curve_: np.ndarray = fitted(Array("f", "*", nan=True, infinite=True))
    n_iter_: int = fitted(Integer(0))

    _rows: ClassVar[dict[str, Any]] = {"order": "C"}

    def _fits_together(self) -> str | None:
        n_in = self.n_features_in_
        parts = (self.coefs_, self.intercepts_, self.coef_stds_, self.intercept_stds_)
        if not self.coefs_:
            return "it has no layers"
        for W, b, S, s in zip(*parts, strict=True):
            if W.shape != (n_in, len(b)) or S.shape != W.shape or s.shape != b.shape:
                return "its layers do not fit together"
            n_in = len(b)
        return None if n_in == len(self.classes_) else "its outputs do not fit its classes"

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Learn prior and posterior, and compute the certificate.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training inputs: independent draws, since the certificate rests on that.
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        self : PACBayesClassifier
            The fitted model.
        """
        X, y, _ = self._check(X, y, None)
        self._fit(X, self._code(y), None)
        return self

    def _fit(self, X: np.ndarray, codes: np.ndarray, sample_weight: np.ndarray | None) -> None:
        sizes = (X.shape[1], *map(int, np.ravel(self.hidden_layer_sizes)), len(self.classes_))
        if min(sizes) < 1:
            raise ValueError(
                "The 'hidden_layer_sizes' parameter of PACBayesClassifier must be positive "
                f"integers. Got {self.hidden_layer_sizes!r} instead."
            )
        random = check_random_state(self.random_state)
        order = random.permutation(len(X))
        m = min(max(1, round(self.prior_fraction * len(X))), len(X) - 1)
        first, second = np.sort(order[:m]), np.sort(order[m:])
        self.input_mean_, self.input_scale_ = location_and_scale(X[first])
        inputs, targets = self._standardise(X), codes.astype(np.int32)
        self.n_bound_rows_ = len(second)
        start = flatten(init_mlp(sizes, random_state=random))
        seeds = random.randint(np.iinfo(np.int32).max, size=3).tolist()
        prior = self._train(sizes, False, start, start, inputs[first], targets[first], seeds[0])
        posterior = self._train(
            sizes, True, prior["mean"], prior["mean"], inputs[second], targets[second], seeds[1]
        )
        ratio = np.clip(posterior["log_ratio"], -LARGEST_LOG_RATIO, LARGEST_LOG_RATIO)
        mean, center = posterior["mean"].astype(float), prior["mean"].astype(float)
        std = self.prior_std * np.exp(ratio.astype(float))
        self.divergence_ = float(kl_gaussian(mean, std**2, center, float(self.prior_std) ** 2))
        means, stds = unflatten(mean, sizes), unflatten(std, sizes)
        self.coefs_, self.intercepts_ = means[0::2], means[1::2]
        self.coef_stds_, self.intercept_stds_ = stds[0::2], stds[1::2]
        rng = np.random.default_rng(seeds[2])
        with one_blas_thread():
            wrong = sum(
                int(np.sum(self._draw(inputs[second], rng) != codes[second]))
                for _ in range(self.n_draws)
            )
        self.risk_ = wrong / (self.n_draws * len(second))

    def _train(
        self,
        sizes: tuple[int, ...],
        bound: bool,
        mean: np.ndarray,
        prior_mean: np.ndarray,
        X: np.ndarray,
        y: np.ndarray,
        seed: int,
    ) -> dict[str, np.ndarray]:
        import optax

        from corollary.core.training import train

        params = {
            "mean": mean.astype(np.float32),
            "log_ratio": np.zeros(len(mean), np.float32),
            "prior_mean": prior_mean.astype(np.float32),
            "prior_std": np.float32(self.prior_std),
            "n": np.float32(self.n_bound_rows_),
            "delta": np.float32(1 - self.confidence),
        }
        result = train(
            PACBayesLoss(sizes),
            params,
            {"x": X.astype(np.float32), "y": y},
            optimizer=optax.adam,
            settings={
                "learning_rate": self.posterior_learning_rate if bound else self.learning_rate_init
            },
            constants={"bound": float(bound)},
            epochs=self.max_iter if bound else self.prior_epochs,
            batch_size=self.batch_size or (_POSTERIOR_BATCH if bound else auto_batch_size(len(X))),
            tol=-math.inf,
            seed=seed,
            description="posterior" if bound else "prior",
        )
        if result.status == "diverged":
            raise ValueError(
                "The training of PACBayesClassifier diverged: its loss is not finite. Lower "
                "learning_rate_init or posterior_learning_rate."
            )
        if bound:
            self.loss_curve_ = result.losses
            self.n_iter_ = len(result.losses)
        return result.params

    def _standardise(self, X: np.ndarray) -> np.ndarray:
        return standardise(X, self.input_mean_, self.input_scale_)

    def _draw(self, inputs: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the class numbers that fresh weights for each row give."""
        means = [array for pair in zip(self.coefs_, self.intercepts_) for array in pair]
        stds = [array for pair in zip(self.coef_stds_, self.intercept_stds_) for array in pair]
        noise = [rng.standard_normal((len(inputs), len(b))) for b in self.intercepts_]
        return noisy_outputs(means, stds, inputs, noise).argmax(axis=1)

    @property
    def certificate_(self) -> Certificate:
        """Certificate: bound on the error rate of the randomised classifier."""
        return _certificate_at(
            self.risk_, self.divergence_, self.n_bound_rows_, self.n_draws, self.confidence
        )

    def predict_random(self, X: Any, *, random_state: Any = None) -> np.ndarray:
        """Predict by weights drawn afresh for every row: what the certificate is about.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        random_state : int, RandomState instance or None, default=None
            Determines the weights.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels.
        """
        X = self._new(X)
        seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
        return self.classes_[self._draw(self._standardise(X), np.random.default_rng(seed))]

    def _scores(self, X: np.ndarray) -> np.ndarray:
        """Evaluate the network at the mean weights, which the certificate is not about."""
        means = [array for pair in zip(self.coefs_, self.intercepts_) for array in pair]
        return apply_mlp(means, self._standardise(X))

    def _probabilities(self, X: np.ndarray) -> np.ndarray:
        from scipy.special import softmax

        return softmax(self._scores(X), axis=1)


def _certificate_at(
    risk: float, divergence: float, n: int, n_draws: int, confidence: float
) -> Certificate:
    delta = 1 - confidence
    drawn = kl_confidence_limit(risk, n_samples=n * n_draws, delta=_MONTE_CARLO_SHARE * delta)
    bound = pac_bayes_kl_bound(
        drawn, divergence=divergence, n_samples=n, delta=(1 - _MONTE_CARLO_SHARE) * delta
    )
    return Certificate(
        quantity=_RANDOMISED,
        empirical=risk,
        bound=min(1.0, bound),
        confidence=confidence,
        theorem="theory.pac-bayes-training",
        n_samples=n,
        observed=f"{format_share(risk)} in {n_draws} draws for each of {n} rows that the prior "
        "was not trained on",
        assumptions=(_DRAWN,),
        seen=True,
        vacuous=bound >= 1,
        rows_missing=math.inf if bound >= 1 else 0,
        page="certificates.html#theory-pac-bayes-training",
        recompute=lambda level: _certificate_at(risk, divergence, n, n_draws, level),
    )
