"""
The law of a conformal method's coverage
========================================

Split-conformal intervals cover a new row with probability at least the wanted level *on average
over calibration sets*. Given one calibration set of n rows, coverage is random with a known Beta
law.
The histogram repeats the whole procedure; the curve is the theorem.
"""

import matplotlib.pyplot as plt
import numpy as np

from corollary.conformal import conformal_quantile, coverage_law

n, alpha, repetitions = 100, 0.1, 4000
random = np.random.default_rng(0)
# With continuous scores the law does not depend on their distribution: take uniform ones, for
# which the coverage of a threshold is the threshold itself.
scores = random.uniform(size=(repetitions, n))
coverage = [conformal_quantile(row, 1 - alpha) for row in scores]

figure, axes = plt.subplots(figsize=(7, 4))
axes.hist(coverage, bins=60, density=True, alpha=0.4, label=f"{repetitions} calibration sets")
grid = np.linspace(0.75, 1, 400)
axes.plot(grid, coverage_law(n, alpha).pdf(grid), label="Beta law")
axes.axvline(1 - alpha, color="black", linewidth=1, linestyle=":", label="wanted coverage")
axes.set(xlabel="coverage given the calibration set", ylabel="density", xlim=(0.75, 1))
axes.legend(frameon=False)
figure.tight_layout()
