"""The loop of every linear learner: score, slope, step; over dense and CSR rows.

Weights are kept as ``scale * weights``, so that shrinking and projecting on a ball cost one
multiplication, whatever the number of features. The sum of all iterates, for averaging, is
``mass * weights + sums``: adding ``change`` to the weights takes ``mass * change`` from the sums.
Both are what keeps a sparse row's work proportional to its entries.
"""

import numpy as np

from corollary.core.jit import jit
from corollary.online._codes import (
    ADAGRAD,
    CONSTANT,
    EPSILON,
    GRADIENT,
    HINGE,
    LINEARISED,
    LOGISTIC,
    PA_I,
    PA_II,
    PERCEPTRON,
    SQUARE,
    SQUARED_HINGE,
)

# Below it the scale is multiplied into the weights; far above the smallest double.
SMALLEST_SCALE = 1e-100

# np.isfinite asks whether x - x is a number, and sums that may be reassociated make that 0; a
# comparison is false for NaN in any case.
LARGEST = np.finfo(np.float64).max


@jit
def slope_of(settings, y, score, squared_norm):
    """Return the (sub)gradient of the loss in the score.

    For the passive-aggressive rules it is minus the signed step along the row, whose squared
    length they need.
    """
    loss = settings.loss
    if settings.rule == GRADIENT:
        if loss == LOGISTIC:
            return -y / (1.0 + np.exp(y * score))
        if loss == SQUARE:
            return 2.0 * (score - y)
        if loss == HINGE:
            return -y if y * score < 1.0 else 0.0
        if loss == PERCEPTRON:
            return -y if y * score <= 0.0 else 0.0
        if loss == SQUARED_HINGE:
            return -2.0 * y * max(0.0, 1.0 - y * score)
        gap = y - score
        if loss == EPSILON:
            if abs(gap) <= settings.shape:
                return 0.0
            return -1.0 if gap > 0.0 else 1.0
        return -settings.shape if gap > 0.0 else 1.0 - settings.shape
    direction, suffered = y, 1.0 - y * score
    if loss != HINGE:
        direction = 1.0 if y > score else -1.0
        suffered = abs(y - score) - settings.shape
    if suffered <= 0.0:
        return 0.0
    if settings.rule == LINEARISED:
        return -settings.eta * direction
    if settings.rule == PA_II:
        return -direction * suffered / (squared_norm + 0.5 / settings.eta)
    if squared_norm == 0.0:
        return 0.0
    tau = suffered / squared_norm
    return -direction * (min(tau, settings.eta) if settings.rule == PA_I else tau)


@jit
def eta_of(settings, t):
    """Return the step of round t, for AdaGrad that of the penalty."""
    return settings.eta if settings.step == CONSTANT else settings.eta / np.sqrt(t)


@jit
def measure_dense(X, u, products, squares):
    """Write the inner product of every row with u and its squared length, row by row.

    A product of matrices may round a row differently when there are more of them.
    """
    for i in range(X.shape[0]):
        product, square = 0.0, 0.0
        for j in range(X.shape[1]):
            product += X[i, j] * u[j]
            square += X[i, j] * X[i, j]
        products[i] = product
        squares[i] = square


@jit
def settle(settings, state, r, squared_norm):
    """Bring the weights of output r back into the ball, and renew a tiny scale.

    ``squared_norm`` is that of the weights before scaling; negative if they need no projection.
    """
    weights, sums = state.weights, state.sums
    if squared_norm > 0.0:
        length = state.scale[r] * np.sqrt(squared_norm)
        if length > settings.radius:
            state.scale[r] *= settings.radius / length
    scale, mass = state.scale[r], state.mass[r]
    if scale < SMALLEST_SCALE:
        total = 0.0
        for j in range(weights.shape[1] - 1):
            if sums.shape[1]:
                sums[r, j] += mass * weights[r, j]
            weights[r, j] *= scale
            total += weights[r, j] * weights[r, j]
        state.mass[r], state.scale[r], state.squared_norm[r] = 0.0, 1.0, total


@jit
def adapt_dense(settings, state, r, X, i, slope):
    """Take AdaGrad's step along row i of X in the weights of output r."""
    weights, squares, sums = state.weights, state.squares, state.sums
    scale, mass, eta, radius = state.scale[r], state.mass[r], settings.eta, settings.radius
    # np.divide does not test for zero, and so runs in vectors.
    if sums.shape[1] == 0 and radius == np.inf and scale == 1.0:
        for j in range(X.shape[1]):
            g = slope * X[i, j]
            squares[r, j] += g * g
            weights[r, j] -= np.divide(eta * g, np.sqrt(squares[r, j]))
        return
    for j in range(X.shape[1]):
        g = slope * X[i, j]
        squares[r, j] += g * g
        new = scale * weights[r, j] - np.divide(eta * g, np.sqrt(squares[r, j]))
        new = np.divide(min(max(new, -radius), radius), scale)
        if sums.shape[1]:
            sums[r, j] -= mass * (new - weights[r, j])
        weights[r, j] = new


