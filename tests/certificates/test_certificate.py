import copy
import json
import math
import pickle
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta
from sklearn.dummy import DummyClassifier

from corollary.certificates import (
    Assumption,
    Certificate,
    Population,
    Quantity,
    certify,
    empirical_bernstein_certificate,
    error_quantile_certificate,
    error_rate_certificate,
    hoeffding_certificate,
    register_theorem,
    theorems,
    tightest,
)
from corollary.certificates.register import _THEOREMS
from corollary.core.certificate import format_confidence, format_number, format_share
from corollary.core.simulate import assert_bound_holds
from tests.registry import public_objects

A, B = Assumption("A."), Assumption("B.")


def test_sentence_a_judge_could_read():
    assert str(error_rate_certificate(2, 143)) == (
        "With 95% confidence, at most 4.4% of such rows are classified wrongly; observed 2 of 143."
    )
    print_of_two = str(error_rate_certificate(0, 10, confidence=0.999))
    assert print_of_two.startswith("With 99.9% confidence, at most 49.9% of")


def test_vacuous_is_said_aloud():
    quantile = error_quantile_certificate([1.0, 2.0], 0.9)
    assert quantile.vacuous
    assert math.isinf(quantile.bound)
    assert quantile.rows_missing == 27
    assert "vacuous" in str(quantile)
    assert "At least 27 more rows are needed." in str(quantile)
    hopeless = error_rate_certificate(3, 3)
    assert hopeless.vacuous
    assert hopeless.bound == 1.0
    assert "More rows alone would not change that." in str(hopeless)
    single = empirical_bernstein_certificate([0.0])
    assert single.vacuous
    assert single.bound == 1.0
    n = 1 + single.rows_missing
    assert empirical_bernstein_certificate(np.zeros(int(n))).bound < 1
    assert empirical_bernstein_certificate(np.zeros(int(n) - 1)).vacuous


@pytest.mark.parametrize("mean", [0.0, 0.5, 0.9])
def test_rows_missing_of_hoeffding_is_the_smallest_number(mean):
    vacuous = hoeffding_certificate(mean, 1)
    n = 1 + int(vacuous.rows_missing)
    assert not hoeffding_certificate(mean, n).vacuous
    assert n == 1 or hoeffding_certificate(mean, n - 1).vacuous


@given(value=st.floats(1e-12, 1), high=st.booleans())
def test_printed_shares_are_rounded_outwards(value, high):
    direction = "upper" if high else "lower"
    text = format_share(value, direction)
    printed = Decimal(text.rstrip("%")) / 100
    exact = Decimal(repr(value))
    assert printed >= exact if high else printed <= exact
    assert abs(printed - exact) <= max(Decimal("0.001"), exact / 10)


@given(value=st.floats(-1e12, 1e12).filter(lambda v: abs(v) > 1e-9), high=st.booleans())
def test_printed_numbers_are_rounded_outwards(value, high):
    printed = float(format_number(value, "upper" if high else "lower"))
    assert printed >= value if high else printed <= value
    assert printed == pytest.approx(value, rel=2e-3)


def test_printed_specials():
    assert format_number(0.0) == "0"
    assert format_number(math.inf) == "infinity"
    assert format_number(-math.inf) == "-infinity"
    assert format_share(0.0) == "0.0%"
    assert format_share(1.0) == "100.0%"
    assert format_confidence(0.5) == "50%"
    assert format_confidence(1 - 1e-9).startswith("99.99999")
    assert format_confidence(1 - 1e-9) != "100%"


def test_records():
    certificate = error_quantile_certificate([1.0, 2.0], 0.9)
    record = certificate.to_dict()
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert record["bound"] is None
    assert record["vacuous"] is True
    assert record["sentence"] == str(certificate)
    row = certificate.as_row()
    assert math.isinf(row["bound"])
    assert all(np.isscalar(value) or isinstance(value, str) for value in row.values())
    fields = set(Certificate.__dataclass_fields__)
    assert set(row) == fields - {"recompute", "observed"} | {"claim"}


def test_certificates_are_frozen_equal_and_picklable():
    one, two = error_rate_certificate(2, 143), error_rate_certificate(2, 143)
    assert one == two
    assert hash(one) == hash(two)
    with pytest.raises(AttributeError):
        one.bound = 0.0
    again = pickle.loads(pickle.dumps(tightest([one, hoeffding_certificate(2 / 143, 143)])))
    assert again.at(0.99).bound > again.bound


def test_at_keeps_assumptions_and_moves_the_bound():
    from dataclasses import replace

    certificate = replace(error_rate_certificate(2, 143), assumptions=(A,), seen=True)
    moved = certificate.at(0.99)
    assert (moved.assumptions, moved.seen, moved.confidence) == ((A,), True, 0.99)
    assert moved.bound == error_rate_certificate(2, 143, confidence=0.99).bound
    assert moved.at(0.95) == certificate
    with pytest.raises(ValueError, match="Call certify again"):
        replace(certificate, recompute=None).at(0.99)


