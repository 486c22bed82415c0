"""Certificates of models from their own training rows."""

import itertools
import math
import warnings

import numpy as np

from corollary import certify
from corollary.certificates.proofs.planes import _margin_bound, _scores
from corollary.certificates.register import Evidence
from corollary.core.certificate import Quantity
from corollary.linear import Perceptron
from corollary.neural import PACBayesClassifier
from corollary.svm import SVC
from corollary.theory import compression_bound, hoeffding_bound, pac_bayes_kl_bound, vc_bound
from tests.guarantees.registry import guarantee

DELTA = 0.1
FLIP = 0.1


def bound_of(theorem, model, X, y, quantity="error rate"):
    found = certify(model, X, y, seen=True, confidence=1 - DELTA)
    (one,) = [c for c in found if c.theorem == theorem and c.quantity.name == quantity]
    return one.bound


def planted_plane(rng, n=500):
    """A plane through the origin, fitted; its error is the angle to the true one."""
    from sklearn.linear_model import LogisticRegression

    X = rng.normal(size=(n, 2))
    y = (X[:, 0] > 0) ^ (rng.random(n) < FLIP)
    model = LogisticRegression(fit_intercept=False).fit(X, y)
    w = model.coef_[0]
    angle = math.acos(np.clip(w[0] / np.linalg.norm(w), -1, 1))
    return model, X, y, FLIP + (1 - 2 * FLIP) * angle / math.pi


def coins(rng, n, d):
    """Labels that nothing predicts: every classifier errs on half of the rows."""
    from sklearn.linear_model import LogisticRegression

    X, y = rng.normal(size=(n, d)), rng.random(n) < 0.5
    return LogisticRegression(C=10.0).fit(X, y), X, y


def training_error(model, X, y):
    return float(np.mean(model.predict(X) != y))


def as_if_held_out(rng):
    model, X, y = coins(rng, 400, 40)
    return training_error(model, X, y) + hoeffding_bound(n_samples=400, delta=DELTA), 0.5


def lost_growth(rng):
    model, X, y = coins(rng, 400, 40)
    gap = vc_bound(n_samples=400, dimension=0, delta=DELTA)
    return training_error(model, X, y) + gap, 0.5


def plane(theorem):
    def trial(rng):
        model, X, y, truth = planted_plane(rng)
        return bound_of(theorem, model, X, y), truth

    return trial


def coin(theorem, n=4000, d=2, quantity="error rate"):
    def trial(rng):
        model, X, y = coins(rng, n, d)
        return bound_of(theorem, model, X, y, quantity), 0.5

    return trial


def lost_complexity(rng):
    model, X, y = coins(rng, 400, 40)
    evidence = Evidence(
        model,
        X,
        y,
        model.predict(X),
        "classifier",
        losses=np.zeros(400),
        quantity=Quantity(),
    )
    scores = _scores(evidence)
    return _margin_bound(scores._replace(squares=np.zeros(400), fixed=True), DELTA, 400), 0.5


def lost_divergence(rng):
    from scipy.special import ndtr

    model, X, y = coins(rng, 400, 40)
    signs = np.where(y, 1, -1)
    cosine = signs * (X @ model.coef_[0]) / np.linalg.norm(X, axis=1)
    risk = float(ndtr(-50 * cosine / np.linalg.norm(model.coef_)).mean())
    return pac_bayes_kl_bound(risk, divergence=0.0, n_samples=400, delta=DELTA), 0.5


RANDOMISED = "error rate of the randomised classifier"
OFTEN = {"delta": DELTA, "repetitions": 30, "verify": 1000}

