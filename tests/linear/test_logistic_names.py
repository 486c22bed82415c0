"""scikit-learn's names of solvers and penalties lead to the minimum that they stand for."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression as Peer

import corollary
from corollary.linear import LogisticRegression


@pytest.fixture
def data(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 4)) + 2.0
    return X, X @ [1.0, -1.0, 0.5, 0.0] + rng.logistic(size=200) > 0.5


@pytest.mark.parametrize("solver", ["lbfgs", "newton-cg", "newton-cholesky", "sag", "saga"])
def test_solvers_reach_the_same_minimum(data, solver):
    expected = Peer(tol=1e-10, max_iter=10_000).fit(*data)
    model = LogisticRegression(solver=solver, dual=False, verbose=0, tol=1e-9).fit(*data)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-6)


@pytest.mark.parametrize("scaling", [1.0, 0.1, 10.0])
@pytest.mark.parametrize("l1_ratio", [0.0, 1.0])
def test_liblinear_penalises_the_intercept(data, l1_ratio, scaling):
    settings = {"solver": "liblinear", "C": 0.05, "l1_ratio": l1_ratio}
    settings["intercept_scaling"] = scaling
    ours = LogisticRegression(tol=1e-9, **settings).fit(*data)
    theirs = Peer(tol=1e-10, max_iter=100_000, random_state=0, **settings).fit(*data)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
    free = LogisticRegression(tol=1e-9, **(settings | {"solver": "auto"})).fit(*data)
    assert abs(free.intercept_ - ours.intercept_) > 1e-3


def test_liblinear_takes_two_classes(data):
    with pytest.raises(ValueError, match="does not support multiclass"):
        LogisticRegression(solver="liblinear").fit(data[0], np.arange(200) % 3)


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        ({"penalty": None}, {"C": np.inf}),
        ({"penalty": "l2"}, {"l1_ratio": 0.0}),
        ({"penalty": "l1", "solver": "saga"}, {"l1_ratio": 1.0}),
        ({"penalty": "elasticnet", "l1_ratio": 0.3}, {"l1_ratio": 0.3}),
        ({"l1_ratio": None}, {"l1_ratio": 0.0}),
    ],
)
def test_penalties_by_name(data, words, numbers):
    C = {} if "C" in numbers else {"C": 0.1}
    named, plain = LogisticRegression(**words, **C), LogisticRegression(**numbers, **C)
    np.testing.assert_array_equal(named.fit(*data).coef_, plain.fit(*data).coef_)
    if "penalty" in words:  # also by its place
        rest = {name: value for name, value in words.items() if name != "penalty"} | C
        by_place = LogisticRegression(words["penalty"], **rest)
        np.testing.assert_array_equal(by_place.fit(*data).coef_, plain.coef_)


@pytest.mark.parametrize("solver", ["newton-cg", "newton-cholesky", "sag", "lbfgs", "newton"])
def test_smooth_solvers_refuse_an_l1_penalty(data, solver):
    with pytest.raises(ValueError, match="needs a smooth penalty"):
        LogisticRegression("l1", solver=solver).fit(*data)
    with pytest.raises(ValueError, match="l1_ratio must be specified"):
        LogisticRegression("elasticnet", l1_ratio=None).fit(*data)


@pytest.mark.parametrize("classes", [2, 3])
def test_sparse_coefficients(data, classes, tmp_path):
    X, y = data[0], np.arange(200) % 3 if classes == 3 else data[1]
    model = LogisticRegression(C=0.05, l1_ratio=1.0, warm_start=True).fit(X, y)
    dense, probability = model.coef_.copy(), model.predict_proba(X)
    assert sparse.issparse(model.sparsify().coef_)
    for rows in (X, sparse.csr_matrix(X)):
        np.testing.assert_allclose(model.predict_proba(rows), probability, rtol=1e-12)
    corollary.save(model, tmp_path / "model.corollary")
    again = corollary.load(tmp_path / "model.corollary")
    np.testing.assert_array_equal(again.coef_.toarray(), dense)
    np.testing.assert_array_equal(model.densify().coef_, dense)
    assert model.sparsify().fit(X, y).coef_.shape == dense.shape
