"""Maps between the domain of parameters and all numbers, over which searches run."""

import math
from typing import Any

import numpy as np
from scipy.special import expit


def free_from(theta: Any, domain: Any) -> np.ndarray:
    """Map parameters inside their domain to all numbers."""
    free = []
    for value, (low, high) in zip(theta, domain, strict=True):
        if math.isinf(low) and math.isinf(high):
            free.append(value)
        elif math.isinf(high):
            free.append(math.log(value - low))
        elif math.isinf(low):
            free.append(-math.log(high - value))
        else:
            free.append(math.log((value - low) / (high - value)))
    return np.array(free)


def bound_to(free: Any, domain: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Map numbers to parameters, the inverse of :func:`free_from`, with two derivatives."""
    parts = []
    for u, (low, high) in zip(free, domain, strict=True):
        if math.isinf(low) and math.isinf(high):
            parts.append((u, 1.0, 0.0))
        elif math.isinf(high):
            away = math.exp(min(u, 700.0))
            parts.append((low + away, away, away))
        elif math.isinf(low):
            away = math.exp(min(-u, 700.0))
            parts.append((high - away, away, -away))
        else:
            share = float(expit(u))
            slope = (high - low) * share * float(expit(-u))
            parts.append((low + (high - low) * share, slope, slope * (1 - 2 * share)))
    theta, speed, bend = np.array(parts, dtype=float).reshape(-1, 3).T
    return theta, speed, bend