def test_tightest_pays_the_union_bound():
    losses = np.r_[np.ones(2), np.zeros(141)]
    certificates = [
        error_rate_certificate(2, 143),
        hoeffding_certificate(2 / 143, 143),
        empirical_bernstein_certificate(losses),
    ]
    best = tightest(certificates)
    assert best.theorem == "theory.clopper-pearson"
    assert best.confidence == 0.95
    assert best.bound == pytest.approx(
        error_rate_certificate(2, 143, confidence=1 - 0.05 / 3).bound
    )
    assert best.bound > certificates[0].bound
    assert best.at(0.99).bound == pytest.approx(
        error_rate_certificate(2, 143, confidence=1 - 0.01 / 3).bound
    )
    assert tightest(certificates[:1]) is certificates[0]


def test_tightest_takes_all_assumptions_and_the_largest_lower_bound():
    def lower(bound, assumption):
        def recompute(confidence):
            return Certificate(
                quantity=Quantity("accuracy", predicate="are classified rightly"),
                empirical=1.0,
                bound=bound * (1 - confidence),
                confidence=confidence,
                theorem="t",
                n_samples=1,
                observed="1 of 1",
                direction="lower",
                assumptions=(assumption,),
                recompute=recompute,
            )

        return recompute(0.9)

    best = tightest([lower(1.0, A), lower(2.0, B), lower(1.5, A.vouched())])
    assert best.bound == pytest.approx(2.0 * 0.1 / 3)
    assert best.assumptions == (A.vouched(), B)
    assert best.checked == (A.vouched(),)
    assert best.claim == "at least 6.6% of such rows are classified rightly"


def test_tightest_refuses_what_cannot_be_compared():
    with pytest.raises(ValueError, match="at least one certificate"):
        tightest([])
    with pytest.raises(ValueError, match="one quantity only"):
        tightest([error_rate_certificate(0, 9), error_quantile_certificate([1.0], 0.5)])
    with pytest.raises(ValueError, match="one confidence"):
        tightest([error_rate_certificate(0, 9), error_rate_certificate(0, 9, confidence=0.9)])
    alike = error_rate_certificate(0, 9)
    with pytest.raises(
        ValueError, match=r"one population only\. Got rows of new persons, such rows"
    ):
        tightest([alike, replace(alike, population=PERSONS)])
    with pytest.raises(ValueError, match="one population only"):
        tightest([replace(alike, population=Population("period", start=s, end=9)) for s in "19"])
    assert tightest([replace(alike, population=PERSONS)] * 2).population == PERSONS


def two_halves(rng, choose):
    """Certify one rate from each half of the rows, then report what `choose` picks."""
    # Just above the bound that 9 errors give, where each half fails with probability 0.2.
    truth = beta.ppf(0.8, 10, 51) + 1e-9
    halves = [
        error_rate_certificate(int(rng.binomial(60, truth)), 60, confidence=0.8) for _ in "ab"
    ]
    return choose(halves).bound < truth


def test_choice_is_valid_only_when_paid_for(seed):
    from corollary.core.simulate import count_violations

    repetitions = 800
    paid = count_violations(lambda rng: two_halves(rng, tightest), repetitions, seed)
    assert_bound_holds(paid, repetitions, 0.2)

    def unpaid(halves):
        return min(halves, key=lambda certificate: certificate.bound)

    free = count_violations(lambda rng: two_halves(rng, unpaid), repetitions, seed)
    with pytest.raises(AssertionError, match="bound broken"):
        assert_bound_holds(free, repetitions, 0.2)


def test_quantity_words():
    loss = Quantity("mean of pinball", 0.0, 2.0, None)
    assert loss.claim(0.51234) == "the mean of pinball over such rows is at most 0.5124"
    assert loss.observed(0.25, 1) == "0.25 on 1 row"
    assert Quantity().observed(2 / 3, 3) == "2 of 3"


PERSONS = Population("new units", unit="person")
SPRING = Population("period", start="2020-05-01", end="2020-07-31")


