"""Derivatives of boosting losses, row by row.

Every loop has the signature ``(y, raw, weight, rows, span, parameters, out)``: for the rows
``rows[span[0]:span[1]]`` it fills ``gradient`` and ``hessian`` of shape (trees, n), times the
weights unless ``weight`` is empty, and ``peaks`` of shape (trees, 2), zeros before, with the
largest absolute values of both. ``raw`` is C-contiguous of shape (n, outputs).
"""

import numpy as np

from corollary.core.jit import jit, part
from corollary.risk import (
    exponential_slope,
    exponential_value,
    logistic_curvature,
    logistic_slope,
    pinball_slope,
    poisson_curvature,
    poisson_slope,
    square_slope,
)

SQUARE, PINBALL, POISSON, LOGISTIC, EXPONENTIAL, GAMMA = range(6)


@part
def _weight(weight, i):
    """Return the weight of a row."""
    return weight[i] if weight.shape[0] else 1.0


@part
def _write(k, i, g, h, gradient, hessian, peaks):
    """Write the derivatives of a row for one tree."""
    gradient[k, i], hessian[k, i] = g, h
    peaks[k, 0], peaks[k, 1] = max(peaks[k, 0], abs(g)), max(peaks[k, 1], h)


@part
def _terms(kind, y, f, level):
    """Return slope and curvature of a loss of one prediction; y of margin losses is 0 or 1."""
    sign = 2.0 * y - 1.0
    if kind == SQUARE:
        return 0.5 * square_slope(y, f), 1.0
    if kind == PINBALL:
        return pinball_slope(y, f, level), 1.0  # it has no curvature
    if kind == POISSON:
        return poisson_slope(y, f), poisson_curvature(y, f)
    if kind == LOGISTIC:
        return logistic_slope(sign, f), logistic_curvature(sign, f)
    if kind == GAMMA:
        ratio = y * np.exp(-f)
        return 1.0 - ratio, ratio
    return exponential_slope(sign, f), exponential_value(sign, f)


@part
def _derive(kind, y, raw, weight, rows, span, parameters, out):
    """Compute derivatives of a loss of one prediction."""
    gradient, hessian, peaks = out
    top_g, top_h = 0.0, 0.0
    for t in range(span[0], span[1]):
        i = rows[t]
        w = _weight(weight, i)
        slope, curvature = _terms(kind, y[i], raw[i, 0], parameters[0])
        g, h = w * slope, w * curvature
        gradient[0, i], hessian[0, i] = g, h
        top_g, top_h = max(top_g, abs(g)), max(top_h, h)
    peaks[0, 0], peaks[0, 1] = top_g, top_h


@jit(counted=False)
def square(y, raw, weight, rows, span, parameters, out):
    """Compute derivatives of (f - y)^2 / 2."""
    _derive(SQUARE, y, raw, weight, rows, span, parameters, out)


@jit(counted=False)
def pinball(y, raw, weight, rows, span, parameters, out):
    """Compute a subgradient of the pinball loss at level parameters[0], and 1 for curvature."""
    _derive(PINBALL, y, raw, weight, rows, span, parameters, out)


@jit(counted=False)
def logistic(y, raw, weight, rows, span, parameters, out):
    """Compute derivatives of log(1 + exp(-s f)) with s = 2 y - 1 and y in {0, 1}."""
    _derive(LOGISTIC, y, raw, weight, rows, span, parameters, out)


@jit(counted=False)
def exponential(y, raw, weight, rows, span, parameters, out):
    """Compute derivatives of exp(-s f) with s = 2 y - 1 and y in {0, 1}."""
    _derive(EXPONENTIAL, y, raw, weight, rows, span, parameters, out)


@jit(counted=False)
def poisson(y, raw, weight, rows, span, parameters, out):
    """Compute derivatives of exp(f) - y f."""
    _derive(POISSON, y, raw, weight, rows, span, parameters, out)


@jit(counted=False)
def gamma(y, raw, weight, rows, span, parameters, out):
    """Compute derivatives of f + y exp(-f)."""
    _derive(GAMMA, y, raw, weight, rows, span, parameters, out)


@jit(counted=False)
def softmax(y, raw, weight, rows, span, parameters, out):
    """Compute derivatives of -f_y + log sum exp f for labels y; the curvature times K/(K-1)."""
    gradient, hessian, peaks = out
    classes = raw.shape[1]
    factor = classes / (classes - 1.0)
    for t in range(span[0], span[1]):
        i = rows[t]
        w, top, total = _weight(weight, i), raw[i, 0], 0.0
        for k in range(1, classes):
            top = max(top, raw[i, k])
        for k in range(classes):
            gradient[k, i] = np.exp(raw[i, k] - top)
            total += gradient[k, i]
        for k in range(classes):
            p = gradient[k, i] / total
            g, h = w * (p - (1.0 if y[i] == k else 0.0)), factor * w * p * (1.0 - p)
            _write(k, i, g, h, gradient, hessian, peaks)


@jit(counted=False)
def normal(y, raw, weight, rows, span, parameters, out):
    """Compute derivatives of -log N(y; mu, exp(s)^2) in (mu, s), and Fisher's information."""
    gradient, hessian, peaks = out
    for t in range(span[0], span[1]):
        i = rows[t]
        w, precision, r = _weight(weight, i), np.exp(-2.0 * raw[i, 1]), raw[i, 0] - y[i]
        z = (r * r + parameters[0]) * precision
        _write(0, i, w * r * precision, w * precision, gradient, hessian, peaks)
        _write(1, i, w * (1.0 - z), 2.0 * w, gradient, hessian, peaks)


@jit(counted=False)
def quantiles(y, raw, weight, rows, span, parameters, out):
    """Compute a subgradient of one pinball loss of several.

    ``parameters`` are the position of the level, of the base level, and the level itself; raw
    holds the base quantile and the logarithms of the gaps to the others.
    """
    gradient, hessian, peaks = out
    at, base, level = int(parameters[0]), int(parameters[1]), parameters[2]
    for t in range(span[0], span[1]):
        i = rows[t]
        w, f = _weight(weight, i), raw[i, base]
        for k in range(base + 1, at + 1):
            f += np.exp(raw[i, k])
        for k in range(at, base):
            f -= np.exp(raw[i, k])
        _write(0, i, w * pinball_slope(y[i], f, level), w, gradient, hessian, peaks)
