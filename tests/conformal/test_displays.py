import numpy as np
import pytest
from scipy.stats import beta, binomtest

from corollary.conformal import (
    CoverageLawDisplay,
    SetSizeDisplay,
    SplitConformalClassifier,
    coverage_by_size,
    coverage_score,
)
from tests.conformal.test_classifier import Table, draw


@pytest.fixture
def pyplot():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    yield plt
    plt.close("all")


def test_sizes_and_coverage_by_hand():
    sets = np.array([[1, 0, 0], [1, 0, 0], [1, 1, 1], [0, 0, 0], [0, 0, 1]], dtype=bool)
    found = coverage_by_size(list("abcab"), sets, classes=list("abc"))
    assert found.size.tolist() == [0, 1, 3]
    assert found.n_sets.tolist() == [1, 3, 1]
    assert found.coverage.tolist() == [0.0, pytest.approx(1 / 3), 1.0]
    limits = binomtest(1, 3).proportion_ci(0.95, method="exact")
    assert (found.lower[1], found.upper[1]) == pytest.approx((limits.low, limits.high))
    assert (found.lower[0], found.upper[2]) == (0.0, 1.0)


def test_shares_add_up_to_the_coverage_of_all(seed):
    rng = np.random.default_rng(seed)
    X, y = draw(400, rng)
    model = SplitConformalClassifier(Table().fit(None, None), prefit=True, conformity_score="aps")
    sets = model.fit(X[:200], y[:200]).predict_set(X[200:])
    found = coverage_by_size(y[200:], sets, classes=[0, 1, 2])
    overall = coverage_score(y[200:], sets, classes=[0, 1, 2])
    assert found.coverage @ found.n_sets / 200 == pytest.approx(overall)
    # A full set holds every label, and a label of no column lies in no set.
    assert found.coverage[found.size == 3].tolist() in ([], [1.0])
    assert coverage_by_size(y[200:] + 7, sets, classes=[0, 1, 2]).coverage.max() == 0


def test_the_picture_of_sizes_shows_its_numbers(pyplot):
    X, y = draw(400, np.random.default_rng(0))
    model = SplitConformalClassifier(Table().fit(None, None), prefit=True)
    model.fit(X[:200], y[:200])
    display = SetSizeDisplay.from_estimator(model, X[200:], y[200:], name="lac")
    found = display.sizes
    assert [bar.get_height() for bar in display.bars_] == pytest.approx(found.n_sets / 200)
    np.testing.assert_allclose(display.points_[0].get_ydata(), found.coverage)
    assert display.ax_.get_title() == "lac"
    assert any("wanted, 0.9" in text.get_text() for text in display.ax_.get_legend().get_texts())
    _, ax = pyplot.subplots()
    assert SetSizeDisplay(found).plot(ax).figure_ is ax.figure
    wide = np.ones((3, 45), dtype=bool)
    many = SetSizeDisplay.from_predictions([1, 2, 3], wide, classes=np.arange(45))
    assert len(many.ax_.get_xticks()) == 1


@pytest.mark.parametrize(
    ("y", "sets", "classes"),
    [
        ([0], [[0.2, 0.8]], [0, 1]),
        ([0, 1], [[True, False]], [0, 1]),
        ([0], [[True, False]], [0, 1, 2]),
        ([], np.zeros((0, 2), dtype=bool), [0, 1]),
    ],
)
def test_sets_that_are_none(y, sets, classes):
    with pytest.raises(ValueError, match="coverage_by_size needs a boolean set of classes"):
        coverage_by_size(y, sets, classes=classes)


def test_the_picture_of_the_law_draws_its_density(pyplot):
    display = CoverageLawDisplay(100, 0.1, coverage=[0.9, 0.92, 0.88]).plot()
    x, density = display.line_.get_data()
    np.testing.assert_allclose(density, beta(91, 10).pdf(x))
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert "3 calibration sets" in texts
    assert f"exact limit, {beta(91, 10).ppf(0.05):.3f}" in texts
    with pytest.raises(ValueError, match="no density"):
        CoverageLawDisplay(5, 0.1).plot()


def test_notebooks_show_a_row_for_each_size():
    sizes = coverage_by_size(["a", "b"], [[True, False], [True, True]], classes=["a", "b"])
    assert sizes._repr_html_().count("<tr>") == 3