guarantee("theory.vc-bound", "logistic regression, 500 x 2, certified", **OFTEN)(
    plane("theory.vc-bound")
)
guarantee(
    "theory.vc-bound",
    "logistic regression, coin labels, 4,000 x 2, certified",
    **OFTEN,
    faults={"training error as held-out error": as_if_held_out, "growth of one": lost_growth},
)(coin("theory.vc-bound"))
guarantee("theory.margin-bound-uniform", "logistic regression, 500 x 2, certified", **OFTEN)(
    plane("theory.margin-bound-uniform")
)
guarantee(
    "theory.margin-bound-uniform",
    "logistic regression, coin labels, 4,000 x 2, certified",
    **OFTEN,
    faults={"no complexity": lost_complexity},
)(coin("theory.margin-bound-uniform"))
guarantee("theory.pac-bayes-gaussian", "logistic regression, 500 x 2, certified", **OFTEN)(
    plane("theory.pac-bayes-gaussian")
)
guarantee(
    "theory.pac-bayes-gaussian",
    "noisy logistic regression, coin labels, 4,000 x 2, certified",
    **OFTEN,
    faults={"no divergence": lost_divergence},
)(coin("theory.pac-bayes-gaussian", quantity=RANDOMISED))


@guarantee("theory.margin-bound-uniform", "RBF machine, coin labels, 200 x 2, certified", **OFTEN)
def kernel_margin(rng):
    from sklearn import svm

    X, y = rng.normal(size=(200, 2)), rng.random(200) < 0.5
    # With C = 1 the weights are so long that the bound is 1.
    machine = svm.SVC(gamma=1.0, C=0.01).fit(X, y)
    return bound_of("theory.margin-bound-uniform", machine, X, y), 0.5


CELLS = np.array(list(itertools.product(range(4), repeat=6)), dtype=float)


def forest(rng, flip, n=1500):
    """Trees on rows of 4,096 equally likely cells, so that the truth is a mean over cells."""
    from sklearn.ensemble import RandomForestClassifier

    X = rng.integers(0, 4, size=(n, 6)).astype(float)
    y = (X[:, 0] + X[:, 1] > 2.5) ^ (rng.random(n) < flip)
    model = RandomForestClassifier(10, random_state=int(rng.integers(2**31))).fit(X, y)
    wrong = np.mean(model.predict(CELLS) != (CELLS[:, 0] + CELLS[:, 1] > 2.5))
    return model, X, y, flip + (1 - 2 * flip) * wrong


def forest_vote(rng):
    model, X, y, truth = forest(rng, 0.05)
    return bound_of("theory.pac-bayes-bag", model, X, y), truth


def vote_at_its_own_error(rng):
    model, X, y, truth = forest(rng, 0.25)
    return float(np.mean(model.predict(X) != y)) + hoeffding_bound(
        n_samples=len(y), delta=DELTA
    ), truth


guarantee(
    "theory.pac-bayes-bag",
    "10 trees on 1,500 rows, certified",
    delta=DELTA,
    repetitions=15,
    verify=1000,
    faults={"training error of the vote": vote_at_its_own_error},
)(forest_vote)


def perceptron(rng, n=400, d=3):
    X = rng.normal(size=(n, d))
    y = (X[:, 0] > 0).astype(int)
    with warnings.catch_warnings():
        # Twenty passes need not do; errors on other rows are then paid for.
        warnings.simplefilter("ignore")
        model = Perceptron(fit_intercept=False, shuffle=False, tol=None, max_iter=20).fit(X, y)
    w = model.coef_[0]
    return model, X, y, math.acos(np.clip(w[0] / np.linalg.norm(w), -1, 1)) / math.pi


def perceptron_rows(rng):
    model, X, y, truth = perceptron(rng)
    return bound_of("theory.perceptron-compression", model, X, y), truth


def no_rows_determine_it(rng):
    return compression_bound(30, 0, DELTA), perceptron(rng, n=30, d=20)[-1]


guarantee(
    "theory.perceptron-compression",
    "separable, 400 x 3, certified",
    **OFTEN,
    faults={"no rows paid for": no_rows_determine_it},
)(perceptron_rows)


