"""Safe Bayesian optimisation as transductive learning."""

import numpy as np

from corollary.active.gaussian._learner import Field
from corollary.active.gaussian._score import information_in
from corollary.active.safe._optimiser import SafeOptimiser


class SafeITL(SafeOptimiser):
    r"""Safe Bayesian optimisation through information-based transductive learning.

    With bands :math:`[\ell_n,u_n]` of the objective f and the constraint g, and threshold h, the
    sample region is the pessimistic safe set :math:`S_n=\{\ell^g_n\ge h\}` with the safe start,
    and the target region holds what might be safe and best,
    :math:`A_n=\{x:u^g_n(x)\ge h,\ u^f_n(x)\ge\max_{S_n}\ell^f_n\}`. The next query tells the most
    about f and g on :math:`A_n` among all points of :math:`S_n`.

    Parameters
    ----------
    domain : Pool, Box or array-like of shape (n, n_features)
        Where queries may be; an array is a pool.
    prior : Prior
        Kernel, noise variance and mean of the objective.
    safe_start : array-like of shape (k, n_features) or array-like of int
        Points known to be safe, or their indices in the pool; at least one.
    constraints : Prior, list of Prior or None, default=None
        Priors of constraints, which are observed with the objective and independent of it; None
        if the objective itself must stay above the threshold.
    threshold : float or array-like of float, default=0.0
        What the constraints must reach.
    delta : float, default=0.05
        Failure probability of the promise.
    rule : {"queries", "grid", "rkhs"}, default="queries"
        What is promised, and on what assumption; see Notes.
    norm_bound : float, array-like of float or None, default=None
        With the rule "rkhs": bounds on the norms of the functions minus their prior means.
    noise_bound : float, array-like of float or None, default=None
        With the rule "rkhs": sub-Gaussian constants of the noise; None for the roots of the noise
        variances.
    horizon : int or None, default=None
        How many queries there will be, among which delta is divided; None for any number. The
        rule "rkhs" only uses it as a limit.
    repeat : bool, default=True
        Whether a point of the pool may be asked more than once.
    n_candidates : int, default=1024
        Candidates in a box.
    random_state : int, RandomState instance or None, default=None
        Determines the candidates in a box.

    See Also
    --------
    SafeOpt : Widest band among possible maximisers and expanders.

    Notes
    -----
    Guarantee: the probability that the safe start is safe and any query is not is at most
    ``delta``. It rests on the rule: "queries" assumes that the functions are drawn from their
    priors, "grid" assumes the same and makes every band of the pool true at once, so that the
    whole safe set is safe, not only the queries; "rkhs" assumes fixed functions of bounded norm
    and makes all bands true everywhere. Kernels, noise and means must be known: hyper-parameters
    learnt from the same data void the promise. A prior that knows of the safe start (observations
    there) is best: selecting functions that happen to be safe at the start changes their law.
    Checked by ``tests/active/test_safe.py::test_queries_stay_safe_at_the_stated_rate``.

    Bands are credible intervals of the function's values. A batch is chosen with the safe set of
    what was told; imagined observations shrink scores, never the bands that safety rests on.
    What cannot be reached through safe points is not found: the optimum is that of the reachable
    set.

    References
    ----------
    .. [1] J. Hübotter et al., Transductive active learning: theory and applications, NeurIPS 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.active import Prior, SafeITL
    >>> from corollary.kernels import RBF
    >>> grid = np.linspace(0.0, 4.0, 81)[:, None]
    >>> f = lambda x: np.sin(2 * x[:, 0]) + 0.5
    >>> optimiser = SafeITL(grid, Prior(RBF(0.7), 1e-4), safe_start=[[0.5]])
    >>> for _ in range(10):
    ...     query = optimiser.ask()
    ...     optimiser.tell(query, f(query.X))
    >>> bool(f(optimiser.X_).min() >= 0), optimiser.best().round(1)
    (True, array([0.8]))
    """

    def _plan(self, field: Field) -> tuple[np.ndarray, None]:
        return np.flatnonzero(self._field_sets(field).maximisers), None

    def _scores(self, field: Field, targets: np.ndarray, plan: None) -> np.ndarray:
        safe = np.flatnonzero(self._field_sets(field).safe)
        scores = np.full(field.n, -np.inf)
        # The functions are independent: what an observation tells about them adds up.
        scores[safe] = sum(information_in(view, safe, targets) for view in field.views)
        return scores
