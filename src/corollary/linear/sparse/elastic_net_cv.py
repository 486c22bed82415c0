"""Elastic net with its penalty chosen by cross-validation along the path."""

from dataclasses import KW_ONLY

import numpy as np

from corollary.core.estimator import ArrayLike, Fraction, fitted
from corollary.core.schema import Number
from corollary.linear.sparse._cross_validated import CrossValidatedPath
from corollary.linear.sparse.path import enet_path


class ElasticNetCV(CrossValidatedPath):
    r"""Fit an elastic net whose penalty minimises the cross-validated mean square.

    Every fold fits the whole path; the mean square on the rows left out is averaged over folds
    (weighted by rows, or by their weights), and the model is fitted again to all rows with the
    best penalty.

    Parameters
    ----------
    eps : float, default=1e-3
        Smallest over largest penalty of the grid.
    alphas : int or array-like of float, default=100
        Number of penalties in a geometric grid from the smallest that makes all coefficients
        zero, or the penalties themselves.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which is not penalised.
    precompute : bool, "auto" or array-like, default="auto"
        Changes nothing: the Gram matrix of the columns in use is always kept.
    max_iter : int, default=1000
        Largest number of epochs for each penalty.
    tol : float, default=1e-4
        Duality gap to reach, relative to the mean square of the (centred) target.
    copy_X : bool, default=True
        Changes nothing: X is never written to.
    cv : int, splitter, iterable or None, default=None
        Folds, as in scikit-learn; None is five.
    verbose : bool or int, default=False
        Changes nothing: long work shows its progress in a terminal by itself.
    n_jobs : int or None, default=None
        Threads over folds; None means one per available core. The result does not depend on it.
    positive : bool, default=False
        Whether coefficients must not be negative.
    random_state : int, RandomState instance or None, default=None
        Changes nothing: nothing here is random.
    selection : {"cyclic", "random"}, default="cyclic"
        Changes nothing: coordinates are visited in their order, and the minimum is the same.
    l1_ratio : float or array-like of float, default=0.5
        Shares of the l1 penalty to choose from; 1 is the lasso.

    Attributes
    ----------
    alpha_ : float
        The chosen penalty.
    l1_ratio_ : float
        The chosen share of the l1 penalty.
    alphas_ : ndarray of shape (n_alphas,) or (n_l1_ratios, n_alphas)
        All penalties, decreasing; one grid for each share if they are not given.
    mse_path_ : ndarray of shape (n_alphas, n_folds) or (n_l1_ratios, n_alphas, n_folds)
        Mean squares on the rows left out.
    coef_ : ndarray of shape (n_features,)
        Coefficients at the chosen penalty.
    intercept_ : float
        Intercept.
    dual_gap_ : float
        Proven upper bound of the objective's distance from its minimum.
    n_iter_ : int
        Epochs used by the last fit.

    See Also
    --------
    ElasticNet : For a given penalty.
    LassoCV : The l1 penalty alone.
    enet_path : The path itself.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import ElasticNetCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 8))
    >>> y = 3.0 * X[:, 0] + rng.normal(size=60)
    >>> model = ElasticNetCV(l1_ratio=[0.1, 0.5, 1.0]).fit(X, y)
    >>> model.l1_ratio_, model.mse_path_.shape
    (1.0, (3, 100, 5))
    """

    _: KW_ONLY
    l1_ratio: Fraction | ArrayLike = 0.5

    l1_ratio_: float = fitted(Number(0.0, 1.0))

    #: scikit-learn's name for :func:`enet_path`.
    path = staticmethod(enet_path)

    def _l1_shares(self) -> np.ndarray:
        shares = np.atleast_1d(np.asarray(self.l1_ratio, dtype=np.float64))
        if shares.ndim != 1 or len(shares) == 0 or not np.all((shares >= 0) & (shares <= 1)):
            raise ValueError(
                "The 'l1_ratio' parameter of ElasticNetCV must be numbers from 0 to 1. Got "
                f"{self.l1_ratio!r} instead."
            )
        return shares

    def _keep_choice(self, share: float, grids: np.ndarray, paths: np.ndarray) -> None:
        super()._keep_choice(share, grids, paths)
        self.l1_ratio_ = share
