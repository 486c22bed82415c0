import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corollary.conformal import SplitConformalClassifier, aps_score, aps_sets, raps_score
from corollary.conformal.scores._ranking import label_scores, ranked_sets
from tests.conformal.test_classifier import Table


def by_hand(row, share, penalty, free):
    """Sort one row, stable and descending, and add up."""
    order = sorted(range(len(row)), key=lambda j: (-row[j], j))
    scores, total = [0.0] * len(row), 0.0
    for place, j in enumerate(order, start=1):
        scores[j] = total + share * row[j] + penalty * max(0, place - free)
        total += row[j]
    return scores


@given(
    n_classes=st.sampled_from([1, 2, 3, 10, 47, 48, 49, 130]),
    ties=st.booleans(),
    randomised=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_scores_equal_the_definition(n_classes, ties, randomised, seed):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(n_classes, 0.5), size=4)
    if ties:
        p = p.round(1)
    u = rng.random(4) if randomised else None
    shares = np.ones(4) if u is None else u
    expected = [by_hand(row, share, 0.0, 0) for row, share in zip(p.tolist(), shares)]
    np.testing.assert_allclose(aps_score(p, u), expected, rtol=0, atol=1e-14)
    expected = [by_hand(row, share, 0.1, 2) for row, share in zip(p.tolist(), shares)]
    got = raps_score(p, u, penalty=0.1, free_classes=2)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("n_classes", [3, 60])
def test_the_score_of_a_label_is_the_one_that_sets_compare(n_classes, seed, monkeypatch):
    """To the last bit, for blocks of any size: else a label at the threshold would be lost."""
    rng = np.random.default_rng(seed)
    p, u = rng.dirichlet(np.ones(n_classes), size=300), rng.random(300)
    column = rng.integers(n_classes, size=300)
    price = {"penalty": 0.01, "free_classes": 1}
    own = label_scores(p, column, uniform=u, **price)
    monkeypatch.setattr("corollary.conformal.scores._ranking._BLOCK", 7 * n_classes)
    sets = ranked_sets(p, own[:, None], uniform=u, **price)
    assert sets[np.arange(300), column].all()
    below = ranked_sets(p, np.nextafter(own, -1)[:, None], uniform=u, **price)
    assert not below[np.arange(300), column].any()
    np.testing.assert_array_equal(label_scores(p, column, uniform=u, **price), own)


def test_reach_takes_classes_by_what_comes_before_them():
    p = np.array([[0.25, 0.5, 0.25], [0.0, 1.0, 0.0]])
    assert ranked_sets(p, 0.0).tolist() == [[False, False, False], [False, False, False]]
    assert ranked_sets(p, 0.0, reach=-1.0).tolist() == [[False, True, False], [False, True, False]]
    assert ranked_sets(p, 0.0, reach=0.6).tolist() == [[True, True, False], [False, True, False]]
    # Classes of no probability, whose predecessors sum to the threshold, conform.
    assert aps_sets(p, 1.0).tolist() == [[True, True, True], [True, True, True]]


def test_discrete_probabilities_tie_with_their_own_threshold():
    """Ten kinds of rows, each many times: a threshold is the score of a kind, which it covers."""
    rng = np.random.default_rng(0)
    kinds = rng.dirichlet(np.ones(7), size=10)
    X, y = kinds[rng.integers(10, size=500)], rng.integers(7, size=500)
    model = SplitConformalClassifier(Table(7).fit(None, None), prefit=True, conformity_score="raps")
    model.fit(X, y)
    sets = model.predict_set(X)
    held = sets[np.arange(500), y]
    assert held.mean() >= model.confidence
    scores = label_scores(X, y, penalty=0.01, free_classes=1)
    assert held[scores <= model.thresholds_[0]].all()


def test_memory_of_sets_stays_below_that_of_the_probabilities():
    rng = np.random.default_rng(0)
    X, y = rng.dirichlet(np.ones(20), size=40_000), rng.integers(20, size=40_000)
    for score in ("lac", "aps"):
        model = SplitConformalClassifier(
            Table(20).fit(None, None), prefit=True, conformity_score=score
        )
        model.fit(X[:1000], y[:1000])
        tracemalloc.start()
        model.predict_set(X)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < X.nbytes


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: aps_score([0.5, 0.5]), r"shape \(n_samples, n_classes\). Got shape \(2,\)"),
        (lambda: aps_score([[0.5, 0.5]], [0.1, 0.2]), "one random number for each of 1 rows"),
        (lambda: raps_score([0.5, 0.5]), "raps_score needs probabilities"),
        (lambda: aps_sets([0.5, 0.5], 0.5), "aps_sets needs probabilities"),
    ],
)
def test_wrong_shapes(call, message):
    with pytest.raises(ValueError, match=message):
        call()
