import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

import corollary
from corollary.kernels import (
    RBF,
    KernelERMClassifier,
    KernelERMRegressor,
    KernelRidge,
    Linear,
    Sigmoid,
    gram_features,
    minimise_kernel_risk,
)
from corollary.risk import (
    EpsilonInsensitiveLoss,
    LogisticLoss,
    PinballLoss,
    RampLoss,
    SquaredHingeLoss,
    check_loss,
)

SMOOTH = ["logistic", "squared_hinge", "exponential", "square_margin"]
KINKED = ["absolute", PinballLoss(0.3), EpsilonInsensitiveLoss(0.2)]


@pytest.fixture
def data(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 2))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=50) >= 0, 1.0, -1.0)
    return X, y, np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=50)


def objective(K, y, loss, alpha, a, weight=1.0):
    return np.sum(weight * check_loss(loss)(y, K @ a)) + alpha * a @ K @ a


@pytest.mark.parametrize("alpha", [1.0, 0.01])
def test_square_loss_is_kernel_ridge(alpha, data):
    X, _, y = data
    ridge = KernelRidge(alpha=alpha, kernel=RBF()).fit(X, y)
    ours = KernelERMRegressor(alpha=alpha, kernel=RBF(), tol=1e-12, max_iter=5000).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), ridge.predict(X), atol=1e-5)
    weight = np.random.default_rng(0).random(50)
    ridge.fit(X, y, weight)
    ours.fit(X, y, weight)
    np.testing.assert_allclose(ours.predict(X), ridge.predict(X), atol=1e-5)


@pytest.mark.parametrize("loss", SMOOTH)
def test_fixed_point_and_minimum(loss, data):
    """a = -V'(y, K a) / (2 alpha) at the optimum, which an explicit-feature solver finds too."""
    X, y, _ = data
    alpha, K = 0.3, RBF(0.7).gram(X)
    found = minimise_kernel_risk(K, y, loss, alpha, tol=1e-14, max_iter=5000)
    slope = check_loss(loss).gradient(y, K @ found.dual_coef)
    np.testing.assert_allclose(found.dual_coef, -slope / (2 * alpha), atol=1e-5)
    Phi = gram_features(K).features
    peer = minimize(
        lambda w: np.sum(check_loss(loss)(y, Phi @ w)) + alpha * w @ w,
        np.zeros(Phi.shape[1]),
        jac=lambda w: Phi.T @ check_loss(loss).gradient(y, Phi @ w) + 2 * alpha * w,
        method="L-BFGS-B",
        options={"maxiter": 10_000, "ftol": 1e-14, "gtol": 1e-10},
    )
    assert found.value == pytest.approx(peer.fun, rel=1e-8)
    assert found.value == pytest.approx(objective(K, y, loss, alpha, found.dual_coef))
    assert found.value - peer.fun <= found.gap + 1e-9 * peer.fun


def test_hinge_against_an_explicit_feature_solver(data):
    X, y, _ = data
    alpha, K = 0.05, RBF(0.7).gram(X)
    found = minimise_kernel_risk(K, y, "hinge", alpha, tol=1e-10)
    Phi = gram_features(K).features
    svm = LinearSVC(
        loss="hinge", C=1 / (2 * alpha), fit_intercept=False, tol=1e-8, max_iter=2_000_000
    ).fit(Phi, y)
    w = svm.coef_.ravel()
    peer = np.sum(np.maximum(0, 1 - y * (Phi @ w))) + alpha * w @ w
    assert found.value == pytest.approx(peer, rel=1e-5)
    assert found.value <= peer + 1e-7
    np.testing.assert_allclose(K @ found.dual_coef, Phi @ w, atol=1e-2)


@pytest.mark.parametrize("loss", ["hinge", *KINKED], ids=str)
@pytest.mark.parametrize("alpha", [1.0, 0.01])
def test_kinked_losses_are_minimised(loss, alpha, data):
    """No step from the solution lowers the objective, and the gap is a bound on what is left."""
    X, labels, numbers = data
    y = labels if loss == "hinge" else numbers
    K = RBF().gram(X)
    found = minimise_kernel_risk(K, y, loss, alpha, tol=1e-9, max_iter=3000)
    assert found.converged
    a = found.dual_coef
    best = objective(K, y, loss, alpha, a)
    assert found.value == pytest.approx(best)
    rng = np.random.default_rng(0)
    for size in (1e-4, 1e-2, 1.0):
        for _ in range(100):
            step = size * rng.normal(size=50) * (rng.random(50) < 0.2)
            assert objective(K, y, loss, alpha, a + step) >= best - found.gap - 1e-12
    # -2 alpha a is a subgradient of the losses: a steeper one lies outside of its range.
    eps = 1e-6
    f = K @ a
    up = (check_loss(loss)(y, f + eps) - check_loss(loss)(y, f)) / eps
    down = (check_loss(loss)(y, f) - check_loss(loss)(y, f - eps)) / eps
    assert (-2 * alpha * a <= up + 1e-3).all()
    assert (-2 * alpha * a >= down - 1e-3).all()


