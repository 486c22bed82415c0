"""The loop of every linear learner: score, slope, step; over dense and CSR rows.

Weights are kept as ``scale * weights``, so that shrinking and projecting on a ball cost one
multiplication, whatever the number of features. The sum of all iterates, for averaging, is
``mass * weights + sums``: adding ``change`` to the weights takes ``mass * change`` from the sums.
Both are what keeps a sparse row's work proportional to its entries.

Rows come as a dense table ``X`` or as CSR arrays ``rows``; the other one is None, and what ``is not
None`` guards is then not compiled (an ``else`` branch would be).
"""

import numpy as np

from corollary.core.jit import jit, part
from corollary.online.linear._codes import ADAGRAD, CONSTANT, GRADIENT, LINEARISED, PA_I, PA_II
from corollary.risk import HingeLoss, PerceptronLoss, loss_slope

HINGE, PERCEPTRON = HingeLoss.code, PerceptronLoss.code

# Below it the scale is multiplied into the weights; far above the smallest double. The sum of all
# iterates is a difference of numbers that are one over the scale as large, so that it loses as many
# digits as the scale has zeros.
SMALLEST_SCALE, SMALLEST_AVERAGED_SCALE = 1e-100, 1e-3

# np.isfinite asks whether x - x is a number, and sums that may be reassociated make that 0; a
# comparison is false for NaN in any case.
LARGEST = np.finfo(np.float64).max


@jit(counted=False)
def learn_dense(settings, state, X, y, weight, order, scores, slopes):
    """Visit the rows of a C-contiguous table; see :func:`_learn`.

    Sums of squares that overflow are for the caller to find: a test for each would keep them from
    running in vectors.
    """
    return _learn(settings, state, X, None, y, weight, order, scores, slopes)


@jit(counted=False)
def learn_sparse(settings, state, rows, y, weight, order, scores, slopes):
    """Visit CSR rows, which have no repeated entries; see :func:`_learn`."""
    return _learn(settings, state, None, rows, y, weight, order, scores, slopes)


@part
def _learn(settings, state, X, rows, y, weight, order, scores, slopes):
    """Visit rows in order; write the score before, and the slope of, every round.

    With one output y holds signs or numbers, with several the index of the right one. An empty
    weight means ones, an empty order that of the rows, and nothing is written to empty scores.
    Returns the position in ``order`` at which a score or a squared length was not finite (nothing
    is learnt from that row), or -1.
    """
    weights, scale, sums, mass, clock = (
        state.weights, state.scale, state.sums, state.mass, state.clock
    )  # fmt: skip
    n_outputs, d = weights.shape[0], weights.shape[1] - 1
    for k in range(order.shape[0] if order.shape[0] else y.shape[0]):
        i = order[k] if order.shape[0] else k
        importance = weight[i] if weight.shape[0] else 1.0
        squared_norm = settings.intercept
        if settings.rule != GRADIENT:
            squared_norm += _square(X, rows, i)
            if not squared_norm <= LARGEST:
                return k
        t = clock[0] + 1
        for r in range(n_outputs):
            score = scale[r] * _dot(X, rows, i, weights, r) + weights[r, d]
            if not abs(score) <= LARGEST:
                return k
            target = y[i] if n_outputs == 1 else (1.0 if y[i] == r else -1.0)
            slope = importance * _slope(settings, target, score, squared_norm)
            if scores.shape[0]:
                scores[k, r], slopes[k, r] = score, slope
            if importance == 0.0:
                continue
            if settings.alpha > 0.0:
                _shrink(settings, state, r, t)
            if slope != 0.0 and not _step(settings, state, X, rows, i, r, slope, t):
                return k
            if sums.shape[1]:
                mass[r] += scale[r]
                sums[r, d] += weights[r, d]
        if importance != 0.0:
            clock[0] = t
    return -1


@part
def _slope(settings, y, score, squared_norm):
    """Return the slope of the loss, or what the passive-aggressive rules step by in its place."""
    if settings.rule != GRADIENT:
        return _aggressive_slope(settings, y, score, squared_norm)
    if settings.loss == PERCEPTRON and score == 0.0:
        return -y  # a mistake: from zero weights no other rule would move
    return loss_slope(settings.loss, settings.shape, y, score)


@part
def _aggressive_slope(settings, y, score, squared_norm):
    """Return minus the signed step along the row, of which the rules need the squared length."""
    direction, suffered = y, 1.0 - y * score
    if settings.loss != HINGE:
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


@part
def _eta(settings, t):
    """Return the step of round t, for AdaGrad that of the penalty."""
    return settings.eta if settings.step == CONSTANT else settings.eta / np.sqrt(t)


@part
def _dot(X, rows, i, weights, r):
    """Return the inner product of a row and the weights of an output, before scaling."""
    total = 0.0
    if X is not None:
        for j in range(X.shape[1]):
            total += X[i, j] * weights[r, j]
    if rows is not None:
        data, indices, indptr = rows
        for e in range(indptr[i], indptr[i + 1]):
            total += data[e] * weights[r, indices[e]]
    return total


