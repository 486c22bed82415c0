"""Risks of the hypotheses of an online run, from the losses of the run."""

import math
import warnings

import numpy as np

from corollary import certify
from corollary.certificates import online_to_batch_certificate
from corollary.online import Hedge, OnlineClassifier
from corollary.theory import run_risk_bound
from tests.guarantees.registry import guarantee

DELTA = 0.1
FLIP = 0.1


def perceptron(rng, n=300):
    """A plane through the origin with flipped labels; risks of all iterates are angles."""
    X = rng.normal(size=(n, 2))
    y = np.where(X[:, 0] > 0, 1.0, -1.0) * np.where(rng.random(n) < FLIP, -1, 1)
    w, before, after, risks = np.zeros(2), np.empty(n), np.empty(n), np.empty(n)
    for t in range(n):
        norm = np.linalg.norm(w)
        angle = math.pi / 2 if norm == 0 else math.acos(np.clip(w[0] / norm, -1, 1))
        risks[t] = FLIP + (1 - 2 * FLIP) * angle / math.pi
        before[t] = y[t] * (w @ X[t]) <= 0 if norm else rng.random() < 0.5
        if y[t] * (w @ X[t]) <= 0:
            w = w + y[t] * X[t]
        after[t] = y[t] * (w @ X[t]) <= 0
    return before, after, risks.mean()


def planted(method):
    def trial(rng):
        before, _, risk = perceptron(rng)
        return run_risk_bound(before, DELTA, method=method), risk

    return trial


def measured_after_the_update(rng):
    _, after, risk = perceptron(rng)
    return run_risk_bound(after, DELTA), risk


for method in ("azuma", "bernoulli", "empirical-bernstein"):
    guarantee(
        "theory.online-to-batch",
        f"a perceptron's 300 rounds, {method}",
        delta=DELTA,
        repetitions=120,
        verify=5000,
        faults={"losses measured after the update": measured_after_the_update}
        if method == "azuma"
        else None,
    )(planted(method))


def coin_run(method):
    """Every hypothesis errs on half of the rows, so that the claim is about 1/2."""

    def trial(rng):
        X, y = rng.normal(size=(200, 3)), rng.random(200) < 0.5
        model = OnlineClassifier(learner="perceptron").partial_fit(X, y, classes=[False, True])
        found = certify(model, X, y, seen=True, confidence=1 - DELTA)
        found = [c for c in found if c.theorem == "theory.online-to-batch"]
        return found[("azuma", "bernoulli").index(method)].bound, 0.5

    return trial


def aggressive_after_the_update(rng):
    """A learner that gets every row right once it has seen it."""
    X, y = rng.normal(size=(200, 30)), np.where(rng.random(200) < 0.5, 1, -1)
    w, mistakes = np.zeros(30), np.empty(200)
    for t in range(200):
        w = w + max(0.0, 1 - y[t] * (w @ X[t])) * y[t] * X[t] / (X[t] @ X[t])
        mistakes[t] = y[t] * (w @ X[t]) <= 0
    return online_to_batch_certificate(mistakes, confidence=1 - DELTA).bound, 0.5


for method in ("azuma", "bernoulli"):
    guarantee(
        "theory.online-to-batch",
        f"coin labels, 200 x 3, certified, {method}",
        delta=DELTA,
        repetitions=40,
        verify=1500,
        faults={"losses measured after the update": aggressive_after_the_update},
    )(coin_run(method))


MEANS = np.array([0.3, 0.35, 0.4, 0.5, 0.6, 0.7])


def hedge(rng, n=200, eta=0.5):
    """Experts with known risks; an expert is drawn by the weights of a round drawn at random."""
    losses = (rng.random((n, 6)) < MEANS).astype(float)
    before = np.vstack([np.zeros(6), np.cumsum(losses, axis=0)])
    weights = np.exp(-eta * (before - before.min(axis=1, keepdims=True)))
    weights /= weights.sum(axis=1, keepdims=True)
    return losses, float((weights[:-1] @ MEANS).mean())


def hedge_run(rng):
    losses, truth = hedge(rng)
    record = Hedge(eta=0.5).run(losses)
    bound = online_to_batch_certificate(record.losses, confidence=1 - DELTA, method="azuma").bound
    return bound, truth


def best_expert_in_hindsight(rng):
    """Its losses in place of the learner's, among 200 experts that are all fair coins."""
    losses = (rng.random((100, 200)) < 0.5).astype(float)
    best = losses[:, losses.sum(axis=0).argmin()]
    return online_to_batch_certificate(best, confidence=1 - DELTA, method="azuma").bound, 0.5


guarantee(
    "theory.online-to-batch",
    "Hedge on six experts, 200 rounds",
    delta=DELTA,
    verify=5000,
    faults={"losses of the best expert": best_expert_in_hindsight},
)(hedge_run)


def average(rng, flip=FLIP, n=1000):
    """Rows on a circle; the error of the averaged weights is an angle."""
    angle = rng.uniform(0, 2 * math.pi, size=n)
    X = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    y = np.where(X[:, 0] > 0, 1, -1) * np.where(rng.random(n) < flip, -1, 1)
    model = OnlineClassifier(
        loss="hinge", step="sqrt", eta=1.0, radius=2.0, averaging=True, fit_intercept=False
    ).partial_fit(X, y, classes=[-1, 1])
    w = model.coef_[0]
    off = math.acos(np.clip(w[0] / np.linalg.norm(w), -1, 1)) / math.pi
    return model, X, y, flip + (1 - 2 * flip) * off


def averaged_weights(rng):
    model, X, y, truth = average(rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = certify(model, X, y, seen=True, confidence=1 - DELTA)
    (one,) = [c for c in found if c.theorem == "theory.online-to-batch-average"]
    return one.bound, truth


def surrogate_forgotten(rng):
    """A tenth of the convex loss for the error, as if losses were in a smaller unit."""
    model, X, y, truth = average(rng, flip=0.25)
    losses = np.clip(1 - y * (X @ model.coef_[0]), 0, 3) / 10
    return run_risk_bound(losses, DELTA, high=0.3, method="empirical-bernstein"), truth


guarantee(
    "theory.online-to-batch-average",
    "hinge loss on a circle, 1,000 rows, certified",
    delta=DELTA,
    repetitions=40,
    verify=1500,
    faults={"a loss in a smaller unit": surrogate_forgotten},
)(averaged_weights)
