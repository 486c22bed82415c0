"""The picture of anomalies."""

import numpy as np
import pandas as pd

from corollary.anomaly import AnomalyDetector, AnomalyDisplay


def test_bars_are_contributions(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(200, 4)), columns=list("abcd"))
    model = AnomalyDetector(random_state=0).fit(frame)
    new = frame[:20].copy()
    new.loc[7, "c"] = 9.0
    display = AnomalyDisplay.from_estimator(model, new, n_rows=3, n_columns=2)
    assert display.rows[0] == 7
    assert next(iter(display.bars_)) == "c"
    assert list(display.bars_)[2] == "other columns"
    widths = np.array([[bar.get_width() for bar in bars] for bars in display.bars_.values()])
    parts = np.maximum(model.contributions(new)[display.rows], 0)
    np.testing.assert_allclose(widths.sum(axis=0), parts.sum(axis=1))
    np.testing.assert_allclose(widths[0], parts[:, 2])
    texts = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert texts[0].startswith("row 7 (p = 0.0099")
