"""
Digits in few numbers
=====================

Principal components of 8 x 8 pictures of digits. On the left what each component explains, and how
many are needed for 90% of the variance; on the right a digit from 1, 5, 10 and 21 numbers instead
of 64. No other subspace of these dimensions loses less.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from corollary.decomposition import PCA, ExplainedVarianceDisplay

X = load_digits().data
enough = PCA(0.9).fit(X).n_components_
figure = plt.figure(figsize=(10, 3.6), layout="constrained")
left, right = figure.subfigures(1, 2, width_ratios=(1, 1.2))
ExplainedVarianceDisplay.from_estimator(PCA(40).fit(X), chosen=enough, ax=left.subplots())
counts = (1, 5, 10, enough, 64)
for ax, k in zip(right.subplots(1, len(counts)), counts):
    model = PCA(k).fit(X)
    picture = model.inverse_transform(model.transform(X[:1])).reshape(8, 8)
    ax.imshow(picture, cmap="gray_r", vmin=0, vmax=16)
    ax.set_title(f"{k} numbers")
    ax.set_axis_off()
