"""Numbers of agreeing pairs against enumeration, and lifts of copies and of chance."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corollary.validation import agreeing_pairs, agreement_lift


def agree(a, b):
    return all(x == y and x >= 0 for x, y in zip(a, b))


def pairs_by_hand(rows):
    return sum(agree(a, b) for a, b in combinations(rows, 2))


codes = st.lists(st.lists(st.integers(-1, 2), min_size=3, max_size=3), min_size=1, max_size=12)


@given(codes)
def test_pairs_are_those_of_enumeration(rows):
    assert agreeing_pairs(rows) == pairs_by_hand(rows)


@given(codes)
def test_lift_is_that_of_enumeration(rows):
    a, most = pairs_by_hand(rows), 0.5
    for j, k in combinations(range(3), 2):
        (other,) = {0, 1, 2} - {j, k}
        b = c = d = 0
        for x, y in combinations(rows, 2):
            if not agree([x[other]], [y[other]]):
                continue
            in_j, in_k = agree([x[j]], [y[j]]), agree([x[k]], [y[k]])
            b += in_k and not in_j
            c += in_j and not in_k
            d += not in_j and not in_k
        most = max(most, (b + 0.5) * (c + 0.5) / (d + 0.5))
    lift, pairs = agreement_lift(rows)
    assert pairs == a
    assert lift == pytest.approx(a / most)


def test_rows_that_repeat_by_nature_have_a_lift_of_one_and_copies_do_not():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        rows = rng.integers(0, [3, 4, 5, 6], (800, 4))
        assert 0.8 < agreement_lift(rows)[0] < 1.2
        copied = np.concatenate([rng.integers(0, 12, (200, 4))] * 3)
        assert agreement_lift(copied)[0] > 10


def test_correlated_columns_have_a_lift_of_a_few():
    rng = np.random.default_rng(0)
    rows = np.round(2 * (0.9 * rng.normal(size=(700, 1)) + 0.45 * rng.normal(size=(700, 3))))
    assert 1.0 < agreement_lift(rows.astype(int) + 30)[0] < 4


def test_what_cannot_be_answered_is_refused():
    with pytest.raises(ValueError, match="at least two columns"):
        agreement_lift([0, 1, 1])
    with pytest.raises(ValueError, match="whole numbers"):
        agreeing_pairs([0.5, 1.0])
    assert agreeing_pairs(np.zeros((0, 2), dtype=int)) == 0
