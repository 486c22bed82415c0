"""
The blind spot of a projection, and its cure
============================================

The classical detector of anomalies projects rows on a few leading directions, fits a mixture of
Gaussians to the projections and scores a row by its negative log density. A row that is strange
only across these directions has an ordinary projection: the detector cannot see it. What the
projection loses of a row, the reconstruction error, is exactly what it does not see; added to the
score in units of its size, it makes the density one of the whole space.
"""

# %%
# Handwritten digits without zeros are normal. Of other digits we move some across the twenty
# directions that are kept, by as much as these directions vary, and ask both detectors about
# ordinary digits, zeros, and the digits that were moved.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics import roc_auc_score

from corollary.anomaly import AnomalyDetector, AnomalyDisplay, PCAMixture

X, y = load_digits(return_X_y=True)
normal, zeros = X[y != 0], X[y == 0]
learn, fresh = normal[::2], normal[1::2]
detectors = {
    "projection alone": PCAMixture(20, 8, residual=False),
    "with the residual": PCAMixture(20, 8),
}
models = {
    name: AnomalyDetector(score, standardize=False, random_state=0).fit(learn)
    for name, score in detectors.items()
}
pca = models["projection alone"].measure_.pca
across = np.random.default_rng(0).normal(size=(200, 64))
across -= across @ pca.components_.T @ pca.components_
across *= 25 / np.linalg.norm(across, axis=1, keepdims=True)
moved = fresh[:200] + across

# %%
# P-values of ordinary rows are uniform for both. Moved rows look ordinary to the projection.
figure, axes = plt.subplots(1, 2, figsize=(9, 3.5), sharey=True)
for ax, (name, model) in zip(axes, models.items()):
    for label, rows in (("digits", fresh), ("zeros", zeros), ("moved across", moved)):
        p = np.sort(model.p_values(rows))
        ax.plot(p, np.linspace(0, 1, len(p)), label=label)
    area = roc_auc_score(
        np.repeat([0, 1], [len(fresh), 200]), -model.score_samples(np.vstack([fresh, moved]))
    )
    ax.set(title=f"{name} (area {area:.2f} for moved rows)", xlabel="p-value")
axes[0].set_ylabel("share of rows with at most this p-value")
axes[0].legend()

# %%
# At a false-discovery rate of ten per cent the cure calls the moved rows and few others.
asked = np.vstack([fresh, moved])
for name, model in models.items():
    print(f"{name}: {model.discover(asked, level=0.1)}")

# %%
# Benign tumours are normal here. The most unusual ones of the others, and which measurements make
# them so:
cancer = load_breast_cancer(as_frame=True)
benign = cancer.data[cancer.target == 1]
model = AnomalyDetector("mahalanobis", random_state=0).fit(benign)
AnomalyDisplay.from_estimator(model, cancer.data[cancer.target == 0], n_rows=8)
plt.tight_layout()
plt.show()
