"""Classifiers: peers, margins, types of points, weights, bad input."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import svm as peer
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning

import corollary
from corollary.kernels import RBF, Linear, Polynomial, gamma_from_length_scale
from corollary.linear import dataset_margin
from corollary.svm import SVC, NuSVC, svm_pair
from corollary.svm.machines._pair_grams import PairGrams


def overlapping(n=80, seed=0, d=3):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1, -1)
    return rng.normal(size=(n, d)) + 0.6 * y[:, None], y


def separable(n=30, seed=0, gap=0.5):
    rng = np.random.default_rng(seed)
    w = rng.normal(size=2)
    w /= np.linalg.norm(w)
    X = rng.normal(size=(n, 2))
    X += np.where(X @ w > 0, gap, -gap)[:, None] * w
    y = np.where(X @ w > 0, 1, -1)
    return X + rng.normal(size=2), y


# -- peers -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"C": 30.0, "gamma": 0.2},
        {"kernel": "linear", "C": 0.5},
        {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": "auto"},
        {"class_weight": "balanced"},
        {"class_weight": {0: 2.0, 2: 0.5}},
        {"decision_function_shape": "ovo"},
    ],
)
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_agrees_with_scikit_learn(load, options):
    X, y = load(return_X_y=True)
    X, first = np.unique((X - X.mean(0)) / X.std(0), axis=0, return_index=True)
    y = y[first]  # equal rows of iris may share their weight in any way
    ours = SVC(tol=1e-8, **options).fit(X, y)
    theirs = peer.SVC(tol=1e-8, **options).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
    np.testing.assert_allclose(ours.support_vectors_, theirs.support_vectors_)
    np.testing.assert_allclose(ours.class_weight_, theirs.class_weight_)


def test_two_classes_agree_with_scikit_learn_at_default_tolerance():
    X, y = overlapping(400)
    ours, theirs = SVC().fit(X, y), peer.SVC().fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=5e-3)
    assert ours.kkt_violation_ <= 1e-3
    assert 0 <= ours.dual_gap_ <= 1e-3 * ours.objective_


@pytest.mark.parametrize("nu", [0.2, 0.5])
def test_nu_agrees_with_scikit_learn(nu):
    X, y = overlapping(100)
    ours, theirs = NuSVC(nu=nu, tol=1e-9).fit(X, y), peer.NuSVC(nu=nu, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)
    margins = y * ours.decision_function(X)
    assert (margins < 1 - 1e-6).mean() <= nu <= len(ours.support_) / 100
    assert abs(ours.dual_gap_) < 1e-6


def test_kernel_objects_names_functions_and_matrices_agree():
    X, y = overlapping(60)
    gamma = 0.3
    K = np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(-1))
    scores = [
        SVC(kernel="rbf", gamma=gamma, tol=1e-9).fit(X, y).decision_function(X),
        SVC(kernel=RBF(1 / np.sqrt(2 * gamma)), tol=1e-9).fit(X, y).decision_function(X),
        SVC(kernel="precomputed", tol=1e-9).fit(K, y).decision_function(K),
        SVC(kernel=lambda A, B: RBF(1 / np.sqrt(2 * gamma)).gram(A, B), tol=1e-9)
        .fit(X, y)
        .decision_function(X),
        SVC(gamma=gamma, tol=1e-9).fit(sparse.csr_matrix(X), y).decision_function(X),
    ]
    for other in scores[1:]:
        np.testing.assert_allclose(other, scores[0], atol=1e-6)


def test_xor_and_rings():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    y = np.array([0, 0, 1, 1])
    for kernel in (Polynomial(degree=2), RBF(0.5)):
        hard = SVC(kernel=kernel, C=np.inf, tol=1e-9).fit(X, y)
        np.testing.assert_array_equal(hard.predict(X), y)
        np.testing.assert_allclose(np.abs(hard.decision_function(X)).min(), 1.0, atol=1e-8)
    rng = np.random.default_rng(0)
    angle, radius = rng.uniform(0, 2 * np.pi, 100), np.repeat([1.0, 3.0], 50)
    rings = np.c_[radius * np.cos(angle), radius * np.sin(angle)]
    assert SVC(gamma=1.0).fit(rings, radius > 2).score(rings, radius > 2) == 1.0


def test_kernel_svm_is_the_linear_svm_on_explicit_features():
    X, y = overlapping(50, d=2)
    a, b = X.T
    root = np.sqrt(2.0)
    features = np.c_[a * a, b * b, root * a * b, root * a, root * b, np.ones(50)]
    one = SVC(kernel=Polynomial(degree=2), tol=1e-9).fit(X, y)
    other = SVC(kernel="linear", tol=1e-9).fit(features, y)
    np.testing.assert_allclose(
        one.decision_function(X), other.decision_function(features), atol=1e-6
    )


# -- hard margin -----------------------------------------------------------------------------


def test_two_points_in_closed_form():
    above, below = np.array([3.0, 1.0]), np.array([1.0, 0.0])
    model = SVC(kernel="linear", C=np.inf).fit([above, below], [1, 0])
    w = model.dual_coef_[0] @ model.support_vectors_
    difference = above - below
    np.testing.assert_allclose(w, 2 * difference / (difference @ difference))
    np.testing.assert_allclose(model.decision_function([above, below]), [1.0, -1.0])


@pytest.mark.parametrize("seed", range(8))
def test_margin_oracles_agree(seed):
    # 1 / |w| = half the distance of the hulls = (sum of dual weights) ^ -1/2
    X, y = separable(seed=seed)
    solution = svm_pair(X @ X.T, y, C=np.inf, tol=1e-10)
    w = solution.beta @ X
    margin = dataset_margin(X, y, fit_intercept=True).margin
    assert 1 / np.linalg.norm(w) == pytest.approx(margin, rel=1e-7)
    assert np.abs(solution.beta).sum() ** -0.5 == pytest.approx(margin, rel=1e-7)
    assert solution.dual == pytest.approx(0.5 * w @ w, rel=1e-7)
    assert abs(solution.gap) <= 1e-7 * solution.dual
    f = X @ w + solution.intercept
    assert (y * f).min() == pytest.approx(1.0, abs=1e-7)
    # Complementary slackness: weights only on the margin.
    np.testing.assert_allclose(solution.beta * (y * f - 1), 0.0, atol=1e-6)
    huge = peer.SVC(kernel="linear", C=1e10, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(w, huge.coef_[0], rtol=1e-3)


def test_intercept_rules_agree_on_the_hard_margin():
    X, y = separable(seed=3)
    solution = svm_pair(X @ X.T, y, C=np.inf, tol=1e-11)
    w = solution.beta @ X
    middle = -0.5 * ((X[y > 0] @ w).min() + (X[y < 0] @ w).max())
    some = np.abs(solution.beta) > 1e-8
    assert solution.intercept == pytest.approx(middle)
    assert np.mean(y[some] - X[some] @ w) == pytest.approx(middle, abs=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_points_without_weight_can_be_dropped(seed):
    for X, y, C in ((*separable(seed=seed), np.inf), (*overlapping(40, seed), 1.0)):
        whole = SVC(kernel="linear", C=C, tol=1e-10).fit(X, y)
        keep = whole.support_
        assert len(keep) < len(y)
        part = SVC(kernel="linear", C=C, tol=1e-10).fit(X[keep], y[keep])
        np.testing.assert_allclose(part.decision_function(X), whole.decision_function(X), atol=1e-6)


def test_large_price_is_the_hard_margin_and_small_is_not():
    # One hyperplane through single points x and -x: w = min(2 C x, 1 / x).
    x = 0.1
    X, y = np.array([[x], [-x]]), np.array([1, -1])
    for C in (1.0, 49.0, 51.0, 1e4):
        model = SVC(kernel="linear", C=C, tol=1e-10).fit(X, y)
        w = float(model.dual_coef_[0] @ model.support_vectors_[:, 0])
        assert w == pytest.approx(min(2 * C * x, 1 / x))


def test_inseparable_classes_are_refused_by_the_hard_margin():
    X, y = overlapping(40)
    with pytest.raises(ValueError, match=r"hard margin .* needs classes that a hyperplane"):
        SVC(kernel="linear", C=np.inf).fit(X, y)
    with pytest.raises(ValueError, match="use a finite C"):
        SVC(C=np.inf).fit(np.vstack([X, X[:1]]), np.append(y, -y[0]))


def test_scaling_a_separator_gives_a_slater_point():
    X, y = separable(seed=1)
    found = dataset_margin(X, y, fit_intercept=True)
    lowest = (y * (X @ found.coef + found.intercept)).min()
    w, b = 1.5 * found.coef / lowest, 1.5 * found.intercept / lowest
    assert (y * (X @ w + b)).min() > 1.0  # strictly feasible, hence strong duality:
    assert abs(svm_pair(X @ X.T, y, C=np.inf, tol=1e-9).gap) < 1e-6


# -- types of points -------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_points_are_typed_by_weight_and_margin(C):
    X, y = overlapping(60)
    solution = svm_pair(X @ X.T, y, C=C, tol=1e-9)
    alpha = y * solution.beta
    margin = y * (X @ (solution.beta @ X) + solution.intercept)
    assert ((alpha >= 0) & (alpha <= C)).all()
    assert (margin[alpha == 0] >= 1 - 1e-8).all()
    assert (margin[alpha == C] <= 1 + 1e-8).all()
    inside = (alpha > 0) & (alpha < C)
    assert inside.any()
    np.testing.assert_allclose(margin[inside], 1.0, atol=1e-8)
    assert (alpha[margin > 1 + 1e-6] == 0).all()
    assert (alpha[margin < 1 - 1e-6] == C).all()


def test_slack_falls_and_norm_rises_with_the_price():
    X, y = overlapping(60)
    norms, slacks = [], []
    for C in np.geomspace(1e-3, 1e3, 10):
        solution = svm_pair(X @ X.T, y, C=C, tol=1e-9)
        w = solution.beta @ X
        norms.append(w @ w)
        slacks.append(np.maximum(0, 1 - y * (X @ w + solution.intercept)).sum())
    assert (np.diff(norms) >= -1e-6).all()
    assert (np.diff(slacks) <= 1e-6).all()


def test_squared_slack_minimises_its_primal():
    X, y = overlapping(60)
    model = SVC(kernel="linear", loss="squared_hinge", C=0.7, tol=1e-10).fit(X, y)
    w, b = model.dual_coef_[0] @ model.support_vectors_, model.intercept_[0]
    slack = np.maximum(0, 1 - y * (X @ w + b))
    np.testing.assert_allclose(w, 2 * 0.7 * (y * slack) @ X, atol=1e-7)  # gradient in w
    assert (y * slack).sum() == pytest.approx(0.0, abs=1e-8)  # and in b
    assert model.objective_ == pytest.approx(0.5 * w @ w + 0.7 * slack @ slack)


# -- weights, restarts, files ----------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"class_weight": "balanced"}, {"loss": "squared_hinge"}])
def test_weights_are_repetitions(options):
    X, y = overlapping(40)
    weight = np.random.default_rng(0).integers(0, 4, size=40)
    one = SVC(tol=1e-10, **options).fit(X, y, sample_weight=weight)
    other = SVC(tol=1e-10, **options).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-6)


def test_iteration_cap_warns_with_the_gap_and_warm_start_goes_on():
    X, y = overlapping(200)
    model = SVC(C=100.0, max_iter=50, warm_start=True)
    with pytest.warns(
        ConvergenceWarning, match="KKT violation of .* duality gap of .* max_iter=50"
    ):
        model.fit(X, y)
    before = model.dual_gap_
    assert model.n_iter_[0] == 50
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    assert model.dual_gap_ < before
    model.set_params(max_iter=-1).fit(X, y)
    fresh = SVC(C=100.0).fit(X, y)
    assert model.objective_ == pytest.approx(fresh.objective_, rel=1e-4)
    again = model.n_iter_[0]
    assert model.fit(X, y).n_iter_[0] == 0 < again


def test_saved_models_predict_the_same(tmp_path):
    X, y = load_iris(return_X_y=True)
    for model in (SVC(kernel=RBF(2.0) + Linear()), NuSVC(nu=0.3), SVC(C=10.0)):
        model.fit(X, y)
        corollary.save(model, tmp_path / "model")
        loaded = corollary.load(tmp_path / "model")
        np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    model = SVC(kernel=lambda A, B: A @ B.T).fit(X, y)
    with pytest.raises(TypeError, match="cannot be saved"):
        corollary.save(model, tmp_path / "model")


def test_labels_names_and_frames():
    X, y = load_iris(return_X_y=True, as_frame=True)
    labels = pd.Series(np.array(["setosa", "versicolor", "virginica"])[y])
    model = SVC().fit(X, labels)
    assert model.score(X, labels) > 0.95
    assert list(model.feature_names_in_) == list(X.columns)
    np.testing.assert_array_equal(
        model.predict(X), model.classes_[model.decision_function(X).argmax(axis=1)]
    )


# -- bad input -------------------------------------------------------------------------------


def test_errors_say_what_to_do():
    X, y = overlapping(20)
    with pytest.raises(ValueError, match=r"at least 2 classes\. Got one class: 1\.0"):
        SVC().fit(X, np.ones(20))
    with pytest.raises(ValueError, match="positive weight in every class"):
        SVC().fit(X, y, sample_weight=(y > 0).astype(float))
    with pytest.raises(ValueError, match="square Gram matrix"):
        SVC(kernel="precomputed").fit(X, y)
    with pytest.raises(ValueError, match="must be symmetric"):
        SVC(kernel="precomputed").fit(np.arange(400.0).reshape(20, 20), y)
    with pytest.raises(ValueError, match=r"'nu' parameter is too large .* Use nu <="):
        NuSVC(nu=0.9).fit(X, np.arange(20) < 3)
    with pytest.raises(ValueError, match="'C' parameter of SVC must be a float"):
        SVC(C=-1.0).fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        SVC().fit(np.full((20, 2), np.nan), y)


def test_indefinite_matrix_warns_and_gives_an_answer():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(20, 20))
    y = np.arange(20) % 2
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        model = SVC(kernel="precomputed").fit(A + A.T, y)
    assert np.isfinite(model.decision_function(A + A.T)).all()


def test_constant_features_and_tiny_widths():
    X, y = np.ones((10, 2)), np.arange(10) % 2
    model = SVC().fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), 0.0, atol=1e-9)
    X, y = overlapping(30)
    narrow = SVC(kernel=RBF(1e-6)).fit(X, y)
    np.testing.assert_array_equal(narrow.predict(X), y)
    wide = SVC(kernel=RBF(1e6), C=1e3).fit(X, y)
    assert np.isfinite(wide.decision_function(X)).all()


def test_hinge_regularisation_has_the_same_minimiser():
    # C times (sum of hinges + |w|^2 / (2 C)) is the objective of the machine.
    from scipy.optimize import minimize

    X, y = overlapping(30, d=2)
    C = 0.8
    model = SVC(kernel="linear", C=C, tol=1e-10).fit(X, y)

    def regularised(v, width=1e-4):
        # The hinge smoothed over a small width, so that a gradient method finds the minimum.
        z = 1 - y * (X @ v[:2] + v[2])
        smooth = np.where(z > width, z - width / 2, np.maximum(z, 0) ** 2 / (2 * width))
        return smooth.sum() + (0.5 / C) * v[:2] @ v[:2]

    found = minimize(regularised, np.zeros(3), method="BFGS", options={"gtol": 1e-9})
    w, b = model.dual_coef_[0] @ model.support_vectors_, model.intercept_[0]
    exact = np.maximum(0, 1 - y * (X @ w + b)).sum() + (0.5 / C) * w @ w
    assert C * exact == pytest.approx(model.objective_, rel=1e-8)
    assert exact == pytest.approx(found.fun, rel=1e-3)
    np.testing.assert_allclose(w, found.x[:2], atol=5e-3)


@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_variance_out_of_range(size):
    X = size * np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match=r"variance neither overflows .* scale the features"):
        SVC().fit(X, np.arange(20) % 2)


def test_equal_numbers_have_a_gamma():
    # Rows of weight zero do not count, here as elsewhere.
    X, weight = np.ones((6, 2)), np.ones(6)
    X[5], weight[5] = 7.0, 0.0
    model = SVC().fit(X, np.arange(6) % 2, sample_weight=weight)
    assert gamma_from_length_scale(model.kernel_.length_scale) == pytest.approx(1.0)


def test_steps_end_by_themselves_and_the_gap_is_told(monkeypatch):
    # Far from scaled: the machine would crawl for hours.
    monkeypatch.setattr("corollary.svm.dual._descent._MOST_STEPS", 200)
    monkeypatch.setattr("corollary.svm.dual._descent._MOST_STEPS_PER_ROW", 2)
    X, y = load_wine(return_X_y=True)
    for model in (SVC(kernel="linear", C=1e6), NuSVC(kernel="linear", nu=0.1, tol=1e-11)):
        with pytest.warns(ConvergenceWarning, match=r"gap of .* set max_iter above 260"):
            model.fit(X[:130], y[:130])
        assert model.dual_gap_ > 0


@pytest.mark.parametrize(("i", "j"), [(0, 1), (290, 3), (3, 290), (299, 298)])
def test_any_entry_may_break_the_symmetry(i, j):
    X, y = overlapping(300)
    K = RBF().gram(X)
    K[i, j] += 1e-3
    with pytest.raises(ValueError, match="must be symmetric"):
        SVC(kernel="precomputed").fit(K, y)
    K[i, j] -= 1e-3
    untouched = K.copy()
    SVC(kernel="precomputed").fit(K, y)
    np.testing.assert_array_equal(K, untouched)


@pytest.mark.parametrize("sparse_rows", [False, True])
@pytest.mark.parametrize(
    "model", [SVC(), SVC(loss="squared_hinge"), NuSVC(nu=0.2), SVC(kernel="poly")]
)
def test_small_pairs_share_the_matrices_of_their_classes(model, sparse_rows, monkeypatch):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(120, 3)), np.arange(120) % 7
    X[:, 0] += y
    X = sparse.csr_matrix(X) if sparse_rows else X
    model = clone(model).set_params(tol=1e-8)
    together = clone(model).fit(X, y)
    monkeypatch.setattr("corollary.svm.machines._pair_grams.WHOLE_ROWS", 0)
    alone = clone(model).fit(X, y)
    np.testing.assert_allclose(
        together.decision_function(X), alone.decision_function(X), rtol=1e-3, atol=1e-3
    )


def test_matrices_of_pairs_are_parts_of_the_whole_one():
    X = np.random.default_rng(0).normal(size=(30, 2))
    members = [np.arange(0, 30, 3), np.arange(1, 30, 3), np.arange(2, 30, 3)]
    grams = PairGrams(RBF().tiles(X), members)
    K, rows = grams.pair(0, 2).K, np.concatenate([members[0], members[2]])
    np.testing.assert_allclose(K, RBF().gram(X)[np.ix_(rows, rows)], rtol=1e-12)
    np.testing.assert_array_equal(K, K.T)
    assert PairGrams.fit(members, 1.0)
    assert not PairGrams.fit(members, 2e-3)  # 2,400 bytes are needed
    assert not PairGrams.fit(members[:2], 1.0)
