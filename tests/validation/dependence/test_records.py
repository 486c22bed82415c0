"""Which unit bears the headline, and what is said of it."""

from dataclasses import replace

import numpy as np

from corollary.validation import Dependence, Estimate, Unit, UnitEffect

ROWS = 12


def effect(cost=0.0, hint=0.0, later=None):
    return UnitEffect(Estimate(cost, -1.0, 1.0, 4), hint, 0.1, 0.01, 0.01, 1.0, 1.1, later, 0.01)


def unit(kind, n_units, *, excess=0.2, matters=True, told=False, columns=("c",)):
    codes = np.arange(ROWS) * n_units // ROWS
    return Unit(kind, columns, codes, told=told, matters=matters, effect=effect(excess))


def test_excess_is_the_largest_of_the_three():
    assert effect(0.3, 0.1, 0.2).excess == 0.3
    assert effect(0.1, 0.3, 0.2).excess == 0.3
    assert effect(0.1, 0.2, 0.3).excess == 0.3
    assert effect(-0.1, -0.2).excess == 0.0


def test_the_coarsest_owner_bears_the_headline():
    patient, clinic = unit("owner", 6), unit("joined", 3)
    dependence = Dependence((patient, clinic), np.arange(ROWS))
    assert dependence.unit is clinic
    assert dependence.beside == (patient,)


def test_time_bears_it_if_its_excess_is_larger():
    owner, time = unit("owner", 6, excess=0.3), unit("time", 3, excess=0.4)
    assert Dependence((owner, time), np.arange(ROWS)).unit is time
    weaker = replace(time, effect=effect(0.2))
    assert Dependence((owner, weaker), np.arange(ROWS)).unit is owner
    assert Dependence((weaker,), np.arange(ROWS)).unit is weaker


def test_what_was_told_comes_first():
    told, clinic = unit("owner", 6, told=True), unit("owner", 3, excess=0.9)
    dependence = Dependence((told, clinic), np.arange(ROWS))
    assert dependence.unit is told
    assert dependence.beside == (clinic,)


def test_copies_and_what_does_not_matter_bear_no_headline():
    copies, state = unit("copies", 6), unit("owner", 3, matters=False)
    dependence = Dependence((copies, state), np.arange(ROWS))
    assert dependence.unit is None
    assert dependence.beside == (copies,)
    clean = Dependence((state,), np.arange(ROWS))
    assert str(clean) == "No dependence of rows that matters was seen."


def test_every_kind_is_put_into_words():
    for kind in ("copies", "near copies", "joined", "owner", "time", "order"):
        text = str(Dependence((unit(kind, 3),), np.arange(ROWS)))
        assert text.startswith("12 rows")
        assert "up to 1.2 times as large" in text
    later = replace(unit("time", 3), effect=effect(0.1, 0.1, 0.5))
    assert "later rows is up to 1.5 times" in str(later)
    assert "groups" in str(unit("owner", 3, columns=()))
