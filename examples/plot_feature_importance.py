"""
Impurity favours columns with many values
=========================================

A forest is given two columns that matter, one of them with two values only, and two columns of
noise. Importance by impurity credits noise that has many values, for deep trees can always split on
it; shuffling a column among the rows that a tree has not seen does not.
"""

import matplotlib.pyplot as plt
import numpy as np

from corollary.ensemble import RandomForestClassifier, permutation_importance

random = np.random.default_rng(0)
n = 2000
names = ["signal, two values", "signal, many values", "noise, two values", "noise, many values"]
X = np.column_stack(
    [
        random.integers(0, 2, n),
        random.normal(size=n),
        random.integers(0, 2, n),
        random.normal(size=n),
    ]
).astype(float)
y = (X[:, 0] + X[:, 1] + 0.7 * random.normal(size=n) > 0.5).astype(int)

forest = RandomForestClassifier(100, oob_score=True, random_state=0).fit(X, y)
shuffled = permutation_importance(forest, X, y, out_of_bag=True, random_state=0)
print(f"out-of-bag accuracy: {forest.oob_score_:.3f}")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3), sharey=True)
left.barh(names, forest.feature_importances_, color="0.6")
left.set(xlabel="share of impurity removed", title="impurity")
right.barh(names, shuffled.mean, xerr=2 * shuffled.standard_error, color="C0")
right.set(xlabel="rise of the error rate", title="shuffled out of bag")
left.invert_yaxis()
figure.tight_layout()
