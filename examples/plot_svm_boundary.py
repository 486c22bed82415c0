"""
The boundary of a support vector machine
========================================

Two interleaved half-moons and a Gaussian kernel. The solid line is where the score changes its
sign, the dashed ones are the margin, where it is plus or minus one. Ringed points are support
vectors: they lie on the margin, inside it, or on the wrong side, and they alone determine the
picture. A low price C of an error makes the margin wide and many points support vectors; a high
price bends the boundary around single points.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from corollary.svm import SVC, SVMBoundaryDisplay

X, y = make_moons(120, noise=0.25, random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharex=True, sharey=True)
for ax, C in zip(axes, (0.3, 30.0)):
    model = SVC(kernel="rbf", gamma=1.0, C=C).fit(X, y)
    SVMBoundaryDisplay.from_estimator(model, X, y, ax=ax)
    ax.set_title(f"C = {C:g}: {len(model.support_)} support vectors")
figure.tight_layout()

# %%
# How many support vectors there are bounds the leave-one-out error: a point that is none can be
# left out without any change.
for C in (0.3, 1.0, 3.0, 30.0):
    model = SVC(kernel="rbf", gamma=1.0, C=C).fit(X, y)
    print(f"C = {C:4g}: leave-one-out error at most {len(model.support_) / len(X):.2f}")
