"""EXP3: exponential weights, drawn from along a binary tree of their sums."""

import numpy as np

from corollary.core.draws import uniform
from corollary.core.jit import part

# The anytime rate stays the same while the round number grows by this share.
RATE_STEP = 1.0 / 16.0
# Weights are scaled anew when their sum has fallen below this; any number far above the smallest
# double will do.
SMALL = 1e-3


@part
def choose(rule, r, t, stream):
    """Draw an arm by its weight; return it with its probability."""
    own, tree = rule.scalars[r], rule.tree[r]
    n, leaves = rule.losses.shape[1], rule.tree.shape[1] // 2
    if t >= own.next_change:
        _change_rate(rule.rate, n, t, own)
        _rebuild(own, rule.losses[r], tree)
    elif not tree[1] > SMALL:
        _rebuild(own, rule.losses[r], tree)
    own.rates += own.rate
    u = uniform(stream) * tree[1]
    node = 1
    while node < leaves:
        node *= 2
        if u >= tree[node] and tree[node + 1] > 0.0:
            u -= tree[node]
            node += 1
    arm = min(node - leaves, n - 1)
    return arm, tree[leaves + arm] / tree[1]


@part
def learn(rule, r, arm, probability, loss):
    """Divide the loss by its probability and lower the arm's weight, up to the root."""
    own, losses, tree = rule.scalars[r], rule.losses[r], rule.tree[r]
    hallucinated = loss / probability
    own.squares += own.rate * loss * hallucinated
    losses[arm] += hallucinated
    node = tree.shape[0] // 2 + arm
    tree[node] = np.exp(-own.rate * (losses[arm] - own.reference))
    while node > 1:
        node //= 2
        tree[node] = tree[2 * node] + tree[2 * node + 1]


@part
def _change_rate(constant, n, t, own):
    """Set the rate of the rounds from t on, and until when it holds."""
    if constant > 0.0:
        own.rate, own.next_change = constant, 1e300
    else:
        last = t + np.floor(RATE_STEP * t)
        own.rate, own.next_change = np.sqrt(np.log(n) / (n * last)), last + 1.0


@part
def _rebuild(own, losses, tree):
    """Scale weights so that the largest is one, and sum them up along the tree."""
    n, leaves = losses.shape[0], tree.shape[0] // 2
    own.reference = losses[0]
    for i in range(1, n):
        own.reference = min(own.reference, losses[i])
    for i in range(leaves):
        tree[leaves + i] = np.exp(-own.rate * (losses[i] - own.reference)) if i < n else 0.0
    for node in range(leaves - 1, 0, -1):
        tree[node] = tree[2 * node] + tree[2 * node + 1]


@part
def note_inequality(rule, r, paid, sides):
    """Write both sides of the inequality that holds in every run."""
    own, losses = rule.scalars[r], rule.losses[r]
    n, least = losses.shape[0], losses[0]
    for i in range(1, n):
        least = min(least, losses[i])
    # One arm has nothing to learn, and a rate of zero.
    entropy = np.log(n) / own.rate if n > 1 else 0.0
    sides[0], sides[1] = paid - least, entropy + 0.5 * own.squares
