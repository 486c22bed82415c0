"""The perceptron: runs, leave-one-out, bounds on passes and risk."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron as Peer

from corollary.core.simulate import assert_bound_holds
from corollary.linear import (
    Perceptron,
    dataset_margin,
    perceptron_loo,
    perceptron_pass_bound,
    perceptron_risk_bound,
    perceptron_run,
)
from tests.linear.test_geometry import separable_data

seeds = st.integers(0, 2**32 - 1)


def plain_perceptron(X, y, order_of_pass, max_passes=10_000):
    """The algorithm as it is told, in plain Python."""
    w, mistakes = np.zeros(X.shape[1]), np.zeros(len(X), dtype=int)
    for passes in range(1, max_passes + 1):
        clean = True
        for i in order_of_pass():
            if y[i] * (w @ X[i]) <= 0:
                w = w + y[i] * X[i]
                mistakes[i] += 1
                clean = False
        if clean:
            return w, mistakes, passes
    return None


@given(seeds, st.booleans())
def test_runs_are_the_algorithm(seed, shuffle):
    rng = np.random.default_rng(seed)
    X, y, _ = separable_data(rng, 15, 3, margin=0.1)
    random = np.random.RandomState(seed % 1000)
    order = (lambda: random.permutation(15)) if shuffle else (lambda: range(15))
    w, mistakes, passes = plain_perceptron(X, y, order)
    run = perceptron_run(X, y, shuffle=shuffle, random_state=seed % 1000)
    np.testing.assert_allclose(run.weights, w, atol=1e-12)
    assert run.mistakes.tolist() == mistakes.tolist()
    assert run.passes == passes
    assert run.separated
    assert (y * (X @ run.weights) > 0).all()
    np.testing.assert_allclose(run.weights, (run.mistakes * y) @ X, atol=1e-12)


def test_sparse_rows_give_the_same_run(seed):
    X, y, _ = separable_data(np.random.default_rng(seed), 30, 3)
    dense, thin = perceptron_run(X, y), perceptron_run(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(dense.weights, thin.weights, atol=1e-12)
    assert dense.passes == thin.passes


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_weights_are_those_of_scikit_learn(seed, fit_intercept):
    X, y, _ = separable_data(np.random.default_rng(seed), 50, 3, margin=0.05)
    ours = Perceptron(fit_intercept=fit_intercept, shuffle=False, tol=None).fit(X, y)
    theirs = Peer(
        fit_intercept=fit_intercept, shuffle=False, eta0=1, tol=None, max_iter=ours.n_iter_
    ).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-10)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-10)
    assert ours.separated_.all()


def test_several_classes_are_learnt_one_against_the_rest(seed):
    rng = np.random.default_rng(seed)
    centres = np.array([[5.0, 0], [-5, 5], [-5, -5]])
    y = np.repeat(np.array(["u", "v", "w"]), 20)
    X = np.repeat(centres, 20, axis=0) + rng.uniform(-1, 1, size=(60, 2))
    model = Perceptron(fit_intercept=False, shuffle=False, tol=None).fit(X, y)
    assert model.score(X, y) == 1.0
    for k, label in enumerate("uvw"):
        run = perceptron_run(X, np.where(y == label, 1, -1))
        np.testing.assert_array_equal(model.coef_[k], run.weights)
        assert model.n_mistakes_[k] == run.mistakes.sum()
    assert model.intercept_.tolist() == [0, 0, 0]


def test_random_orders_follow_the_seed(seed):
    X, y, _ = separable_data(np.random.default_rng(seed), 80, 3, margin=0.02)
    models = [Perceptron(shuffle=True, random_state=r).fit(X, y).coef_ for r in (1, 1, 2)]
    assert (models[0] == models[1]).all()
    assert (models[0] != models[2]).any()


def test_data_without_a_separating_plane_hit_the_cap():
    X, y = np.array([[1.0], [-1.0], [0.5]]), np.array([1, 1, -1])
    with pytest.warns(ConvergenceWarning, match="in pass max_iter=4: .* through the origin"):
        model = Perceptron(fit_intercept=False, max_iter=4).fit(X, y)
    assert model.n_iter_ == 4
    assert not model.separated_.any()
    run = perceptron_run(np.array([[1.0], [0.0]]), [1, 1], max_passes=9)  # margin zero
    assert not run.separated
    assert run.passes == 9
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Perceptron(fit_intercept=True).fit([[1.0], [2.0]], [0, 1])


@pytest.mark.parametrize("penalty", [None, "l2", "l1", "elasticnet"])
@pytest.mark.parametrize("given_rows", [np.asarray, sparse.csr_matrix])
def test_penalties_weights_and_steps_are_those_of_scikit_learn(seed, penalty, given_rows):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 4)), rng.integers(2, size=40)
    X[rng.random(size=X.shape) < 0.3] = 0.0
    w = rng.exponential(size=40)
    options = {"penalty": penalty, "alpha": 0.01, "l1_ratio": 0.3, "eta0": 0.7, "tol": None}
    options |= {"shuffle": False, "max_iter": 6, "class_weight": {0: 2.0, 1: 0.5}}
    options["fit_intercept"] = given_rows is np.asarray  # theirs moves less on sparse rows
    ours = Perceptron(**options).fit(given_rows(X), y, sample_weight=w)
    theirs = Peer(**options).fit(given_rows(X), y, sample_weight=w)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-10)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-10)
    assert (ours.n_iter_, ours.t_) == (theirs.n_iter_, theirs.t_)
    again = Perceptron(**options | {"warm_start": True, "max_iter": 3})
    again.fit(X, y, sample_weight=w).fit(X, y, sample_weight=w)
    if penalty in (None, "l2"):  # an l1 penalty counts its shifts anew
        np.testing.assert_allclose(again.coef_, ours.coef_, atol=1e-10)


def test_passes_end_when_the_loss_does_not_improve_as_in_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 3)), rng.integers(3, size=60)
    for options in ({"tol": 1e-3}, {"tol": 0.1, "n_iter_no_change": 2}):
        ours = Perceptron(shuffle=False, **options).fit(X, y)
        theirs = Peer(shuffle=False, **options).fit(X, y)
        assert ours.n_iter_ == theirs.n_iter_
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-10)


def test_early_stopping_keeps_rows_aside(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + rng.normal(size=200) > 0
    model = Perceptron(early_stopping=True, validation_fraction=0.25).fit(X, y)
    assert model.t_ == 1 + 150 * model.n_iter_
    assert model.n_iter_ < 100
    assert model.score(X, y) > 0.6


def test_chunks_make_one_pass_each(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 3
    ours, theirs = Perceptron(shuffle=False), Peer(shuffle=False)
    for part in (slice(0, 15), slice(15, 40)):
        ours.partial_fit(X[part], y[part], classes=[0, 1, 2])
        theirs.partial_fit(X[part], y[part], classes=[0, 1, 2])
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-10)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-10)
    assert ours.t_ == theirs.t_
    assert ours.fingerprint_.n_rows == 40
    with pytest.raises(ValueError, match="must be those of the first call"):
        ours.partial_fit(X, y + 1)
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        Perceptron().partial_fit(X, y)
    with pytest.raises(ValueError, match="not supported for partial_fit"):
        Perceptron(class_weight="balanced").partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="coef_init does not match"):
        Perceptron().fit(X, y, coef_init=np.zeros((2, 3)))


@given(seeds, st.integers(1, 30), st.booleans())
def test_passes_stay_below_the_bound(seed, n, shuffle):
    rng = np.random.default_rng(seed)
    X, y, _ = separable_data(rng, n, 2, margin=0.05)
    radius, margin = np.linalg.norm(X, axis=1).max(), dataset_margin(X, y).margin
    run = perceptron_run(X, y, max_passes=10**6, shuffle=shuffle, random_state=0)
    assert run.mistakes.sum() <= (radius / margin) ** 2 * (1 + 1e-12)
    assert run.passes <= perceptron_pass_bound(radius, margin)


def test_the_pass_bound_counts_the_verifying_pass():
    run = perceptron_run([[1.0]], [1])
    assert run.passes == 2 == perceptron_pass_bound(1.0, 1.0)


@given(seeds, st.integers(2, 25))
def test_fast_leave_one_out_is_brute_force_bit_for_bit(seed, n):
    rng = np.random.default_rng(seed)
    X, y, _ = separable_data(rng, n, 3, margin=0.05)
    full = perceptron_run(X, y, max_passes=10**6)
    fast = perceptron_loo(X, y)
    for k in range(n):
        rest = perceptron_run(np.delete(X, k, axis=0), np.delete(y, k), max_passes=10**6)
        assert fast.wrong[k] == (y[k] * (X[k] @ rest.weights) <= 0)
        if full.mistakes[k] == 0:
            assert (rest.weights == full.weights).all()
            assert not fast.wrong[k]
    assert fast.refits == (full.mistakes > 0).sum()
    assert fast.error == fast.wrong.mean()


@given(seeds, st.integers(2, 30))
def test_loo_counts_stay_below_the_mistake_bound(seed, n):
    rng = np.random.default_rng(seed)
    X, y, _ = separable_data(rng, n, 2, margin=0.1)
    found = perceptron_loo(X, y)
    ratio = np.linalg.norm(X, axis=1).max() / dataset_margin(X, y).margin
    assert found.wrong.sum() <= found.refits <= ratio**2 * (1 + 1e-12)


def fresh_error(rng, n, d, margin, v):
    """Train on n rows, test on one more: is it wrong? The rows come from one fixed law."""
    X = np.empty((n + 1, d))
    count = 0
    while count <= n:
        x = rng.normal(size=d)
        x *= rng.random() ** (1 / d) / np.linalg.norm(x)
        if abs(x @ v) >= margin:
            X[count] = x
            count += 1
    y = np.sign(X @ v)
    return X, y


@pytest.mark.parametrize("n", [1, 3, 10, 30])
def test_risk_bound_holds_on_a_law_with_margin(seed, n):
    d, margin, repetitions = 2, 0.4, 1500
    v = np.array([1.0, 0.0])
    rng = np.random.default_rng(seed)
    wrong, inverse = 0, []
    for r in range(repetitions):
        X, y = fresh_error(rng, n, d, margin, v)
        w = perceptron_run(X[:n], y[:n], max_passes=10**6).weights
        wrong += y[n] * (X[n] @ w) <= 0
        if r < 200:
            inverse.append(dataset_margin(X, y).margin ** -2)
    crude = perceptron_risk_bound(n, 1.0, margin=margin)
    assert_bound_holds(wrong, repetitions, min(1.0, crude))
    # The sharper form, with the expectation estimated and its simulation error allowed for.
    mean = np.mean(inverse) + 6 * np.std(inverse) / np.sqrt(len(inverse))
    sharp = perceptron_risk_bound(n, 1.0, mean_inverse_squared_margin=mean)
    assert sharp < crude
    assert_bound_holds(wrong, repetitions, min(1.0, sharp))


@pytest.mark.parametrize("repetitions", [400, pytest.param(5000, marks=pytest.mark.verify)])
def test_mean_leave_one_out_error_is_the_risk_one_row_earlier(seed, repetitions):
    n, v = 6, np.array([1.0, 0.0])
    rng = np.random.default_rng(seed)
    difference = []
    for _ in range(repetitions):
        X, y = fresh_error(rng, n, 2, 0.2, v)
        loo = perceptron_loo(X, y).error
        X, y = fresh_error(rng, n, 2, 0.2, v)
        w = perceptron_run(X[:n], y[:n], max_passes=10**6).weights
        difference.append(loo - (y[n] * (X[n] @ w) <= 0))
    error = np.std(difference) / np.sqrt(repetitions)
    assert abs(np.mean(difference)) <= 5 * error


def test_bounds_refuse_what_the_theorem_does_not_cover():
    with pytest.raises(ValueError, match="'margin' parameter of perceptron_pass_bound must be"):
        perceptron_pass_bound(1.0, 0.0)
    with pytest.raises(ValueError, match="margin cannot exceed the radius"):
        perceptron_pass_bound(1.0, 2.0)
    with pytest.raises(ValueError, match="'n_samples' parameter of perceptron_risk_bound"):
        perceptron_risk_bound(0, 1.0, margin=0.5)
    with pytest.raises(ValueError, match="exactly one of margin and"):
        perceptron_risk_bound(5, 1.0)
    with pytest.raises(ValueError, match="margin cannot exceed the radius"):
        perceptron_risk_bound(5, 1.0, mean_inverse_squared_margin=0.5)
    assert perceptron_risk_bound(99, 2.0, mean_inverse_squared_margin=1.0) == pytest.approx(0.04)


def test_errors_say_what_to_do():
    with pytest.raises(ValueError, match=r"within max_passes=5\. The method needs data that"):
        perceptron_loo([[1.0], [-1.0]], [1, 1], max_passes=5)
    with pytest.raises(ValueError, match="at least 2 rows"):
        perceptron_loo([[1.0]], [1])
    with pytest.raises(ValueError, match="NaN or infinity"):
        perceptron_run([[np.nan]], [1])
    with pytest.raises(ValueError, match="NaN or infinity"):
        perceptron_run(sparse.csr_matrix([[np.inf]]), [1])
    with pytest.raises(ValueError, match="so large that their sum has overflowed"):
        perceptron_run([[1.6e308, 1.5e308], [-1.7e308, 1.5e308]], [1, 1], max_passes=1)
    with pytest.raises(ValueError, match="at least 2 classes"):
        Perceptron().fit([[1.0], [2.0]], [1, 1])
