"""The picture of a path of queries, drawn without a screen."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

from corollary.active import (
    ActiveLearningDisplay,
    Box,
    CoverageSampler,
    Prior,
    SafeOpt,
    UncertaintySampler,
)
from corollary.kernels import RBF

PRIOR = Prior(RBF(0.5), 0.01)
GRID = np.linspace(0.0, 3.0, 31)[:, None]


@pytest.fixture(autouse=True)
def _close():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def test_safe_learner_is_drawn_with_its_own_band_and_safe_set():
    optimiser = SafeOpt(GRID, PRIOR, [10], threshold=-0.5)
    optimiser.tell([10, 12], [1.0, 0.5])
    display = ActiveLearningDisplay.from_learner(optimiser, truth=lambda X: np.cos(X[:, 0]))
    sets = optimiser.sets()
    x, mean = display.line_.get_data()
    np.testing.assert_allclose(x, GRID[:, 0])
    np.testing.assert_allclose(mean, optimiser.predict(GRID).mean)
    np.testing.assert_array_equal(display.safe, sets.safe)
    np.testing.assert_allclose(display.lower, sets.lower[0])
    np.testing.assert_allclose(display.path_.get_offsets(), [[1.0, 1.0], [1.2, 0.5]])
    np.testing.assert_array_equal(display.path_.get_array(), [1, 2])
    labels = [t.get_text() for t in display.ax_.get_legend().get_texts()]
    assert {"band", "truth", "mean", "threshold", "safe set", "queries"} == set(labels)
    assert display.figure_ is display.ax_.figure


def test_box_learner_without_safety_on_given_axes():
    import matplotlib.pyplot as plt

    learner = UncertaintySampler(Box([(-1.0, 2.0)]), PRIOR, random_state=0)
    _, ax = plt.subplots()
    display = ActiveLearningDisplay.from_learner(
        learner, n_points=50, confidence=0.5, feature_name="dose", ax=ax
    )
    assert display.ax_ is ax
    assert ax.get_xlabel() == "dose"
    assert display.safe_ is None
    assert len(display.x) == 50
    np.testing.assert_allclose(display.upper, 0.6744898, atol=1e-6)  # half of a standard normal


def test_constraints_hide_the_threshold_of_another_function():
    optimiser = SafeOpt(GRID, PRIOR, [10], constraints=PRIOR)
    optimiser.tell([10], [1.0], [1.0])
    display = ActiveLearningDisplay.from_learner(optimiser, colorbar=False)
    assert display.threshold is None
    assert display.safe is not None
    assert len(display.figure_.axes) == 1


def test_wrong_input_is_named():
    with pytest.raises(ValueError, match=r"learners with one feature\. Got 2 features"):
        ActiveLearningDisplay.from_learner(UncertaintySampler([[0.0, 1.0]], PRIOR))
    with pytest.raises(TypeError, match="with a Gaussian process"):
        ActiveLearningDisplay.from_learner(CoverageSampler(GRID, 1.0))
    with pytest.raises(ValueError, match=r"'confidence' parameter of ActiveLearningDisplay\.from"):
        ActiveLearningDisplay.from_learner(UncertaintySampler(GRID, PRIOR), confidence=1.0)
