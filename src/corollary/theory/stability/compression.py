r"""What a model that is determined by few of its training rows owes to the others.

If training on k of the n rows would have given the same model, the other n - k rows were not
needed, and their error says something about new rows: for each of the :math:`\binom nk` sets of k
rows they are a held-out sample of the model that the set determines. A support vector machine is
determined by its support vectors, and makes no error on the others.
"""

import math

from scipy.special import betaln

from corollary.core.estimator import Count, CountFromZero, Probability, checked
from corollary.theory.concentration.kl_inverse import kl_upper_inverse


@checked
def compression_bound(
    n_samples: Count, size: CountFromZero, delta: Probability, errors: CountFromZero = 0
) -> float:
    r"""Return an upper bound on the error rate of a model that k of its training rows determine.

    With probability at least :math:`1 - \delta` over n independent training rows, at once for all
    k and all sets of k rows that determine the model, the error rate p satisfies
    :math:`P(\mathrm{Bin}(n - k, p) \le e) \ge \delta / (n \binom nk)`, where e is the number of
    errors on the other rows. Without errors that is
    :math:`p \le 1 - (\delta / (n \binom nk))^{1 / (n - k)}`; with errors the Chernoff bound on
    the binomial tail is inverted.

    Parameters
    ----------
    n_samples : int
        n, number of training rows.
    size : int
        k, number of rows that determine the model, at most n.
    delta : float
        Probability that the bound fails.
    errors : int, default=0
        Errors on the other n - k rows.

    Returns
    -------
    bound : float
        Upper bound on the error rate; 1 if k = n.

    Notes
    -----
    Guarantee: checked by ``tests/svm/test_bound.py::test_certificates_hold``.

    References
    ----------
    .. [1] N. Littlestone, M. K. Warmuth (1986). Relating data compression and learnability.

    Examples
    --------
    >>> from corollary.theory import compression_bound
    >>> round(compression_bound(1000, 10, 0.05), 4)
    0.0624
    """
    n_others = n_samples - size
    if size > n_samples or errors > n_others:
        raise ValueError(
            "compression_bound needs size <= n_samples and errors <= n_samples - size. Got "
            f"n_samples={n_samples}, size={size}, errors={errors}."
        )
    if n_others == 0:
        return 1.0
    # By the beta function: differences of log factorials lose all digits for large n.
    log_sets = -math.log1p(n_samples) - float(betaln(n_others + 1.0, size + 1.0))
    price = (log_sets + math.log(n_samples) - math.log(delta)) / n_others
    if errors == 0:
        return -math.expm1(-price)
    return kl_upper_inverse(errors / n_others, price)
