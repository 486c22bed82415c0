"""The picture of clusters."""

import numpy as np
import pytest

from corollary.cluster import ClusterDisplay, KMeans, KMedoids

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
X = np.random.default_rng(0).normal(size=(80, 3))


@pytest.mark.parametrize("k", [3, 15, 30])
def test_rows_centres_and_cells(k):
    import matplotlib.pyplot as plt

    model = KMeans(k, random_state=0).fit(X[:, :2])
    display = ClusterDisplay.from_estimator(model, X[:, :2])
    assert np.array_equal(display.points_.get_offsets(), X[:, :2])
    assert np.array_equal(display.points_.get_array(), model.labels_)
    assert np.array_equal(display.centers_.get_offsets(), model.cluster_centers_)
    assert len(display.ax_.images) == 1
    plt.close(display.figure_)


def test_columns_of_a_wider_table():
    import matplotlib.pyplot as plt
    import pandas as pd

    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    display = ClusterDisplay.from_estimator(
        KMedoids(2, random_state=0).fit(frame), frame, columns=(2, 0)
    )
    assert np.array_equal(display.points_.get_offsets(), X[:, [2, 0]])
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("c", "a")
    assert not display.ax_.images  # cells of centres in three columns have no picture in two
    plt.close(display.figure_)


def test_bad_input_is_told():
    with pytest.raises(ValueError, match="two columns"):
        ClusterDisplay.from_estimator(KMeans(2).fit(X[:, :1]), X[:, :1])
