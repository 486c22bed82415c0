"""P-values of 100,000 rows by a mixture that 20,000 normal rows fit and calibrate.

PyOD has the mixture and no p-values: they are its scores, ranked among those of calibration rows by
NumPy. nonconform ranks by itself, around the same mixture of PyOD's; it needs Python 3.12. All fit
four components of full covariance to one half of the normal rows and calibrate on the other.
Quality is one less the area under the ROC curve of the p-values; half a per cent of the rows are
anomalies.
"""

import warnings
from typing import NamedTuple

import numpy as np

from bench.harness import Contest, Peer, Row, run

NORMAL, NEW, COLUMNS, COMPONENTS, ANOMALIES = 20_000, 100_000, 16, 4, 500


class Data(NamedTuple):
    """Normal rows to learn from, new rows, and which of these are unusual."""

    normal: np.ndarray
    new: np.ndarray
    unusual: np.ndarray


def make() -> Data:
    random = np.random.default_rng(0)
    centres = 2 * random.normal(size=(COMPONENTS, COLUMNS))
    A = random.normal(size=(COMPONENTS, COLUMNS, COLUMNS)) / 4
    z = random.integers(COMPONENTS, size=NORMAL + NEW)
    X = centres[z] + np.einsum("nij,nj->ni", A[z], random.normal(size=(len(z), COLUMNS)))
    unusual = np.arange(NEW) < ANOMALIES
    X[NORMAL:][unusual] += 0.5 * random.normal(size=(ANOMALIES, COLUMNS))
    return Data(X[:NORMAL], X[NORMAL:], unusual)


def ours(data: Data) -> np.ndarray:
    from corollary.anomaly import AnomalyDetector, PCAMixture

    half, score = NORMAL // 2, PCAMixture(None, COMPONENTS)
    options = {"calibration_size": 0.0, "standardize": False, "random_state": 0}
    model = AnomalyDetector(score, **options)
    model.fit(data.normal[:half]).calibrate(data.normal[half:])
    return model.p_values(data.new)


def with_pyod(data: Data) -> np.ndarray:
    from pyod.models.gmm import GMM

    half = NORMAL // 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GMM(n_components=COMPONENTS, random_state=0).fit(data.normal[:half])
    calibration = np.sort(model.decision_function(data.normal[half:]))
    below = np.searchsorted(calibration, model.decision_function(data.new), side="left")
    return (1 + half - below) / (1 + half)


def with_nonconform(data: Data) -> np.ndarray:
    from nonconform import ConformalDetector, Split
    from pyod.models.gmm import GMM

    mixture = GMM(n_components=COMPONENTS, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ConformalDetector(mixture, strategy=Split(n_calib=NORMAL // 2), seed=0)
        return np.asarray(model.fit(data.normal).compute_p_values(data.new))


def missed_area(data: Data, p_values: np.ndarray) -> float:
    from sklearn.metrics import roc_auc_score

    return 1 - float(roc_auc_score(data.unusual, -p_values))


CONTESTS = [
    Contest(
        name=f"anomaly p-values, {NEW:,} x {COLUMNS}, {COMPONENTS} components",
        data=make,
        ours=ours,
        peers=[
            Peer("PyOD", with_pyod, goal=1.0, requires="pyod"),
            Peer("nonconform", with_nonconform, goal=1.0, requires="nonconform"),
        ],
        quality=missed_area,
        tolerance=0.02,
        rounds=3,
    )
]


def rows() -> list[Row]:
    return [row for each in CONTESTS for row in run(each)]