@part
def _square(X, rows, i):
    """Return the squared length of a row."""
    total = 0.0
    if X is not None:
        for j in range(X.shape[1]):
            total += X[i, j] * X[i, j]
    if rows is not None:
        data, _, indptr = rows
        for e in range(indptr[i], indptr[i + 1]):
            total += data[e] * data[e]
    return total


@part
def _shrink(settings, state, r, t):
    """Take the step of the L2 penalty, which is a factor."""
    scale = state.scale
    scale[r] *= max(0.0, 1.0 - _eta(settings, t) * settings.alpha)
    _renew_tiny_scale(state, r)


@part
def _step(settings, state, X, rows, i, r, slope, t):
    """Move weights and intercept against the slope; False if a sum of squares overflowed."""
    weights, squares = state.weights, state.squares
    d = weights.shape[1] - 1
    change = -slope if settings.rule != GRADIENT else -_eta(settings, t) * slope
    if X is not None:
        if settings.step == ADAGRAD:
            _adapt_dense(settings, state, r, X, i, slope)
        else:
            _follow_dense(settings, state, r, X, i, change)
    if rows is not None:
        if settings.step != ADAGRAD:
            _follow_sparse(settings, state, r, rows, i, change)
        elif not _adapt_sparse(settings, state, r, rows, i, slope):
            return False
    if settings.intercept:
        if settings.step == ADAGRAD:
            squares[r, d] += slope * slope
            change = -settings.eta * slope / np.sqrt(squares[r, d])
        weights[r, d] += change
    return True


@part
def _follow_dense(settings, state, r, X, i, change):
    """Add a multiple of row i of X to the weights of output r, and bring them into the ball."""
    weights, sums, mass = state.weights, state.sums, state.mass[r]
    factor = change / state.scale[r]
    if sums.shape[1]:
        for j in range(X.shape[1]):
            sums[r, j] -= mass * factor * X[i, j]
    for j in range(X.shape[1]):
        weights[r, j] += factor * X[i, j]
    if settings.radius < np.inf:
        total = 0.0
        for j in range(X.shape[1]):
            total += weights[r, j] * weights[r, j]
        _settle(settings, state, r, total)


@part
def _follow_sparse(settings, state, r, rows, i, change):
    """Add a multiple of a CSR row to the weights of output r, and bring them into the ball."""
    data, indices, indptr = rows
    weights, sums, squared_norm = state.weights, state.sums, state.squared_norm
    scale, mass, growth = state.scale[r], state.mass[r], 0.0
    for e in range(indptr[i], indptr[i + 1]):
        j = indices[e]
        old = weights[r, j]
        new = old + change / scale * data[e]
        growth += new * new - old * old
        if sums.shape[1]:
            sums[r, j] -= mass * (new - old)
        weights[r, j] = new
    if settings.radius < np.inf:
        squared_norm[r] += growth
        _settle(settings, state, r, squared_norm[r])


@part
def _adapt_dense(settings, state, r, X, i, slope):
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


@part
def _adapt_sparse(settings, state, r, rows, i, slope):
    """Take AdaGrad's step along a CSR row; False if a sum of squares overflowed."""
    data, indices, indptr = rows
    weights, squares, sums = state.weights, state.squares, state.sums
    scale, mass, radius = state.scale[r], state.mass[r], settings.radius
    for e in range(indptr[i], indptr[i + 1]):
        j = indices[e]
        old, g = weights[r, j], slope * data[e]
        squares[r, j] += g * g
        if not squares[r, j] <= LARGEST:
            return False
        new = scale * old - settings.eta * g / np.sqrt(squares[r, j])
        new = min(max(new, -radius), radius) / scale
        if sums.shape[1]:
            sums[r, j] -= mass * (new - old)
        weights[r, j] = new
    return True


@part
def _settle(settings, state, r, squared_norm):
    """Bring the weights of output r, of this squared length before scaling, back into the ball."""
    scale = state.scale
    if squared_norm > 0.0:
        length = scale[r] * np.sqrt(squared_norm)
        if length > settings.radius:
            scale[r] *= settings.radius / length
    _renew_tiny_scale(state, r)


@part
def _renew_tiny_scale(state, r):
    """Multiply the scale of output r into its weights when it has become too small."""
    smallest = SMALLEST_AVERAGED_SCALE if state.sums.shape[1] else SMALLEST_SCALE
    if state.scale[r] >= smallest:
        return
    weights, sums, scales, masses = state.weights, state.sums, state.scale, state.mass
    squared_norm, total = state.squared_norm, 0.0
    scale, mass = scales[r], masses[r]
    for j in range(weights.shape[1] - 1):
        if sums.shape[1]:
            sums[r, j] += mass * weights[r, j]
        weights[r, j] *= scale
        total += weights[r, j] * weights[r, j]
    masses[r], scales[r], squared_norm[r] = 0.0, 1.0, total


@jit(counted=False)
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
