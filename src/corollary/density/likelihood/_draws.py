"""What every estimate asks of the draws that it is given."""

from typing import Any

import numpy as np

from corollary.density.likelihood.family import Family
from corollary.risk import check_weights


def check_draws(who: str, family: Family, x: Any, sample_weight: Any) -> tuple[np.ndarray, Any]:
    """Return draws that are possible under a family, and their weights."""
    x = np.asarray(x, dtype=float)
    if x.ndim not in (1, 2) or not len(x):
        raise ValueError(f"{who} needs one draw or more. Got shape {x.shape}.")
    weight = check_weights(who, sample_weight, len(x))
    impossible = np.flatnonzero(~np.broadcast_to(family._supports(x), len(x)))
    if len(impossible):
        raise ValueError(
            f"{who}: draw {int(impossible[0])}, {x[impossible[0]]}, has density zero under every "
            f"{type(family).__name__} law. Leave it out, or choose another family."
        )
    return x, weight
