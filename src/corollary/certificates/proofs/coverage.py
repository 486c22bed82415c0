r"""Certificates of conformal wrappers from the rows that calibrated them.

The threshold of a split conformal wrapper is the k-th smallest of n scores of rows that the model
has not seen. If the rows are independent, the share of rows to come whose score does not exceed it
is at least the k-th smallest of n uniform numbers, in law: a Beta(k, n + 1 - k) variable, whose
quantiles bound the coverage of *this* wrapper, with confidence over the draw of its calibration
rows. No further row is needed.
"""

import math
from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any

import numpy as np

from corollary.certificates.proofs._shared import conclude, miss_rate
from corollary.certificates.register import Evidence, register_theorem
from corollary.core.certificate import Assumption, Certificate, Quantity
from corollary.core.compat import HasMethods
from corollary.core.estimator import Probability, checked
from corollary.core.protocols import HasCalibrationCells, HasCalibrationFolds
from corollary.theory import clopper_pearson_upper

_KEPT = Assumption(
    "The model was neither trained on its calibration rows nor chosen by them.", "rows"
)


@checked
def coverage_certificates(
    model: Annotated[Any, HasMethods("misses")], *, confidence: Probability = 0.95
) -> list[Certificate]:
    r"""Certify how often a conformal wrapper misses, by the rows that calibrated it.

    Parameters
    ----------
    model : estimator
        A fitted conformal wrapper, such as
        :class:`corollary.conformal.SplitConformalRegressor`. Its own `confidence`
        :math:`1-\alpha` is the level of its intervals or sets.
    confidence : float, default=0.95
        Confidence :math:`1-\delta` of each certificate, over the draw of the calibration rows.

    Returns
    -------
    certificates : list of Certificate
        Theorem ``conformal.coverage-law`` for split wrappers, one for each group and class with a
        threshold of its own; ``conformal.cv-plus-given-rows`` for CV+. None for wrappers that
        were calibrated with weights, and for the jackknife+-after-bootstrap, since their theorems
        are about the average over calibration rows.

    See Also
    --------
    certify : Offers these beside what further rows prove.
    corollary.conformal.coverage_law : The law.

    Notes
    -----
    Split wrappers: scores of a law with distribution function F have
    :math:`F(s_{(k)})\ge U_{(k)}` in law, with equality if they have no ties; so the miss rate is
    at most the :math:`1-\delta` quantile of Beta(n + 1 - k, k). That is the exact binomial bound
    for n - k errors in n rows. A threshold that is infinite because rows are too few, or because
    too many labels were unknown to the model, proves nothing of use.

    CV+: a target is missed only if on average over folds, weighted by their sizes
    :math:`m_j`, the share of rows that fit no better is at most (n - k) / n. Each of these shares
    is, by the inequality of Dvoretzky, Kiefer, Wolfowitz and Massart for the rows of the fold, at
    least a p-value less :math:`\sqrt{\log(K/\delta)/(2m_j)}`, for all targets and all K folds at
    once; and an average of p-values is below t with probability at most 2t. So the miss rate is
    at most :math:`2\frac{n-k}n+2\sum_j\frac{m_j}n\sqrt{\log(K/\delta)/(2m_j)}`. For jackknife+,
    whose folds have one row, it is vacuous, and without further assumptions no bound is not.

    Guarantee: checked by ``tests/guarantees/coverage_certificates.py``.

    References
    ----------
    Vovk, V. (2012). Conditional validity of inductive conformal predictors. Asian Conference on
    Machine Learning.

    Bian, M. and Barber, R. F. (2023). Training-conditional coverage for distribution-free
    predictive inference. Electronic Journal of Statistics 17.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from corollary.conformal import SplitConformalRegressor
    >>> from corollary.certificates import coverage_certificates
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 1))
    >>> y = X[:, 0] + rng.normal(size=2000)
    >>> model = SplitConformalRegressor(LinearRegression(), random_state=0).fit(X, y)
    >>> (certificate,) = coverage_certificates(model)
    >>> certificate.claim
    'at most 12.3% of such rows lie outside their 90% interval'
    >>> certificate.observed
    '49 of 500 calibration rows'
    """
    if isinstance(model, HasCalibrationCells):
        return [
            _about_cell(cell, miss_rate(model, cell.rows), confidence)
            for cell in model.calibration_cells()
        ]
    if isinstance(model, HasCalibrationFolds):
        folds = model.calibration_folds()
        return [] if folds is None else [_about_folds(folds, miss_rate(model), confidence)]
    return []


