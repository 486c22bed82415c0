"""
How large prediction sets are
=============================

Three scores give sets that cover equally often and look different. One minus the probability of
the label gives the smallest sets on average, and covers hard rows less often than easy ones.
Adaptive sets grow where the model is unsure, and a price for every further class cuts their long
tail. The bars are the shares of rows with a set of this size; the points say how often such sets
hold the label, which nothing promises for each size alone.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from corollary.conformal import SetSizeDisplay, SplitConformalClassifier, mean_size
from corollary.linear import LogisticRegression

X, y = load_digits(return_X_y=True)
X = X / 16
# A model of few rows, so that sets have something to say.
X_few, X_rest, y_few, y_rest = train_test_split(X, y, train_size=80, random_state=0)
X_cal, X_new, y_cal, y_new = train_test_split(X_rest, y_rest, train_size=800, random_state=0)
model = LogisticRegression(C=1.0).fit(X_few, y_few)

figure, axes = plt.subplots(1, 3, figsize=(12, 3.5), sharey=True, layout="constrained")
scores = {
    "lac": {"conformity_score": "lac"},
    "aps": {"conformity_score": "aps", "randomised": True},
    "raps": {"conformity_score": "raps", "randomised": True, "penalty": 0.05, "free_classes": 2},
}
for axis, (name, how) in zip(axes, scores.items()):
    wrapper = SplitConformalClassifier(model, prefit=True, random_state=0, **how)
    wrapper.fit(X_cal, y_cal)
    size = mean_size(wrapper.predict_set(X_new))
    SetSizeDisplay.from_estimator(
        wrapper, X_new, y_new, name=f"{name}, {size:.2f} classes on average", ax=axis
    )
