"""
Optimise without ever doing harm
================================

A machine is tuned by trying settings. Its quality is unknown, and below the red line it breaks.
Safe Bayesian optimisation starts from one setting known to be safe, asks only where the lower end
of the band is above the line, and so enlarges the safe set (the green strip) while it climbs. The
dotted curve is the truth, which the optimiser never sees. The second hill is higher, but beyond a
valley that no safe step crosses: what is found is the best that can be *reached*. Uncertainty
sampling, below on the right, learns the whole curve and breaks the machine on the way.
"""

import matplotlib.pyplot as plt
import numpy as np

from corollary.active import ActiveLearningDisplay, Prior, SafeITL, UncertaintySampler
from corollary.kernels import RBF


def quality(X):
    """Return the quality of settings: a hill, a valley and a higher hill."""
    x = X[:, 0]
    return 1.4 * np.exp(-(((x - 2.2) / 1.1) ** 2)) + 2.0 * np.exp(-(((x - 7.5) / 0.8) ** 2)) - 0.5


def run(learner, n):
    """Ask n times, and tell what was observed."""
    rng = np.random.default_rng(0)
    for _ in range(n):
        query = learner.ask()
        learner.tell(query, quality(query.X) + 0.05 * rng.standard_normal(1))
    return learner


settings = np.linspace(0.0, 10.0, 201)[:, None]
prior = Prior(RBF(0.9), noise=0.05**2)
sampler = run(UncertaintySampler(settings, prior), 20)
learners = {
    f"safe optimisation, {n} queries": run(SafeITL(settings, prior, [[1.5]], delta=0.05), n)
    for n in (2, 5, 20)
}
learners["uncertainty sampling, 20 queries"] = sampler

figure, axes = plt.subplots(2, 2, figsize=(11, 6.5), sharex=True, sharey=True, layout="constrained")
for ax, (title, learner) in zip(axes.flat, learners.items()):
    display = ActiveLearningDisplay.from_learner(learner, truth=quality, ax=ax, colorbar=False)
    display.path_.set_clim(1, 20)
    ax.axhline(0.0, color="C3", linewidth=1.2)
    ax.get_legend().remove()
    ax.set(title=title, xlabel="setting", ylabel="quality", ylim=(-1.8, 2.6))
    ax.label_outer()
axes[0, 0].legend(fontsize="small", ncols=2, loc="upper right")
figure.colorbar(display.path_, ax=axes, label="query", ticks=[1, 5, 10, 15, 20], shrink=0.8)

# %%
# Queries that broke the machine:
for title, learner in learners.items():
    print(f"{title:33} {int((quality(learner.X_) < 0).sum()):2}")
best = learners["safe optimisation, 20 queries"].best()
print(f"best setting found: {best[0]:.2f}, of quality {quality(best[None])[0]:.2f}")
