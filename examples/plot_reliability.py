"""
Do probabilities mean what they say?
====================================

Of all rows to which a model gives a probability near 0.8, about 80% should be positive. A forest of
few deep trees is surer than it may be; logistic regression on the same rows is not. Bars are exact
95% confidence limits, so that a point off the diagonal is news only if its bar misses it.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification

from corollary.ensemble import RandomForestClassifier
from corollary.linear import LogisticRegression
from corollary.validation import ReliabilityDisplay

X, y = make_classification(6000, 10, n_informative=4, flip_y=0.2, random_state=0)
train, new = slice(0, 1500), slice(1500, None)
models = {
    "logistic regression": LogisticRegression(),
    "forest of 5 trees": RandomForestClassifier(n_estimators=5, random_state=0),
}
figure, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
for axis, (name, model) in zip(axes, models.items()):
    probability = model.fit(X[train], y[train]).predict_proba(X[new])[:, 1]
    ReliabilityDisplay.from_predictions(y[new], probability, name=name, ax=axis)
