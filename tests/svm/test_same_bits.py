"""A row's prediction has the same bits, whatever rows and threads are beside it."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits

from corollary.kernels import KernelERMRegressor, KernelRidge, Matern, Periodic
from corollary.svm import SVC, SVR, MulticlassSVC, NuSVC, NuSVR, OneClassSVM

MODELS = {
    "SVC": SVC(C=10.0),
    "SVC of two": SVC(C=10.0, kernel=Matern(2.0)),
    "NuSVC": NuSVC(nu=0.3),
    "SVR": SVR(kernel="poly"),
    "SVR sigmoid": SVR(kernel="sigmoid", C=0.1),
    "NuSVR": NuSVR(kernel=Periodic(1.3, period=4.0)),
    "OneClassSVM": OneClassSVM(),
    "MulticlassSVC": MulticlassSVC(kernel="rbf", max_iter=20, tol=1.0),
    "KernelRidge": KernelRidge(kernel="laplacian"),
    "KernelRidge linear": KernelRidge(kernel="linear"),
    "KernelERMRegressor": KernelERMRegressor(),
}


def scores(model, X):
    return getattr(model, "decision_function", model.predict)(X)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("n", [50, 700])
def test_rows_alone_in_batches_and_with_threads(name, n, seed):
    """More rows than a tile has, so that many ways to cut them exist; an outlier beside them."""
    rng = np.random.default_rng(seed)
    X, new = rng.normal(size=(n, 5)), rng.normal(size=(301, 5))
    new[7] *= 1e7  # takes another way to its distances, and must not take its neighbours along
    y = rng.integers(0, 2 if "two" in name else 4, size=n)
    model = MODELS[name].fit(X, y)
    with threadpool_limits(1):
        together = scores(model, new)
        for i in (0, 6, 150, 300):
            np.testing.assert_array_equal(scores(model, new[i : i + 1])[0], together[i])
        for cut in (1, 13, 100, 256):
            pieces = [scores(model, new[:cut]), scores(model, new[cut:])]
            np.testing.assert_array_equal(np.concatenate(pieces), together)
    with threadpool_limits(2):
        np.testing.assert_array_equal(scores(model, new), together)


@pytest.mark.parametrize("form", ["precomputed", "sparse"])
def test_other_rows(form, seed):
    rng = np.random.default_rng(seed)
    X, new, y = rng.normal(size=(300, 4)), rng.normal(size=(100, 4)), rng.integers(0, 3, size=300)
    if form == "precomputed":
        X, new = rbf_kernel(X), rbf_kernel(new, X)
    else:
        X, new = (sparse.csr_matrix(np.where(Z > 0, Z, 0.0)) for Z in (X, new))
    kernel = {"kernel": "precomputed"} if form == "precomputed" else {}
    for model in (SVC(**kernel), SVR(**kernel)):
        together = scores(model.fit(X, y), new)
        for i in (0, 99):
            np.testing.assert_array_equal(scores(model, new[i : i + 1])[0], together[i])
