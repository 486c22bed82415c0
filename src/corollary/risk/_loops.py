"""The compiled scalar form of every loss of one real prediction, for loops of other packages.

Each loss has a value, a slope and a curvature in the prediction f, with the conventions of the
classes: truth first; labels y are -1 and +1; at a kink the slope is the one the class returns. The
last three parts choose a loss by its number, :attr:`Loss.code`, and pass on :attr:`Loss.shape`.
"""

import math

from corollary.core.jit import part
from corollary.risk._codes import (
    ABSOLUTE,
    EPSILON_INSENSITIVE,
    EXPONENTIAL,
    HINGE,
    LOGISTIC,
    PERCEPTRON,
    PINBALL,
    POISSON,
    RAMP,
    SQUARE,
    SQUARE_MARGIN,
    SQUARED_HINGE,
)


@part
def hinge_value(y, f):
    """Return max(1 - y f, 0)."""
    return max(1.0 - y * f, 0.0)


@part
def hinge_slope(y, f):
    """Return -y below margin 1."""
    return -y if y * f < 1.0 else 0.0


@part
def squared_hinge_value(y, f):
    """Return max(1 - y f, 0)^2."""
    return max(1.0 - y * f, 0.0) ** 2


@part
def squared_hinge_slope(y, f):
    """Return its first derivative."""
    return -2.0 * y * max(1.0 - y * f, 0.0)


@part
def squared_hinge_curvature(y, f):
    """Return its second derivative."""
    return 2.0 if y * f < 1.0 else 0.0


@part
def logistic_value(y, f):
    """Return log(1 + exp(-y f)) without overflow."""
    return max(-y * f, 0.0) + math.log1p(math.exp(-abs(f)))


@part
def logistic_slope(y, f):
    """Return -y / (1 + exp(y f)), from the exponential that the curvature needs too."""
    small = math.exp(-abs(f))
    return -y * (small if y * f >= 0.0 else 1.0) / (1.0 + small)


@part
def logistic_curvature(y, f):
    """Return p (1 - p) for p = 1 / (1 + exp(-f)); small where it should be, never 0 too early."""
    small = math.exp(-abs(f))
    return small / ((1.0 + small) * (1.0 + small))


@part
def exponential_value(y, f):
    """Return exp(-y f), which is also the curvature."""
    return math.exp(-y * f)


@part
def exponential_slope(y, f):
    """Return its first derivative."""
    return -y * math.exp(-y * f)


@part
def perceptron_value(y, f):
    """Return max(-y f, 0)."""
    return max(-y * f, 0.0)


@part
def perceptron_slope(y, f):
    """Return -y for a wrong sign."""
    return -y if y * f < 0.0 else 0.0


@part
def ramp_value(y, f, gamma):
    """Return 1 below margin 0, 0 above margin gamma, straight in between."""
    return min(max(1.0 - y * f / gamma, 0.0), 1.0)


@part
def ramp_slope(y, f, gamma):
    """Return -y / gamma between margins 0 and gamma."""
    return -y / gamma if 0.0 <= y * f < gamma else 0.0


@part
def square_margin_value(y, f):
    """Return (1 - y f)^2."""
    return (1.0 - y * f) ** 2


@part
def square_margin_slope(y, f):
    """Return its first derivative."""
    return -2.0 * y * (1.0 - y * f)


@part
def square_value(y, f):
    """Return (y - f)^2."""
    return (y - f) ** 2


@part
def square_slope(y, f):
    """Return its first derivative; the second is 2."""
    return 2.0 * (f - y)


@part
def absolute_value(y, f):
    """Return |y - f|."""
    return abs(y - f)


@part
def absolute_slope(y, f):
    """Return the sign of f - y."""
    return epsilon_insensitive_slope(y, f, 0.0)


@part
def pinball_value(y, f, level):
    """Return level s for s = y - f > 0, else (level - 1) s."""
    return max(level * (y - f), (level - 1.0) * (y - f))


@part
def pinball_slope(y, f, level):
    """Return -level below the truth, 1 - level from there on."""
    return -level if y - f > 0.0 else 1.0 - level


@part
def epsilon_insensitive_value(y, f, epsilon):
    """Return max(|y - f| - epsilon, 0)."""
    return max(abs(y - f) - epsilon, 0.0)


@part
def epsilon_insensitive_slope(y, f, epsilon):
    """Return the sign of f - y outside the tube."""
    if abs(y - f) <= epsilon:
        return 0.0
    return -1.0 if y - f > 0.0 else 1.0


@part
def poisson_value(y, f):
    """Return exp(f) - y - y f + y log(y)."""
    return math.exp(f) - y - y * f + (y * math.log(y) if y > 0.0 else 0.0)


@part
def poisson_slope(y, f):
    """Return exp(f) - y."""
    return math.exp(f) - y


@part
def poisson_curvature(y, f):
    """Return exp(f)."""
    return math.exp(f)


@part
def loss_value(code, shape, y, f):
    """Return the loss of a prediction f."""
    if code == HINGE:
        return hinge_value(y, f)
    if code == SQUARED_HINGE:
        return squared_hinge_value(y, f)
    if code == LOGISTIC:
        return logistic_value(y, f)
    if code == EXPONENTIAL:
        return exponential_value(y, f)
    if code == PERCEPTRON:
        return perceptron_value(y, f)
    if code == RAMP:
        return ramp_value(y, f, shape)
    if code == SQUARE_MARGIN:
        return square_margin_value(y, f)
    if code == SQUARE:
        return square_value(y, f)
    if code == ABSOLUTE:
        return absolute_value(y, f)
    if code == PINBALL:
        return pinball_value(y, f, shape)
    if code == EPSILON_INSENSITIVE:
        return epsilon_insensitive_value(y, f, shape)
    if code == POISSON:
        return poisson_value(y, f)
    return math.nan


@part
def loss_slope(code, shape, y, f):
    """Return the slope of the loss in a prediction f."""
    if code == HINGE:
        return hinge_slope(y, f)
    if code == SQUARED_HINGE:
        return squared_hinge_slope(y, f)
    if code == LOGISTIC:
        return logistic_slope(y, f)
    if code == EXPONENTIAL:
        return exponential_slope(y, f)
    if code == PERCEPTRON:
        return perceptron_slope(y, f)
    if code == RAMP:
        return ramp_slope(y, f, shape)
    if code == SQUARE_MARGIN:
        return square_margin_slope(y, f)
    if code == SQUARE:
        return square_slope(y, f)
    if code == ABSOLUTE:
        return absolute_slope(y, f)
    if code == PINBALL:
        return pinball_slope(y, f, shape)
    if code == EPSILON_INSENSITIVE:
        return epsilon_insensitive_slope(y, f, shape)
    if code == POISSON:
        return poisson_slope(y, f)
    return math.nan


@part
def loss_curvature(code, shape, y, f):
    """Return the curvature of the loss in a prediction f; 0 for losses made of straight lines."""
    if code == SQUARED_HINGE:
        return squared_hinge_curvature(y, f)
    if code == LOGISTIC:
        return logistic_curvature(y, f)
    if code == EXPONENTIAL:
        return exponential_value(y, f)
    if code in (SQUARE_MARGIN, SQUARE):
        return 2.0
    if code == POISSON:
        return poisson_curvature(y, f)
    return 0.0
