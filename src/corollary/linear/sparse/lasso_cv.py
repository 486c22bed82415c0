"""Lasso with its penalty chosen by cross-validation along the path."""

import numpy as np

from corollary.linear.sparse._cross_validated import CrossValidatedPath
from corollary.linear.sparse.path import lasso_path


class LassoCV(CrossValidatedPath):
    r"""Fit a lasso whose penalty minimises the cross-validated mean square.

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

    Attributes
    ----------
    alpha_ : float
        The chosen penalty.
    alphas_ : ndarray of shape (n_alphas,)
        All penalties, decreasing.
    mse_path_ : ndarray of shape (n_alphas, n_folds)
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
    Lasso : For a given penalty.
    ElasticNetCV : With an l2 penalty as well.
    lasso_path : The path itself.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import LassoCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 8))
    >>> y = 3.0 * X[:, 0] + rng.normal(size=60)
    >>> model = LassoCV().fit(X, y)
    >>> bool(model.alphas_[-1] < model.alpha_ < model.alphas_[0])
    True
    """

    #: scikit-learn's name for :func:`lasso_path`.
    path = staticmethod(lasso_path)

    def _l1_shares(self) -> np.ndarray:
        return np.ones(1)
