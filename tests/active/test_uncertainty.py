"""Measures of uncertainty by hand, and queries of any classifier."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy as scipy_entropy
from sklearn.linear_model import LogisticRegression

from corollary.active import ExhaustedError, entropy, least_confidence, margin, query_uncertain

MEASURES = [entropy, margin, least_confidence]


@given(st.integers(0, 1000), st.integers(1, 6))
def test_measures_against_their_formulas(seed, k):
    P = np.random.default_rng(seed).dirichlet(np.full(k, 0.5), size=7)
    np.testing.assert_allclose(entropy(P), scipy_entropy(P, axis=1), atol=1e-12)
    top = -np.sort(-np.column_stack([P, np.zeros(7)]), axis=1)
    expected = 1 - (top[:, 0] - top[:, 1])
    np.testing.assert_allclose(margin(P), expected if k > 1 else np.zeros(7), atol=1e-12)
    np.testing.assert_allclose(least_confidence(P), 1 - P.max(axis=1))
    order = np.random.default_rng(seed).permutation(k)
    for measure in MEASURES:
        np.testing.assert_allclose(measure(P[:, order]), measure(P), atol=1e-12)
        assert (measure(P) <= measure(np.full((1, k), 1 / k)) + 1e-12).all()


def test_two_classes_three_measures_one_order():
    p = np.random.default_rng(0).uniform(size=50)
    P = np.column_stack([p, 1 - p])
    orders = [np.argsort(measure(P)) for measure in MEASURES]
    np.testing.assert_array_equal(orders[0], orders[1])
    np.testing.assert_array_equal(orders[0], orders[2])


@pytest.mark.parametrize("measure", ["entropy", "margin", "least_confidence"])
def test_queries_of_a_foreign_classifier(measure):
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    y = (X["a"] > 0).astype(int) + (X["b"] > 0)
    model = LogisticRegression().fit(X, y)
    chosen = query_uncertain(model, X, 5, measure=measure, labelled=[0, 1, 2])
    scores = {m.__name__: m for m in MEASURES}[measure](model.predict_proba(X))
    scores[:3] = -1
    np.testing.assert_array_equal(chosen, np.argsort(-scores, kind="stable")[:5])


def test_wrong_input_is_named():
    class Constant:
        def predict_proba(self, X):
            return np.full((len(X), 2), 0.5)

    np.testing.assert_array_equal(query_uncertain(Constant(), np.zeros((4, 1)), 2), [0, 1])
    with pytest.raises(ExhaustedError, match=r"has 1 rows left to ask for\. Got n=2"):
        query_uncertain(Constant(), np.zeros((2, 1)), 2, labelled=[0])
    with pytest.raises(ValueError, match="'estimator' parameter of query_uncertain"):
        query_uncertain(object(), np.zeros((2, 1)))
    with pytest.raises(ValueError, match="'measure' parameter of query_uncertain"):
        query_uncertain(Constant(), np.zeros((2, 1)), measure="guess")
    for measure in MEASURES:
        with pytest.raises(ValueError, match="that sum to 1 in each row"):
            measure([[0.5, 0.4]])
        with pytest.raises(ValueError, match="that sum to 1 in each row"):
            measure([[np.nan, 0.5]])
        with pytest.raises(ValueError, match="one row of class probabilities"):
            measure([0.5, 0.5])
