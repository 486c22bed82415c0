"""Learning curves with certificates."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from corollary.certificates import LearningCurveDisplay, learning_curve
from corollary.linear import Ridge
from corollary.theory import clopper_pearson_upper


def plane(seed, n=400):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, "yes", "no")


def test_each_size_is_certified_at_its_share_of_the_level(seed):
    X, y = plane(seed)
    curve = learning_curve(
        LogisticRegression(), X, y, sizes=[20, 100, 300], confidence=0.9, random_state=seed
    )
    order = np.random.RandomState(seed).permutation(400)
    for size, certificate, training in zip(curve.sizes, curve.certificates, curve.training):
        model = LogisticRegression().fit(X[order[:size]], y[order[:size]])
        wrong = int(np.sum(model.predict(X[order[300:]]) != y[order[300:]]))
        assert certificate.bound == pytest.approx(clopper_pearson_upper(wrong, 100, 0.1 / 3))
        assert certificate.theorem == "theory.clopper-pearson"
        assert training == np.mean(model.predict(X[order[:size]]) != y[order[:size]])
    np.testing.assert_array_equal(curve.held_out, [c.empirical for c in curve.certificates])
    alone = learning_curve(
        LogisticRegression(),
        X,
        y,
        sizes=[20, 100, 300],
        confidence=0.9,
        simultaneous=False,
        random_state=seed,
    )
    assert np.all(alone.bound < curve.bound)
    assert {c.confidence for c in alone.certificates} == {0.9}


def test_sizes_by_default_grow_by_a_factor_from_where_all_classes_are_seen(seed):
    X, y = plane(seed)
    curve = learning_curve(LogisticRegression(), X, y, random_state=seed)
    assert curve.sizes[-1] == 300
    assert len(curve.sizes) <= 8
    assert np.all(np.diff(curve.sizes) > 0)
    order = np.random.RandomState(seed).permutation(400)
    assert len(np.unique(y[order[: curve.sizes[0]]])) == 2


def test_regressor_by_its_median_error_or_by_a_loss_in_a_range(seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"])
    y = X["a"] + rng.normal(size=200)
    curve = learning_curve(LinearRegression(), X, y, sizes=[10, 150], random_state=0)
    assert curve.quantity == "50% quantile of the absolute error"
    assert curve.training[1] == pytest.approx(
        np.median(np.abs(y - LinearRegression().fit(X, y).predict(X))), abs=0.2
    )
    capped = learning_curve(Ridge(), X, y, sizes=[150], loss_range=(0, 3), random_state=0)
    assert capped.quantity == "mean of min(|error|, 3)"
    assert 0.5 < capped.held_out[0] < capped.bound[0] <= 3


def test_picture(seed):
    X, y = plane(seed)
    display = LearningCurveDisplay.from_estimator(
        LogisticRegression(), X, y, sizes=[20, 300], name="planes", random_state=seed
    )
    np.testing.assert_array_equal(display.bound_.get_ydata(), display.curve.bound)
    assert display.ax_.get_title() == "planes"
    assert "95% together" in display.bound_.get_label()
    plt.close("all")


def test_messages():
    X, y = plane(0, 40)
    with pytest.raises(ValueError, match=r"between 1 and 30, the rows .* from 5 to 31"):
        learning_curve(LogisticRegression(), X, y, sizes=[5, 31])
    with pytest.raises(ValueError, match="must hold whole numbers"):
        learning_curve(LogisticRegression(), X, y, sizes=[0.5])
    with pytest.raises(ValueError, match="needs rows to train on"):
        learning_curve(LogisticRegression(), X[:1], y[:1])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        learning_curve(LogisticRegression(), X, y[:3])
