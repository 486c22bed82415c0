"""P-values of anomalies and rates of false discoveries, from five calibration rows on.

A trial about p-values has as its bound the p-value and as its truth the level: it fails where the
p-value of a normal row is at most the level, which may happen at most that often. A trial about
false discoveries has the level as its bound and the share of false ones as its truth; their means
are compared.
"""

import numpy as np

from corollary.anomaly import AnomalyDetector, tail_p_values
from corollary.conformal import conformal_p_values, weighted_selection
from corollary.validation import benjamini_hochberg
from tests.guarantees.registry import guarantee


def below(p_value, level):
    """Fail where a p-value is at most the level."""
    return p_value - 1e-7, level


def draws(rng, n, ties):
    """Heavy-tailed scores, or some of five values."""
    return rng.integers(5, size=n) + 0.0 if ties else np.abs(rng.standard_cauchy(n))


def new_row(rng, n, level, ties=False, without_itself=False):
    scores = draws(rng, n + 1, ties)
    if without_itself:
        return below(np.mean(scores[:-1] >= scores[-1]), level)
    return below(conformal_p_values(scores[:-1], scores[-1:])[0], level)


for n, level in ((5, 1 / 6), (10, 0.2), (50, 0.1)):
    for ties in (False, True):
        guarantee(
            "anomaly.p-values",
            f"{n} calibration scores, {'five values' if ties else 'Cauchy'}",
            delta=level,
            repetitions=2000,
            faults={
                "the row itself not counted": lambda rng, n=n, level=level: new_row(
                    rng, n, level, without_itself=True
                )
            }
            if n == 10 and not ties
            else {},
        )(lambda rng, n=n, level=level, ties=ties: new_row(rng, n, level, ties))


def shifted(rng, n=20, weigh=True):
    """Calibration inputs uniform on (0, 1), later of density 2x; scores grow with the input."""
    x, new = rng.random(n), np.sqrt(rng.random(1))
    weights = {"weights": 2 * x, "new_weights": 2 * new} if weigh else {}
    p = conformal_p_values(x + 0.1 * rng.random(n), new + 0.1 * rng.random(1), **weights)
    return below(p[0], 0.2)


guarantee(
    "anomaly.p-values",
    "20 rows, known density ratio 2x",
    delta=0.2,
    repetitions=2000,
    faults={"weights forgotten": lambda rng: shifted(rng, weigh=False)},
)(shifted)


def detector(rng, n, measure, in_sample=False, ties=False):
    """A detector of n rows, of which half calibrate, asked about a further one."""
    X = rng.normal(size=(n + 1, 3))
    X = X.round() if ties else X
    model = AnomalyDetector(measure, random_state=int(rng.integers(2**31 - 1)))
    model.fit(X[:-1])
    if in_sample:
        model.calibrate(np.delete(X[:-1], model.calibration_indices_, axis=0))
    return below(model.p_values(X[-1:])[0], 0.2)


for n, ties in ((10, False), (30, True), (100, False)):
    guarantee(
        "anomaly.p-values",
        f"Mahalanobis detector of {n} rows{', rounded' if ties else ''}",
        delta=0.2,
        verify=5000,
        repetitions=300,
        faults={
            "calibrated on the rows that fit the score": lambda rng: detector(
                rng, 10, "mahalanobis", in_sample=True
            )
        }
        if n == 10
        else {},
    )(lambda rng, n=n, ties=ties: detector(rng, n, "mahalanobis", ties=ties))


def false_share(called, normal):
    return (called & normal).sum() / max(1, called.sum())


def discoveries(rng, n, level=0.2, ties=False, uncorrected=False):
    """Twenty new rows, of which five are unusual, by n calibration rows that they share."""
    normal = np.arange(20) >= 5
    new = draws(rng, 20, ties) + np.where(normal, 0.0, 50.0)
    p = conformal_p_values(draws(rng, n, ties), new)
    adjusted = p if uncorrected else benjamini_hochberg(p)
    return level, false_share(adjusted <= level * (1 + 1e-12), normal)


for n, ties in ((5, False), (20, True), (50, False)):
    guarantee(
        "anomaly.false-discoveries",
        f"20 rows with 5 anomalies, {n} calibration rows{', five values' if ties else ''}",
        delta=None,
        repetitions=2000,
        faults={"p-values not adjusted": lambda rng: discoveries(rng, 50, uncorrected=True)}
        if n == 50
        else {},
    )(lambda rng, n=n, ties=ties: discoveries(rng, n, ties=ties))


def weighted_discoveries(rng, n=50, m=15, level=0.3, weigh=True):
    """The shifted world, with anomalies beyond all others among the new rows."""
    normal = np.arange(m) >= 4
    x, new = rng.random(n), np.sqrt(rng.random(m))
    old_scores, scores = x + 0.2 * rng.random(n), new + 0.2 * rng.random(m) + 1.5 * ~normal
    ratio = {"weights": 2 * x, "new_weights": 2 * new}
    if not weigh:
        ratio = {"weights": 0 * x + 1, "new_weights": 0 * new + 1}
    return level, false_share(weighted_selection(old_scores, scores, level, **ratio), normal)


guarantee(
    "anomaly.false-discoveries",
    "15 rows with 4 anomalies, known density ratio 2x",
    delta=None,
    repetitions=2000,
    faults={"weights forgotten": lambda rng: weighted_discoveries(rng, weigh=False)},
)(weighted_discoveries)


def tail(rng, n, level, power=1.0):
    """Distances whose hazard is constant, rises (power below one) or falls."""
    return below(tail_p_values(rng.exponential(size=n) ** power).p_values[0], level)


for n in (10, 50):
    guarantee(
        "anomaly.tail",
        f"{n} rows among themselves, exponential distances",
        delta=0.02,
        repetitions=2000,
        faults={"heavy tails": lambda rng, n=n: tail(rng, n, 0.02, power=3.0)},
    )(lambda rng, n=n: tail(rng, n, 0.02))


def tail_discoveries(rng, n=60, level=0.2):
    """Distances of Gaussian rows of three columns, and five far ones."""
    normal = np.arange(n) >= 5
    scores = np.sqrt(rng.chisquare(3, size=n)) + np.where(normal, 0.0, 12.0)
    adjusted = benjamini_hochberg(tail_p_values(scores).p_values)
    return level, false_share(adjusted <= level, normal)


guarantee("anomaly.tail", "60 rows among themselves, 5 of them far", delta=None, repetitions=2000)(
    tail_discoveries
)
