"""Coordinate descent for the joint machine of several classes, one row at a time."""

import numpy as np

from corollary.core.jit import jit


@jit
def _best_weights(slope, own, label, price, weights):
    """Minimise ``own |t|^2 / 2 + slope' t`` with sum zero and t at most price (label) or 0.

    Start with no bound; what lies above its bound is fixed to it, and the level rises for the
    others, so that a weight that was fixed stays fixed.
    """
    k = len(slope)
    fixed = np.zeros(k, dtype=np.bool_)
    while True:
        total, count = 0.0, 0
        for z in range(k):
            if fixed[z]:
                total -= own * weights[z]
            else:
                total += slope[z]
                count += 1
        level = total / count
        changed = False
        for z in range(k):
            if fixed[z]:
                continue
            weights[z] = (level - slope[z]) / own
            bound = price if z == label else 0.0
            if weights[z] > bound:
                weights[z] = bound
                fixed[z] = True
                changed = True
        if not changed:
            return


@jit
def _violation(gradient, weights, label, price):
    highest, lowest = -np.inf, np.inf
    for z in range(len(gradient)):
        highest = max(highest, gradient[z])
        if weights[z] < (price if z == label else 0.0):
            lowest = min(lowest, gradient[z])
    return highest - lowest


@jit
def pass_gram(K, code, order, price, tau, scores):
    """Visit rows; update tau (n, k) and ``scores = K tau`` in place; return the worst violation."""
    n, k = tau.shape
    worst = 0.0
    gradient, new = np.empty(k), np.empty(k)
    for i in order:
        for z in range(k):
            gradient[z] = scores[i, z] - (1.0 if z == code[i] else 0.0)
        violation = _violation(gradient, tau[i], code[i], price[i])
        worst = max(worst, violation)
        if violation <= 0.0 or K[i, i] <= 0.0:
            continue
        for z in range(k):
            gradient[z] -= K[i, i] * tau[i, z]
        _best_weights(gradient, K[i, i], code[i], price[i], new)
        for z in range(k):
            new[z] -= tau[i, z]
            tau[i, z] += new[z]
        for j in range(n):
            for z in range(k):
                scores[j, z] += K[j, i] * new[z]
    return worst


@jit
def pass_rows(X, squares, code, order, price, tau, W):
    """Do the same with ``W = tau' X`` instead of scores, for the linear kernel."""
    k = tau.shape[1]
    d = X.shape[1]
    worst = 0.0
    gradient, new = np.empty(k), np.empty(k)
    for i in order:
        for z in range(k):
            score = 0.0
            for j in range(d):
                score += W[z, j] * X[i, j]
            gradient[z] = score - (1.0 if z == code[i] else 0.0)
        violation = _violation(gradient, tau[i], code[i], price[i])
        worst = max(worst, violation)
        if violation <= 0.0 or squares[i] <= 0.0:
            continue
        for z in range(k):
            gradient[z] -= squares[i] * tau[i, z]
        _best_weights(gradient, squares[i], code[i], price[i], new)
        for z in range(k):
            new[z] -= tau[i, z]
            tau[i, z] += new[z]
            if new[z] != 0.0:
                for j in range(d):
                    W[z, j] += new[z] * X[i, j]
    return worst
