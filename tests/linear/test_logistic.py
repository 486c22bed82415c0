"""LogisticRegression: objective, peers, laws, separation, sources."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Peer

from corollary.core.summary import ArraySource
from corollary.linear import LogisticRegression, logistic_objective
from corollary.linear.logistic import _problem as machinery


def make_data(seed, n=300, d=5, n_classes=2, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    W = rng.normal(size=(d, n_classes))
    scores = X @ W / np.sqrt(d) + noise * rng.gumbel(size=(n, n_classes)) + np.arange(n_classes)
    return X, scores.argmax(axis=1), rng.random(n) * 2


def both(X, y, weight=None, **settings):
    ours = LogisticRegression(tol=1e-9, **settings).fit(X, y, weight)
    settings.pop("solver", None)
    theirs = Peer(tol=1e-10, max_iter=20_000, **settings).fit(X, y, weight)
    return ours, theirs


@pytest.mark.parametrize("solver", ["newton", "lbfgs", "proximal"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_solvers_agree_with_scikit_learn(seed, solver, n_classes, fit_intercept):
    X, y, weight = make_data(seed, n_classes=n_classes)
    ours, theirs = both(X, y, weight, C=0.3, fit_intercept=fit_intercept, solver=solver)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-5)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)
    assert ours.solver_ == solver
    assert ours.converged_


@pytest.mark.parametrize("class_weight", ["balanced", {0: 2.0, 1: 0.5, 2: 1.0}])
def test_class_weights_agree_with_scikit_learn(seed, class_weight):
    X, y, weight = make_data(seed, n_classes=3)
    ours, theirs = both(X, y, weight, class_weight=class_weight)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-5)


def test_no_penalty_agrees_with_scikit_learn_and_the_gradient_vanishes(seed):
    X, y, _ = make_data(seed)
    ours, theirs = both(X, y, C=np.inf)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    s = 2 * y - 1
    sigma = 1 / (1 + np.exp(s * ours.decision_function(X)))
    np.testing.assert_allclose((s * sigma) @ X / len(y), 0, atol=1e-9)


def test_l1_agrees_with_liblinear(seed):
    X, y, _ = make_data(seed, d=8)
    X = X / X.std(axis=0)
    ours = LogisticRegression(C=0.1, l1_ratio=1.0, fit_intercept=False, tol=1e-10).fit(X, y)
    theirs = Peer(
        C=0.1, l1_ratio=1.0, fit_intercept=False, solver="liblinear", tol=1e-10, max_iter=10_000
    ).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    assert ((ours.coef_ == 0) == (np.abs(theirs.coef_) < 1e-8)).all()
    assert 0 < (ours.coef_ == 0).sum() < 8


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("l1_ratio", [0.4, 1.0])
def test_elastic_net_is_no_worse_than_saga(seed, n_classes, l1_ratio):
    X, y, weight = make_data(seed, n=120, n_classes=n_classes)
    X = X / X.std(axis=0)
    settings = {"C": 0.1, "l1_ratio": l1_ratio}
    ours = LogisticRegression(tol=1e-8, **settings).fit(X, y, weight)
    theirs = Peer(solver="saga", tol=1e-9, max_iter=50_000, random_state=0, **settings)
    theirs.fit(X, y, weight)
    values = [
        logistic_objective(X, y, m.coef_, m.intercept_, sample_weight=weight, **settings)
        for m in (ours, theirs)
    ]
    assert values[0] == pytest.approx(values[1], abs=1e-8)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)


def test_objective_by_hand():
    X, y, how = [[1.0], [-1.0]], [1, 0], {"C": 4.0, "l1_ratio": 0.25}
    losses = np.log1p(np.exp([-2.5, -1.5]))
    penalty = 0.25 * 2 + 0.75 * 2**2 / 2  # of the coefficient, not of the intercept
    value = logistic_objective(X, y, [[2.0]], 0.5, **how)
    assert value == pytest.approx(losses.mean() + penalty / (4 * 2))
    value = logistic_objective(X, y, [[2.0]], 0.5, sample_weight=[1.0, 3.0], **how)
    assert value == pytest.approx(losses @ [0.25, 0.75] + penalty / (4 * 4))
    # Three classes with scores 1, 0, -1; 2, 0, -2; 0, 0, 0.
    shares = [np.exp([1.0, 0.0, -1.0]), np.exp([2.0, 0.0, -2.0]), np.ones(3)]
    wanted = [-np.log(share[k] / share.sum()) for k, share in enumerate(shares)]
    value = logistic_objective([[1.0], [2.0], [0.0]], [0, 1, 2], [[1.0], [0.0], [-1.0]], C=np.inf)
    assert value == pytest.approx(np.mean(wanted))


def test_wide_data_are_solved_on_a_working_set(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 900))
    y = (X[:, :5].sum(axis=1) > 0).astype(int)
    model = LogisticRegression(C=0.5, l1_ratio=1.0, tol=1e-7).fit(X, y)
    residual = 1 / (1 + np.exp(-model.decision_function(X))) - y
    slope, w = X.T @ residual / 60, model.coef_[0]
    l1 = 1 / (0.5 * 60)
    assert 0 < (w != 0).sum() < 60
    np.testing.assert_allclose(slope[w != 0], -l1 * np.sign(w[w != 0]), atol=1e-6)
    assert np.abs(slope[w == 0]).max() <= l1 + 1e-6
    assert abs(residual.mean()) < 1e-6


def test_the_l1_penalty_removes_everything_when_strong(seed):
    X, y, _ = make_data(seed)
    model = LogisticRegression(C=1e-4, l1_ratio=1.0, tol=1e-8).fit(X, y)
    assert (model.coef_ == 0).all()
    np.testing.assert_allclose(model.predict_proba(X)[0, 1], y.mean(), atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("l1_ratio", [0.0, 1.0])
def test_a_subsample_start_does_not_change_the_answer(seed, n_classes, l1_ratio, monkeypatch):
    X, y, weight = make_data(seed, n=20_000, d=4, n_classes=n_classes)
    started = []
    original = machinery.subsample_start

    def spy(*arguments):
        started.append(original(*arguments))
        return started[-1]

    settings = {"l1_ratio": l1_ratio, "tol": 1e-8, "class_weight": "balanced"}
    monkeypatch.setattr("corollary.linear.logistic.regression.subsample_start", spy)
    fast = LogisticRegression(**settings).fit(X, y, weight)
    assert started[0] is not None
    monkeypatch.setattr("corollary.linear.logistic.regression.subsample_start", lambda *_: None)
    slow = LogisticRegression(**settings).fit(X, y, weight)
    np.testing.assert_allclose(fast.coef_, slow.coef_, atol=1e-6)


def test_a_subsample_start_is_close_to_the_answer_whatever_the_penalty(seed):
    X, y, _ = make_data(seed, n=30_000, d=4)
    for C in (1e-4, 1.0):
        model = LogisticRegression(C=C, tol=1e-9).fit(X, y)
        source = ArraySource((X, y))
        problem = machinery.LogisticProblem(source, (1, 5), 30_000.0, C)
        guess = machinery.subsample_start(problem, len(X), "newton").x
        best = logistic_objective(X, y, model.coef_, model.intercept_, C=C)
        # Its excess is that of an estimate from a sixteenth of the rows, about 5 / (2 m).
        excess = logistic_objective(X, y, [guess[:4]], guess[4], C=C) - best
        assert -1e-12 < excess < 40 / (30_000 / 16)


def test_default_tolerance_reaches_the_optimum_of_a_large_problem(seed):
    X, y, _ = make_data(seed, n=20_000, d=6)
    fast, exact = LogisticRegression().fit(X, y), LogisticRegression(tol=1e-12).fit(X, y)
    values = [logistic_objective(X, y, m.coef_, m.intercept_) for m in (fast, exact)]
    assert values[0] - values[1] < 1e-9


def test_threads_do_not_change_a_bit(seed):
    X, y, _ = make_data(seed, n=40_000, d=20)
    one = LogisticRegression(n_jobs=1, max_iter=50).fit(X, y)
    three = LogisticRegression(n_jobs=3, max_iter=50).fit(X, y)
    assert (one.coef_ == three.coef_).all()
    assert (one.intercept_ == three.intercept_).all()


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 3]), st.sampled_from([0.0, 0.5]))
def test_weight_k_is_a_row_repeated_k_times(seed, n_classes, l1_ratio):
    rng = np.random.default_rng(seed)
    X, y, _ = make_data(seed, n=60, d=3, n_classes=n_classes)
    y[:n_classes] = np.arange(n_classes)
    k = rng.integers(0, 4, size=60)
    k[:n_classes] = 1
    model = LogisticRegression(tol=1e-9, l1_ratio=l1_ratio)
    weighted = model.fit(X, y, k).coef_.copy()
    repeated = model.fit(np.repeat(X, k, axis=0), np.repeat(y, k)).coef_
    np.testing.assert_allclose(weighted, repeated, atol=1e-6)


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_order_of_rows_and_names_of_classes_do_not_matter(seed):
    X, y, weight = make_data(seed, n=80, d=3)
    order = np.random.default_rng(seed).permutation(80)
    one = LogisticRegression(tol=1e-9).fit(X, y, weight)
    two = LogisticRegression(tol=1e-9).fit(X[order], y[order], weight[order])
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-7)
    flipped = LogisticRegression(tol=1e-9).fit(X, 1 - y, weight)
    np.testing.assert_allclose(one.coef_, -flipped.coef_, atol=1e-7)


def test_scale_of_the_features_does_not_matter_without_penalty(seed):
    X, y, _ = make_data(seed)
    scale = np.array([1e-7, 1e-3, 1.0, 1e3, 1e6])
    one, two = (
        LogisticRegression(C=np.inf).fit(X, y),
        LogisticRegression(C=np.inf).fit(X * scale, y),
    )
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X * scale), atol=1e-5)


def test_collinear_columns_are_no_obstacle(seed):
    X, y, _ = make_data(seed)
    plain = LogisticRegression(C=np.inf, tol=1e-9).fit(X, y)
    twice = LogisticRegression(C=np.inf, tol=1e-9).fit(np.hstack([X, X, np.ones((300, 1))]), y)
    np.testing.assert_allclose(
        plain.predict_proba(X),
        twice.predict_proba(np.hstack([X, X, np.ones((300, 1))])),
        atol=1e-6,
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_complete_separation_without_penalty_is_said(n_classes):
    X = np.repeat(np.arange(n_classes), 5)[:, None] + np.tile(np.arange(5), n_classes)[:, None] / 9
    y = np.repeat(np.arange(n_classes), 5)
    with pytest.warns(ConvergenceWarning, match="No minimiser exists: .* separate the classes"):
        model = LogisticRegression(C=np.inf).fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert model.score(X, y) == 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LogisticRegression(C=10.0).fit(X, y)


def test_partial_separation_without_penalty_is_said(seed):
    X, y, _ = make_data(seed)
    rare = np.zeros((300, 1))
    rare[np.flatnonzero(y == 1)[:3]] = 1.0  # a category whose rows all have label 1
    with pytest.warns(ConvergenceWarning, match="separate some rows from the rest"):
        LogisticRegression(C=np.inf).fit(np.hstack([X, rare]), y)
    rare[np.flatnonzero(y == 0)[:1]] = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LogisticRegression(C=np.inf).fit(np.hstack([X, rare]), y)


def test_too_few_steps_are_said(seed):
    X, y, _ = make_data(seed)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=1 steps at a gradient of .* Increase"):
        model = LogisticRegression(max_iter=1).fit(X, y)
    assert not model.converged_


def test_warm_start_saves_steps(seed):
    X, y, _ = make_data(seed, n_classes=3)
    model = LogisticRegression(warm_start=True, tol=1e-8).fit(X, y)
    cold = model.n_iter_[0]
    assert model.fit(X, y).n_iter_[0] == 0 < cold
    reference = LogisticRegression(C=2.0, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.set_params(C=2.0).fit(X, y).coef_, reference.coef_, atol=1e-6)
    assert model.fit(X, y == 1).coef_.shape == (1, 5)


def test_sparse_and_single_precision_rows_give_the_same_model(seed):
    X, y, weight = make_data(seed)
    X[np.random.default_rng(seed).random(X.shape) < 0.6] = 0
    X = X.astype(np.float32)
    dense = LogisticRegression(tol=1e-9).fit(X.astype(float), y, weight)
    for form in (X, np.asfortranarray(X), sparse.csr_matrix(X), sparse.coo_array(X)):
        other = LogisticRegression(tol=1e-9).fit(form, y, weight)
        np.testing.assert_allclose(dense.coef_, other.coef_, atol=1e-7)
        np.testing.assert_allclose(dense.predict_proba(X), other.predict_proba(form), atol=1e-6)


def test_probabilities_follow_the_labels(seed):
    X, y, _ = make_data(seed, n_classes=3)
    names = np.array(["walnut", "ash", "elm"])[y]
    model = LogisticRegression().fit(X, names)
    assert model.classes_.tolist() == ["ash", "elm", "walnut"]
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), p)
    assert (model.predict(X) == model.classes_[p.argmax(axis=1)]).all()
    two = LogisticRegression().fit(X, y == 0)
    np.testing.assert_allclose(np.exp(two.predict_log_proba(X)), two.predict_proba(X))
    assert (two.predict(X) == (two.decision_function(X) > 0)).all()


@pytest.mark.parametrize("l1_ratio", [0.0, 1.0])
def test_sources_give_the_fit_of_memory(seed, l1_ratio):
    X, y, weight = make_data(seed, n=500, n_classes=3)
    names = np.array(["walnut", "ash", "elm"])[y]
    settings = {"class_weight": "balanced", "l1_ratio": l1_ratio}
    cuts = [(X[a:b], names[a:b], weight[a:b]) for a, b in [(0, 1), (1, 130), (130, 500)]]
    memory = LogisticRegression(**settings).fit(X, names, weight)
    chunks = LogisticRegression(**settings).fit_source(cuts)
    np.testing.assert_allclose(memory.coef_, chunks.coef_, rtol=1e-12, atol=1e-14)
    assert chunks.classes_.tolist() == ["ash", "elm", "walnut"]
    assert chunks.fingerprint_.overlap(X).seen == 500


def test_files_give_the_fit_of_memory(seed, tmp_path):
    pd = pytest.importorskip("pandas")
    X, y, weight = make_data(seed)
    table = pd.DataFrame(X, columns=list("abcde")).assign(label=y, weight=weight)
    table.to_parquet(tmp_path / "rows.parquet")
    memory = LogisticRegression().fit(table[list("abcde")], y, weight)
    file = LogisticRegression().fit_source(
        tmp_path / "rows.parquet", target="label", sample_weight="weight"
    )
    np.testing.assert_allclose(memory.coef_, file.coef_, rtol=1e-10)
    assert file.feature_names_in_.tolist() == list("abcde")
    assert (file.predict(table[list("abcde")]) == memory.predict(table[list("abcde")])).all()


def test_dask_gives_the_fit_of_memory(seed):
    da = pytest.importorskip("dask.array")
    X, y, _ = make_data(seed)
    memory = LogisticRegression().fit(X, y)
    rows = (da.from_array(X, chunks=(77, 5)), da.from_array(y, chunks=77))
    np.testing.assert_allclose(
        memory.coef_, LogisticRegression().fit_source(rows).coef_, rtol=1e-10
    )


def test_generators_and_missing_targets_are_refused(seed):
    X, y, _ = make_data(seed)
    with pytest.raises(ValueError, match=r"reads the data several times\. Got a generator"):
        LogisticRegression().fit_source((X, y) for _ in range(2))
    with pytest.raises(ValueError, match="needs one column of targets"):
        LogisticRegression().fit_source([(X,)])


def test_errors_say_what_to_do(seed):
    X, y, _ = make_data(seed)
    with pytest.raises(ValueError, match=r"at least 2 classes\. Got one class: 1"):
        LogisticRegression().fit(X, np.ones(300, dtype=int))
    with pytest.raises(ValueError, match=r"a smooth penalty, l1_ratio=0\. Got l1_ratio=0\.5"):
        LogisticRegression(l1_ratio=0.5, solver="newton").fit(X, y)
    with pytest.raises(ValueError, match="The 'C' parameter of LogisticRegression must be"):
        LogisticRegression(C=0.0).fit(X, y)
    with pytest.raises(ValueError, match="rows with positive weight"):
        LogisticRegression().fit_source([(X, y, np.zeros(300))])
    with pytest.raises(ValueError, match=r"coef must have shape \(1, 5\).*Got shape \(2, 5\)"):
        logistic_objective(X, y, np.zeros((2, 5)))


def test_many_parameters_are_left_to_lbfgs(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(50, 700)), rng.integers(2, size=50)
    assert LogisticRegression().fit(X, y).solver_ == "lbfgs"
    assert LogisticRegression().fit(X[:, :50], y).solver_ == "newton"
    assert LogisticRegression().fit(sparse.csr_matrix(X[:, :300]), y).solver_ == "lbfgs"


@pytest.mark.parametrize("offset", [1e3, 1e6, 1e9])
@pytest.mark.parametrize("options", [{}, {"l1_ratio": 1.0}, {"solver": "lbfgs"}], ids=str)
def test_columns_far_from_zero(seed, offset, options):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 5))
    y = (X @ rng.normal(size=5) + rng.normal(size=300) > 0).astype(int)
    near = LogisticRegression(**options).fit(X, y)
    far = LogisticRegression(**options).fit(X + offset, y)
    assert far.converged_
    np.testing.assert_allclose(far.coef_, near.coef_, atol=0.02)
    np.testing.assert_allclose(
        far.decision_function(X + offset), near.decision_function(X), atol=0.1
    )
    # The next fit starts where the last one ended.
    again = LogisticRegression(warm_start=True, **options).fit(X + offset, y).fit(X + offset, y)
    assert again.n_iter_[0] <= 1


def test_several_classes_far_from_zero(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 3))
    y = np.argmax(X + rng.gumbel(size=(300, 3)), axis=1)
    offset = np.array([1e6, 0.0, -1e5])
    near, far = LogisticRegression().fit(X, y), LogisticRegression().fit(X + offset, y)
    np.testing.assert_allclose(far.predict_proba(X + offset), near.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("weight", [1e-310, 1e300])
def test_weights_of_any_size(seed, weight):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    model = LogisticRegression().fit(X, y, sample_weight=np.full(40, weight))
    free = LogisticRegression(C=1e6).fit(X, y)
    # Rows that weigh nothing beside the penalty leave no coefficient; heavy ones no penalty.
    target = free.coef_ if weight > 1 else np.zeros((1, 2))
    np.testing.assert_allclose(model.coef_, target, atol=1e-3)
