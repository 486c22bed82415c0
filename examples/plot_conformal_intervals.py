"""
Four ways to a prediction interval
==================================

The noise grows with the input. Split conformal prediction around a model of the mean gives one
width; conformalised quantile regression follows the noise. CV+ uses all rows for both purposes and
is sold at about 1 - 2 alpha, though it usually covers as often as asked.
"""

import matplotlib.pyplot as plt
import numpy as np

from corollary.conformal import (
    ConformalQuantileRegressor,
    CVPlusRegressor,
    SplitConformalRegressor,
    coverage_law,
    coverage_score,
    mean_size,
)
from corollary.ensemble import HistGradientBoostingRegressor
from corollary.linear import Ridge

rng = np.random.default_rng(0)


def draw(n):
    """Draw rows whose noise grows with the input."""
    X = rng.uniform(0.2, 2, size=(n, 1))
    return X, np.sin(3 * X[:, 0]) + 0.4 * X[:, 0] * rng.normal(size=n)


X, y = draw(600)
X_new, y_new = draw(3000)
mean = HistGradientBoostingRegressor(max_iter=40)
ends = HistGradientBoostingRegressor(loss="quantile", quantile=[0.05, 0.95], max_iter=40)

# %%
# Every wrapper is fitted to the same 600 rows and asked for a coverage of 90%.
models = {
    "split": SplitConformalRegressor(mean, random_state=0),
    "normalised": SplitConformalRegressor(
        mean, conformity_score="normalised", scale_estimator=Ridge(), random_state=0
    ),
    "quantiles": ConformalQuantileRegressor(ends, random_state=0),
    "CV+": CVPlusRegressor(mean, cv=5, random_state=0),
}
figure, axes = plt.subplots(1, 4, figsize=(12, 3), sharey=True, layout="constrained")
order = np.argsort(X_new[:, 0])
for axis, (name, model) in zip(axes, models.items()):
    intervals = model.fit(X, y).predict_interval(X_new)
    axis.scatter(X_new[::10, 0], y_new[::10], s=3, color="grey")
    axis.fill_between(X_new[order, 0], *intervals[order].T, alpha=0.4)
    covered, width = coverage_score(y_new, intervals), mean_size(intervals)
    axis.set(title=f"{name}: {covered:.3f}, width {width:.2f}", xlabel="x")
axes[0].set_ylabel("y")

# %%
# Shares below 90% break no promise. What is promised is the coverage on average over calibration
# sets; that of *one* set of calibration rows has an exact law, and nine in ten such sets lie
# between these two shares. Ask for a larger confidence, or keep more rows for calibration, to be
# surer of one of them.
n_calibration = models["split"].n_calibration_
low, high = coverage_law(n_calibration, alpha=0.1).ppf([0.05, 0.95])
print(f"{n_calibration} calibration rows: {low:.3f} to {high:.3f}")

# %%
# What is proved of CV+, and what it did above:
print(f"proved {models['CV+'].guaranteed_coverage_:.3f}, observed {covered:.3f}")
