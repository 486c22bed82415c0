"""Certificates of models that gradient descent made: constants by hand, who gets them, who not."""

import math

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

from corollary import certify
from corollary.certificates.proofs.descent import _distances, _loss, _round_up, _rows
from corollary.certificates.register import Evidence, Quantity
from corollary.online import OnlineClassifier, OnlineRegressor
from corollary.theory import coupled_sgd, sgd_row_distances, stability_bound

pytestmark = pytest.mark.filterwarnings(
    "ignore:Maximum number of iteration:sklearn.exceptions.ConvergenceWarning",
    "ignore:No registered theorem:UserWarning",
)

SGD = "theory.sgd-stability"
OURS = {"step": "constant", "eta": 1e-4, "n_passes": 1, "fit_intercept": False}
THEIRS = {
    "loss": "log_loss",
    "learning_rate": "constant",
    "eta0": 1e-4,
    "tol": None,
    "max_iter": 1,
    "random_state": 0,
}


def rows(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 3))
    X[:, 0] += 3 * y - 1.5
    return X / np.linalg.norm(X, axis=1)[:, None], y


def certified(model, X, y, **options):
    found = [c for c in certify(model, X, y, seen=True, **options) if c.theorem == SGD]
    assert len(found) <= 1
    return found[0] if found else None


def test_logistic_loss_by_hand():
    X, y = rows()
    model = OnlineClassifier(**OURS, random_state=0).fit(X, y)
    found = certified(model, X, y, confidence=0.9)
    # The steps are too small for weights to grow: slopes stay below expit(length).
    lengths = np.sqrt(np.arange(2000) * (2 * 1e-4 * 0.2785 + 1e-8))
    moved = sgd_row_distances(
        gradients=expit(lengths), step_sizes=np.full(2000, 1e-4), n_samples=2000
    )
    margins = (2 * y - 1) * (X @ model.coef_[0])
    bounds = []
    for place, j in enumerate([0, -1, 1, -2, 2, -3, 3, -4, 4, -5, 5, -6, 6, -7, 7], start=1):
        delta = 0.1 * 6 / (math.pi * place) ** 2
        ramp = np.clip(1 - margins / 2.0**j, 0, 1).mean()
        bounds.append(ramp + stability_bound(moved / 2.0**j, n_samples=2000, delta=delta))
    assert found.bound == pytest.approx(min(bounds))
    assert found.bound < 1
    assert found.empirical == np.mean(model.predict(X) != y)
    assert found.seen
    assert "mean ramp loss" in found.observed
    assert "Rows have length at most 1, in the whole population." in map(str, found.assumptions)
    assert any("repeated" in str(line) for line in found.checked)
    assert found.at(0.99).bound > found.bound
    assert found.page == "certificates.html#theory-sgd-stability"


@pytest.mark.parametrize("n_passes", [1, 2])
def test_a_run_is_recognised_however_it_was_made(n_passes):
    X, y = rows(400)
    how = {**OURS, "n_passes": n_passes}
    shuffled = OnlineClassifier(**how, random_state=7).fit(X, y)
    in_order = OnlineClassifier(**how, shuffle=False).fit(X, y)
    for model in (shuffled, in_order):
        found = certified(model, X, y)
        assert found.checked
    hidden = certified(OnlineClassifier(**how).fit(X, y), X, y)
    assert not hidden.checked
    assert any("keeps no seed" in str(line) for line in hidden.assumptions)
    # Both orders visit at the same steps, so that only training losses differ.
    if n_passes == 1:
        chunks = OnlineClassifier(**how)
        for i in range(0, 400, 130):
            chunks.partial_fit(X[i : i + 130], y[i : i + 130], classes=[0, 1])
        assert certified(chunks, X, y).bound == pytest.approx(certified(in_order, X, y).bound)


@pytest.mark.parametrize(
    "change",
    [
        {"sample_weight": True},
        {"class_weight": {0: 1.0, 1: 2.0}},
        {"class_weight": "balanced"},
        {"learner": "perceptron"},
        {"learner": "passive-aggressive"},
        {"step": "adagrad"},
        {"loss": "hinge"},
        {"eta": 9.0},
        {"alpha": 2.0, "eta": 0.99},
    ],
    ids=str,
)
def test_other_learners_get_none(change):
    X, y = rows(300)
    weight = np.linspace(1, 2, 300) if change.pop("sample_weight", False) else None
    model = OnlineClassifier(**{**OURS, "random_state": 0, **change}).fit(X, y, weight)
    assert certified(model, X, y) is None


