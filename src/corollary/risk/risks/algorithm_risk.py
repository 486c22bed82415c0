"""The risk of a learner, not of one predictor: what happens over training sets."""

from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.world import RiskEstimate, World
from corollary.risk.laws.finite_world import FiniteWorld
from corollary.risk.losses.loss import LossLike
from corollary.risk.minimise.learner import as_learner
from corollary.risk.risks.population import population_risk


class AlgorithmRisk(NamedTuple):
    """Risks of the predictors that a learner returned on independent training sets.

    Parameters
    ----------
    risks : ndarray of shape (n_repeats,)
        One risk for each training set.
    probabilities : ndarray of shape (n_repeats,)
        Probabilities of the training sets; equal ones for a simulation.
    exact : bool
        Whether all training sets were enumerated.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.risk import AlgorithmRisk
    >>> risk = AlgorithmRisk(np.array([0.1, 0.3, 0.2]), np.array([0.5, 0.25, 0.25]), exact=True)
    >>> round(risk.mean, 4), risk.quantile(0.75), risk.tail(0.1)
    (0.175, 0.2, 0.5)
    """

    risks: np.ndarray
    probabilities: np.ndarray
    exact: bool

    @property
    def mean(self) -> float:
        """Mean risk over training sets."""
        return float(self.probabilities @ self.risks)

    @property
    def standard_error(self) -> float:
        """Standard error of the mean; 0 for an exact one."""
        if self.exact:
            return 0.0
        return float(self.risks.std(ddof=1) / np.sqrt(len(self.risks)))

    def quantile(self, level: float) -> float:
        """Return the smallest risk that is not exceeded with probability ``level``.

        Parameters
        ----------
        level : float
            Probability in (0, 1].

        Returns
        -------
        risk : float
            The quantile.
        """
        if not 0 < level <= 1:
            raise ValueError(
                "The 'level' parameter of AlgorithmRisk.quantile must be a float in the range "
                f"(0.0, 1.0]. Got {level!r} instead."
            )
        order = np.argsort(self.risks, kind="stable")
        reached = np.cumsum(self.probabilities[order]) >= level - 1e-12
        return float(self.risks[order][reached.argmax() if reached.any() else -1])

    def tail(self, epsilon: float) -> float:
        """Return the probability that the risk exceeds ``epsilon``.

        Parameters
        ----------
        epsilon : float
            A risk.

        Returns
        -------
        probability : float
            ``P(risk > epsilon)`` over training sets.
        """
        return float(self.probabilities[self.risks > epsilon].sum())


def algorithm_risk(
    learner: Any,
    world: World,
    loss: LossLike = "zero_one",
    *,
    n_samples: int,
    n_repeats: int = 200,
    n_test: int = 10_000,
    method: str = "predict",
    random_state: Any = None,
) -> AlgorithmRisk:
    """Simulate the risk of a learner over training sets.

    Classical statistics looks at its mean, learning theory at its tail.

    Parameters
    ----------
    learner : estimator or callable
        See :func:`corollary.risk.as_learner`.
    world : World
        Where training sets come from. On a :class:`FiniteWorld` each predictor's risk is exact.
    loss : str, Loss or callable, default="zero_one"
        ``loss(y_true, prediction)``, entry by entry.
    n_samples : int
        Rows of a training set.
    n_repeats : int, default=200
        Training sets to draw.
    n_test : int, default=10000
        Fresh rows for the risk of a predictor where no exact value is known. Their noise widens
        the simulated distribution by about the loss's standard deviation over ``sqrt(n_test)``.
    method : str, default="predict"
        Which method of an estimator predicts.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Returns
    -------
    risk : AlgorithmRisk
        Risks with their mean, quantiles and tail probabilities.

    Examples
    --------
    >>> from corollary.risk import FiniteWorld, algorithm_risk, minimise_threshold
    >>> world = FiniteWorld([[0.4, 0.1], [0.1, 0.4]], outcomes=[-1, 1])
    >>> learn = lambda X, y: minimise_threshold(X[:, 0], y)
    >>> risk = algorithm_risk(learn, world, n_samples=10, random_state=0)
    >>> bool(risk.quantile(0.5) == world.bayes_risk())
    True
    """
    if n_repeats < 2:
        raise ValueError(
            "The 'n_repeats' parameter of algorithm_risk must be an int in the range [2, inf). "
            f"Got {n_repeats!r} instead."
        )
    learn, rng = as_learner(learner, method=method), check_random_state(random_state)
    risks = np.empty(n_repeats)
    for i, seed in enumerate(rng.randint(2**31 - 1, size=n_repeats)):
        own = np.random.RandomState(seed)
        predictor = learn(*world.sample(n_samples, own))
        risks[i] = population_risk(world, predictor, loss, n_samples=n_test, random_state=own).value
    return AlgorithmRisk(risks, np.full(n_repeats, 1 / n_repeats), exact=False)


