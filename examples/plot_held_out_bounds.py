"""
How fast a held-out bound closes in
===================================

A model makes errors on 3% of the population. The exact bound, the empirical Bernstein bound and
Hoeffding's are computed from test sets of growing size; the band shows where the exact bound falls
in 90 of 100 repetitions.
"""

import matplotlib.pyplot as plt
import numpy as np

from corollary.theory import clopper_pearson_upper, empirical_bernstein_radius, hoeffding_bound

truth, delta, repetitions = 0.03, 0.05, 200
sizes = np.unique(np.geomspace(20, 5000, 25).astype(int))
random = np.random.default_rng(0)
exact, bernstein, hoeffding = (np.empty((len(sizes), repetitions)) for _ in range(3))
for i, n in enumerate(sizes):
    for j, wrong in enumerate(random.binomial(n, truth, size=repetitions)):
        losses = np.r_[np.ones(wrong), np.zeros(n - wrong)]
        exact[i, j] = clopper_pearson_upper(int(wrong), int(n), delta=delta)
        bernstein[i, j] = losses.mean() + empirical_bernstein_radius(losses, delta=delta)
        hoeffding[i, j] = losses.mean() + hoeffding_bound(n_samples=int(n), delta=delta)

figure, axes = plt.subplots(figsize=(7, 4))
axes.fill_between(sizes, *np.quantile(exact, [0.05, 0.95], axis=1), alpha=0.25)
axes.plot(sizes, np.median(exact, axis=1), label="exact (Clopper-Pearson)")
axes.plot(sizes, np.median(bernstein, axis=1), label="empirical Bernstein")
axes.plot(sizes, np.median(hoeffding, axis=1), label="Hoeffding")
axes.axhline(truth, color="black", linewidth=1, linestyle=":", label="true error rate")
axes.set(xscale="log", ylim=(0, 0.4), xlabel="test rows", ylabel="bound on the error rate at 95%")
axes.legend(frameon=False)
figure.tight_layout()

# %%
# The share of repetitions in which a bound lies below the truth may be at most 5%.
for name, bound in {"exact": exact, "Bernstein": bernstein, "Hoeffding": hoeffding}.items():
    print(f"{name:10} violated in {(bound < truth).mean():.1%} of repetitions")
