"""
What each feature contributes to a prediction
=============================================

The raw prediction of boosted trees is split exactly into contributions of features (Shapley
values): they start at the mean prediction and add up to the one at hand.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

from corollary.ensemble import HistGradientBoostingRegressor
from corollary.tree import ContributionDisplay

data = load_diabetes(as_frame=True, scaled=False)
model = HistGradientBoostingRegressor(max_iter=60, max_leaf_nodes=6).fit(data.data, data.target)

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4))
ContributionDisplay.from_estimator(model, data.data.iloc[[3]], ax=left)
left.set_title("one patient")
ContributionDisplay.from_estimator(model, data.data, ax=right)
right.set_title("all patients")
figure.tight_layout()

# %%
# The parts add up to the whole, for every row.
parts = model.contributions(data.data).sum(axis=1) + model.expected_value_
print(abs(parts - model.predict(data.data)).max())
