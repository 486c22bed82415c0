"""Weights of a mean of models, learnt on predictions of rows that they have not seen."""

import numpy as np


def mean_weights(predictions: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Learn the weights of the best mean of models, near to equal where rows are few.

    The weights are not negative and sum to one, so that the mean of probabilities is a probability
    and the mean of predictions stays between them. They minimise the squared error, or the log
    loss, of the mean; both are convex. Each model is granted one row more than there are, in which
    it alone errs by its usual size (or alone is right), which keeps the weights of few rows near
    to equal.

    Parameters
    ----------
    predictions : ndarray of shape (n_members, n) or (n_members, n, n_classes)
        Numbers or class probabilities that each member gives rows it was not fitted to.
    y : ndarray of shape (n,)
        Targets, or classes as column numbers.

    Returns
    -------
    weights : ndarray of shape (n_members,)
        Not negative, with sum one.

    See Also
    --------
    StackingRegressor : Fits the members, too.
    simplex_least_squares : The same without the additional rows.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import mean_weights
    >>> y = np.arange(100.0)
    >>> mean_weights(np.stack([y + 1, y - 1, y + 9]), y).round(2)
    array([0.48, 0.52, 0.  ])
    """
    from corollary.optimize import simplex_least_squares, simplex_log_loss

    m = len(predictions)
    if predictions.ndim == 3:
        given = np.stack([p[np.arange(len(y)), y] for p in predictions], axis=1)
        return simplex_log_loss(np.vstack([given, np.eye(m)]))
    usual = np.sqrt(np.mean((y - predictions) ** 2, axis=1))
    rows = np.vstack([predictions.T, np.diag(usual)])
    return simplex_least_squares(rows, np.append(y, np.zeros(m)))
