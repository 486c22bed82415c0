"""What scripts written for scikit-learn's machines ask of ours: parameters, attributes, answers."""

import numpy as np
import pytest
import sklearn.svm as peer
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import kernels as sklearn_kernels

import corollary
from corollary.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM, couple_pairs, platt_scaling


def classes(seed, k, n=90, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    score = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, k) / k))


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize(("ours", "theirs"), [(SVC, peer.SVC), (NuSVC, peer.NuSVC)])
def test_the_plane_of_a_linear_kernel_is_scikit_learns(ours, theirs, k, seed):
    X, y = classes(seed, k)
    options = {"kernel": "linear", "tol": 1e-8} | ({"nu": 0.8} if ours is NuSVC else {})
    model, other = ours(**options).fit(X, y), theirs(**options).fit(X, y)
    accuracy = {"rtol": 2e-2 if ours is NuSVC else 1e-4, "atol": 1e-4}  # of their tolerance
    np.testing.assert_allclose(model.coef_, other.coef_, **accuracy)
    scores = X @ model.coef_.T + model.intercept_
    expected = model.set_params(decision_function_shape="ovo").decision_function(X)
    np.testing.assert_allclose(scores if k > 2 else scores[:, 0], expected, atol=1e-9)
    thin = ours(**options).fit(sparse.csr_matrix(X), y)
    assert sparse.issparse(thin.coef_)
    assert sparse.issparse(thin.dual_coef_)
    np.testing.assert_allclose(thin.coef_.toarray(), model.coef_, **accuracy)


@pytest.mark.parametrize(
    "model", [SVR(kernel="linear"), NuSVR(kernel="linear"), OneClassSVM(kernel="linear")]
)
def test_every_linear_machine_has_a_plane(model, seed):
    X, y = classes(seed, 2)
    model.fit(X, y)
    predict = model.predict if hasattr(model, "C") else model.decision_function
    np.testing.assert_allclose(X @ model.coef_[0] + model.intercept_, predict(X), atol=1e-9)
    with pytest.raises(AttributeError, match="only when it is fitted with a linear kernel"):
        model.set_params(kernel="rbf").fit(X, y).coef_  # noqa: B018
    assert (model.shape_fit_, model.fit_status_) == (X.shape, 0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_that_was_stopped_says_so(seed):
    X, y = classes(seed, 2)
    assert SVC(max_iter=1).fit(X, y).fit_status_ == 1


@pytest.mark.parametrize("nu", [0.1, 0.5, 1.0])
def test_the_tube_of_nu_is_scikit_learns(nu, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2))
    y = np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=60)
    model, other = NuSVR(nu=nu, tol=1e-8).fit(X, y), peer.NuSVR(nu=nu, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.predict(X), other.predict(X), atol=1e-4)
    assert len(model.support_) >= nu * 60 - 1e-9
    assert model.dual_gap_ < 1e-4


def test_a_row_of_weight_two_is_two_rows_of_nu(seed):
    X, y = classes(seed, 3, n=40)
    weight = np.random.default_rng(seed).integers(0, 3, size=40)
    one = NuSVR(tol=1e-9).fit(X, y, weight)
    two = NuSVR(tol=1e-9, gamma=one.kernel_.parameters().values[0] ** -2 / 2)
    two.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(one.predict(X), two.predict(X), atol=1e-5)


@pytest.mark.parametrize("k", [2, 4])
def test_probabilities_are_calibrated_and_near_scikit_learns(k, seed):
    """On rows that no one saw: the log loss is below that of shares, and near the peer's."""
    X, y = classes(seed, k, n=600)
    model = SVC(probability=True, random_state=0).fit(X[:300], y[:300])
    with pytest.warns(FutureWarning):
        other = peer.SVC(probability=True, random_state=0).fit(X[:300], y[:300])
    p, q = model.predict_proba(X[300:]), other.predict_proba(X[300:])
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    loss, theirs = (-np.log(one[np.arange(300), y[300:]]).mean() for one in (p, q))
    assert loss < 0.6 * np.log(k)
    assert abs(loss - theirs) < 0.05
    np.testing.assert_array_equal(
        model.predict_log_proba(X[:5]), np.log(model.predict_proba(X[:5]))
    )
    again = SVC(probability=True, random_state=0).fit(X[:300], y[:300])
    np.testing.assert_array_equal(again.probA_, model.probA_)
    assert len(model.probA_) == len(model.probB_) == k * (k - 1) // 2
    assert (model.probA_ < 0).all()


def test_probabilities_travel_with_the_model_and_are_asked_for(tmp_path, seed):
    X, y = classes(seed, 3)
    model = NuSVC(nu=0.3, probability=True, random_state=1).fit(X, y)
    corollary.save(model, tmp_path / "model")
    loaded = corollary.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    without = SVC().fit(X, y)
    assert not hasattr(without, "predict_proba")
    assert len(without.probA_) == 0
    with pytest.raises(NotFittedError, match="fitted with probability=False"):
        without.set_params(probability=True).predict_proba(X)


