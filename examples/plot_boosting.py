"""
Gradient boosting: when to stop, and what it is sure of
=======================================================

Each tree takes a small step along the gradient of the loss. The training loss falls for ever; the
loss of held-out rows tells where to stop. One model can also learn a whole distribution: several
quantiles that never cross, or a normal law whose spread depends on the inputs.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from corollary.ensemble import (
    BoostingCurveDisplay,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)

X, y = load_breast_cancer(return_X_y=True)
model = HistGradientBoostingClassifier(
    max_iter=200, early_stopping=True, n_iter_no_change=30, random_state=0
).fit(X, y)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
BoostingCurveDisplay.from_estimator(model, ax=left)
left.set_title("breast cancer: logistic loss")

# Two scales of noise: the quantiles open where the data do.
random = np.random.default_rng(0)
x = random.uniform(-2, 2, 2000)
target = np.sin(2 * x) + np.where(x > 0, 0.6, 0.15) * random.normal(size=2000)
gentle = {"max_iter": 80, "max_leaf_nodes": 6, "min_samples_leaf": 40}
quantiles = HistGradientBoostingRegressor("quantile", quantile=[0.05, 0.5, 0.95], **gentle)
quantiles.fit(x[:, None], target)
grid = np.linspace(-2, 2, 400)[:, None]
low, middle, high = quantiles.predict_quantiles(grid).T
normal = HistGradientBoostingRegressor("normal", **gentle).fit(x[:, None], target)
edges = normal.predict_quantiles(grid, [0.05, 0.95])

right.scatter(x, target, s=3, color="0.7")
right.fill_between(grid[:, 0], low, high, alpha=0.3, label="quantiles 0.05 to 0.95")
right.plot(grid, middle, label="median")
right.plot(grid, edges, color="black", linewidth=0.8, linestyle="--")
right.plot([], [], color="black", linewidth=0.8, linestyle="--", label="normal law, same levels")
right.set(xlabel="input", ylabel="target", title="one model, several quantiles")
right.legend(fontsize="small")
figure.tight_layout()
