r"""Bayes' rule: over a finite set of models, and with conjugate priors.

.. math:: P(M\mid D)=\frac{P(D\mid M)\,P(M)}{\sum_{M'}P(D\mid M')\,P(M')}

What was learnt from some data is the prior for more: updating by one draw after the other ends
where updating by all of them does.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import logsumexp

from corollary.density.likelihood._objective import check_draws
from corollary.density.likelihood.families import Bernoulli, Exponential, Normal, Poisson
from corollary.density.likelihood.family import Family
from corollary.risk import check_law


@dataclass(frozen=True, eq=False)
class ModelPosterior:
    """Probabilities of finitely many models, updated by Bayes' rule.

    Parameters
    ----------
    probabilities : ndarray of shape (n_models,)
        Prior, or posterior after earlier data; sum one.
    log_evidence : float, default=0.0
        Logarithm of the probability of all data so far.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.density import ModelPosterior
    >>> coins = np.array([0.5, 0.9])  # a fair coin and one that falls on heads
    >>> posterior = ModelPosterior([0.5, 0.5])
    >>> for throw in [1, 1, 1]:
    ...     posterior = posterior.update(np.log(coins if throw else 1 - coins))
    >>> posterior.probabilities.round(4)
    array([0.1464, 0.8536])
    >>> ModelPosterior([0.5, 0.5]).update(np.log(coins**3)).probabilities.round(4)
    array([0.1464, 0.8536])
    """

    probabilities: Any
    log_evidence: float = 0.0

    def __post_init__(self) -> None:
        law = check_law("ModelPosterior", "probabilities", self.probabilities)
        object.__setattr__(self, "probabilities", law)

    def update(self, log_likelihood: Any) -> "ModelPosterior":
        """Return the probabilities given further data too.

        Parameters
        ----------
        log_likelihood : array-like of shape (n_models,)
            Log probability, or density, of the data under each model; minus infinity for models
            that exclude them. If no model of positive probability allows them, that raises a
            ValueError.
        """
        logs = np.asarray(log_likelihood, dtype=float)
        if logs.shape != self.probabilities.shape or not (logs < np.inf).all():
            raise ValueError(
                f"ModelPosterior.update needs {len(self.probabilities)} log likelihoods below "
                f"infinity. Got {logs.tolist()}."
            )
        with np.errstate(divide="ignore"):
            joint = logs + np.log(self.probabilities)
        total = float(logsumexp(joint))
        if not math.isfinite(total):
            raise ValueError(
                "ModelPosterior.update: no model of positive probability allows the data."
            )
        return ModelPosterior(np.exp(joint - total), self.log_evidence + total)


class _ConjugatePrior(ABC):
    """A law of a parameter that stays in its family when draws are seen.

    Subclasses write ``_after``, the law after n draws, or draws of weight n, and their total.
    """

    _conjugate: ClassVar[tuple[type[Family], ...]]
    _positive: ClassVar[tuple[str, ...]]

    def __post_init__(self) -> None:
        for name in self._positive:
            if not 0 < getattr(self, name) < math.inf:
                raise ValueError(
                    f"The '{name}' parameter of {type(self).__name__} must be positive. Got "
                    f"{getattr(self, name)!r}."
                )

    @abstractmethod
    def log_density(self, theta: Any) -> Any:
        """Return the log density, up to a constant, for :func:`maximum_a_posteriori`.

        Parameters
        ----------
        theta : array of shape (1,)
            The parameter, as an array of NumPy or JAX.
        """

    def posterior(self, family: Family, x: Any, sample_weight: Any = None) -> Self:
        """Return the law of the parameter given draws, of the same kind.

        Parameters
        ----------
        family : Family
            One that this prior is conjugate to; others raise TypeError.
        x : array-like of shape (n_samples,)
            Draws.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Non-negative weights.
        """
        who = f"{type(self).__name__}.posterior"
        if not isinstance(family, self._conjugate):
            names = " or ".join(kind.__name__ for kind in self._conjugate)
            raise TypeError(
                f"{who} has a closed form for {names}. Got {type(family).__name__}: use "
                "maximum_a_posteriori, or another prior."
            )
        x, weight = check_draws(who, family, x, sample_weight)
        return self._after(family, float(weight.sum()), float(weight @ x))

    @abstractmethod
    def _after(self, family: Any, n: float, total: float) -> Self:
        """Return the law after draws of a family."""


@dataclass(frozen=True)
class BetaPrior(_ConjugatePrior):
    """Beta law of the probability of a Bernoulli law.

    Parameters
    ----------
    a, b : float
        Pseudo-counts of ones and of zeros, positive.

    Examples
    --------
    >>> from corollary.density import Bernoulli, BetaPrior
    >>> BetaPrior(2, 2).posterior(Bernoulli(), [1, 1, 0])
    BetaPrior(a=4.0, b=3.0)
    >>> BetaPrior(4, 3).mode
    0.6
    """

    a: float
    b: float

    _conjugate = (Bernoulli,)
    _positive = ("a", "b")

    @property
    def mode(self) -> float:
        """The likeliest probability; ValueError unless both pseudo-counts exceed 1."""
        if not min(self.a, self.b) > 1:
            raise ValueError(f"{self} has no mode inside (0, 1): it needs a > 1 and b > 1.")
        return (self.a - 1) / (self.a + self.b - 2)

    def log_density(self, theta: Any) -> Any:
        """Return the log density, up to a constant."""
        from corollary.core.xla import jnp

        return (self.a - 1) * jnp.log(theta[0]) + (self.b - 1) * jnp.log1p(-theta[0])

    def _after(self, family: Any, n: float, total: float) -> Self:
        return type(self)(self.a + total, self.b + n - total)


@dataclass(frozen=True)
class GammaPrior(_ConjugatePrior):
    """Gamma law of the mean of a Poisson law, or the rate of an exponential one.

    Parameters
    ----------
    shape, rate : float
        Positive.

    Examples
    --------
    >>> from corollary.density import Exponential, GammaPrior, Poisson
    >>> GammaPrior(2, 1).posterior(Poisson(), [3, 5])
    GammaPrior(shape=10.0, rate=3.0)
    >>> GammaPrior(2, 1).posterior(Exponential(), [3.0, 5.0])
    GammaPrior(shape=4.0, rate=9.0)
    """

    shape: float
    rate: float

    _conjugate = (Poisson, Exponential)
    _positive = ("shape", "rate")

    @property
    def mode(self) -> float:
        """The likeliest value; 0 if the shape is at most 1."""
        return max(self.shape - 1, 0.0) / self.rate

    def log_density(self, theta: Any) -> Any:
        """Return the log density, up to a constant."""
        from corollary.core.xla import jnp

        return (self.shape - 1) * jnp.log(theta[0]) - self.rate * theta[0]

    def _after(self, family: Any, n: float, total: float) -> Self:
        if isinstance(family, Poisson):
            return type(self)(self.shape + total, self.rate + n)
        return type(self)(self.shape + n, self.rate + total)


@dataclass(frozen=True)
class NormalPrior(_ConjugatePrior):
    """Normal law of the mean of a normal law whose standard deviation is known.

    Parameters
    ----------
    mean, variance : float
        Its mean, and its variance, which is positive.

    Examples
    --------
    >>> from corollary.density import Normal, NormalPrior
    >>> NormalPrior(0.0, 1.0).posterior(Normal(std=1.0), [2.0, 4.0, 6.0])  # drawn towards 0
    NormalPrior(mean=3.0, variance=0.25)
    """

    mean: float
    variance: float

    _conjugate = (Normal,)
    _positive = ("variance",)

    @property
    def mode(self) -> float:
        """The mean."""
        return self.mean

    def log_density(self, theta: Any) -> Any:
        """Return the log density, up to a constant."""
        return -((theta[0] - self.mean) ** 2) / (2 * self.variance)

    def _after(self, family: Any, n: float, total: float) -> Self:
        if family.std is None:
            raise ValueError(
                "NormalPrior.posterior needs Normal(std=...), whose standard deviation is known."
            )
        precision = 1 / self.variance + n / family.std**2
        mean = (self.mean / self.variance + total / family.std**2) / precision
        return type(self)(float(mean), float(1 / precision))