def _about_cell(cell: Any, quantity: Quantity, level: float) -> Certificate:
    n = cell.n_calibration
    enough = cell.rank <= n
    bound = 1.0
    if enough and cell.finite:
        bound = clopper_pearson_upper(n - cell.rank, n, 1 - level)
    drawn = (
        f"The {n:,} calibration rows are independent draws from the population the claim is about."
    )
    return conclude(
        "conformal.coverage-law",
        quantity,
        bound,
        empirical=cell.beyond / n if n else 0.0,
        n_samples=n,
        confidence=level,
        observed=f"{cell.beyond} of {n} calibration rows",
        assumptions=(Assumption(drawn, "draws"), _KEPT),
        rows_missing=0 if enough else cell.n_needed - n,
        recompute=partial(_about_cell, cell, quantity),
    )


def _about_folds(folds: Any, quantity: Quantity, level: float) -> Certificate:
    sizes = np.asarray(folds.sizes, dtype=float)
    n, n_folds = int(sizes.sum()), len(sizes)
    enough, share = folds.rank <= n, (n - folds.rank) / n

    def bound_at(rows: int) -> float:
        each = sizes * rows / n
        tails = np.sqrt(math.log(n_folds / (1 - level)) / (2 * each))
        return 2 * (share + float(sizes @ tails) / n)

    missing: float = 0
    if not enough:
        missing = folds.n_needed - n
    elif bound_at(n) >= 1:
        # Leave-one-out has more folds with more rows, not larger ones.
        missing = math.inf if n_folds == n else _rows_missing(n, share, sizes, level)
    drawn = (
        f"The {n:,} training rows are independent draws from the population the claim is about, "
        "and parameters were chosen without them."
    )
    return conclude(
        "conformal.cv-plus-given-rows",
        quantity,
        bound_at(n) if enough else 1.0,
        empirical=max(share, 0.0),
        n_samples=n,
        confidence=level,
        observed=f"ends that {max(0, n - folds.rank)} of {n} rows exceed, in {n_folds} folds",
        assumptions=(Assumption(drawn, "draws"),),
        rows_missing=missing,
        recompute=partial(_about_folds, folds, quantity),
    )


def _rows_missing(n: int, share: float, sizes: np.ndarray, level: float) -> float:
    """Solve 2 (share + tail sqrt(n / rows)) = 1 for the rows, less those at hand."""
    if share >= 0.5:
        return math.inf
    tail = float(sizes @ np.sqrt(math.log(len(sizes) / (1 - level)) / (2 * sizes))) / n
    return math.floor(n * (tail / (0.5 - share)) ** 2) + 1 - n


@register_theorem(
    "conformal.coverage-law",
    needs="model",
    applies=lambda evidence: isinstance(evidence.model, HasCalibrationCells),
    title="Law of coverage",
    idea="counts the calibration rows beyond the threshold",
)
def _prove_law(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    yield from coverage_certificates(evidence.model, confidence=confidence)


@register_theorem(
    "conformal.cv-plus-given-rows",
    needs="model",
    applies=lambda evidence: isinstance(evidence.model, HasCalibrationFolds),
    title="CV+ bound",
    idea="averages what the folds show",
)
def _prove_folds(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    yield from coverage_certificates(evidence.model, confidence=confidence)
