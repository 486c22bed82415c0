"""Online-to-batch certificates: which models get them, and from which losses."""

import math

import numpy as np
import pytest
from sklearn.base import clone

from corollary import certify
from corollary.certificates import Quantity, online_to_batch_certificate, tightest
from corollary.online import OnlineClassifier, OnlinePerceptron
from corollary.theory import run_risk_bound, stitched_sequence


def plane(seed, n=300, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=n) > 0, "yes", "no")
    return X, y


def of(theorem, certificates):
    return [c for c in certificates if c.theorem == theorem]


def test_azuma_is_the_mean_and_a_radius(seed):
    losses = np.random.default_rng(seed).random(50)
    wanted = losses.mean() + math.sqrt(math.log(1 / 0.05) / 100)
    assert run_risk_bound(losses, 0.05) == pytest.approx(min(1, wanted))
    wide = run_risk_bound(4 * losses - 1, 0.05, low=-1, high=3)
    assert wide == pytest.approx(min(3, 4 * wanted - 1))


def test_the_sharper_forms_are_sequences_that_never_intersect(seed):
    losses = np.random.default_rng(seed).random(80)
    for kind in ("bernoulli", "empirical-bernstein"):
        limits = stitched_sequence(losses, 0.05, kind=kind, sides=1, running=False)
        assert run_risk_bound(losses, 0.05, method=kind) == limits.upper[-1]
    few = np.arange(3000) < 30
    assert run_risk_bound(few, 0.05, method="bernoulli") < 0.6 * run_risk_bound(few, 0.05)


def test_losses_are_those_before_the_update(seed):
    X, y = plane(seed, n=60)
    model = OnlineClassifier().partial_fit(X, y, classes=["no", "yes"])
    found = of("theory.online-to-batch", certify(model, X, y, seen=True))
    mistakes = []
    early = OnlineClassifier()
    for i in range(len(y)):
        if i:
            mistakes.append(early.predict(X[i : i + 1])[0] != y[i])
        early.partial_fit(X[i : i + 1], y[i : i + 1], classes=["no", "yes"])
    for certificate, method in zip(found, ("azuma", "bernoulli"), strict=True):
        assert certificate.empirical == np.mean(mistakes)
        wanted = run_risk_bound(mistakes, 0.05, method=method)
        assert certificate.bound == pytest.approx(wanted, rel=1e-12)
        assert certificate.n_samples == 59
        assert "drawn uniformly from 1 to 59" in certificate.claim
        assert certificate.at(0.99).bound > certificate.bound
        assert certificate.at(0.99).claim.startswith("at most")
    best = tightest(found)
    assert best.confidence == 0.95
    assert best.bound >= min(c.bound for c in found)


@pytest.mark.parametrize("learner", ["perceptron", "passive-aggressive", "gradient-descent"])
def test_learners_and_several_classes(learner, seed):
    X, y = plane(seed)
    y = np.where(X[:, 1] > 1, "other", y)
    model = OnlineClassifier(learner=learner).partial_fit(X, y, classes=np.unique(y))
    assert len(of("theory.online-to-batch", certify(model, X, y, seen=True))) == 2


def test_a_single_shuffled_pass_is_played_again(seed):
    X, y = plane(seed)
    model = OnlineClassifier(n_passes=1, random_state=3).fit(X, y)
    assert len(of("theory.online-to-batch", certify(model, X, y, seen=True))) == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda X, y, model: model.fit(X, y),
        lambda X, y, model: model.fit(X, y, sample_weight=np.arange(len(y)) + 1.0),
        lambda X, y, model: model.set_params(n_passes=1, class_weight="balanced").fit(X, y),
        lambda X, y, model: model.set_params(n_passes=1, random_state=None).fit(X, y),
        lambda X, y, model: model.partial_fit(X[::-1], y[::-1], classes=np.unique(y)),
    ],
    ids=["five passes", "weights", "balanced", "an order that is lost", "another order"],
)
def test_runs_that_cannot_be_repeated_get_none(change, seed):
    X, y = plane(seed)
    y = np.where(np.arange(len(y)) < 60, "no", y)  # classes of different sizes
    model = change(X, y, OnlineClassifier(shuffle=True, random_state=0))
    assert not of("theory.online-to-batch", certify(model, X, y, seen=True))


