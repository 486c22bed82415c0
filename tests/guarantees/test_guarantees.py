"""Each registered claim holds, and its planted faults are caught."""

import math

import pytest

from corollary.certificates import theorems
from corollary.certificates._order import ORDER
from tests.guarantees.__main__ import main
from tests.guarantees.registry import Guarantee, is_caught, load, simulate

CLAIMS = load()
FAULTS = [(claim, name) for claim in CLAIMS for name in claim.faults]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_claim_holds(claim):
    outcome = simulate(claim, claim.trial, claim.repetitions)
    assert not outcome.message, outcome.message
    assert not outcome.vacuous, "no repetition could have failed: choose a world with more rows"


@pytest.mark.parametrize(
    ("claim", "fault"), FAULTS, ids=[f"{claim.name}: {fault}" for claim, fault in FAULTS]
)
def test_planted_fault_is_caught(claim, fault):
    assert is_caught(claim, fault)


@pytest.mark.parametrize("theorem", theorems(), ids=lambda theorem: theorem.name)
def test_every_registered_theorem_is_simulated_and_catches_a_fault(theorem):
    claims = [claim for claim in CLAIMS if claim.theorem == theorem.name]
    assert claims, (
        f"{theorem.name} has no simulation: add guarantee({theorem.name!r}, ...) beside its test "
        "in tests/theory, as docs/howto/theorem.md shows"
    )
    assert any(claim.faults for claim in claims), (
        f"no fault is planted in {theorem.name}: pass faults={{...}} to guarantee"
    )


def test_theorems_come_in_the_declared_order_and_others_after_them():
    names = [theorem.name for theorem in theorems()]
    assert len(set(ORDER)) == len(ORDER), "certificates/_order.py names a theorem twice"
    unknown = sorted(set(ORDER) - set(names))
    assert not unknown, f"{unknown} of certificates/_order.py: no file of proofs registers these"
    assert names[: len(ORDER)] == list(ORDER)


def test_one_claim_is_simulated_alone(capsys):
    assert main(["theory.hoeffding: 200 fair coins", "--most", "50"]) == 0
    assert "`theory.hoeffding` | 200 fair coins | 50 |" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="No claim is named 'nonsense'"):
        main(["nonsense"])


def test_a_bound_that_fails_twice_as_often_as_allowed_is_caught():
    claim = Guarantee("theory.none", "coin", 0.1, lambda rng: (0.8, rng.random()), 2000)
    assert "bound broken" in simulate(claim, claim.trial, 2000).message


@pytest.mark.parametrize(
    ("bound", "truth", "vacuous"),
    [(1.0, 0.3, True), (math.inf, 0.3, True), (1.0, 1.0, False), (0.9, 0.3, False)],
)
def test_a_claim_that_cannot_fail_is_vacuous(bound, truth, vacuous):
    claim = Guarantee("theory.none", "vacuous", 0.1, lambda rng: (bound, truth), 5)
    assert simulate(claim, claim.trial, 5).vacuous == vacuous


def test_a_mean_above_its_bound_is_caught_and_an_equal_one_is_not():
    claim = Guarantee("theory.none", "mean", None, lambda rng: (0.5, rng.random()), 2000)
    assert not simulate(claim, claim.trial, 2000).message
    assert "mean exceeds" in simulate(claim, lambda rng: (0.4, rng.random()), 2000).message


def test_tightness_is_one_for_the_best_possible_bound():
    claim = Guarantee("theory.none", "uniform", 0.1, lambda rng: (0.9, rng.random()), 4000)
    assert simulate(claim, claim.trial, 4000).tightness == pytest.approx(1.0, abs=0.02)
