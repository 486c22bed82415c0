r"""The best greedy split of a set of rows, parallel to an axis.

For every column the rows are sorted once; running sums then give the criterion of all cuts
:math:`R_1(j, s) = \{x_j \le s\}`, :math:`R_2(j, s) = \{x_j > s\}` in linear time, so a node of m
rows and n columns takes :math:`O(nm)` after sorting, :math:`O(nm \log m)` in all.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from sklearn.utils.validation import check_X_y

from corollary.core.compat import StrOptions, check_sample_weight
from corollary.core.estimator import ArrayLike, Count, checked
from corollary.tree.binning.bitsets import unpack_categories
from corollary.tree.growth._problem import GrowthProblem, GrowthRules
from corollary.tree.growth.exact import grow_exact

CLASSIFICATION = ("gini", "entropy", "log_loss", "misclassification")
REGRESSION = ("squared_error", "absolute_error")


@dataclass(frozen=True, eq=False)
class Split:
    """A split of rows in two.

    Parameters
    ----------
    feature : int
        The column.
    threshold : float
        Rows with values up to it go left; NaN for a categorical column.
    gain : float
        By how much the split lowers the criterion, as a (weighted) sum over rows.
    missing_left : bool
        Where missing values go.
    categories : ndarray of int or None, default=None
        Codes that go left, for a categorical column.

    Examples
    --------
    >>> from corollary.tree import Split
    >>> Split(feature=0, threshold=1.5, gain=2.0, missing_left=False).threshold
    1.5
    """

    feature: int
    threshold: float
    gain: float
    missing_left: bool
    categories: np.ndarray | None = None


@checked
def best_split(
    X: ArrayLike,
    y: ArrayLike,
    *,
    criterion: Annotated[str, StrOptions({*CLASSIFICATION, *REGRESSION})] = "squared_error",
    sample_weight: ArrayLike | None = None,
    min_samples_leaf: Count = 1,
    categorical: ArrayLike | None = None,
) -> Split | None:
    """Find the split that lowers the criterion most, over all columns and cuts.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows; NaN is a missing value and tried on both sides. Categorical columns hold whole
        numbers from 0 to 254.
    y : array-like of shape (n_samples,)
        Numbers, or labels for the impurities of classes.
    criterion : {"gini", "entropy", "log_loss", "misclassification", "squared_error", \
"absolute_error"}, default="squared_error"
        What to lower.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights; a row of weight k counts like k rows.
    min_samples_leaf : int, default=1
        Rows on either side at least.
    categorical : array-like of bool of shape (n_features,) or None, default=None
        Which columns hold categories. They are sorted by mean target or share of a class and cut
        in that order, which is optimal for squared error and for two classes.

    Returns
    -------
    split : Split or None
        The first of the best splits; None if no split is allowed or all targets are equal.

    Examples
    --------
    >>> from corollary.tree import best_split
    >>> split = best_split([[0.0], [1.0], [2.0]], [0.0, 0.0, 3.0])
    >>> split.threshold, round(split.gain, 12)
    (1.5, 6.0)
    """
    labels = criterion in CLASSIFICATION
    X, y = check_X_y(X, y, dtype=np.float64, ensure_all_finite="allow-nan", y_numeric=not labels)
    weight = None
    if sample_weight is not None:
        weight = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if labels:
        classes, numbers = np.unique(y, return_inverse=True)
        problem = GrowthProblem(numbers.astype(np.float64), criterion, len(classes))
    else:
        problem = GrowthProblem(np.asarray(y, dtype=np.float64), criterion, 0)
    mask = None if categorical is None else np.asarray(categorical, dtype=bool)
    rules = GrowthRules(max_depth=1, min_samples_leaf=min_samples_leaf)
    tree = grow_exact(X, problem, rules, sample_weight=weight, categorical=mask)
    if tree.n_nodes == 1:
        return None
    codes = None
    if len(tree.bitsets):  # of its only split
        codes = unpack_categories(tree.bitsets[0])
        codes = codes[codes < 255]
    return Split(
        int(tree.feature[0]),
        float(tree.threshold[0]) if codes is None else float("nan"),
        float(tree.gain[0]),
        bool(tree.missing_left[0]),
        codes,
    )
