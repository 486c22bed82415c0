"""Whether chains agree."""

import numpy as np


def split_r_hat(traces: np.ndarray) -> float:
    """Return the potential scale reduction of chains that are cut in halves; NaN for short ones."""
    half = traces.shape[1] // 2
    if half < 2:
        return float("nan")
    halves = np.concatenate([traces[:, :half], traces[:, -half:]])
    within = halves.var(axis=1, ddof=1).mean()
    between = halves.mean(axis=1).var(ddof=1)
    if within == 0:
        return 1.0 if between == 0 else float(np.finfo(float).max)
    return float(np.sqrt((half - 1) / half + between / within))
