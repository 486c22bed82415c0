"""Bootstrap laws and risks: limits, known failures, peers."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import make_classification
from sklearn.neighbors import KNeighborsClassifier

from corollary.validation import BootstrapRisk, bootstrap, bootstrap_risk, inclusion_probability


def test_covariance_of_means_tends_to_its_known_value():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2)) @ np.array([[1.0, 0.5], [0.0, 2.0]])
    law = bootstrap(lambda X: X.mean(axis=0), X, n_resamples=20_000, random_state=0)
    exact = np.cov(X, rowvar=False, ddof=0) / 30
    assert law.covariance == pytest.approx(exact, rel=0.06, abs=0.003)
    assert law.mean == pytest.approx(X.mean(axis=0), abs=0.02)
    assert np.array_equal(law.value, X.mean(axis=0))
    same = bootstrap(lambda X: X.mean(axis=0), X, n_resamples=50, random_state=3)
    assert np.array_equal(
        same.draws, bootstrap(lambda X: X.mean(axis=0), X, n_resamples=50, random_state=3).draws
    )


def test_rows_of_several_arrays_are_drawn_together():
    x = np.arange(20.0)
    law = bootstrap(
        lambda a, b: np.max(np.abs(a - b["x"])), x, pd.DataFrame({"x": x}), n_resamples=20
    )
    assert np.all(law.draws == 0)


def test_whole_units_are_drawn_as_many_as_there_are():
    units = np.array([0, 1, 2, 0, 1, 2])
    law = bootstrap(
        lambda unit: np.bincount(unit, minlength=3), units, groups=units, n_resamples=50
    )
    assert np.all(law.draws % 2 == 0)
    assert np.all(law.draws.sum(axis=1) == 6)
    assert len(np.unique(law.draws, axis=0)) > 1


def test_interval_covers_a_mean():
    rng = np.random.default_rng(0)
    hits = 0
    for seed in range(120):
        x = rng.exponential(size=60)
        low, high = bootstrap(np.mean, x, n_resamples=150, random_state=seed).interval(0.9)[0]
        hits += low <= 1.0 <= high
    assert 0.8 < hits / 120 < 0.98


def test_inclusion():
    assert inclusion_probability(5) == pytest.approx(0.67232)
    assert inclusion_probability(1000) == pytest.approx(0.63230, abs=5e-6)
    assert inclusion_probability(1) == 1.0
    assert inclusion_probability(10, 25) == pytest.approx(1 - 0.9**25)
    rng = np.random.default_rng(0)
    shares = [len(np.unique(rng.integers(0, 10, 25))) / 10 for _ in range(4000)]
    assert np.mean(shares) == pytest.approx(inclusion_probability(10, 25), abs=0.005)


def test_one_neighbour_on_pure_noise():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 3)), rng.permutation(np.repeat([0, 1], 60))
    risk = bootstrap_risk(KNeighborsClassifier(1), X, y, n_resamples=60, random_state=0)
    assert risk.training == 0
    assert risk.leave_one_out == pytest.approx(0.5, abs=0.08)
    assert risk.in_sample == pytest.approx(0.368 * risk.leave_one_out, abs=0.02)
    assert risk.no_information == pytest.approx(0.5, abs=0.01)
    # The 0.632 rule is fooled, its successor is not.
    assert risk.point_632 == pytest.approx(0.632 * risk.leave_one_out, abs=1e-3)
    assert risk.point_632_plus == pytest.approx(min(risk.leave_one_out, 0.5), abs=0.02)
    assert risk.n_missed == 0


def test_mixture_is_less_biased_than_its_parts():
    estimates, truths = [], []
    for seed in range(20):
        X, y = make_classification(
            1050, 6, n_informative=3, n_redundant=0, flip_y=0.15, random_state=seed, class_sep=0.8
        )
        model = KNeighborsClassifier(5)
        risk = bootstrap_risk(model, X[:50], y[:50], n_resamples=20, random_state=seed)
        truths.append(np.mean(model.fit(X[:50], y[:50]).predict(X[50:]) != y[50:]))
        estimates.append((risk.training, risk.leave_one_out, risk.point_632))
    bias = np.mean(np.array(estimates) - np.array(truths)[:, None], axis=0)
    assert bias[0] < 0 < bias[1]
    assert abs(bias[2]) < min(-bias[0], bias[1])


def test_mixtures_by_hand():
    risk = BootstrapRisk(0.1, 0.15, 0.3, 0.5, 0)
    assert risk.point_632 == pytest.approx(0.368 * 0.1 + 0.632 * 0.3, abs=1e-4)
    rate = 0.2 / 0.4
    weight = 0.632 / (1 - 0.368 * rate)
    assert risk.point_632_plus == pytest.approx((1 - weight) * 0.1 + weight * 0.3, abs=1e-3)
    assert BootstrapRisk(0.2, 0.2, 0.2, 0.5, 0).point_632_plus == pytest.approx(0.2)
    # Rows kept aside that are fitted better than the others show no overfitting.
    lucky = BootstrapRisk(0.4, 0.3, 0.3, 0.5, 0)
    assert lucky.point_632_plus == pytest.approx(0.368 * 0.4 + 0.632 * 0.3, abs=1e-4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bootstrap(np.mean), "needs data"),
        (lambda: bootstrap(np.mean, [1.0], [1.0, 2.0]), "same positive number"),
        (lambda: inclusion_probability(0), "'n_samples' parameter"),
        (lambda: bootstrap(np.mean, [1.0, 2.0], n_resamples=9).interval(2.0), "'confidence'"),
        (
            lambda: bootstrap_risk(KNeighborsClassifier(1), np.ones((1, 1)), [1], n_resamples=3),
            "no row outside",
        ),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


class Recorded(BaseEstimator):
    """Predicts the mean of its rows and writes down which they were."""

    fits: ClassVar[list] = []

    def fit(self, X, y):
        self.fits.append(X[:, 0].astype(int))
        self.mean_ = np.mean(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def test_risks_by_loops_over_few_resamples():
    n, y = 6, np.array([0.0, 1.0, 4.0, 9.0, 16.0, 25.0])
    Recorded.fits.clear()
    X = np.arange(n, dtype=float)[:, None]
    risk = bootstrap_risk(Recorded(), X, y, loss="square", n_resamples=3, random_state=1)
    everything, *samples = Recorded.fits
    assert everything.tolist() == list(range(n))
    assert risk.training == pytest.approx(np.mean((y - y.mean()) ** 2))
    inside = [np.mean((y - y[rows].mean()) ** 2) for rows in samples]
    assert risk.in_sample == pytest.approx(np.mean(inside))
    outside = [
        [(y[i] - y[rows].mean()) ** 2 for rows in samples if i not in rows] for i in range(n)
    ]
    assert {0, 1} <= set(map(len, outside))  # rows missed by none and by one of the resamples
    assert risk.leave_one_out == pytest.approx(np.mean([np.mean(out) for out in outside if out]))
    assert risk.n_missed == sum(not out for out in outside)
    pairs = [(y[i] - y.mean()) ** 2 for i in range(n) for j in range(n) if i != j]
    assert risk.no_information == pytest.approx(np.mean(pairs))