def test_steps_up_to_two_over_the_smoothness():
    X, y = rows(300)
    for eta, covered in ((7.9, True), (8.1, False)):
        model = OnlineClassifier(**{**OURS, "eta": eta}, random_state=0).fit(X, y)
        assert (certified(model, X, y) is not None) == covered
    # An intercept is a further coordinate, and doubles the square of the length.
    model = OnlineClassifier(**{**OURS, "fit_intercept": True, "eta": 4.1}, random_state=0).fit(
        X, y
    )
    assert certified(model, X, y) is None


def test_rows_that_change_and_parameters_that_change_are_noticed():
    X, y = rows(300)
    model = OnlineClassifier(**OURS, random_state=0).fit(X, y)
    model.eta = 1e-5
    assert certified(model, X, y) is None
    theirs = SGDClassifier(**THEIRS).fit(X, y)
    assert certified(theirs, X, y) is not None
    assert certified(theirs, X, 1 - y) is None
    assert certified(theirs, X[:200], y[:200]) is None


THEIR_MODELS = [
    {},
    {"penalty": None},
    {"average": True},
    {"alpha": 0.5, "fit_intercept": False},
    {"learning_rate": "invscaling", "power_t": 0.5},
    {"learning_rate": "optimal", "alpha": 0.3},
    {"learning_rate": "invscaling", "loss": "modified_huber", "fit_intercept": False},
    {"loss": "modified_huber"},
    {"loss": "squared_hinge", "penalty": None},
    {"max_iter": 3},
]


def their_run(model, X, y):
    """Plain gradient descent as scikit-learn documents it; returns all iterates and the steps."""
    slope = {
        "log_loss": lambda z: -expit(-z),
        "modified_huber": lambda z: -4.0 if z < -1 else -2 * max(0.0, 1 - z),
        "squared_hinge": lambda z: -2 * max(0.0, 1 - z),
    }[model.loss]
    w, b, t, path, steps = np.zeros(X.shape[1]), 0.0, 1, [], []
    for _ in range(model.max_iter):
        for x, sign in zip(X, 2 * y - 1):
            eta = {
                "constant": model.eta0,
                "invscaling": model.eta0 / t**model.power_t,
                "optimal": 1 / (model.alpha * (t - 1 + 1 / (model.alpha * model.alpha**-0.25))),
            }[model.learning_rate]
            change = -eta * slope(sign * (x @ w + b)) * sign
            if model.penalty == "l2":
                w = w * (1 - eta * model.alpha)
            w = w + change * x
            b += change * model.fit_intercept
            path.append(np.append(w, b))
            steps.append(eta)
            t += 1
    return np.array(path), np.array(steps)


@pytest.mark.parametrize("change", THEIR_MODELS, ids=str)
def test_steps_and_lengths_of_their_models(change):
    X, y = rows(60)
    model = SGDClassifier(**{**THEIRS, "shuffle": False, "eta0": 0.1, **change}).fit(X, y)
    path, steps = their_run(model, X, y)
    end = path.mean(axis=0) if model.average else path[-1]
    np.testing.assert_allclose(np.append(model.coef_[0], model.intercept_), end, atol=1e-10)
    evidence = Evidence(
        model, X, y, model.predict(X), "classifier", losses=np.zeros(60), quantity=Quantity()
    )
    found = _rows(evidence)
    np.testing.assert_allclose(found.run.step_at(np.arange(1.0, len(steps) + 1)), steps)
    assert np.linalg.norm(path, axis=1).max() <= _distances(found, 60).reach + 1e-9
    assert certified(model, X, y) is not None


@pytest.mark.parametrize("change", THEIR_MODELS, ids=str)
def test_no_replaced_row_moves_their_models_further(change):
    """Brute force: fit again with one row replaced, and compare the weights."""
    X, y = rows(40)
    how = {**THEIRS, "shuffle": False, "eta0": 0.2, **change}
    model = SGDClassifier(**how).fit(X, y)
    evidence = Evidence(
        model, X, y, model.predict(X), "classifier", losses=np.zeros(40), quantity=Quantity()
    )
    moved = []
    for i in range(40):
        other, label = X.copy(), y.copy()
        other[i], label[i] = -X[i], y[i]
        again = SGDClassifier(**how).fit(other, label)
        far = np.append(again.coef_ - model.coef_, again.intercept_ - model.intercept_)
        moved.append(np.linalg.norm(far))
    bound = _distances(_rows(evidence), 40)
    assert np.sum(moved) <= bound.total
    assert np.sum(np.square(moved)) <= bound.squares
    assert np.sum(moved) > bound.total / 25


