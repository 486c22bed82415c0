"""Active learning by information: where to ask in order to know a target region."""

from typing import Any

import numpy as np

from corollary.active._checks import finite_rows
from corollary.active.domain import Pool
from corollary.active.gaussian._learner import Field, GPLearner
from corollary.active.gaussian._score import information_in
from corollary.active.gaussian.prior import Prior


class TransductiveLearner(GPLearner):
    r"""Information-based transductive learning (ITL).

    Queries are limited to a sample region S, and what is to be learnt is the function on a target
    region A, which may lie elsewhere. The next query is
    :math:`x_n\in\arg\max_{x\in S}I(f_A;y_x\mid D_{n-1})`.

    Parameters
    ----------
    domain : Pool, Box or array-like of shape (n, n_features)
        The sample region S; an array is a pool.
    prior : Prior
        Kernel, noise variance and mean of the function.
    targets : array-like of shape (t, n_features) or None, default=None
        The target region A. None for the domain itself, which makes this uncertainty sampling.
    repeat : bool, default=True
        Whether a point of the pool may be asked more than once.
    n_candidates : int, default=1024
        Candidates in a box.
    random_state : int, RandomState instance or None, default=None
        Determines the candidates in a box.

    See Also
    --------
    UncertaintySampler : What it becomes if all queries lie in the target region.
    SafeITL : Safe optimisation by the same rule.

    Notes
    -----
    Memory grows with the square of the number of targets; time with its cube.

    References
    ----------
    .. [1] J. Hübotter et al., Transductive active learning: theory and applications, NeurIPS 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.active import Prior, TransductiveLearner
    >>> from corollary.kernels import RBF
    >>> pool = np.linspace(0.0, 5.0, 51)[:, None]  # may be asked
    >>> learner = TransductiveLearner(pool, Prior(RBF(), noise=0.01), targets=[[6.0]])
    >>> query = learner.ask()
    >>> query.X  # as near to the target as can be
    array([[5.]])
    >>> learner.tell(query, [0.3])
    """

    def __init__(
        self,
        domain: Any,
        prior: Prior,
        *,
        targets: Any = None,
        repeat: bool = True,
        n_candidates: int = 1024,
        random_state: Any = None,
    ) -> None:
        d = getattr(domain, "n_features", None)
        others = (
            None if targets is None else finite_rows(f"{type(self).__name__}'s targets", targets, d)
        )
        if others is not None and not len(others):
            raise ValueError(
                f"The 'targets' of {type(self).__name__} must not be empty. Give None for the "
                "domain itself."
            )
        if others is not None and d is None:
            domain = Pool(domain)
            finite_rows(f"{type(self).__name__}'s targets", targets, domain.n_features)
        super().__init__(
            domain,
            [prior],
            others,
            repeat=repeat,
            n_candidates=n_candidates,
            random_state=random_state,
        )
        self.targets = others
        if others is not None and isinstance(self.domain, Pool):
            # A target that may itself be asked is the same point, not its twin.
            n = len(self.domain.X)
            places = self.domain.find(others)
            self._targets = np.where(places < 0, n + np.arange(len(others)), places)

    def _plan(self, field: Field) -> tuple[np.ndarray, None]:
        if self.targets is None:
            return np.empty(0, dtype=np.intp), None
        if isinstance(self.domain, Pool):
            return self._targets, None
        return field.n + np.arange(len(self.targets)), None

    def _scores(self, field: Field, targets: np.ndarray, plan: None) -> np.ndarray:
        view = field.views[0]
        if self.targets is None:
            return view.variance(imagined=True)[: field.n]
        return information_in(view, np.arange(field.n), targets)


class UncertaintySampler(TransductiveLearner):
    r"""Uncertainty sampling: ask where the function is least known.

    If every query lies in the target region, knowing the targets leaves only the noise, and the
    information of a query is :math:`\tfrac12\log(1+\sigma^2(x)/\rho^2)`, largest where the
    posterior variance is.

    Parameters
    ----------
    domain : Pool, Box or array-like of shape (n, n_features)
        Where queries may be; an array is a pool.
    prior : Prior
        Kernel, noise variance and mean of the function.
    repeat : bool, default=True
        Whether a point of the pool may be asked more than once.
    n_candidates : int, default=1024
        Candidates in a box.
    random_state : int, RandomState instance or None, default=None
        Determines the candidates in a box.

    See Also
    --------
    query_uncertain : The same idea for classifiers.

    Examples
    --------
    >>> from corollary.active import Box, Prior, UncertaintySampler
    >>> from corollary.kernels import RBF
    >>> learner = UncertaintySampler(Box([(0.0, 1.0)]), Prior(RBF(0.3), 0.01), random_state=0)
    >>> learner.tell([[0.5]], [1.0])
    >>> learner.ask(2).X.round(1).ravel()  # both ends: the second as if the first was known
    array([0., 1.])
    """

    def __init__(
        self,
        domain: Any,
        prior: Prior,
        *,
        repeat: bool = True,
        n_candidates: int = 1024,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            domain,
            prior,
            repeat=repeat,
            n_candidates=n_candidates,
            random_state=random_state,
        )