def test_the_sigmoid_minimises_its_loss(seed):
    """Against a search without derivatives, with Platt's targets and weights."""
    from scipy.optimize import minimize

    rng = np.random.default_rng(seed)
    f, weight = 100.0 * rng.normal(size=50), rng.uniform(0.5, 2.0, size=50)
    positive = f + 80.0 * rng.normal(size=50) > 0
    up, down = weight[positive].sum(), weight[~positive].sum()
    target = np.where(positive, (up + 1) / (up + 2), 1 / (down + 2))

    def loss(v):
        p = 1 / (1 + np.exp(v[0] / 100 * f + v[1]))
        return -weight @ (target * np.log(p) + (1 - target) * np.log(1 - p))

    best = minimize(
        loss, [-1.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}
    )
    A, B = platt_scaling(f, positive, weight)
    np.testing.assert_allclose([100 * A, B], best.x, atol=1e-5)


def test_coupled_pairs_minimise_their_disagreement(seed):
    """Against a search over the simplex, for pairs that no distribution has."""
    from scipy.optimize import minimize

    rng = np.random.default_rng(seed)
    r = rng.uniform(0.05, 0.95, size=(4, 4))
    r = np.triu(r, 1) + np.tril(1 - r.T, -1)

    def disagreement(p):
        return sum(
            (r[j, i] * p[i] - r[i, j] * p[j]) ** 2 for i in range(4) for j in range(4) if i != j
        )

    whole = {"type": "eq", "fun": lambda p: p.sum() - 1}
    best = minimize(disagreement, np.full(4, 0.25), constraints=[whole], tol=1e-14)
    np.testing.assert_allclose(couple_pairs([r])[0], best.x, atol=1e-5)


def test_votes_alone_decide_as_in_libsvm(seed):
    """Three machines that form a ring: every class has one vote, and the first is chosen."""
    X, y = classes(seed, 3, n=200, d=2)
    model = SVC(C=0.1, gamma=5.0).fit(X, y)
    new = 3.0 * np.random.default_rng(seed).normal(size=(3000, 2))
    scores = model.decision_function(new)
    np.testing.assert_array_equal(model.predict(new), model.classes_[scores.argmax(axis=1)])
    theirs = peer.SVC(C=0.1, gamma=5.0).fit(X, y)
    ties = (np.rint(scores) == 1).all(axis=1)
    assert ties.any()
    np.testing.assert_array_equal(
        model.set_params(break_ties=False).predict(new)[ties], theirs.predict(new)[ties]
    )


@pytest.mark.parametrize("model", [SVC(), NuSVC(nu=0.3), SVR(), NuSVR(), OneClassSVM()])
def test_kernel_objects_of_scikit_learn_are_understood(model, seed, tmp_path):
    X, y = classes(seed, 3)
    kernel = 2.0 * sklearn_kernels.RBF([0.5, 2.0, 1.0]) + sklearn_kernels.DotProduct(0.3)
    model.set_params(kernel=kernel, tol=1e-8).fit(X, y)
    assert isinstance(model.kernel_, corollary.kernels.Kernel)
    theirs = getattr(peer, type(model).__name__)(**_shared(model)).fit(X, y)
    score = getattr(model, "decision_function", model.predict)
    expected = getattr(theirs, "decision_function", theirs.predict)
    np.testing.assert_allclose(score(X), expected(X), atol=1e-3)
    model.set_params(kernel=sklearn_kernels.RBF(0.5) ** 0.5).fit(X, y)  # a function, as good as any
    assert not isinstance(model.kernel_, corollary.kernels.Kernel)


def _shared(model):
    theirs = getattr(peer, type(model).__name__)().get_params()
    drop = ("probability", "break_ties")
    return {k: v for k, v in model.get_params().items() if k in theirs and k not in drop}


def test_a_class_of_one_row_has_probabilities():
    """No machine can be fitted without it: its scores say nothing, and shares decide."""
    X, y = np.array([[0.0, 0.0], [1.0, 1.0], [3.0, 3.0]]), [0, 1, 2]
    p = SVC(probability=True, random_state=0).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(p, 1.0 / 3.0)


@pytest.mark.parametrize("model", [SVC(), SVR(), OneClassSVM()])
def test_a_function_that_is_no_kernel_is_refused(model):
    with pytest.raises(ValueError, match="a number for each pair of rows"):
        model.set_params(kernel=lambda A, B: A).fit(
            np.ones((4, 2)) * np.arange(4)[:, None], [0, 0, 1, 1]
        )
