"""Loops of support vector machines without the compiler."""

import numpy as np

X = np.array([[-2.0, 0.0], [-1.0, 1.0], [-0.8, -1.0], [1.0, 0.0], [2.0, -1.0], [0.9, 0.5]])
Y = np.array([0, 0, 0, 1, 1, 1])


def check_pairs_reach_the_margin():
    from corollary.svm import SVC, SVR, svm_pair

    x, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([-1, -1, 1, 1])
    hard = svm_pair(x @ x.T, y, C=np.inf)
    np.testing.assert_allclose(hard.beta, [0.0, -0.5, 0.5, 0.0], atol=1e-6)
    model = SVC(C=10.0, gamma=1.0).fit(X, Y)  # tiles of an RBF kernel
    assert (model.predict(X) == Y).all()
    assert model.kkt_violation_ <= model.tol
    assert np.abs(SVR(C=10.0, gamma=1.0).fit(X, X[:, 0]).predict(X) - X[:, 0]).max() < 0.2


def check_rows_leave_the_gradient():
    from corollary.kernels import RBF
    from corollary.svm.dual._row_cache import RowCache

    rows, change, rest = np.array([4, 1]), np.array([0.5, -2.0]), np.ones(6)
    with RowCache(RBF().tiles(X), 1.0) as cache:
        cache.subtract_product(rest, rows, change)
    np.testing.assert_allclose(rest, 1.0 - change @ RBF().gram(X)[rows], atol=1e-12)


def check_linear_machines():
    from scipy import sparse

    from corollary.svm import LinearSVC

    for loss in ("hinge", "squared_hinge"):
        dense = LinearSVC(loss=loss, random_state=0).fit(X, Y)
        thin = LinearSVC(loss=loss, random_state=0).fit(sparse.csr_matrix(X), Y)
        assert (dense.predict(X) == Y).all()
        np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-3)


def check_classes_together():
    from corollary.svm import MulticlassSVC

    points = np.array([[0.0, 3.0], [0.2, 3.1], [3.0, 0.0], [3.1, -0.2], [-3.0, 0.0], [-3.2, 0.1]])
    codes = np.repeat([0, 1, 2], 2)
    for kernel in ("linear", "rbf"):
        model = MulticlassSVC(kernel=kernel, tol=0.01, random_state=0).fit(points, codes)
        assert (model.predict(points) == codes).all(), kernel


def check_sequences():
    from corollary.svm import LabelChain, StructuralSVM

    inputs = [np.array([[1.0], [2.0], [-1.0]]), np.array([[-1.0], [-2.0]])]
    outputs = [np.array([1, 1, 0]), np.array([0, 0])]
    model = StructuralSVM(LabelChain(n_labels=2, n_features=1), C=10.0).fit(inputs, outputs)
    for ours, theirs in zip(model.predict(inputs), outputs):
        np.testing.assert_array_equal(ours, theirs)
