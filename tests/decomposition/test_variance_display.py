import numpy as np
import pytest
from sklearn.datasets import load_iris

from corollary.decomposition import PCA, ExplainedVarianceDisplay, KernelPCA


def test_bars_are_shares_and_the_line_is_their_sum():
    X = load_iris().data
    model = PCA().fit(X)
    display = ExplainedVarianceDisplay.from_estimator(model, chosen=2)
    heights = [bar.get_height() for bar in display.bars_]
    np.testing.assert_allclose(heights, model.explained_variance_ratio_)
    np.testing.assert_allclose(display.line_.get_ydata(), np.cumsum(heights))
    assert display.line_.get_ydata()[-1] == pytest.approx(1)
    assert display.ax_.lines[-1].get_xdata()[0] == 2.5
    assert display.figure_ is display.ax_.figure
    again = ExplainedVarianceDisplay.from_estimator(model, ax=display.ax_)
    assert again.ax_ is display.ax_


def test_other_models_are_refused():
    with pytest.raises(TypeError, match="as PCA has"):
        ExplainedVarianceDisplay.from_estimator(KernelPCA().fit(load_iris().data))
