"""Certificates that stay true while one looks at growing rows."""

import math

import numpy as np
import pytest

from corollary.certificates import Quantity, anytime_certificate, certify
from corollary.linear import LogisticRegression
from corollary.theory import betting_sequence, stitched_sequence


def test_certificates_that_may_be_looked_at_any_time(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 3))
    y = (X[:, 0] + 0.3 * rng.normal(size=120) > 0).astype(int)
    model = LogisticRegression().fit(X[:60], y[:60])
    found = {c.theorem: c for c in certify(model, X[60:], y[60:], anytime=True)}
    assert list(found) == ["theory.betting-sequence", "theory.stitched-sequence"]
    errors = (model.predict(X[60:]) != y[60:]).astype(float)
    betting = found["theory.betting-sequence"]
    assert betting.bound == betting_sequence(errors, 0.05, sides=1).upper[-1]
    assert betting.empirical == errors.mean()
    assert any("order in which they came" in str(line) for line in betting.assumptions)
    exact = certify(model, X[60:], y[60:])[0]
    assert betting.bound > exact.bound
    assert betting.at(0.99).bound > betting.bound
    with pytest.raises(ValueError, match="leave one of them out"):
        certify(model, X, y, seen=True, anytime=True)


def test_anytime_certificate_of_another_loss_uses_the_observed_squares():
    losses = np.full(400, 3.0)
    quantity = Quantity("mean of cost", 0, 10, None)
    certificate = anytime_certificate(losses, method="stitched", quantity=quantity)
    wanted = stitched_sequence(losses, 0.05, kind="empirical-bernstein", high=10, sides=1)
    assert certificate.bound == wanted.upper[-1]
    assert certificate.bound < 3.6
    assert "mean of cost" in certificate.claim


@pytest.mark.parametrize("method", ["betting", "stitched"])
def test_vacuous_anytime_certificate_counts_missing_rows(method):
    how = {"method": method, "quantity": Quantity("mean of cost", 0, 1, None)}
    certificate = anytime_certificate([1.0, 0.0], **how)
    assert certificate.vacuous
    more = int(certificate.rows_missing)
    assert 0 < more < 100
    again = np.resize([1.0, 0.0], 2 + more)
    assert not anytime_certificate(again, **how).vacuous
    assert anytime_certificate(again[:-1], **how).vacuous
    assert math.isinf(anytime_certificate([1.0], **how).rows_missing)


def test_anytime_certificate_needs_one_column():
    with pytest.raises(ValueError, match="must be one-dimensional"):
        anytime_certificate(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="anytime_certificate must lie in"):
        anytime_certificate([0.0, np.nan])
