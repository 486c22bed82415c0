"""Certificates and solutions in numbers and words."""

import numpy as np
import pytest

from corollary.core.certificate import Assumption
from corollary.optimize import Optimality, Solution


def test_a_gap_is_the_value_less_the_lower_bound():
    certificate = Optimality(value=10.0, lower_bound=9.5, proof="duality")
    assert certificate.gap == pytest.approx(0.5)
    assert certificate.is_optimal(0.05)
    assert not certificate.is_optimal(0.049)
    assert Optimality(value=1.0, lower_bound=1.0 + 1e-12, proof="duality").gap == 0.0


@pytest.mark.parametrize("bound", [-np.inf, np.nan])
def test_without_a_lower_bound_nothing_is_optimal(bound):
    certificate = Optimality(value=0.0, lower_bound=bound, residuals={"gradient": 0.0})
    assert certificate.gap == np.inf
    assert not certificate.is_optimal(1e300)
    assert str(certificate).startswith("Nothing is proved about the value 0: gradient 0.")


def test_a_violated_constraint_is_never_optimal():
    certificate = Optimality(value=0.0, lower_bound=0.0, violation=1e-3, proof="duality")
    assert not certificate.is_optimal(1e-6)
    assert "violates its constraints by up to 0.001" in str(certificate)


def test_assumptions_stand_in_the_sentence():
    certificate = Optimality(
        value=1.0,
        lower_bound=0.0,
        proof="strong convexity",
        assumptions=(Assumption("The function is convex."),),
    )
    assert str(certificate) == (
        "The value 1 is at most 1 above the least one: the gradient there and strong convexity "
        "prove it. Assumed: The function is convex."
    )


def test_a_solution_says_how_it_ended():
    certificate = Optimality(value=1.0)
    solution = Solution(
        x=np.zeros(1),
        value=1.0,
        certificate=certificate,
        status="stopped",
        n_iter=1,
        reason="the step is at most 0.1",
    )
    assert str(solution) == (
        "Stopped without a proof of optimality after 1 step (the step is at most 0.1). "
        "Nothing is proved about the value 1. It may lie above the least one."
    )
    assert solution.gap == np.inf
    assert solution.to_frame()["status"].tolist() == ["stopped"]
    assert "<table>" in solution._repr_html_()


def test_what_is_not_a_number_is_never_optimal():
    assert Optimality(value=np.nan, lower_bound=1.0, proof="duality").gap == np.inf
    assert Optimality(value=np.inf, lower_bound=np.inf, proof="duality").gap == np.inf
    undefined = Optimality(value=1.0, lower_bound=1.0, violation=np.nan, proof="duality")
    assert not undefined.is_optimal(1e300)