@pytest.mark.parametrize("loss", ["logistic", "hinge", "absolute"])
def test_weights_are_copies(loss, data):
    X, labels, numbers = data
    y = numbers if loss == "absolute" else labels
    counts = np.random.default_rng(0).integers(0, 3, size=50)
    X2, y2 = np.repeat(X, counts, axis=0), np.repeat(y, counts)
    one = minimise_kernel_risk(RBF().gram(X), y, loss, 0.2, sample_weight=counts, tol=1e-11)
    two = minimise_kernel_risk(RBF().gram(X2), y2, loss, 0.2, tol=1e-11)
    assert one.value == pytest.approx(two.value, rel=1e-8)
    np.testing.assert_allclose(
        RBF().gram(X) @ one.dual_coef, RBF().gram(X, X2) @ two.dual_coef, atol=1e-3
    )


def test_inputs_without_features():
    """Rows with k(x, x) = 0 get the value 0 and the loss of it."""
    K = Linear().gram([[0.0], [1.0]])
    found = minimise_kernel_risk(K, [1.0, -1.0], "hinge", 0.5, tol=1e-10)
    assert found.converged
    assert found.value == pytest.approx(1.0 + 0.5)  # f(1) = -1


def test_classifier(data, tmp_path):
    X, y, _ = data
    names = np.where(y > 0, "up", "down")
    for loss in ("logistic", "hinge", SquaredHingeLoss()):
        model = KernelERMClassifier(loss=loss, alpha=0.01, kernel=RBF(0.5)).fit(X, names)
        assert model.score(X, names) > 0.75
        assert model.gap_ <= 1e-6 * model.risk_
        np.testing.assert_array_equal(
            model.predict(X), np.where(model.decision_function(X) >= 0, "up", "down")
        )
        corollary.save(model, tmp_path / "model")
        np.testing.assert_array_equal(
            corollary.load(tmp_path / "model").decision_function(X), model.decision_function(X)
        )


def test_three_classes_are_told_apart(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, size=60)
    X = np.array([[0, 0], [4, 0], [0, 4]])[y] + rng.normal(size=(60, 2))
    model = KernelERMClassifier(alpha=0.1).fit(X, y)
    assert model.decision_function(X).shape == (60, 3)
    assert model.score(X, y) > 0.85
    one = KernelERMClassifier(alpha=0.1).fit(X, y == 1)
    np.testing.assert_allclose(
        model.decision_function(X)[:, 1], one.decision_function(X), atol=1e-8
    )


def test_precomputed(data):
    X, y, z = data
    K = RBF().gram(X)
    for model, t in ((KernelERMClassifier(), y), (KernelERMRegressor(loss="absolute"), z)):
        direct = model.set_params(kernel=RBF()).fit(X, t).predict(X)
        given = model.set_params(kernel="precomputed").fit(K, t).predict(K)
        np.testing.assert_allclose(np.asarray(given, float), np.asarray(direct, float), atol=1e-6)


def test_errors(data):
    X, y, z = data
    K = RBF().gram(X)
    with pytest.raises(ValueError, match="convex loss that is differentiable"):
        minimise_kernel_risk(K, y, RampLoss())
    with pytest.raises(ValueError, match=r"'alpha' parameter of minimise_kernel_risk"):
        minimise_kernel_risk(K, y, "logistic", alpha=0.0)
    with pytest.raises(ValueError, match="one target for each row"):
        minimise_kernel_risk(K, y[:3], "logistic")
    with pytest.raises(ValueError, match="must be a loss of margins"):
        KernelERMClassifier(loss=check_loss("square")).fit(X, y)
    with pytest.raises(ValueError, match="must be a loss of numbers"):
        KernelERMRegressor(loss=LogisticLoss()).fit(X, z)
    with pytest.raises(ValueError, match="Got one class"):
        KernelERMClassifier().fit(X, np.ones(50))
    bad = -np.eye(3)
    for loss in ("logistic", "hinge"):
        with pytest.raises(ValueError, match="positive semi-definite Gram matrix"):
            minimise_kernel_risk(bad, [1.0, -1.0, 1.0], loss)
    assert not Sigmoid().positive_semidefinite
    with pytest.warns(ConvergenceWarning, match=r"stopped after 3 iterations with a gap of"):
        KernelERMClassifier(alpha=1e-6, max_iter=3).fit(X, y)


@pytest.mark.parametrize("loss", ["square", "epsilon_insensitive"])
def test_constant_features(loss):
    # All rows are one point: c' K c is the square of a sum that rounds to about zero.
    for seed in range(5):
        y = np.random.default_rng(seed).normal(size=30)
        model = KernelERMRegressor(loss=loss).fit(np.zeros((30, 2)), y)
        prediction = model.predict(np.zeros((2, 2)))
        assert prediction[0] == prediction[1]
        assert abs(prediction[0]) <= np.abs(y).max()
