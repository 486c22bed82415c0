"""
Who is similar to whom
======================

The matrix of a kernel on the wine data, rows sorted by the three growers. With a sensible length
scale there are three bright blocks: a wine is similar to its own kind, and the second grower's
wines are the least alike. A short length scale leaves nothing but the diagonal, so that nothing can
be learnt from others; a long one makes everything the same. The median distance is a fair start.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from corollary.kernels import RBF, KernelMatrixDisplay, median_length_scale

X, y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
middle = median_length_scale(X)
figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained")
for ax, factor in zip(axes, (0.2, 0.6, 3.0)):
    display = KernelMatrixDisplay.from_kernel(RBF(factor * middle), X, y, ax=ax, colorbar=False)
    ax.set_title(f"{factor:g} × median distance")
    ax.set(xlabel="grower", ylabel="grower" if ax is axes[0] else "")
figure.colorbar(display.image_, ax=axes, label="kernel", shrink=0.85)
