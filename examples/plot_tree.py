"""
A tree cut back to what other rows confirm
==========================================

A decision tree that is grown to the end learns its training rows by heart. Cross-validation finds
the price of a leaf at which pruning pays: the smallest tree whose error is within one standard
error of the best.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from corollary.tree import (
    DecisionTreeClassifier,
    TreeDisplay,
    export_text,
    prune_by_cross_validation,
)

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
choice = prune_by_cross_validation(DecisionTreeClassifier(), X, y)

figure, axes = plt.subplots(figsize=(7, 4))
axes.fill_between(
    choice.n_leaves,
    choice.losses - choice.standard_errors,
    choice.losses + choice.standard_errors,
    alpha=0.25,
)
axes.plot(choice.n_leaves, choice.losses, marker="o", label="cross-validated error")
axes.axvline(choice.estimator.get_n_leaves(), color="0.3", linestyle="--", label="chosen")
axes.set(xlabel="leaves", ylabel="error rate", xscale="log")
axes.legend(frameon=False)
figure.tight_layout()

# %%
# The chosen tree. Branches are as thick as the share of rows that take them; leaves are coloured
# by class, paler where they are less sure.
TreeDisplay.from_estimator(choice.estimator)

# %%
# The same in words.
print(export_text(choice.estimator))
