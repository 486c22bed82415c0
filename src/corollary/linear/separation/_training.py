"""Passes of a perceptron until it is done: the stopping rules around the compiled loops."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse


class Rule(NamedTuple):
    """How rows move the weights, and when passes end."""

    shrink: float  # factor on the weights for each row visited, of an l2 penalty
    l1: float  # shift towards zero for each row visited
    max_passes: int
    tol: float | None  # smallest improvement that counts; None to go on to a clean pass
    patience: int  # passes without improvement that end the run


class Trained(NamedTuple):
    """Where a perceptron stopped."""

    weights: np.ndarray  # (n_features,)
    intercept: float
    n_mistakes: int
    passes: int
    separated: bool  # whether the last pass made no mistake
    stopped: bool  # whether a stopping rule was met


def train(
    X: Any,
    y: np.ndarray,
    steps: np.ndarray,
    start: tuple[np.ndarray, np.ndarray],
    orders: Callable[[], np.ndarray],
    rule: Rule,
    judge: Callable[[np.ndarray, np.ndarray], float] | None = None,
) -> Trained:
    """Make passes over rows until a rule ends them.

    Parts of `start` are the weights and the intercept, an array of one number or of none. A pass
    without mistake ends the run unless a penalty goes on to change the weights. Improvement is that
    of the mean loss, or of the score that ``judge`` gives to the weights.
    """
    from corollary.linear._loops.weighted_perceptron import (
        dense_weighted_pass,
        sparse_weighted_pass,
    )

    weights, intercept = start
    mistakes = np.zeros(len(y), dtype=np.int64)
    shifted = np.zeros(len(weights) + 1)
    rows, run = X, dense_weighted_pass
    if sparse.issparse(X):
        rows, run = (X.data, X.indices, X.indptr), sparse_weighted_pass
    best, idle, passes, total = -np.inf, 0, 0, 0
    wrong = 1
    free = rule.shrink == 1.0 and rule.l1 == 0.0
    stopped = False
    while passes < rule.max_passes and not stopped:
        order = orders()
        loss = run(
            rows, y, steps, order, weights, intercept, mistakes, rule.shrink, rule.l1, shifted
        )
        passes, wrong, total = passes + 1, int(mistakes.sum()) - total, int(mistakes.sum())
        score = -loss / len(order) if judge is None else judge(weights, intercept)
        if rule.tol is not None:
            idle = idle + 1 if score < best + rule.tol else 0
            best = max(best, score)
        stopped = (free and wrong == 0) or idle >= rule.patience
    if not (np.isfinite(weights).all() and np.isfinite(intercept).all()):
        raise ValueError(
            "Perceptron: rows have numbers so large that their sum has overflowed. Scale the "
            "features, for instance with StandardScaler."
        )
    bias = float(intercept[0]) if len(intercept) else 0.0
    return Trained(weights, bias, total, passes, wrong == 0, stopped)
