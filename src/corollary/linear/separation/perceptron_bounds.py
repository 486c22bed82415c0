"""What a margin promises the perceptron: few passes, and a small expected risk."""

import numpy as np

from corollary.core.estimator import Count, Positive, checked


@checked
def perceptron_pass_bound(radius: Positive, margin: Positive) -> int:
    r"""Return an upper bound on the passes of the batch perceptron.

    Parameters
    ----------
    radius : float
        R, at least the length of every row.
    margin : float
        :math:`\gamma > 0`, at most the margin of the data set (plane through the origin).

    Returns
    -------
    passes : int
        :math:`\lfloor (R / \gamma)^2 \rfloor + 1`: every pass but the last makes a mistake,
        and the last one verifies.

    Notes
    -----
    Guarantee: holds for every data set and every order of the rows; checked by
    ``tests/linear/test_perceptron.py::test_passes_stay_below_the_bound``. Without the last pass
    the bound would be false: one row x = 1, y = 1 takes two passes.

    Examples
    --------
    >>> from corollary.linear import perceptron_pass_bound
    >>> perceptron_pass_bound(1.0, 1.0)
    2
    """
    _check_margin("perceptron_pass_bound", radius, margin)
    # Rounding of a measured radius or margin must not push an exact ratio below an integer.
    return int(np.floor((radius / margin) ** 2 * (1 + 1e-9))) + 1


@checked
def perceptron_risk_bound(
    n_samples: Count,
    radius: Positive,
    *,
    margin: Positive | None = None,
    mean_inverse_squared_margin: Positive | None = None,
) -> float:
    r"""Return an upper bound on the expected risk of the cyclic perceptron.

    For n independent rows from a law whose samples are almost surely separable through the origin
    with positive margin, and with :math:`\|x\| \le R`,

    .. math:: P\{y \langle w(S_n), x \rangle \le 0\}
              \le \frac{R^2}{n + 1} \, E\Bigl[ \frac1{\gamma^2(S_{n+1})} \Bigr],

    the probability being over the sample and a fresh row.

    Parameters
    ----------
    n_samples : int
        n, number of training rows.
    radius : float
        R, at least the length of every row that can occur.
    margin : float or None, default=None
        A number that the margin of n + 1 rows almost surely exceeds or equals.
    mean_inverse_squared_margin : float or None, default=None
        :math:`E[1/\gamma^2(S_{n+1})]`, if known. Exactly one of the two must be given.

    Returns
    -------
    bound : float
        The bound; vacuous if it is 1 or more.

    Notes
    -----
    Guarantee: in expectation over samples, not with high probability for one sample; checked by
    ``tests/linear/test_perceptron.py::test_risk_bound_holds_on_a_law_with_margin``. The proof is
    :func:`perceptron_loo`'s: the expected leave-one-out error on n + 1 rows is the expected risk
    after n rows.

    Examples
    --------
    >>> from corollary.linear import perceptron_risk_bound
    >>> perceptron_risk_bound(99, 1.0, margin=0.5)
    0.04
    """
    if (margin is None) == (mean_inverse_squared_margin is None):
        raise ValueError(
            "perceptron_risk_bound needs exactly one of margin and mean_inverse_squared_margin. "
            f"Got margin={margin} and mean_inverse_squared_margin={mean_inverse_squared_margin}."
        )
    if margin is None:
        assert mean_inverse_squared_margin is not None
        margin = float(mean_inverse_squared_margin) ** -0.5
    _check_margin("perceptron_risk_bound", radius, margin)
    return float((radius / margin) ** 2 / (n_samples + 1))


def _check_margin(name: str, radius: float, margin: float) -> None:
    # A margin is a distance to a plane through the origin, so it cannot exceed the length.
    if margin > radius * (1 + 1e-12):
        raise ValueError(
            f"{name}: the margin cannot exceed the radius, since |<w, x>| <= ||w|| ||x||. Got "
            f"margin {margin:.6g} and radius {radius:.6g}."
        )
