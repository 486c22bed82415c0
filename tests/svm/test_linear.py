"""Linear machines: peers, equivalent forms, closed forms, bad input."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn import svm as peer
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.exceptions import ConvergenceWarning

import corollary
from corollary.svm import (
    LinearSVC,
    LinearSVR,
    constrained_hinge,
    linear_svm,
    price_of_penalty,
    primal_svm,
    sparse_svm,
)


def data(n=60, seed=0, d=3):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    return rng.normal(size=(n, d)) + 0.5 * y[:, None], y


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [0.1, 5.0])
def test_agrees_with_scikit_learn_through_the_origin(loss, C):
    X, y = data()
    ours = linear_svm(X, y, C=C, loss=loss, tol=1e-9, max_iter=100_000, random_state=0)
    theirs = peer.LinearSVC(
        loss=loss, C=C, fit_intercept=False, tol=1e-9, max_iter=1_000_000, random_state=0
    ).fit(X, y)
    np.testing.assert_allclose(ours.coef, theirs.coef_[0], atol=1e-6)
    assert ours.gap + 1e-9 >= 0
    assert ours.gap <= 1e-6 * ours.objective
    again = linear_svm(
        sparse.csr_matrix(X), y, C=C, loss=loss, tol=1e-9, max_iter=100_000, random_state=0
    )
    np.testing.assert_allclose(again.coef, ours.coef, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_dual_agrees_with_a_reference_solver(seed):
    X, y = data(12, seed)
    C = 0.7
    ours = linear_svm(X, y, C=C, loss="hinge", tol=1e-11, max_iter=100_000, random_state=0)
    Q = (y[:, None] * X) @ (y[:, None] * X).T
    found = minimize(
        lambda a: 0.5 * a @ Q @ a - a.sum(),
        np.zeros(12),
        jac=lambda a: Q @ a - 1,
        bounds=[(0, C)] * 12,
        method="L-BFGS-B",
        options={"ftol": 1e-16, "gtol": 1e-12, "maxiter": 10_000},
    )
    assert ours.objective == pytest.approx(-found.fun, rel=1e-8)
    slack = np.maximum(0, 1 - y * (X @ ours.coef))
    assert ours.objective == pytest.approx(0.5 * ours.coef @ ours.coef + C * slack.sum(), rel=1e-7)


@pytest.mark.parametrize("price", [10.0, 99.0, 101.0, 1e5])
def test_one_point_in_closed_form(price):
    # x = 0.1, y = 1: the soft machine is min(C x, 1 / x), equal to the hard one iff C >= 1 / x^2.
    found = linear_svm([[0.1]], [1.0], C=price, loss="hinge", random_state=0)
    assert found.coef[0] == pytest.approx(min(0.1 * price, 10.0))


def test_starts_by_hand():
    # A row of price zero has no weight, wherever the search starts: the other one has 1 / 1.5.
    two = linear_svm([[1.0], [1.0]], [1, -1], C=[1.0, 0.0], start=[1.0, 1.0], random_state=0)
    assert two.alpha == pytest.approx([2 / 3, 0.0])
    # A weight of 2 is too large by 1, which the first pass mends and the second one sees.
    one = linear_svm([[1.0]], [1], C=5.0, loss="hinge", start=[2.0], random_state=0)
    assert (one.alpha.tolist(), one.violation, one.n_iter) == ([1.0], 0.0, 2)


def test_three_forms_have_the_same_solution():
    X, y = data()
    n, penalty = len(y), 0.05
    options = {"loss": "hinge", "tol": 1e-10, "max_iter": 100_000, "random_state": 0}
    machine = linear_svm(X, y, C=price_of_penalty(penalty, n), **options)
    w = machine.coef

    def risk(v):
        return np.maximum(0, 1 - y * (X @ v)).mean()

    # The rescaled objective is the machine's over C n, and no other weights do better.
    rescaled = risk(w) + 0.5 * penalty * w @ w
    assert rescaled == pytest.approx(machine.objective * penalty, rel=1e-8)
    rng = np.random.default_rng(0)
    for _ in range(300):
        v = w + 0.2 * rng.normal(size=3)
        assert risk(v) + 0.5 * penalty * v @ v >= rescaled - 1e-10
        inside = v * min(1.0, np.linalg.norm(w) / np.linalg.norm(v))
        assert risk(inside) >= risk(w) - 1e-10
    ball = constrained_hinge(X, y, float(np.linalg.norm(w)))
    assert risk(ball.coef) == pytest.approx(risk(w), abs=1e-6)
    np.testing.assert_allclose(ball.coef, w, atol=1e-5)


def test_subgradient_condition():
    # 0 is in w - C sum y_i x_i d_i with d_i = 1 inside, in [0, 1] on, 0 outside the margin.
    X, y = data()
    found = linear_svm(X, y, C=0.3, loss="hinge", tol=1e-10, max_iter=100_000, random_state=0)
    share = found.alpha / 0.3
    np.testing.assert_allclose(found.coef, 0.3 * (share * y) @ X, atol=1e-10)
    margin = y * (X @ found.coef)
    np.testing.assert_allclose(share[margin < 1 - 1e-6], 1.0)
    np.testing.assert_allclose(share[margin > 1 + 1e-6], 0.0, atol=1e-12)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_estimator_agrees_with_scikit_learn(loss):
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(0)) / X.std(0)
    options = {"loss": loss, "C": 0.1, "tol": 1e-8, "max_iter": 100_000, "random_state": 0}
    for labels, weight in ((y, None), (y == 1, "balanced")):
        ours = LinearSVC(class_weight=weight, **options).fit(X, labels)
        theirs = peer.LinearSVC(class_weight=weight, **options).fit(X, labels)
        scores = theirs.decision_function(X)
        np.testing.assert_allclose(ours.decision_function(X), scores, atol=1e-5)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)


def test_weights_are_repetitions_and_files(tmp_path):
    X, y = data(40)
    weight = np.random.default_rng(0).integers(0, 4, size=40)
    options = {"tol": 1e-10, "max_iter": 100_000, "random_state": 0}
    one = LinearSVC(**options).fit(X, y, sample_weight=weight)
    other = LinearSVC(**options).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-7)
    corollary.save(one, tmp_path / "model")
    np.testing.assert_array_equal(corollary.load(tmp_path / "model").predict(X), one.predict(X))


def test_errors_and_warnings():
    X, y = data(20)
    with pytest.warns(ConvergenceWarning, match="LinearSVC stopped after 1 passes .* max_iter=1 "):
        LinearSVC(C=100.0, max_iter=1, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="at least 2 classes"):
        LinearSVC().fit(X, np.ones(20))
    with pytest.raises(ValueError, match="'y' parameter of linear_svm must hold 20 labels"):
        linear_svm(X, y + 1)
    with pytest.raises(ValueError, match="'C' parameter of linear_svm"):
        linear_svm(X, y, C=-1.0)
    with pytest.raises(ValueError, match="'loss' parameter of linear_svm"):
        linear_svm(X, y, loss="log")
    with pytest.raises(ValueError, match="'radius' parameter"):
        constrained_hinge(X, y, 0.0)
    with pytest.raises(ValueError, match="zeros only"):
        constrained_hinge(np.zeros((2, 1)), [1, -1], 1.0)
    with pytest.raises(ValueError, match="needs a positive penalty"):
        price_of_penalty(0.0, 5)
    assert np.isfinite(linear_svm(np.zeros((2, 1)), [1, -1], loss="hinge").objective)


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_newton_in_the_primal_agrees_with_the_dual(seed, C):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 6))
    y = np.where(X[:, 0] + rng.normal(size=120) > 0, 1.0, -1.0)
    price = C * rng.integers(0, 3, size=120)
    primal = primal_svm(X, y, C=price, tol=1e-9)
    dual = linear_svm(X, y, C=price, tol=1e-9, max_iter=20_000, random_state=0)
    assert primal.converged
    assert primal.n_iter < 30
    np.testing.assert_allclose(primal.coef, dual.coef, atol=1e-7)
    np.testing.assert_allclose(primal.alpha, dual.alpha, atol=1e-6 * C)
    assert primal.objective == pytest.approx(dual.objective, rel=1e-9)
    assert abs(primal.gap) < 1e-8 * primal.objective


@pytest.mark.parametrize("name", ["wine", "cancer", "offset", "units"])
def test_features_as_they_are(name):
    # Dual coordinate descent is far from the solution after 1,000 passes.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = (X @ [1.0, -1.0, 0.5, 0.3] + 0.5 * rng.normal(size=300) > 0).astype(int)
    if name in ("wine", "cancer"):
        X, y = (load_wine if name == "wine" else load_breast_cancer)(return_X_y=True)
    X = X + 1e3 if name == "offset" else X * [1e-2, 1.0, 10.0, 1e2] if name == "units" else X
    ours, theirs = LinearSVC().fit(X, y), peer.LinearSVC(dual=False, max_iter=10_000).fit(X, y)
    assert ours.kkt_violation_ <= 1e-4

    def objective(model):
        total = 0.0
        for w, b, label in zip(model.coef_, model.intercept_, model.classes_[-len(model.coef_) :]):
            slack = np.maximum(0.0, 1.0 - np.where(y == label, 1, -1) * (X @ w + b))
            total += 0.5 * (w @ w + b * b) + slack @ slack
        return total

    assert objective(ours) <= objective(theirs) * (1 + 1e-9)
    assert objective(ours) == pytest.approx(ours.objective_, rel=1e-6)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_regression_on_a_hyperplane_is_scikit_learns(loss, form, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 4))
    y = X @ [1.0, -2.0, 0.5, 0.0] + 1.5 + 0.3 * rng.standard_t(3, size=80)
    weight = rng.uniform(0.0, 2.0, size=80)
    options = {"epsilon": 0.2, "loss": loss, "C": 0.3, "tol": 1e-7, "max_iter": 100_000}
    options |= {"random_state": 0, "intercept_scaling": 2.0}
    ours = LinearSVR(**options).fit(form(X), y, weight)
    theirs = peer.LinearSVR(**options).fit(X, y, weight)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    error = np.maximum(0.0, np.abs(y - ours.predict(form(X))) - 0.2)
    paid = weight @ (error if loss == "epsilon_insensitive" else error**2)
    norm = ours.coef_ @ ours.coef_ + (ours.intercept_[0] / 2.0) ** 2
    primal = 0.5 * norm + 0.3 * paid
    assert ours.objective_ + ours.dual_gap_ == pytest.approx(primal, rel=1e-6)
    assert -1e-12 * primal <= ours.dual_gap_ < 1e-4 * primal


def test_what_linear_machines_do_not_offer_says_what_to_take():
    X, y = np.array([[0.0], [1.0]]), [0, 1]
    with pytest.raises(ValueError, match="MulticlassSVC"):
        LinearSVC(multi_class="crammer_singer").fit(X, y)
    assert LinearSVC("l2", "hinge", dual=True, verbose=1).fit(X, y).predict(X).tolist() == y


def test_coefficients_may_be_sparse(seed, tmp_path):
    X, y = data(seed=seed)
    model = LinearSVC(random_state=0).fit(X, y)
    scores, coef = model.decision_function(X), model.coef_
    assert sparse.issparse(model.sparsify().coef_)
    corollary.save(model, tmp_path / "model")
    np.testing.assert_allclose(corollary.load(tmp_path / "model").decision_function(X), scores)
    np.testing.assert_array_equal(model.densify().coef_, coef)


def _l1_objective(w, X, y, C):
    return np.abs(w).sum() + np.sum(C * np.maximum(0.0, 1.0 - y * (X @ w)) ** 2)


@pytest.mark.parametrize(("n", "d", "C"), [(120, 6, 0.05), (120, 6, 3.0), (40, 90, 0.5)])
def test_sparse_machine_is_at_its_minimum(n, d, C):
    """The gap is an upper limit of what any other weights could gain; scikit-learn's are worse."""
    rng = np.random.default_rng(n + d)
    X, price = rng.normal(size=(n, d)), C * rng.uniform(0.5, 2.0, n)
    y = np.where(X[:, 0] - X[:, 1] + rng.normal(size=n) > 0, 1.0, -1.0)
    result = sparse_svm(X, y, C=price, tol=1e-9)
    best = _l1_objective(result.coef, X, y, price)
    assert result.converged
    assert result.objective + result.gap == pytest.approx(best, rel=1e-12)
    assert -1e-9 <= result.gap <= 1e-6 * best
    assert np.abs(X.T @ (result.alpha * y)).max() <= 1 + 1e-12
    assert (result.alpha >= 0).all()
    for _ in range(50):
        other = result.coef + 0.01 * rng.normal(size=d) * (rng.random(d) < 0.3)
        assert _l1_objective(other, X, y, price) >= best - 1e-9
    np.testing.assert_allclose(
        sparse_svm(sparse.csr_matrix(X), y, C=price, tol=1e-9).coef, result.coef, atol=1e-7
    )
    their = peer.LinearSVC(
        penalty="l1", dual=False, C=C, fit_intercept=False, tol=1e-6, max_iter=9999
    )
    their.fit(X, y, sample_weight=price / C)
    assert best <= _l1_objective(their.coef_[0], X, y, price) + 1e-9


def test_l1_leaves_out_what_says_nothing_and_has_several_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12))
    y = np.array(["a", "b", "c"])[np.argmax(X[:, :3] + 0.3 * rng.normal(size=(300, 3)), axis=1)]
    model = LinearSVC(penalty="l1", C=0.02).fit(X, y)
    theirs = peer.LinearSVC(penalty="l1", dual=False, C=0.02, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(model.intercept_, theirs.intercept_, atol=1e-4)
    assert (model.coef_[:, 3:] == 0).mean() > 0.7
    assert model.score(X, y) > 0.8
    assert not (LinearSVC(C=0.02).fit(X, y).coef_ == 0).any()


def test_l1_asks_for_squared_slack():
    with pytest.raises(ValueError, match=r"squared slack\. Got loss='hinge'"):
        LinearSVC(penalty="l1", loss="hinge").fit([[0.0], [1.0]], [0, 1])