def ridge(rng, penalty, n=300, d=400):
    """Targets that nothing predicts: weights of length at most 1 err by 1 on average."""
    from sklearn.linear_model import Ridge

    X = rng.choice([-1.0, 1.0], size=(n, d)) / math.sqrt(d)
    y = rng.choice([-1.0, 1.0], size=n)
    model = Ridge(alpha=penalty * n, fit_intercept=False).fit(X, y)
    # |<w, x>| may exceed 1 for few x only; there |y - <w, x>| has a mean above 1.
    return model, X, y, 1.0


def ridge_error(rng):
    model, X, y, truth = ridge(rng, 1.0)
    return bound_of("theory.ridge-stability", model, X, y, "mean absolute error"), truth


def training_error_alone(rng):
    model, X, y, truth = ridge(rng, 0.01)
    return float(np.abs(model.predict(X) - y).mean()), truth


guarantee(
    "theory.ridge-stability",
    "coin targets, 300 x 400, certified",
    **OFTEN,
    faults={"no stability": training_error_alone},
)(ridge_error)


def machine(rng, n=60):
    """A threshold on a uniform column: its error is the distance from the true one, halved."""
    X = rng.uniform(-1, 1, size=(n, 1))
    model = SVC(kernel="linear", C=10.0).fit(X, X[:, 0] > 0)
    threshold = float(-model.intercept_[0] / (model.dual_coef_ @ model.support_vectors_)[0, 0])
    return model, X, X[:, 0] > 0, min(1.0, abs(threshold)) / 2


def support_vectors(rng):
    model, X, y, truth = machine(rng)
    certificates = certify(model, X, y, seen=True, confidence=1 - DELTA)
    bounds = [c.bound for c in certificates if c.theorem == "svm.support-vector-bound"]
    return min(bounds, default=1.0), truth


def support_vectors_for_nothing(rng, n=60):
    """A machine that remembers labels that nothing predicts."""
    X, y = rng.normal(size=(n, 5)), rng.random(n) < 0.5
    errors = int(np.sum(SVC(gamma=100.0, C=100.0).fit(X, y).predict(X) != y))
    return compression_bound(n, 0, DELTA, errors), 0.5


guarantee(
    "svm.support-vector-bound",
    "a threshold on 60 uniform rows, certified",
    **OFTEN,
    faults={"no support vectors paid for": support_vectors_for_nothing},
)(support_vectors)


def network(rng, flip, d, **how):
    """A linear network with noisy weights; nine in ten of the rows train its prior."""
    X = rng.normal(size=(100, d))
    y = (X[:, 0] > 0) ^ (rng.random(100) < flip)
    settings = {"hidden_layer_sizes": (), "prior_epochs": 40, "max_iter": 5, "n_draws": 20}
    seed = int(rng.integers(2**31))
    model = PACBayesClassifier(**settings, **how, confidence=1 - DELTA, random_state=seed)
    return model.fit(X, y), X, y


def trained_by_its_bound(rng):
    model, X, y = network(rng, 0.2, 2, learning_rate_init=0.05)
    (certificate,) = certify(model, X, y, seen=True, confidence=1 - DELTA)
    fresh = rng.normal(size=(20_000, 2))
    labels = model.predict_random(fresh, random_state=int(rng.integers(2**31)))
    return certificate.bound, 0.2 + 0.6 * float(np.mean(labels != (fresh[:, 0] > 0)))


def prior_that_saw_the_rows(rng):
    model, X, y = network(rng, 0.5, 100, learning_rate_init=0.05, prior_fraction=0.9)
    error, divergence = training_error(model, X, y), model.divergence_
    return pac_bayes_kl_bound(error, divergence=divergence, n_samples=100, delta=DELTA), 0.5


guarantee(
    "theory.pac-bayes-training",
    "a noisy plane on 100 rows, two in ten labels wrong, certified",
    delta=DELTA,
    repetitions=15,
    verify=500,
    faults={"a prior that saw the rows": prior_that_saw_the_rows},
)(trained_by_its_bound)
