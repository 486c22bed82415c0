"""A world with finitely many inputs and outcomes, in which every expectation is a sum."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.world import World
from corollary.risk.losses.loss import LossLike, check_loss
from corollary.risk.minimise.learner import as_predictor
from corollary.risk.risks.population import conditional_risk


@dataclass(frozen=True, eq=False)
class FiniteWorld(World):
    """A joint law of input and outcome, given as a table.

    Risks, Bayes rules and Bayes risks are exact for any loss, which makes this world the first
    place to try a method or a bound.

    Parameters
    ----------
    joint : array-like of shape (n_inputs, n_outcomes)
        ``joint[i, k]`` is the probability of the i-th input together with the k-th outcome;
        non-negative, summing to 1.
    outcomes : array-like of shape (n_outcomes,) or None, default=None
        The outcomes: numbers or labels. None for 0, ..., n_outcomes - 1.
    inputs : array-like of shape (n_inputs, n_features) or None, default=None
        The distinct inputs; a vector is read as one feature. None for 0, ..., n_inputs - 1.

    Examples
    --------
    >>> from corollary.risk import FiniteWorld
    >>> world = FiniteWorld([[0.3, 0.1], [0.2, 0.4]], outcomes=[-1, 1])
    >>> world.bayes_rule([[0.0], [1.0]])
    array([-1,  1])
    >>> round(world.bayes_risk(), 6)
    0.3
    >>> round(world.risk(lambda X: [1] * len(X)), 6)
    0.5
    """

    joint: Any
    outcomes: Any = None
    inputs: Any = None

    def __post_init__(self) -> None:
        joint = np.array(self.joint, dtype=float)
        if joint.ndim != 2 or joint.size == 0:
            raise ValueError(
                "The 'joint' parameter of FiniteWorld must be a table of shape "
                f"(n_inputs, n_outcomes). Got shape {joint.shape}."
            )
        if not np.all(joint >= 0) or not np.isclose(joint.sum(), 1, rtol=0, atol=1e-8):
            raise ValueError(
                "The 'joint' parameter of FiniteWorld must be non-negative and sum to 1. "
                f"Got smallest entry {joint.min():.3g} and sum {joint.sum():.8g}."
            )
        n_inputs, n_outcomes = joint.shape
        outcomes = np.array(np.arange(n_outcomes) if self.outcomes is None else self.outcomes)
        inputs = np.array(np.arange(n_inputs) if self.inputs is None else self.inputs, dtype=float)
        inputs = inputs.reshape(-1, 1) if inputs.ndim == 1 else inputs
        for name, values, count in (
            ("outcomes", outcomes[:, None], n_outcomes),
            ("inputs", inputs, n_inputs),
        ):
            if len(values) != count or len(set(map(tuple, values.tolist()))) != count:
                raise ValueError(
                    f"The '{name}' parameter of FiniteWorld must hold {count} distinct values, "
                    f"as the table does. Got {len(values)}."
                )
        joint /= joint.sum()
        for name, values in (("joint", joint), ("outcomes", outcomes), ("inputs", inputs)):
            values.setflags(write=False)
            object.__setattr__(self, name, values)

    @property
    def marginal(self) -> np.ndarray:
        """Probabilities of the inputs, of shape (n_inputs,)."""
        return self.joint.sum(axis=1)

    @property
    def prior(self) -> np.ndarray:
        """Probabilities of the outcomes, of shape (n_outcomes,)."""
        return self.joint.sum(axis=0)

    @property
    def posterior(self) -> np.ndarray:
        """Probabilities of outcomes given inputs, of shape (n_inputs, n_outcomes).

        Inputs of probability zero get the uniform law; no risk depends on it.
        """
        return _normalise(self.joint)

    @property
    def likelihood(self) -> np.ndarray:
        """Probabilities of inputs given outcomes, of shape (n_inputs, n_outcomes)."""
        return _normalise(self.joint.T).T

    def sample(self, n_samples: int, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw independent rows.

        Parameters
        ----------
        n_samples : int
            How many.
        random_state : int, RandomState instance or None, default=None
            Seed or generator.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Inputs.
        y : ndarray of shape (n_samples,)
            Outcomes.
        """
        rng = check_random_state(random_state)
        cell = rng.choice(self.joint.size, size=n_samples, p=self.joint.ravel())
        row, column = np.unravel_index(cell, self.joint.shape)
        return self.inputs[row], self.outcomes[column]

    def locate(self, X: Any) -> np.ndarray:
        """Find which of the world's inputs each row is.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows drawn from this world.

        Returns
        -------
        index : ndarray of shape (n_samples,)
            Positions in ``inputs``.

        Raises
        ------
        ValueError
            If a row is not an input of the world.
        """
        X = np.asarray(X, dtype=float)
        X = X.reshape(-1, 1) if X.ndim == 1 else X
        if X.ndim != 2 or X.shape[1] != self.inputs.shape[1]:
            raise ValueError(
                f"This world's inputs have {self.inputs.shape[1]} features. Got shape {X.shape}."
            )
        # The world's inputs come first, so each distinct row is numbered by its own position.
        _, first, inverse = np.unique(
            np.concatenate([self.inputs, X]), axis=0, return_index=True, return_inverse=True
        )
        index = first[inverse.ravel()[len(self.inputs) :]]
        if np.any(index >= len(self.inputs)):
            row = int(np.flatnonzero(index >= len(self.inputs))[0])
            raise ValueError(f"Row {row} is not an input of this world: {X[row].tolist()}.")
        return index

    def posterior_of(self, X: Any) -> np.ndarray:
        """Return the probabilities of the outcomes given rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows drawn from this world.

        Returns
        -------
        posterior : ndarray of shape (n_samples, n_outcomes)
            ``P(outcome | row)``.
        """
        return self.posterior[self.locate(X)]

    def bayes_rule(self, X: Any, loss: LossLike = "zero_one") -> np.ndarray:
        """Return the best predictions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows drawn from this world.
        loss : str, Loss or callable, default="zero_one"
            A loss with a ``minimiser``.

        Returns
        -------
        prediction : ndarray of shape (n_samples,)
            Most probable label for "zero_one", conditional mean for "square", and so on.
        """
        return check_loss(loss).minimiser(self.posterior_of(X), self.outcomes)

    def bayes_risk(self, loss: LossLike = "zero_one") -> float:
        """Return the smallest risk that any predictor can have.

        Parameters
        ----------
        loss : str, Loss or callable, default="zero_one"
            A loss with a ``minimiser``.

        Returns
        -------
        risk : float
            Expected loss of :meth:`bayes_rule`.
        """
        best = check_loss(loss).minimiser(self.posterior, self.outcomes)
        return float(self.marginal @ conditional_risk(best, self.posterior, self.outcomes, loss))

    def risk(self, predictor: Any, loss: LossLike = "zero_one") -> float:
        """Return the exact risk of a predictor.

        Parameters
        ----------
        predictor : callable or fitted estimator
            Maps X to predictions.
        loss : str, Loss or callable, default="zero_one"
            ``loss(y_true, prediction)``, entry by entry.

        Returns
        -------
        risk : float
            Expected loss.
        """
        prediction = np.asarray(as_predictor(predictor)(self.inputs))
        risks = conditional_risk(prediction, self.posterior, self.outcomes, loss)
        return float(self.marginal @ risks)

    def noise_variance(self, X: Any) -> np.ndarray:
        """Return the variance of the outcome given rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows drawn from this world.

        Returns
        -------
        variance : ndarray of shape (n_samples,)
            ``Var(y | row)``, for numeric outcomes.
        """
        posterior, outcomes = self.posterior_of(X), self.outcomes.astype(float)
        mean = posterior @ outcomes
        return ((outcomes - mean[:, None]) ** 2 * posterior).sum(axis=1)


def _normalise(table: np.ndarray) -> np.ndarray:
    total = table.sum(axis=1, keepdims=True)
    uniform = np.full_like(table, 1 / table.shape[1])
    return np.divide(table, total, out=uniform, where=total > 0)
