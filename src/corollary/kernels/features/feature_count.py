"""How many random features are enough."""

import math
from typing import NamedTuple

from corollary.kernels._parametrised import check_whole


class FeatureCount(NamedTuple):
    """Outcome of :func:`feature_count`.

    Parameters
    ----------
    n_components : int
        Sufficient number K of random draws.
    failure : float
        Upper bound on the probability that some pair misses its kernel by epsilon or more.
    """

    n_components: int
    failure: float


def feature_count(
    epsilon: float, delta: float, *, form: str = "cos_sin", mass: float = 1.0, n_pairs: int = 1
) -> FeatureCount:
    """Return how many random features make the kernel's error small with high probability.

    Parameters
    ----------
    epsilon : float
        Wanted error of a kernel value.
    delta : float
        Allowed probability of a larger error.
    form : {"cos_sin", "phase", "arc_cosine"}, default="cos_sin"
        Which features.
    mass : float, default=1.0
        Mass Z of the spectral measure, for Fourier features.
    n_pairs : int, default=1
        Number of pairs for which the error must be small at once.

    Returns
    -------
    result : FeatureCount
        The number, and the failure probability that it gives.

    Notes
    -----
    By Hoeffding's inequality, for values in an interval of width 1 (arc-cosine), 2Z ("cos_sin")
    or 4Z ("phase"): ``K = log(2 n_pairs / delta) width^2 / (2 epsilon^2)``. Positive features are
    not bounded, and no such number is known for them. Guarantee: simulated in
    ``tests/kernels/test_random_features.py::test_feature_count_holds``.

    Examples
    --------
    >>> from corollary.kernels import feature_count
    >>> feature_count(0.1, 0.05).n_components
    738
    >>> feature_count(0.1, 0.05, form="phase", n_pairs=1000).n_components
    8478
    """
    widths = {"arc_cosine": 1.0, "cos_sin": 2.0 * mass, "phase": 4.0 * mass}
    if form not in widths:
        raise ValueError(
            "The 'form' parameter of feature_count must be a str among {'arc_cosine', 'cos_sin', "
            f"'phase'}}. Got {form!r} instead."
        )
    for name, value, top in (("epsilon", epsilon, math.inf), ("delta", delta, 1.0)):
        if not 0 < value < top:
            raise ValueError(
                f"The {name!r} parameter of feature_count must be a float in the range "
                f"(0.0, {top}). Got {value!r} instead."
            )
    if not (math.isfinite(mass) and mass > 0):
        raise ValueError(
            "The 'mass' parameter of feature_count must be a float in the range (0.0, inf). "
            f"Got {mass!r} instead."
        )
    check_whole("feature_count", "n_pairs", n_pairs, 1)
    rate = 2.0 * (epsilon / widths[form]) ** 2
    count = max(1, math.ceil(math.log(2.0 * n_pairs / delta) / rate))
    return FeatureCount(count, min(1.0, 2.0 * n_pairs * math.exp(-rate * count)))
