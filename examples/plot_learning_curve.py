"""
A learning curve with its guarantee
===================================

How much do more rows help, and what is proved about each model? A learner is trained on growing
parts of the rows, and each model is certified on the same rows kept aside. The bounds hold
together, so that the best size may be picked from the picture.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from corollary.certificates import LearningCurveDisplay

X, y = load_digits(return_X_y=True)
learners = {
    "naive Bayes": GaussianNB(var_smoothing=1e-2),
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(C=0.1)),
}
figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
for ax, (name, learner) in zip(axes, learners.items()):
    display = LearningCurveDisplay.from_estimator(
        learner, X, y, sizes=[40, 80, 160, 320, 640, 1250], name=name, ax=ax, random_state=0
    )
    ax.set_ylim(0, 0.6)

# %%
# The last certificate in words.
print(display.curve.certificates[-1])