@pytest.mark.parametrize("free", [False, True])
def test_a_penalty_shrinks_distances_unless_it_spares_the_intercept(free):
    X, y = rows(50)
    how = {**THEIRS, "alpha": 0.5, "eta0": 0.1, "fit_intercept": free}
    model = SGDClassifier(**how).fit(X, y)
    evidence = Evidence(
        model, X, y, model.predict(X), "classifier", losses=np.zeros(50), quantity=Quantity()
    )
    square, steps = 1.0 + free, np.full(50, 0.1)
    grown = np.arange(50) * (0.1 * math.sqrt(2) if free else 0.2 * 0.2785 + 0.01)
    lengths = grown if free else np.sqrt(grown)
    moved = sgd_row_distances(
        gradients=expit(lengths * math.sqrt(square)) * math.sqrt(square),
        step_sizes=steps,
        n_samples=50,
        penalty=0.0 if free else 0.5,
    )
    found = _distances(_rows(evidence), 50)
    assert found.total == pytest.approx(moved.sum())
    assert found.squares == pytest.approx(np.sum(moved**2))


def test_who_of_theirs_gets_none():
    X, y = rows(300)
    for change in (
        {"loss": "hinge"},
        {"penalty": "l1"},
        {"penalty": "elasticnet"},
        {"early_stopping": True},
        {"learning_rate": "adaptive"},
        {"average": 50},
        {"class_weight": "balanced"},
        {"warm_start": True},
        {"learning_rate": "optimal", "alpha": 1e-4},
    ):
        model = SGDClassifier(**{**THEIRS, **change}).fit(X, y)
        assert certified(model, X, y) is None, change
    weighted = SGDClassifier(**THEIRS).fit(X, y, sample_weight=np.linspace(1, 2, 300))
    assert certified(weighted, X, y) is None


def test_a_number_of_passes_that_losses_chose_is_paid_for():
    X, y = rows(3000)
    how = {**THEIRS, "eta0": 1e-6, "max_iter": 6, "fit_intercept": False}
    fixed = SGDClassifier(**how).fit(X, y)
    stopped = SGDClassifier(**{**how, "tol": 1e-9}).fit(X, y)
    np.testing.assert_array_equal(fixed.coef_, stopped.coef_)
    free, paid = (certified(model, X, y, confidence=0.9) for model in (fixed, stopped))
    assert free.bound < paid.bound < 1
    shared = 1 - 0.1 * 6 / (math.pi * 6) ** 2
    assert paid.bound == pytest.approx(free.at(shared).bound)


def test_maps_of_single_rows_may_come_first_and_scalers_may_not():
    X, y = rows(2000)
    long = X * np.linspace(1, 9, 2000)[:, None]
    how = {**THEIRS, "fit_intercept": False}
    found = certified(make_pipeline(Normalizer(), SGDClassifier(**how)).fit(long, y), long, y)
    assert found.bound == pytest.approx(certified(SGDClassifier(**how).fit(X, y), X, y).bound)
    scaled = make_pipeline(StandardScaler(), SGDClassifier(**how)).fit(X, y)
    assert certified(scaled, X, y) is None


def test_lengths_are_assumed_as_round_numbers():
    assert [_round_up(v) for v in (1.0, 1 + 1e-12, 1.01, 0.95, 9.5, 0.021, 0.0)] == [
        1.0,
        1.0,
        2.0,
        1.0,
        10.0,
        0.03,
        1.0,
    ]
    X, y = rows(500)
    model = OnlineClassifier(**{**OURS, "random_state": 0}).fit(1.5 * X, y)
    assert "length at most 2," in str(certified(model, 1.5 * X, y))


def test_regressors_by_hand():
    X, _ = rows(3000)
    y = np.clip(X[:, 0] + 0.1 * np.random.default_rng(1).normal(size=3000), -1, 1)
    model = OnlineRegressor(**OURS, random_state=0).fit(X, y)
    found = certified(model, X, y, confidence=0.9)
    # Squares of weights grow by at most 2 eta in a step; slopes are twice an error.
    lengths = np.sqrt(2 * 1e-4 * np.arange(3001))
    moved = sgd_row_distances(
        gradients=2 * (1 + lengths[:-1]), step_sizes=np.full(3000, 1e-4), n_samples=3000
    )
    mean = np.abs(model.predict(X) - y).mean()
    gap = stability_bound(moved, n_samples=3000, delta=0.1, high=1 + lengths[-1])
    assert found.bound == pytest.approx(mean + gap)
    assert found.quantity.name == "mean absolute error"
    assert any("targets lie between -1 and 1" in str(line) for line in found.assumptions)
    cut = certified(model, X, y, confidence=0.9, loss_range=(0, 0.9))
    gap = stability_bound(moved, n_samples=3000, delta=0.1, high=0.9)
    assert cut.bound == pytest.approx(np.minimum(np.abs(model.predict(X) - y), 0.9).mean() + gap)
    assert cut.quantity.name == "mean of min(|error|, 0.9)"


