"""How many stages the barrier method needs."""

import math

from corollary.core.estimator import Count, Positive, checked


@checked
def barrier_stages(
    n_inequalities: Count, *, gap: Positive, weight: Positive = 1.0, factor: Positive = 0.1
) -> int:
    r"""Return how many stages follow the first one until the barrier method reaches a gap.

    Parameters
    ----------
    n_inequalities : int
        Number m of inequalities.
    gap : float
        The duality gap :math:`\varepsilon` that is wanted.
    weight : float, default=1.0
        Weight :math:`\mu_0` of the barrier in the first stage.
    factor : float, default=0.1
        By which the weight shrinks from stage to stage, :math:`\kappa<1`.

    Returns
    -------
    n_stages : int
        :math:`\lceil\log(m\mu_0/\varepsilon)/\log(1/\kappa)\rceil`; 0 if the first stage is enough.

    See Also
    --------
    barrier : Runs them, and says in advance how many it will need.

    Notes
    -----
    At the centre for the weight :math:`\mu` the multipliers :math:`\mu/s_i` are dual feasible, and
    their gap is :math:`m\mu` exactly, whatever the program. What the bound leaves open is the
    number of Newton steps in a stage.

    Guarantee: the gap after so many stages is at most the one that is wanted, checked by
    ``tests/optimize/test_barrier.py::test_as_many_stages_as_the_bound_says_reach_the_gap``.

    References
    ----------
    S. Boyd and L. Vandenberghe, Convex Optimization, Cambridge University Press, 2004, section
    11.3.

    Examples
    --------
    >>> from corollary.optimize import barrier_stages
    >>> barrier_stages(100, gap=1e-6)  # from a gap of 100 to one of 1e-6, a digit in each stage
    8
    >>> barrier_stages(100, gap=1e-6, factor=0.5)
    27
    """
    if not factor < 1:
        raise ValueError(
            f"The 'factor' parameter of barrier_stages must be a float in the range (0, 1). Got "
            f"{factor!r} instead."
        )
    stages = math.log(n_inequalities * weight / gap) / math.log(1 / factor)
    # Eight digits are eight stages, though their logarithm is rounded upwards.
    return max(0, math.ceil(stages - 1e-9))
