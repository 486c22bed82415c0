"""
How wide a kernel should be, and how good an estimate can be
=============================================================

Left: two clusters of different spread. The normal reference is too wide for both; the bandwidth
under which rows are likeliest by the kernels of the others, and one for each row by its neighbours,
follow the data. Middle: contours that hold half, 80% and 95% of a density of two columns. Right:
the mean squared error of shrunken means of a normal law lies on the bound of Cramér and Rao for
their bias, and near zero below that of all unbiased estimators.
"""

import matplotlib.pyplot as plt
import numpy as np

from corollary.density import (
    DensityDisplay,
    KernelDensity,
    Normal,
    cramer_rao_bound,
    draw_outcomes,
    estimator_moments,
)

rng = np.random.default_rng(0)
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(14, 4))

x = np.concatenate([rng.normal(-2, 0.15, 150), rng.normal(2, 1.0, 150)])[:, None]
grid = np.linspace(-5, 6, 600)[:, None]
for bandwidth in ("reference", "likelihood", "neighbors"):
    model = KernelDensity(bandwidth=bandwidth).fit(x)
    left.plot(grid, np.exp(model.score_samples(grid)), label=bandwidth)
left.plot(x, np.zeros(len(x)), "|", color="0.5")
left.set(xlabel="x", ylabel="density", ylim=(0, None))
left.legend(frameon=False)

angle = rng.uniform(0, 2 * np.pi, 400)
ring = np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(0, 0.12, (400, 2))
model = KernelDensity(bandwidth="likelihood").fit(ring)
DensityDisplay.from_estimator(model, ring, ax=middle)
middle.set(xlabel="first column", ylabel="second column")

n, shrinkage = 10, 0.7
means = np.linspace(-2, 2, 41)
family = Normal(std=1.0)
errors = [
    estimator_moments(
        lambda x: shrinkage * x.mean(axis=1),
        draw_outcomes(family, [mean], n, 2000, random_state=0),
    ).mean_squared_error[0, 0]
    for mean in means
]
information = family.fisher_information([0.0], n)[0, 0]
biased = [
    cramer_rao_bound(information, bias=(shrinkage - 1) * mean, bias_slope=shrinkage - 1)
    for mean in means
]
right.plot(means, errors, ".", label=f"{shrinkage} times the mean, simulated")
right.plot(means, [bound.mean_squared_error for bound in biased], label="its bound")
right.axhline(
    cramer_rao_bound(information).variance, color="0.4", linestyle="--", label="bound without bias"
)
right.set(xlabel="true mean", ylabel="mean squared error")
right.legend(frameon=False)
figure.tight_layout()
plt.show()
