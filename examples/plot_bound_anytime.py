"""
Looking after every row
=======================

An interval that is right in 95 of 100 cases at one number of rows is wrong far more often for
someone who looks after every row. A confidence sequence is right at all times at once. Left: limits
for one stream of coins with a share of heads of 0.3. Right: the share of streams whose limits have
excluded the truth at least once so far.
"""

import matplotlib.pyplot as plt
import numpy as np

from corollary.theory import betting_sequence, hoeffding_bound, stitched_sequence

truth, delta, n, streams = 0.3, 0.05, 1500, 80
random = np.random.default_rng(0)
coins = (random.random((streams, n)) < truth).astype(float)
times = np.arange(1, n + 1)
means = coins.cumsum(axis=1) / times

radius = hoeffding_bound(n_samples=1, delta=delta, sides=2) / np.sqrt(times)
limits = {
    "Hoeffding, for one time": (means - radius, means + radius),
    "betting": tuple(np.stack(both) for both in zip(*(betting_sequence(x, delta) for x in coins))),
    "stitched": tuple(
        np.stack(both) for both in zip(*(stitched_sequence(x, delta) for x in coins))
    ),
}

# %%
# The price of looking at all times is moderate.
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for place, (name, (lower, upper)) in enumerate(limits.items()):
    left.plot(times, lower[0], color=f"C{place}", label=name)
    left.plot(times, upper[0], color=f"C{place}")
    outside = (lower > truth) | (upper < truth)
    ever = np.maximum.accumulate(outside, axis=1).mean(axis=0)
    right.plot(times, ever, color=f"C{place}", label=name)
left.axhline(truth, color="black", linewidth=1, linestyle=":", label="truth")
left.set(xscale="log", xlabel="rows so far", ylabel="limits of the mean", ylim=(0, 1))
right.axhline(delta, color="black", linewidth=1, linestyle=":", label="promised")
right.set(xscale="log", xlabel="rows so far", ylabel="streams that ever left their limits")
right.set_ylim(0, None)
for ax in (left, right):
    ax.legend(fontsize="small", frameon=False)

# %%
for name, (lower, upper) in limits.items():
    print(f"{name:24} width after {n} rows: {np.mean(upper[:, -1] - lower[:, -1]):.3f}")
