"""
Regret beside its bound
=======================

Hedge spreads a unit among ten choices and sees all their losses. What it loses beyond the best
choice, its regret, is bounded for every sequence, also for one that is made against it. Each
picture shows the regret after every round and the bound that theory allows at that round, for a
horizon that is known in advance and for one that is not.
"""

import matplotlib.pyplot as plt
import numpy as np

from corollary.online import Hedge, RegretDisplay

m, n = 2000, 10
random = np.random.default_rng(0)

# Nine choices are coin flips, the first is a little better.
luck = (random.uniform(size=(m, n)) < np.where(np.arange(n) == 0, 0.4, 0.5)).astype(float)

# An adversary: whatever Hedge likes best now, loses.
hostile, probe = np.zeros((m, n)), Hedge()
probe.partial_fit(hostile[:1])
for t in range(1, m):
    hostile[t, np.argmax(probe.predict())] = 1.0
    probe.partial_fit(hostile[t : t + 1])

figure, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True)
for ax, losses, title in zip(axes, (luck, hostile), ("coins", "an adversary")):
    runs = {"known horizon": Hedge(horizon=m).run(losses), "unknown": Hedge().run(losses)}
    RegretDisplay(runs).plot(ax)
    ax.set_title(title)
figure.tight_layout()
