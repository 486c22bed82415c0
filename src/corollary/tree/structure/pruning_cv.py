"""The price of leaves chosen by cross-validation."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from sklearn.base import clone, is_classifier

from corollary.core.compat import safe_indexing
from corollary.core.estimator import ArrayLike, checked
from corollary.tree._decision_tree import DecisionTree
from corollary.tree.structure.pruning import prune, weakest_links


@dataclass(frozen=True, eq=False)
class PruningChoice:
    """What cross-validation says about the price of leaves.

    Parameters
    ----------
    estimator : DecisionTreeClassifier or DecisionTreeRegressor
        The tree of all rows, pruned at ``ccp_alpha``.
    ccp_alpha : float
        The chosen price.
    ccp_alphas : ndarray of shape (n_alphas,)
        Prices tried, ascending.
    n_leaves : ndarray of int of shape (n_alphas,)
        Leaves of the tree of all rows at each price.
    losses : ndarray of shape (n_alphas,)
        Mean loss on held-out rows.
    standard_errors : ndarray of shape (n_alphas,)
        Standard errors of the mean losses over rows.
    """

    estimator: Any
    ccp_alpha: float
    ccp_alphas: np.ndarray
    n_leaves: np.ndarray
    losses: np.ndarray
    standard_errors: np.ndarray


@checked
def prune_by_cross_validation(
    estimator: DecisionTree,
    X: Any,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    cv: Annotated[Any, "cv_object"] | int = 5,
    rule: Literal["best", "one_standard_error"] = "one_standard_error",
) -> PruningChoice:
    """Choose ``ccp_alpha`` by cross-validation and return the pruned tree.

    A whole tree is grown in every fold and pruned along its own weakest links. Prices are compared
    at the geometric means of neighbouring steps of the tree of all rows, where the steps of the
    folds agree best.

    Parameters
    ----------
    estimator : DecisionTreeClassifier or DecisionTreeRegressor
        Its ``ccp_alpha`` is ignored.
    X : array-like or data frame of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Targets.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights, in growth and in the mean loss.
    cv : int, cross-validation generator or iterable, default=5
        Folds, as in scikit-learn; stratified for classifiers.
    rule : {"best", "one_standard_error"}, default="one_standard_error"
        The price of least mean loss, or the largest whose mean loss is at most one standard error
        above it: the smallest tree that is as good as can be told.

    Returns
    -------
    choice : PruningChoice
        The tree and the losses. The loss is the error rate of labels, and the squared or absolute
        error of numbers, after the estimator's criterion.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.tree import DecisionTreeRegressor, prune_by_cross_validation
    >>> x = np.linspace(0.0, 1.0, 200)
    >>> y = (x > 0.5) + 0.1 * np.random.default_rng(0).normal(size=200)
    >>> choice = prune_by_cross_validation(DecisionTreeRegressor(), x[:, None], y)
    >>> choice.estimator.get_n_leaves()
    2
    """
    from sklearn.model_selection import check_cv

    y = np.asarray(y)
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    whole = clone(estimator).set_params(ccp_alpha=0.0).fit(X, y, sample_weight=weight)
    path = weakest_links(whole.nodes_)
    steps = path.lambdas / whole.nodes_.weight[0]
    # Between two steps the tree stays the same; beyond the last it is the root.
    alphas = np.append(np.sqrt(steps[:-1] * steps[1:]), steps[-1])
    losses = np.empty((len(alphas), len(y)))
    seen = np.zeros(len(y), dtype=bool)
    for train, test in check_cv(cv, y, classifier=is_classifier(estimator)).split(X, y):
        member = clone(whole).fit(
            safe_indexing(X, train),
            y[train],
            sample_weight=None if weight is None else weight[train],
        )
        rows = member._new(safe_indexing(X, test))
        member_path = weakest_links(member.nodes_)
        seen[test] = True
        for k, alpha in enumerate(alphas):
            pruned = prune(member.nodes_, alpha * member.nodes_.weight[0], path=member_path)
            losses[k, test] = _loss(member, pruned.predict_values(rows), y[test])
    held = losses[:, seen]
    mass = np.ones(held.shape[1]) if weight is None else weight[seen]
    means = held @ mass / mass.sum()
    spread = np.sqrt(((held - means[:, None]) ** 2) @ mass**2) / mass.sum()
    best = int(np.flatnonzero(means == means.min())[-1])
    if rule == "one_standard_error":
        best = int(np.flatnonzero(means <= means[best] + spread[best])[-1])
    pruned = clone(whole).set_params(ccp_alpha=float(alphas[best])).fit(X, y, sample_weight=weight)
    return PruningChoice(pruned, float(alphas[best]), alphas, path.n_leaves, means, spread)


def _loss(member: Any, values: np.ndarray, y: np.ndarray) -> np.ndarray:
    if is_classifier(member):
        return (member.classes_[values.argmax(axis=1)] != y).astype(np.float64)
    residual = np.asarray(y, dtype=np.float64) - values[:, 0]
    return residual**2 if member.criterion == "squared_error" else np.abs(residual)