def exact_algorithm_risk(
    learner: Any,
    world: FiniteWorld,
    loss: LossLike = "zero_one",
    *,
    n_samples: int,
    method: str = "predict",
    max_sets: int = 100_000,
) -> AlgorithmRisk:
    """Return the risk of a learner over all training sets of a finite world.

    Parameters
    ----------
    learner : estimator or callable
        A deterministic learner, see :func:`corollary.risk.as_learner`.
    world : FiniteWorld
        The law.
    loss : str, Loss or callable, default="zero_one"
        ``loss(y_true, prediction)``, entry by entry.
    n_samples : int
        Rows of a training set.
    method : str, default="predict"
        Which method of an estimator predicts.
    max_sets : int, default=100000
        Refuse to enumerate more training sets than this.

    Returns
    -------
    risk : AlgorithmRisk
        Risk and probability of every training set of positive probability.

    Raises
    ------
    ValueError
        If there are too many training sets.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.risk import FiniteWorld, exact_algorithm_risk
    >>> coin = FiniteWorld([[0.25, 0.75]])
    >>> majority = lambda X, y: lambda X_new: np.full(len(X_new), round(np.mean(y)))
    >>> round(exact_algorithm_risk(majority, coin, n_samples=1).mean, 6)
    0.375
    """
    cells = np.argwhere(world.joint > 0)
    n_sets = len(cells) ** n_samples
    if n_sets > max_sets:
        raise ValueError(
            f"exact_algorithm_risk would enumerate {n_sets} training sets, more than max_sets="
            f"{max_sets}. Use algorithm_risk, or fewer rows."
        )
    learn = as_learner(learner, method=method)
    risks, probabilities = np.empty(n_sets), np.empty(n_sets)
    for i, rows in enumerate(product(range(len(cells)), repeat=n_samples)):
        chosen = cells[list(rows)]
        predictor = learn(world.inputs[chosen[:, 0]], world.outcomes[chosen[:, 1]])
        risks[i] = world.risk(predictor, loss)
        probabilities[i] = world.joint[chosen[:, 0], chosen[:, 1]].prod()
    return AlgorithmRisk(risks, probabilities, exact=True)


def randomised_risk(train_law: Any, posterior: Any, test_law: Any, costs: Any) -> float:
    """Return the out-of-sample risk of a randomised learner as a nested sum.

    The learner sees training data X', draws theta from its posterior given X' (not given the test
    data), and is charged ``R(theta, X'')`` on test data X'':

        sum_{X'} P(X') sum_theta P(theta | X') sum_{X''} P(X'' | X') R(theta, X'').

    Parameters
    ----------
    train_law : array-like of shape (n_train,)
        Probabilities of the training data.
    posterior : array-like of shape (n_train, n_parameters)
        Row a: the learner's law of theta given the a-th training data.
    test_law : array-like of shape (n_test,) or (n_train, n_test)
        Probabilities of the test data; one row for each training data if they depend on them.
    costs : array-like of shape (n_parameters, n_test)
        ``R(theta, X'')``.

    Returns
    -------
    risk : float
        The expected cost.

    Examples
    --------
    >>> from corollary.risk import randomised_risk
    >>> randomised_risk([0.5, 0.5], [[1.0, 0.0], [0.25, 0.75]], [0.5, 0.5], [[0, 1], [1, 1]])
    0.6875
    """
    train = np.asarray(train_law, dtype=float)
    posterior, costs = np.asarray(posterior, dtype=float), np.asarray(costs, dtype=float)
    test = np.asarray(test_law, dtype=float)
    test = np.broadcast_to(test, (train.size, test.shape[-1])) if test.ndim == 1 else test
    shapes = posterior.shape == (train.size, costs.shape[0]) and test.shape == (
        train.size,
        costs.shape[1],
    )
    if not shapes:
        raise ValueError(
            "randomised_risk needs train_law (a,), posterior (a, t), test_law (b,) or (a, b) and "
            f"costs (t, b). Got shapes {train.shape}, {posterior.shape}, {test.shape} and "
            f"{costs.shape}."
        )
    for name, law in (("train_law", train), ("posterior", posterior), ("test_law", test)):
        if np.any(law < 0) or not np.allclose(law.sum(axis=-1), 1, rtol=0, atol=1e-8):
            raise ValueError(
                f"The '{name}' parameter of randomised_risk must hold probabilities that are "
                "non-negative and sum to 1."
            )
    return float(np.einsum("a,at,ab,tb->", train, posterior, test, costs, optimize=True))


def estimate_randomised_risk(
    sample_train: Callable[[np.random.RandomState], Any],
    sample_parameter: Callable[[Any, np.random.RandomState], Any],
    sample_test: Callable[[Any, np.random.RandomState], Any],
    cost: Callable[[Any, Any], float],
    *,
    n_repeats: int = 10_000,
    random_state: Any = None,
) -> RiskEstimate:
    """Estimate the out-of-sample risk of a randomised learner by simulation.

    Parameters
    ----------
    sample_train : callable
        ``sample_train(rng)`` draws training data.
    sample_parameter : callable
        ``sample_parameter(train, rng)`` draws from the learner's posterior.
    sample_test : callable
        ``sample_test(train, rng)`` draws test data given the training data.
    cost : callable
        ``cost(parameter, test)``.
    n_repeats : int, default=10000
        How often to draw the three.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Returns
    -------
    risk : RiskEstimate
        Mean cost and its standard error.

    Examples
    --------
    >>> from corollary.risk import estimate_randomised_risk
    >>> risk = estimate_randomised_risk(
    ...     lambda rng: rng.normal(),
    ...     lambda train, rng: train + rng.normal(),
    ...     lambda train, rng: rng.normal(),
    ...     lambda parameter, test: (parameter - test) ** 2,
    ...     n_repeats=2000,
    ...     random_state=0,
    ... )
    >>> abs(risk.value - 3) < 5 * risk.standard_error
    True
    """
    if n_repeats < 2:
        raise ValueError(
            "The 'n_repeats' parameter of estimate_randomised_risk must be an int in the range "
            f"[2, inf). Got {n_repeats!r} instead."
        )
    rng = check_random_state(random_state)
    costs = np.empty(n_repeats)
    for i in range(n_repeats):
        train = sample_train(rng)
        parameter = sample_parameter(train, rng)
        costs[i] = cost(parameter, sample_test(train, rng))
    return RiskEstimate(float(costs.mean()), float(costs.std(ddof=1) / np.sqrt(n_repeats)))