@jit
def learn_dense(settings, state, X, y, weight, order, scores, slopes):
    """Visit dense rows in order; write the score before, and the slope of, every round.

    X is C-contiguous double precision. With one output y holds signs or numbers, with several the
    index of the right one. An empty weight means ones, an empty order that of X, and nothing is
    written to empty scores. Returns the position in ``order`` at which
    a score or a squared length was not finite (nothing is learnt from that row), or -1. Sums of
    squares that overflow are for the caller to find: a test for each would keep them from running
    in vectors.
    """
    # Loops index the tables themselves: a view of a row costs more than the row's arithmetic.
    weights, scale, squares = state.weights, state.scale, state.squares
    sums, mass, clock = state.sums, state.mass, state.clock
    n_outputs, d = weights.shape[0], X.shape[1]
    averaging, weighted = sums.shape[1] > 0, weight.shape[0] > 0
    ordered, recording = order.shape[0] > 0, scores.shape[0] > 0
    n_rounds = order.shape[0] if ordered else y.shape[0]
    for k in range(n_rounds):
        i = order[k] if ordered else k
        importance = weight[i] if weighted else 1.0
        squared_norm = settings.intercept
        if settings.rule != GRADIENT:
            for j in range(d):
                squared_norm += X[i, j] * X[i, j]
            if not squared_norm <= LARGEST:
                return k
        t = clock[0] + 1
        eta = eta_of(settings, t)
        pace = eta if settings.rule == GRADIENT else 1.0
        for r in range(n_outputs):
            score = 0.0
            for j in range(d):
                score += X[i, j] * weights[r, j]
            score = scale[r] * score + weights[r, d]
            if not abs(score) <= LARGEST:
                return k
            target = y[i] if n_outputs == 1 else (1.0 if y[i] == r else -1.0)
            slope = importance * slope_of(settings, target, score, squared_norm)
            if recording:
                scores[k, r] = score
                slopes[k, r] = slope
            if importance == 0.0:
                continue
            if settings.alpha > 0.0:
                scale[r] *= max(0.0, 1.0 - eta * settings.alpha)
                if scale[r] < SMALLEST_SCALE:
                    settle(settings, state, r, -1.0)
            if slope != 0.0:
                change = -pace * slope
                if settings.step == ADAGRAD:
                    adapt_dense(settings, state, r, X, i, slope)
                    if settings.intercept:
                        squares[r, d] += slope * slope
                        change = -settings.eta * slope / np.sqrt(squares[r, d])
                else:
                    factor = change / scale[r]
                    if averaging:
                        for j in range(d):
                            sums[r, j] -= mass[r] * factor * X[i, j]
                    for j in range(d):
                        weights[r, j] += factor * X[i, j]
                    if settings.radius < np.inf:
                        total = 0.0
                        for j in range(d):
                            total += weights[r, j] * weights[r, j]
                        settle(settings, state, r, total)
                if settings.intercept:
                    weights[r, d] += change
            if averaging:
                mass[r] += scale[r]
                sums[r, d] += weights[r, d]
        if importance != 0.0:
            clock[0] = t
    return -1


@jit
def learn_sparse(settings, state, rows, y, weight, order, scores, slopes):
    """Visit CSR rows in order, as :func:`learn_dense` does; ``rows`` has no repeated entries."""
    data, indices, indptr = rows
    weights, scale, squares = state.weights, state.scale, state.squares
    sums, mass, clock = state.sums, state.mass, state.clock
    n_outputs, d = weights.shape[0], weights.shape[1] - 1
    averaging, weighted = sums.shape[1] > 0, weight.shape[0] > 0
    ordered, recording = order.shape[0] > 0, scores.shape[0] > 0
    n_rounds = order.shape[0] if ordered else y.shape[0]
    adaptive, radius = settings.step == ADAGRAD, settings.radius
    for k in range(n_rounds):
        i = order[k] if ordered else k
        start, stop = indptr[i], indptr[i + 1]
        importance = weight[i] if weighted else 1.0
        squared_norm = settings.intercept
        if settings.rule != GRADIENT:
            for e in range(start, stop):
                squared_norm += data[e] * data[e]
            if not squared_norm <= LARGEST:
                return k
        t = clock[0] + 1
        eta = eta_of(settings, t)
        pace = eta if settings.rule == GRADIENT else 1.0
        for r in range(n_outputs):
            score = 0.0
            for e in range(start, stop):
                score += data[e] * weights[r, indices[e]]
            score = scale[r] * score + weights[r, d]
            if not abs(score) <= LARGEST:
                return k
            target = y[i] if n_outputs == 1 else (1.0 if y[i] == r else -1.0)
            slope = importance * slope_of(settings, target, score, squared_norm)
            if recording:
                scores[k, r] = score
                slopes[k, r] = slope
            if importance == 0.0:
                continue
            if settings.alpha > 0.0:
                scale[r] *= max(0.0, 1.0 - eta * settings.alpha)
                if scale[r] < SMALLEST_SCALE:
                    settle(settings, state, r, -1.0)
            if slope != 0.0:
                change, grown = -pace * slope, 0.0
                for e in range(start, stop):
                    j = indices[e]
                    old = weights[r, j]
                    if adaptive:
                        g = slope * data[e]
                        squares[r, j] += g * g
                        if not squares[r, j] <= LARGEST:
                            return k
                        new = scale[r] * old - settings.eta * g / np.sqrt(squares[r, j])
                        new = min(max(new, -radius), radius) / scale[r]
                    else:
                        new = old + change / scale[r] * data[e]
                        grown += new * new - old * old
                    if averaging:
                        sums[r, j] -= mass[r] * (new - old)
                    weights[r, j] = new
                if radius < np.inf and not adaptive:
                    state.squared_norm[r] += grown
                    settle(settings, state, r, state.squared_norm[r])
                if settings.intercept:
                    if adaptive:
                        squares[r, d] += slope * slope
                        change = -settings.eta * slope / np.sqrt(squares[r, d])
                    weights[r, d] += change
            if averaging:
                mass[r] += scale[r]
                sums[r, d] += weights[r, d]
        if importance != 0.0:
            clock[0] = t
    return -1
