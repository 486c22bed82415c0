"""Online gradient descent: definition, peers, and the regret of every schedule."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import SGDClassifier

from corollary.online import (
    OnlineGradientDescent,
    ogd_adversary,
    ogd_rate,
    ogd_regret_bound,
    ogd_second_order_bound,
)
from corollary.svm import constrained_hinge
from tests.online.reference import gradient_descent


def stream(seed, m=80, d=4, loss="hinge"):
    rng = np.random.default_rng(seed)
    X, u = rng.normal(size=(m, d)), rng.normal(size=d)
    score = X @ u + rng.normal(size=m)
    return X, score if loss == "square" else np.where(score > 0, 1.0, -1.0)


@pytest.mark.parametrize("radius", [None, 0.4])
@pytest.mark.parametrize("step", ["constant", "sqrt", "adagrad"])
@pytest.mark.parametrize("loss", ["hinge", "logistic", "square"])
def test_definition(loss, step, radius, seed):
    X, y = stream(seed, loss=loss)
    scores, w, _ = gradient_descent(X, y, loss, step, 0.1, radius=radius or np.inf)
    for rows in (X, sparse.csr_matrix(X)):
        learner = OnlineGradientDescent(loss, step, eta=0.1, radius=radius)
        record = learner.run((rows, y))
        np.testing.assert_allclose(learner.weights_, w, rtol=1e-9)
        if loss == "square":
            np.testing.assert_allclose(record.predictions, scores, rtol=1e-9)
            np.testing.assert_allclose(record.losses, (scores - y) ** 2, rtol=1e-8)
        else:
            np.testing.assert_array_equal(record.mistakes, y * scores <= 0)


def test_scikit_learn_agrees_on_the_hinge_loss(seed):
    X, y = stream(seed)
    learner = OnlineGradientDescent("hinge", eta=0.05).partial_fit(X, y)
    peer = SGDClassifier(
        loss="hinge",
        penalty=None,
        learning_rate="constant",
        eta0=0.05,
        fit_intercept=False,
        max_iter=1,
        tol=None,
        shuffle=False,
    ).fit(X, y)
    np.testing.assert_allclose(learner.weights_, peer.coef_[0], rtol=1e-10)


@settings(max_examples=4)  # the best comparator is found by a solver
@given(st.integers(0, 10_000), st.floats(0.1, 3.0))
def test_hinge_regret_against_the_best_in_the_ball(seed, U):
    X, y = stream(seed, m=40, d=3)
    R = np.linalg.norm(X, axis=1).max()
    learner = OnlineGradientDescent("hinge", eta=ogd_rate(U, R, 40))
    record = learner.run((X, y))
    best = constrained_hinge(X, y, U, tol=1e-4).coef
    best = best * min(1.0, U / np.linalg.norm(best))
    regret = record.losses.sum() - np.maximum(0, 1 - y * (X @ best)).sum()
    bound = ogd_regret_bound(U, R, 40)
    assert regret <= bound + 1e-9
    # The bound that looks at the slopes lies between.
    wrong = record.losses > 0
    squares = float((X[wrong] ** 2).sum())
    assert regret <= ogd_second_order_bound(U, learner.eta, squares) + 1e-9 <= bound + 1e-6


@given(
    st.integers(0, 10_000),
    st.sampled_from(["hinge", "logistic", "square"]),
    st.sampled_from(["constant", "sqrt", "adagrad"]),
    st.floats(0.01, 2.0),
)
def test_bound_of_every_schedule(seed, loss, step, eta):
    rng = np.random.default_rng(seed)
    X, y = stream(seed, m=50, d=3, loss=loss)
    if seed % 2:  # the truth is made against the learner
        y = np.sign(rng.normal()) * (1.0 - 2.0 * (np.arange(50) % 2))
        X = np.repeat(X[:1], 50, axis=0)
    eta = eta / 20 if loss == "square" else eta
    radius = float(rng.uniform(0.2, 2.0))
    u = rng.normal(size=3)
    u *= radius * rng.uniform() / np.linalg.norm(u)
    learner = OnlineGradientDescent(loss, step, eta=eta, radius=radius)
    record = learner.run((X, y), comparator=u)
    assert np.isfinite(record.bound).all()
    assert record.holds


def test_alternating_labels_cost_half_the_bound():
    m = 400
    learner = OnlineGradientDescent(eta=ogd_rate(1.0, 2.0, m))
    record = learner.run(ogd_adversary(m, radius=2.0), comparator=[0.0])
    assert record.regret[-1] == pytest.approx(0.5 * ogd_regret_bound(1.0, 2.0, m))
    assert record.holds


def test_mistakes_are_at_most_hinge_losses(seed):
    X, y = stream(seed)
    record = OnlineGradientDescent(eta=0.1).run((X, y))
    assert (record.mistakes <= record.losses).all()


def test_no_bound_where_no_theorem_applies(seed):
    X, y = stream(seed)
    far = np.full(4, 10.0)
    for learner, u in [
        (OnlineGradientDescent(), None),
        (OnlineGradientDescent(step="sqrt"), far),
        (OnlineGradientDescent(step="adagrad"), far),
        (OnlineGradientDescent(radius=1.0), far),  # the comparator is outside the ball
        (OnlineGradientDescent(step="adagrad", radius=1.0), far),
    ]:
        assert np.isinf(learner.run((X, y), comparator=u).bound).all()


@pytest.mark.parametrize("step", ["constant", "sqrt"])
def test_the_weights_stay_in_the_ball(step, seed):
    X, y = stream(seed)
    for rows in (X, sparse.csr_matrix(X)):
        learner = OnlineGradientDescent("hinge", step, eta=5.0, radius=0.3)
        for i in range(len(y)):
            learner.partial_fit(rows[i : i + 1], y[i : i + 1])
            assert np.linalg.norm(learner.weights_) <= 0.3 * (1 + 1e-9)
    box = OnlineGradientDescent("hinge", "adagrad", eta=5.0, radius=0.3).partial_fit(X, y)
    assert np.abs(box.weights_).max() <= 0.3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "absolute"}, "'loss' parameter"),
        ({"step": "linear"}, "'step' parameter"),
        ({"eta": -1.0}, "'eta' parameter"),
        ({"radius": 0.0}, "'radius' parameter"),
        ({"conservative": True, "step": "sqrt"}, "conservative=True"),
    ],
)
def test_parameters_are_checked(settings, message):
    with pytest.raises(ValueError, match=message):
        OnlineGradientDescent(**settings)
    with pytest.raises(ValueError, match="'horizon' parameter of ogd_rate"):
        ogd_rate(1.0, 1.0, 0)
