"""Choices by cross-validation, and what they are worth."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge as PeerRidge

from corollary.linear import PolynomialRegression
from corollary.validation import (
    nested_risk,
    tune,
)

ROWS = np.arange(40.0)[:, None]


LABELS = np.r_[np.zeros(30, dtype=int), np.ones(10, dtype=int)]


def test_tuning_recovers_the_degree_of_a_polynomial():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, size=(80, 1))
    y = 1 - 2 * x[:, 0] + 3 * x[:, 0] ** 3 + 0.05 * rng.normal(size=80)
    settings = {"degree": [1, 2, 3, 4, 5, 6]}
    best = tune(
        PolynomialRegression(),
        settings,
        x,
        y,
        loss="square",
        rule="one_standard_error",
        random_state=0,
    )
    assert best.best == {"degree": 3}
    assert best.risks.argmin() >= 2
    assert best.model.predict(x) == pytest.approx(y, abs=0.3)
    training = [
        np.mean((PolynomialRegression(degree=d).fit(x, y).predict(x) - y) ** 2) for d in range(1, 7)
    ]
    assert np.all(np.diff(training) <= 1e-9)


def test_tuning_uses_the_same_folds_and_first_wins_ties():
    X, y = load_diabetes(return_X_y=True)
    same = tune(PeerRidge(), [{"alpha": 1.0}, {"alpha": 1.0}], X, y, loss="square", random_state=0)
    assert same.risks[0] == same.risks[1]
    assert same.chosen == 0


def test_notebooks_show_settings_with_their_risks():
    X, y = np.arange(12.0)[:, None], np.arange(12.0)
    tuned = tune(PeerRidge(), [{"alpha": 1.0}, {"alpha": 9.0, "tol": 0.1}], X, y, random_state=0)
    rows = tuned._repr_html_().split("<tr>")
    assert [row.count("True") for row in rows[2:]] == [1, 0]
    assert f"<td>9</td><td>0.1</td><td>{tuned.risks[1]:.4g}</td>" in rows[3]


def test_nested_risk_does_not_leak_the_choice():
    # Pure noise: the best of many random columns looks good, the nested estimate does not.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 200)), rng.integers(0, 2, 60)

    class Column(BaseEstimator):
        def __init__(self, column=0):
            self.column = column

        def fit(self, X, y):
            value = np.corrcoef(X[:, self.column], y)[0, 1]
            self.sign_, self.centre_ = np.sign(value), np.median(X[:, self.column])
            return self

        def predict(self, X):
            return (self.sign_ * (X[:, self.column] - self.centre_) > 0).astype(int)

    grid = {"column": list(range(100))}
    tuned = tune(Column(), grid, X, y, cv=3, random_state=0)
    nested = nested_risk(Column(), grid, X, y, cv=3, inner_cv=3, random_state=0)
    assert tuned.risks.min() < 0.36
    assert nested.risk > 0.4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tune(PeerRidge(), [], ROWS, LABELS), "at least one setting"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


class Constant(BaseEstimator):
    """Predicts its parameter."""

    def __init__(self, value=0.0):
        self.value = value

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return np.full(len(X), self.value)


def test_rules_by_hand():
    # Labels of -1 and 1: the risk of a constant is 1 + its square, whose error is 1/10 or so.
    X, y = np.zeros((100, 1)), np.tile([-1.0, 1.0], 50) * np.repeat([1.0, 0.5], 50)
    settings = {"value": [0.5, 0.1, 0.0]}
    best = tune(Constant(), settings, X, y, loss="square", random_state=0)
    assert best.risks == pytest.approx(0.625 + np.array([0.25, 0.01, 0.0]))
    assert best.best == {"value": 0.0}
    early = tune(
        Constant(), settings, X, y, loss="square", rule="one_standard_error", random_state=0
    )
    assert early.best == {"value": 0.1}
    assert early.model.value == 0.1
