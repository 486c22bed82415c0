"""The boundary's picture, drawn without a screen."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")

from corollary.svm import SVC, LinearSVC, SVMBoundaryDisplay


@pytest.fixture(autouse=True)
def _close():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def data():
    X = pd.DataFrame({"age": [0.0, 1.0, 3.0, 4.0], "size": [0.0, 0.5, 1.0, 0.0]})
    return X, np.array(["no", "no", "yes", "yes"])


def test_lines_and_rings_are_where_they_should_be():
    X, y = data()
    model = SVC(kernel="linear", C=100.0, tol=1e-8).fit(X, y)
    display = SVMBoundaryDisplay.from_estimator(model, X, y, grid_resolution=40)
    np.testing.assert_array_equal(display.contours_.levels, [-1.0, 0.0, 1.0])
    for level, paths in zip(display.contours_.levels, display.contours_.get_paths()):
        points = pd.DataFrame(paths.vertices, columns=X.columns)
        np.testing.assert_allclose(model.decision_function(points), level, atol=1e-6)
    rings = np.asarray(display.rings_.get_offsets())
    np.testing.assert_allclose(np.sort(rings, axis=0), np.sort(model.support_vectors_, axis=0))
    assert display.ax_.get_xlabel() == "age"
    assert [len(one.get_offsets()) for one in display.points_] == [2, 2]


def test_machines_without_support_vectors_have_no_rings():
    X, y = data()
    model = LinearSVC(random_state=0).fit(X, y)
    display = SVMBoundaryDisplay.from_estimator(model, X, y, fill=False)
    assert display.rings_ is None


def test_errors():
    X, y = data()
    with pytest.raises(ValueError, match="rows with two features"):
        SVMBoundaryDisplay.from_estimator(SVC().fit(X[["age"]], y), X[["age"]], y)
    three = SVC().fit(X, [0, 0, 1, 2])
    with pytest.raises(ValueError, match=r"two classes\. Got 3 classes"):
        SVMBoundaryDisplay.from_estimator(three, X, y)
