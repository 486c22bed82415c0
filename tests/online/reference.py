"""The learners in plain Python, one round after the other, as their definitions say."""

import math

import numpy as np


def majority(advice, y, beta):
    weights = [1.0] * advice.shape[1]
    predictions, totals = [], []
    for row, truth in zip(advice, y):
        totals.append(sum(weights))
        one = sum(w for w, a in zip(weights, row) if a == 1)
        guess = 1.0 if one >= sum(weights) - one else 0.0
        predictions.append(guess)
        weights = [w * (beta if a != truth else 1.0) for w, a in zip(weights, row)]
    return np.array(predictions), np.array([*totals, sum(weights)])


def slope(loss, y, score):
    if loss == "hinge":
        return -y if y * score < 1 else 0.0
    if loss == "logistic":
        return -y / (1 + math.exp(y * score))
    if loss == "square":
        return 2 * (score - y)
    if loss == "perceptron":
        return -y if y * score <= 0 else 0.0
    if loss == "squared_hinge":
        return -2 * y * max(0.0, 1 - y * score)
    if loss == "absolute":
        return float(np.sign(score - y))
    raise ValueError(loss)


def gradient_descent(
    X, y, loss, step, eta, *, radius=math.inf, alpha=0.0, intercept=False, weight=None
):
    """Return scores, the last weights (intercept last) and the average of all iterates."""
    if intercept:
        X = np.hstack([X, np.ones((len(X), 1))])
    d = X.shape[1]
    free = d - 1 if intercept else d
    w, squares, scores, iterates = np.zeros(d), np.zeros(d), [], []
    for t, (x, truth) in enumerate(zip(X, y), start=1):
        score = float(w @ x)
        scores.append(score)
        g = slope(loss, truth, score) * (1.0 if weight is None else weight[t - 1]) * x
        pace = eta if step == "constant" else eta / math.sqrt(t)
        w = w.copy()
        w[:free] *= 1 - pace * alpha
        if step == "adagrad":
            squares += g * g
            w -= np.divide(eta * g, np.sqrt(squares), out=np.zeros(d), where=squares > 0)
            w[:free] = np.clip(w[:free], -radius, radius)
        else:
            w -= pace * g
            length = np.linalg.norm(w[:free])
            if length > radius:
                w[:free] *= radius / length
        iterates.append(w)
    return np.array(scores), w, np.mean(iterates, axis=0)


def winnow(X, y):
    n = X.shape[1]
    w, guesses = np.ones(n), []
    for x, truth in zip(X, y):
        guess = float(w @ x >= n)
        guesses.append(guess)
        w = w * 2.0 ** ((truth - guess) * x)
    return np.array(guesses), w


def kernel_perceptron(K, y, budget=math.inf):
    """Return mistakes, given the Gram matrix of all rounds."""
    support, wrong = [], []
    for t in range(len(y)):
        score = sum(y[q] * K[q, t] for q in support)
        wrong.append(y[t] * score <= 0)
        if wrong[-1]:
            support.append(t)
            if len(support) > budget:
                support.pop(0)
    return np.array(wrong), support
