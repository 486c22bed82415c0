"""The picture of a tree."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

from corollary.linear import Ridge
from corollary.tree import DecisionTreeClassifier, DecisionTreeRegressor, TreeDisplay

mpl.use("Agg")


@pytest.fixture(autouse=True)
def close_figures():
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


def boxes(display):
    display.figure_.canvas.draw()
    return [text.get_window_extent() for text in display.texts_]


@pytest.mark.parametrize("depth", [1, 3, 4])
def test_no_two_boxes_overlap(depth):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = DecisionTreeRegressor(max_depth=depth).fit(X, y)
    found = boxes(TreeDisplay.from_estimator(model))
    assert len(found) == model.nodes_.n_nodes
    for i, a in enumerate(found):
        assert not any(a.overlaps(b) for b in found[i + 1 :])


def test_splits_leaves_and_what_is_cut_off():
    X, y = load_iris(return_X_y=True)
    model = DecisionTreeClassifier().fit(X, y)
    display = TreeDisplay.from_estimator(model, feature_names=list("abcd"), max_depth=2)
    texts = [text.get_text() for text in display.texts_]
    assert texts[0] == "c <= 2.45"
    assert sum("..." in text for text in texts) == 2
    assert any("class: 0 at 1.00" in text for text in texts)
    lone = DecisionTreeClassifier().fit(X, np.zeros(150))
    assert len(TreeDisplay.from_estimator(lone).texts_) == 1


def test_colours_tell_classes_and_numbers():
    X, y = load_iris(return_X_y=True)
    display = TreeDisplay.from_estimator(DecisionTreeClassifier(max_depth=2).fit(X, y))
    faces = {
        text.get_bbox_patch().get_facecolor()
        for text in display.texts_
        if text.get_text().startswith("class")
    }
    assert len(faces) == 3


def test_errors():
    with pytest.raises(TypeError, match="draws DecisionTreeClassifier"):
        TreeDisplay.from_estimator(Ridge())
