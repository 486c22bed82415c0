"""Derivatives of boosting losses, row by row.

Every kernel has the signature ``(y, raw, weight, rows, span, parameters, out)``: for the rows
``rows[span[0]:span[1]]`` it fills ``gradient`` and ``hessian`` of shape (trees, n), times the
weights unless ``weight`` is empty, and ``peaks`` of shape (trees, 2), zeros before, with the
largest absolute values of both. ``raw`` is C-contiguous of shape (n, outputs).
"""

import numpy as np

from corollary.core.jit import jit


@jit
def square(y, raw, weight, rows, span, parameters, out):
    """Compute derivatives of (f - y)^2 / 2."""
    gradient, hessian, peaks = out
    top_g, top_h = 0.0, 0.0
    for t in range(span[0], span[1]):
        i = rows[t]
        w = weight[i] if weight.shape[0] else 1.0
        g = w * (raw[i, 0] - y[i])
        gradient[0, i], hessian[0, i] = g, w
        top_g, top_h = max(top_g, abs(g)), max(top_h, w)
    peaks[0, 0], peaks[0, 1] = top_g, top_h


@jit
def pinball(y, raw, weight, rows, span, parameters, out):
    """Compute a subgradient of the pinball loss at level parameters[0], and 1 for curvature."""
    gradient, hessian, peaks = out
    top_g, top_h = 0.0, 0.0
    level = parameters[0]
    for t in range(span[0], span[1]):
        i = rows[t]
        w = weight[i] if weight.shape[0] else 1.0
        g = w * (1.0 - level) if y[i] < raw[i, 0] else -w * level
        gradient[0, i], hessian[0, i] = g, w
        top_g, top_h = max(top_g, abs(g)), max(top_h, w)
    peaks[0, 0], peaks[0, 1] = top_g, top_h


@jit
def logistic(y, raw, weight, rows, span, parameters, out):
    """Compute derivatives of log(1 + exp(-s f)) with s = 2 y - 1 and y in {0, 1}."""
    gradient, hessian, peaks = out
    top_g, top_h = 0.0, 0.0
    for t in range(span[0], span[1]):
        i = rows[t]
        w = weight[i] if weight.shape[0] else 1.0
        p = 1.0 / (1.0 + np.exp(-raw[i, 0]))
        g, h = w * (p - y[i]), w * p * (1.0 - p)
        gradient[0, i], hessian[0, i] = g, h
        top_g, top_h = max(top_g, abs(g)), max(top_h, h)
    peaks[0, 0], peaks[0, 1] = top_g, top_h


@jit
def exponential(y, raw, weight, rows, span, parameters, out):
    """Compute derivatives of exp(-s f) with s = 2 y - 1 and y in {0, 1}."""
    gradient, hessian, peaks = out
    top_g, top_h = 0.0, 0.0
    for t in range(span[0], span[1]):
        i = rows[t]
        w = weight[i] if weight.shape[0] else 1.0
        sign = 2.0 * y[i] - 1.0
        h = w * np.exp(-sign * raw[i, 0])
        gradient[0, i], hessian[0, i] = -sign * h, h
        top_g, top_h = max(top_g, h), max(top_h, h)
    peaks[0, 0], peaks[0, 1] = top_g, top_h


@jit
def poisson(y, raw, weight, rows, span, parameters, out):
    """Compute derivatives of exp(f) - y f."""
    gradient, hessian, peaks = out
    top_g, top_h = 0.0, 0.0
    for t in range(span[0], span[1]):
        i = rows[t]
        w = weight[i] if weight.shape[0] else 1.0
        mean = np.exp(raw[i, 0])
        g, h = w * (mean - y[i]), w * mean
        gradient[0, i], hessian[0, i] = g, h
        top_g, top_h = max(top_g, abs(g)), max(top_h, h)
    peaks[0, 0], peaks[0, 1] = top_g, top_h


@jit
def softmax(y, raw, weight, rows, span, parameters, out):
    """Compute derivatives of -f_y + log sum exp f for labels y; the curvature times K/(K-1)."""
    gradient, hessian, peaks = out
    classes = raw.shape[1]
    factor = classes / (classes - 1.0)
    for t in range(span[0], span[1]):
        i = rows[t]
        w = weight[i] if weight.shape[0] else 1.0
        top, total = raw[i, 0], 0.0
        for k in range(1, classes):
            top = max(top, raw[i, k])
        for k in range(classes):
            gradient[k, i] = np.exp(raw[i, k] - top)
            total += gradient[k, i]
        for k in range(classes):
            p = gradient[k, i] / total
            g, h = w * (p - (1.0 if y[i] == k else 0.0)), factor * w * p * (1.0 - p)
            gradient[k, i], hessian[k, i] = g, h
            peaks[k, 0], peaks[k, 1] = max(peaks[k, 0], abs(g)), max(peaks[k, 1], h)


@jit
def normal(y, raw, weight, rows, span, parameters, out):
    """Compute derivatives of -log N(y; mu, exp(s)^2) in (mu, s), and Fisher's information."""
    gradient, hessian, peaks = out
    for t in range(span[0], span[1]):
        i = rows[t]
        w = weight[i] if weight.shape[0] else 1.0
        precision = np.exp(-2.0 * raw[i, 1])
        r = raw[i, 0] - y[i]
        gradient[0, i], hessian[0, i] = w * r * precision, w * precision
        z = (r * r + parameters[0]) * precision
        gradient[1, i], hessian[1, i] = w * (1.0 - z), 2.0 * w
        for k in range(2):
            peaks[k, 0] = max(peaks[k, 0], abs(gradient[k, i]))
            peaks[k, 1] = max(peaks[k, 1], hessian[k, i])


@jit
def quantiles(y, raw, weight, rows, span, parameters, out):
    """Compute a subgradient of one pinball loss of several.

    ``parameters`` are the position of the level, of the base level, and the level itself; raw
    holds the base quantile and the logarithms of the gaps to the others.
    """
    gradient, hessian, peaks = out
    top_g, top_h = 0.0, 0.0
    at, base, level = int(parameters[0]), int(parameters[1]), parameters[2]
    for t in range(span[0], span[1]):
        i = rows[t]
        w = weight[i] if weight.shape[0] else 1.0
        f = raw[i, base]
        for k in range(base + 1, at + 1):
            f += np.exp(raw[i, k])
        for k in range(at, base):
            f -= np.exp(raw[i, k])
        g = w * (1.0 - level) if y[i] < f else -w * level
        gradient[0, i], hessian[0, i] = g, w
        top_g, top_h = max(top_g, abs(g)), max(top_h, w)
    peaks[0, 0], peaks[0, 1] = top_g, top_h
