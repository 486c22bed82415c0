"""scikit-learn's common checks on every public estimator."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.registry import EXPECTED_FAILURES, estimators


# The checks' toy data make some methods stop early, which is not what they test.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:AnomalyDetector calls no row")  # few rows calibrate
@parametrize_with_checks(
    estimators(),
    expected_failed_checks=lambda e: EXPECTED_FAILURES.get(type(e).__name__, {}),
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_every_expected_failure_has_an_estimator_and_a_reason():
    names = {type(e).__name__ for e in estimators()}
    assert set(EXPECTED_FAILURES) <= names
    assert all(
        reason.strip() for checks in EXPECTED_FAILURES.values() for reason in checks.values()
    )