@pytest.mark.parametrize(
    ("population", "rows", "one", "two"),
    [
        (Population(), "such rows", "1 row", "2 rows"),
        (PERSONS, "rows of new persons", "1 person", "2 persons"),
        (Population("new units"), "rows of new owners", "1 owner", "2 owners"),
        (Population("new units", unit="city"), "rows of new cities", "1 city", "2 cities"),
        (Population("new units", unit="bus"), "rows of new buses", "1 bus", "2 buses"),
        (Population("new units", unit="day"), "rows of new days", "1 day", "2 days"),
        (Population("new units", unit=("shop",)), "rows of new shops", "1 shop", "2 shops"),
        (
            Population("new units", unit=("country", "clinic", "patient")),
            "rows of new combinations of country, clinic and patient",
            "1 combination of country, clinic and patient",
            "2 combinations of country, clinic and patient",
        ),
        (SPRING, "the rows from 2020-05-01 to 2020-07-31", "1 row", "2 rows"),
        (Population("period", start=3.0, end=17.5), "the rows from 3 to 17.5", "1 row", "2 rows"),
        (Population("period", start=2020, end=2020), "the rows of 2020", "1 row", "2 rows"),
    ],
)
def test_population_words(population, rows, one, two):
    assert (population.rows, str(population)) == (rows, rows)
    assert (population.count(1), population.count(2)) == (one, two)
    assert population.to_dict()["rows"] == rows
    assert json.loads(json.dumps(population.to_dict()))["kind"] == population.kind


def test_a_certificate_speaks_of_its_population():
    plain = error_rate_certificate(2, 143)
    assert plain.population == Population()
    persons, spring = replace(plain, population=PERSONS), replace(plain, population=SPRING)
    assert plain != persons != spring
    assert persons.claim == "at most 4.4% of rows of new persons are classified wrongly"
    assert "Each person counts the same, however many rows it has." in str(persons)
    assert spring.claim == (
        "on average over the rows from 2020-05-01 to 2020-07-31, the error rate to be expected of "
        "a row given those before it is at most 4.4%"
    )
    assert "Nothing is proved about later rows." in str(spring)
    assert persons.at(0.99).population == PERSONS
    assert persons.as_row()["population"] == "rows of new persons"
    assert spring.to_dict()["population"] == {
        "kind": "period",
        "unit": "",
        "start": "2020-05-01",
        "end": "2020-07-31",
        "rows": "the rows from 2020-05-01 to 2020-07-31",
    }
    median = Quantity.median_of_units()
    assert median.claim(2.0, population=PERSONS) == (
        "at least 50% of new persons have a median absolute error of at most 2"
    )


def test_a_vacuous_certificate_counts_what_its_population_counts():
    few = replace(hoeffding_certificate(0.0, 1), population=PERSONS)
    assert "nothing is proved about the error rate of rows of new persons: the bound" in str(few)
    assert "At least 1 more person is needed." in str(few)
    assert "At least 4 more persons are needed." in str(replace(few, rows_missing=4))
    assert "More persons alone would not change that." in str(replace(few, rows_missing=math.inf))
    assert "Persons are not what is missing." in str(replace(few, rows_missing=0))


def test_every_registered_theorem_is_explained_at_its_anchor_or_by_its_bound():
    text = (Path(__file__).parents[2] / "docs" / "certificates.md").read_text(encoding="utf-8")
    for theorem in theorems():
        anchor = theorem.name.replace(".", "-")
        if theorem.page == f"certificates.html#{anchor}":
            assert text.count(f"({anchor})=\n") == 1, (
                f"docs/certificates.md must explain {theorem.name} under the line ({anchor})="
            )
            assert f"`{theorem.name}`" in text, f"docs/certificates.md does not name {theorem.name}"
        else:
            bound = theorem.page.removeprefix("generated/").removesuffix(".html")
            assert bound in public_objects(), (
                f"{theorem.name} has no page: name it in certificates/_order.py and explain it in "
                'docs/certificates.md, or say page="generated/corollary.theory.BOUND.html"'
            )


def test_theorems_of_others_have_a_page_only_if_they_say_so(monkeypatch):
    monkeypatch.setattr("corollary.certificates.register._THEOREMS", copy.copy(_THEOREMS))
    for name, page in (("test.plain", ""), ("test.paged", "theirs.html#it")):

        @register_theorem(name, needs="seen", applies=lambda evidence: True, page=page)
        def prove(evidence, confidence, name=name):
            yield replace(error_rate_certificate(1, 10), theorem=name, page="")

    model = DummyClassifier().fit([[0.0], [1.0]], [0, 1])
    pages = {c.theorem: c.page for c in certify(model, [[0.0], [1.0]], [0, 1], seen=True)}
    assert pages == {"test.plain": "", "test.paged": "theirs.html#it"}


def test_a_moved_name_says_where_it_is():
    import corollary.theory

    with pytest.raises(
        ImportError, match=r"theory\.certify has moved; use corollary\.certificates"
    ):
        from corollary.theory import certify  # noqa: F401
    with pytest.raises(ImportError, match=r"use corollary\.neural\.PACBayes"):
        corollary.theory.PACBayesClassifier  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        corollary.theory.nonsense  # noqa: B018
