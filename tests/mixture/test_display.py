"""Pictures of mixtures, drawn without a screen."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")

from corollary.mixture import (
    ClusterTraceDisplay,
    DirichletProcessMixture,
    GaussianMixture,
    MixtureDisplay,
    MixtureLaw,
)


@pytest.fixture(autouse=True)
def _close():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def test_ellipses_hold_their_mass():
    covariance = np.array([[2.0, 0.9], [0.9, 1.0]])
    law = MixtureLaw([1.0], [[1.0, -1.0]], [covariance])
    X = law.sample(4000, 0)[0]
    display = MixtureDisplay(law, X, np.ones((4000, 1)), mass=0.8).plot()
    shape = display.ellipses_[0]
    inside = shape.contains_points(display.ax_.transData.transform(X))
    assert inside.mean() == pytest.approx(0.8, abs=0.03)
    assert display.ax_.get_xlabel() == ""


def test_colours_are_mixed_by_responsibilities():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, 3)), columns=["a", "b", "c"])
    X["b"] += np.repeat([0.0, 9.0], 20)
    model = GaussianMixture(2, random_state=0).fit(X)
    display = MixtureDisplay.from_estimator(model, X, columns=(1, 2))
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("b", "c")
    np.testing.assert_allclose(display.points_.get_offsets(), X[["b", "c"]])
    colours = display.points_.get_facecolors()[:, :3]
    palette = np.array(mpl.colormaps["tab10"].colors)[:2]
    np.testing.assert_allclose(colours, model.predict_proba(X) @ palette, atol=1e-9)
    np.testing.assert_allclose(display.ellipses_[1].center, model.means_[1, 1:])


def test_traces_and_law_are_drawn():
    X = np.random.default_rng(1).normal(size=(20, 1))
    model = DirichletProcessMixture(burn_in=4, n_draws=10, n_chains=3, random_state=0).fit(X)
    display = ClusterTraceDisplay.from_estimator(model)
    assert len(display.lines_) == 3
    np.testing.assert_array_equal(display.lines_[1].get_ydata(), model.n_clusters_trace_[1])
    heights = [bar.get_height() for bar in display.bars_]
    np.testing.assert_allclose(heights, model.n_clusters_distribution())
    again = ClusterTraceDisplay(model.n_clusters_trace_, np.array([0, 1.0])).plot(display.ax_)
    assert again.figure_ is display.figure_