@pytest.mark.parametrize(
    ("change", "covered"),
    [
        ({"penalty": None}, True),
        ({"fit_intercept": False}, True),
        ({}, False),  # a penalty that spares the intercept, and slopes without a limit
        ({"loss": "huber"}, True),
        ({"penalty": None, "eta0": 0.6}, False),  # more than one over the smoothness
        ({"loss": "epsilon_insensitive"}, False),
    ],
    ids=str,
)
def test_their_regressors(change, covered):
    X, _ = rows(300)
    y = np.clip(X[:, 0], -1, 1)
    how = {"learning_rate": "constant", "eta0": 1e-4, "tol": None, "max_iter": 2, "random_state": 0}
    model = SGDRegressor(**{**how, **change}).fit(X, y)
    assert (certified(model, X, y) is not None) == covered


def test_weights_of_square_losses_grow_as_bounded():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.choice([-1.0, 1.0], 200)
    X /= np.linalg.norm(X, axis=1)[:, None]
    for name, eta in (("square", 0.5), ("squared_hinge", 0.5), ("half_square", 1.0)):
        loss = _loss(name, 1.0, 0.0)
        w = np.zeros(2)
        for t in range(200):
            s = X[t] @ w
            slope = {
                "square": 2 * (s - y[t]),
                "half_square": s - y[t],
                "squared_hinge": -2 * y[t] * max(0.0, 1 - y[t] * s),
            }[name]
            assert abs(slope) <= loss.slope(np.linalg.norm(w)) + 1e-12
            w = w - eta * slope * X[t]
            assert w @ w <= 2 * eta * loss.pull * (t + 1) + 1e-9


def test_constants_of_losses():
    z = np.linspace(-6, 6, 100_001)
    for name, value in (
        ("logistic", np.logaddexp(0, -z)),
        ("squared_hinge", np.maximum(0, 1 - z) ** 2),
        ("modified_huber", np.where(z < -1, -4 * z, np.maximum(0, 1 - z) ** 2)),
    ):
        loss = _loss(name, 1.0, 0.0)
        slope = np.gradient(value, z)
        curvature = np.gradient(slope, z)[2:-2]
        assert curvature.max() == pytest.approx(loss.curvature, rel=1e-3), name
        if math.isfinite(loss.steepest):
            assert np.abs(slope).max() <= loss.steepest + 1e-9
            assert (-slope * z).max() == pytest.approx(loss.pull, rel=1e-3)
        for reach in (0.5, 2.0, 5.0):
            inside = np.abs(z) <= reach
            assert np.abs(slope[inside]).max() == pytest.approx(loss.slope(reach), rel=1e-3)


def test_vacuous_bounds_say_what_is_missing():
    """More rows in smaller steps, of the same sum, make about the same model."""
    X, y = rows(300)
    model = OnlineClassifier(**{**OURS, "eta": 1 / 300}, random_state=0).fit(X, y)
    few = certified(model, X, y)
    assert few.vacuous
    assert few.bound == 1
    assert "ramp" not in few.observed
    for share, vacuous in ((0.7, True), (1.3, False)):
        n = 300 + round(share * few.rows_missing)
        X, y = rows(n)
        model = OnlineClassifier(**{**OURS, "eta": 1 / n}, random_state=0).fit(X, y)
        assert certified(model, X, y).vacuous == vacuous


def test_twenty_thousand_rows_in_one_pass_prove_something():
    X, y = rows(20_000)
    model = OnlineClassifier(**{**OURS, "eta": 1 / 20_000}, random_state=0).fit(X, y)
    found = certified(model, X, y)
    assert found.empirical < 0.1
    assert found.bound < 0.45


def test_a_coupled_pair_reaches_the_distance():
    X, y = np.eye(5), np.ones(5)
    steps = np.full(5, 0.01)
    pair = coupled_sgd(
        lambda w, x, y: -y * x * expit(-y * (x @ w)),
        X,
        y,
        replaced=2,
        x_new=-X[2],
        y_new=1.0,
        step_sizes=steps,
        rows=range(5),
    )
    bound = sgd_row_distances(gradients=0.5, step_sizes=steps, n_samples=5)
    assert pair[-1] == pytest.approx(bound[0])
