"""How far a dual is from its minimum, in one pass over the variables."""

import numpy as np

from corollary.core.jit import jit


@jit
def gap_of(rest, beta, lower, upper, epsilon, groups, offsets):
    """Return by how much the objective exceeds its minimum at most; see ``duality_gap``."""
    total = 0.0
    for i in range(len(beta)):
        slope = rest[i] - offsets[groups[i]]
        # The maximum of a concave function with a kink at zero: at zero or at a bound.
        end = min(max(0.0, lower[i]), upper[i])
        best = slope * end - epsilon * abs(end)
        # A bound at infinity counts only where the slope leads there.
        if lower[i] > -np.inf:
            best = max(best, slope * lower[i] - epsilon * abs(lower[i]))
        elif -slope > epsilon:
            return np.inf
        if upper[i] < np.inf:
            best = max(best, slope * upper[i] - epsilon * abs(upper[i]))
        elif slope > epsilon:
            return np.inf
        term = best - (slope * beta[i] - epsilon * abs(beta[i]))
        total += 0.0 if term < 0.0 else term
    return total


@jit
def measure(rest, linear, beta, lower, upper, epsilon, groups, offsets):
    """Write the multipliers of the groups' sums; return violation, objective and gap.

    A multiplier is the mean over free variables, which rest neither at a bound nor at the kink of
    the absolute value, or the middle of what the bounds allow.
    """
    n_groups = len(offsets)
    top, low = np.full(n_groups, -np.inf), np.full(n_groups, np.inf)
    sums, counts = np.zeros(n_groups), np.zeros(n_groups, dtype=np.int64)
    objective = 0.0
    for i in range(len(beta)):
        g, r, b = groups[i], rest[i], beta[i]
        up, down = r - (epsilon if b >= 0.0 else -epsilon), r - (epsilon if b > 0.0 else -epsilon)
        if b < upper[i] and up > top[g]:
            top[g] = up
        if b > lower[i] and down < low[g]:
            low[g] = down
        # beta' K beta / 2 - linear' beta, with K beta = linear - rest
        objective += epsilon * abs(b) - 0.5 * b * (linear[i] + r)
        if lower[i] < b < upper[i] and (b != 0.0 or epsilon == 0.0):
            sums[g] += up if b > 0.0 else down
            counts[g] += 1
    violation = -np.inf
    for g in range(n_groups):
        violation = max(violation, top[g] - low[g])
        if counts[g] > 0:
            offsets[g] = sums[g] / counts[g]
        elif top[g] > -np.inf and low[g] < np.inf:
            offsets[g] = 0.5 * (top[g] + low[g])
        else:
            offsets[g] = top[g] if top[g] > -np.inf else (low[g] if low[g] < np.inf else 0.0)
    gap = gap_of(rest, beta, lower, upper, epsilon, groups, offsets)
    return (violation if objective == objective else np.nan), objective, gap
