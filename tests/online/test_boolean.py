"""Boolean functions against their truth tables."""

from itertools import product

import numpy as np
import pytest

from corollary.online import (
    DNF,
    all_inputs,
    conjunction,
    disjunction,
    dnf_from_truth_table,
    random_disjunction,
    random_dnf,
)


def test_literals_conjunctions_and_disjunctions_have_their_arithmetic():
    X = all_inputs(2)
    a, b = X.T
    np.testing.assert_array_equal(conjunction(1, 2)(X), a * b)
    np.testing.assert_array_equal(disjunction(1, 2)(X), np.sign(a + b))
    np.testing.assert_array_equal(conjunction(-1)(X), 1 - a)
    # De Morgan.
    np.testing.assert_array_equal(disjunction(-1, -2)(X), 1 - conjunction(1, 2)(X))


def test_the_example():
    target = DNF(((1, 4, 7), (1, -2), (2, 5)))
    X = all_inputs(7)
    expected = [
        (x[0] and x[3] and x[6]) or (x[0] and not x[1]) or (x[1] and x[4]) for x in X.tolist()
    ]
    np.testing.assert_array_equal(target(X), np.array(expected, dtype=int))
    assert (target.n_terms, target.n_inputs, target.monotone) == (3, 7, False)


def test_every_function_has_a_normal_form():
    X = all_inputs(3)
    for values in product([0, 1], repeat=8):
        np.testing.assert_array_equal(dnf_from_truth_table(values)(X), values)
    assert str(dnf_from_truth_table([0, 0])) == "0"
    assert str(DNF(((),))) == "1"


def test_random_targets(seed):
    target = random_disjunction(20, 5, random_state=seed)
    assert target.monotone
    assert target.literals(20).sum() == 5
    assert random_disjunction(20, 5, random_state=seed) == target
    drawn = [random_disjunction(4, 2, random_state=i).terms for i in range(300)]
    assert len(set(drawn)) == 6  # all pairs occur
    mixed = random_dnf(6, 4, 3, random_state=seed)
    assert mixed.n_terms == 4
    assert all(len({abs(j) for j in term}) == 3 for term in mixed.terms)
    signs = [j > 0 for i in range(100) for j in random_dnf(6, 1, 3, random_state=i).terms[0]]
    assert 0.35 < np.mean(signs) < 0.65


def test_errors():
    with pytest.raises(ValueError, match="counted from 1"):
        DNF(((0,),))
    with pytest.raises(ValueError, match="at least 3 inputs"):
        disjunction(3)([[0, 1]])
    with pytest.raises(ValueError, match="monotone disjunction"):
        disjunction(-1).literals(3)
    with pytest.raises(ValueError, match="at least 5 inputs"):
        disjunction(5).literals(3)
    with pytest.raises(ValueError, match="truth table"):
        dnf_from_truth_table([0, 1, 1])
    with pytest.raises(ValueError, match="'n_literals' parameter of random_disjunction"):
        random_disjunction(3, 4)
    with pytest.raises(ValueError, match="'n_features' parameter of all_inputs"):
        all_inputs(21)
