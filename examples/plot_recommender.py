"""
Who would like what
===================

A table of 80 users and 30 items, whose tastes have two dimensions, is seen in part. It is completed
with a penalty on the sum of singular values, chosen by entries that were held out. Once half of the
table is seen this errs little more than an oracle that knows the items; with little of it, hardly
less than zero, the mean. A dual bound says how far each completion is from optimal at most.
"""

import matplotlib.pyplot as plt
import numpy as np

from corollary.datasets import LowRankTable
from corollary.decomposition import SoftImpute

items = np.random.default_rng(0).normal(size=(30, 2))
shares = np.array([0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8])
completed, oracle, zero = [], [], []
for share in shares:
    world = LowRankTable(items, noise=0.5, seen=float(share))
    X, M = world.sample(80, random_state=1)
    unseen = np.isnan(X)
    model = SoftImpute(n_alphas=10, tol=1e-3, random_state=0).fit(X)
    completed.append(np.mean((model.transform(X) - M)[unseen] ** 2))
    oracle.append(np.mean((world.bayes_rule(X) - M)[unseen] ** 2))
    zero.append(np.mean(M[unseen] ** 2))

figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
ax.plot(shares, zero, "o:", color="0.5", label="zero")
ax.plot(shares, completed, "o-", label="low-rank completion")
ax.plot(shares, oracle, "o--", label="oracle that knows the items")
ax.axhline(world.noise**2, color="0.8", zorder=0)
ax.annotate("noise", (0.72, world.noise**2), color="0.5", va="bottom")
ax.set(xlabel="share of the table that is seen", ylabel="mean squared error on the rest", ylim=0)
ax.legend()