def ball(seed, n=800):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * math.pi, size=n)
    X = np.stack([np.cos(angle), np.sin(angle)], axis=1) * rng.uniform(0.5, 1, size=(n, 1))
    return X, np.where(X[:, 0] > 0, 1, 0)


AVERAGE = OnlineClassifier(
    loss="logistic", step="sqrt", eta=1.0, radius=3.0, averaging=True, fit_intercept=False
)


def test_average_counts_the_untested_weights_with_the_largest_loss(seed):
    X, y = ball(seed)
    model = clone(AVERAGE).partial_fit(X, y, classes=[0, 1])
    (found,) = of("theory.online-to-batch-average", certify(model, X, y, seen=True))
    record = clone(AVERAGE).run((X, y), classes=[0, 1])
    largest = math.log1p(math.exp(3.0))
    assert record.losses.max() < largest
    risk = run_risk_bound(record.losses[1:], 0.05, high=largest, method="empirical-bernstein")
    assert found.bound == pytest.approx((799 * risk + largest) / 800 / math.log(2))
    assert found.quantity.name == "error rate"
    assert found.empirical == np.mean(model.predict(X) != y)
    assert not found.vacuous
    assert "Rows have length at most 1 in the whole population." in map(str, found.assumptions)


def test_the_model_is_the_average_of_the_weights_after_each_round(seed):
    """What the certificate says about the average rests on which weights are averaged."""
    X, y = ball(seed, n=20)
    model = clone(AVERAGE).partial_fit(X, y, classes=[0, 1])
    plain, weights = clone(AVERAGE).set_params(averaging=False), []
    for i in range(20):
        plain.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1])
        weights.append(plain.coef_[0])
    np.testing.assert_allclose(model.coef_[0], np.mean(weights, axis=0), atol=1e-12)


@pytest.mark.parametrize(
    "change",
    [
        {"averaging": False},
        {"fit_intercept": True},
        {"radius": None},
        {"step": "adagrad"},
        {"loss": "squared_hinge"},
        {"learner": "perceptron"},
    ],
)
def test_average_needs_its_assumptions(change, seed):
    X, y = ball(seed, n=100)
    model = clone(AVERAGE).set_params(**change).partial_fit(X, y, classes=[0, 1])
    assert not of("theory.online-to-batch-average", certify(model, X, y, seen=True))


def test_average_needs_rows_in_the_ball(seed):
    X, y = ball(seed, n=100)
    model = clone(AVERAGE).partial_fit(1.5 * X, y, classes=[0, 1])
    assert not of("theory.online-to-batch-average", certify(model, 1.5 * X, y, seen=True))


def test_certificate_of_a_record(seed):
    X = np.random.default_rng(seed).normal(size=(400, 2))
    record = OnlinePerceptron().run((X, np.where(X[:, 0] > 0, 1, -1)))
    certificate = online_to_batch_certificate(record.mistakes)
    assert certificate.bound == run_risk_bound(record.mistakes, 0.05, method="bernoulli")
    assert certificate.quantity.name == "error rate with a hypothesis drawn from the run"
    cost = Quantity("mean of cost", 0, 2, None)
    other = online_to_batch_certificate(record.mistakes, quantity=cost, method="azuma")
    assert other.bound == pytest.approx(run_risk_bound(record.mistakes, 0.05, high=2))


def test_vacuous_run_says_how_many_rows_are_missing():
    certificate = online_to_batch_certificate([1.0, 0.0], method="azuma")
    assert certificate.vacuous
    assert certificate.rows_missing == 4  # (mean 1/2) log(20) / (2 n) < 1/4 from n = 6 on
    assert math.isinf(online_to_batch_certificate(np.ones(9)).rows_missing)


def test_losses_outside_the_range_are_refused():
    with pytest.raises(ValueError, match="run_risk_bound must lie in"):
        run_risk_bound([0.2, 1.7], 0.05)
    with pytest.raises(ValueError, match="one-dimensional"):
        run_risk_bound(np.zeros((2, 2)), 0.05)
    with pytest.raises(ValueError, match="online_to_batch_certificate must lie in"):
        online_to_batch_certificate([np.nan])
