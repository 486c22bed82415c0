"""Compiled growth of one tree by exact splits: sorted running sums.

Every column keeps its own order of the entries, sorted once; a split moves the entries of each
order to the children without disturbing it, so that nothing is sorted again. The criteria are
those of ``_histogram`` (squared error if ``impurity`` is None), and the absolute error if
``levels`` holds the distinct targets, ascending: then targets are their ranks.
"""

from typing import NamedTuple

import numpy as np

from corollary.core.jit import jit

GINI, ENTROPY, ERROR = 1, 2, 3


class Rules(NamedTuple):
    """When to split; ``min_gain`` is a sum over rows, limits are large where there is none."""

    max_depth: int
    min_samples_split: int
    min_samples_leaf: int
    min_weight_leaf: float
    min_gain: float
    max_leaf_nodes: int
    max_features: int


class Work(NamedTuple):
    """Columns (features, entries), orders of them, targets, weights, and room.

    ``spare`` has room for entries, ``keys`` for values, ``side`` marks entries on the left,
    ``sums`` takes losses left and right of every cut and two Fenwick trees, ``room`` categories
    and the sums on the left, ``state`` is that of the random numbers.
    """

    columns: np.ndarray
    order: np.ndarray
    target: np.ndarray
    weight: np.ndarray
    spare: np.ndarray
    keys: np.ndarray
    side: np.ndarray
    sums: np.ndarray
    room: np.ndarray
    features: np.ndarray
    state: np.ndarray
    queue: np.ndarray


class Grown(NamedTuple):
    """The tree: feature, side of missing values, left child, first and last entry; and so on.

    ``bits`` marks categories that go left, one row for each node, if there are any.
    """

    nodes: np.ndarray
    threshold: np.ndarray
    total: np.ndarray
    gain: np.ndarray
    bits: np.ndarray


class Monotone(NamedTuple):
    """Sign of each column's constraint, and between which values the answers of a node must lie.

    The answer is the mean target, or the share of the second of two classes.
    """

    signs: np.ndarray
    low: np.ndarray
    high: np.ndarray


@jit
def _explained(impurity, total, left):
    """Sum over rows of what a split explains, up to a constant: larger is better."""
    wl = left[0]
    wr = total[0] - wl
    a = b = 0.0
    for c in range(1, len(total)):
        x = left[c]
        y = total[c] - x
        if impurity == GINI:
            a += x * x
            b += y * y
        elif impurity == ENTROPY:
            a += x * np.log(x) if x > 0.0 else 0.0
            b += y * np.log(y) if y > 1e-12 * total[c] else 0.0
        else:
            a = x if x > a else a
            b = y if y > b else b
    if impurity == GINI:
        return (a / wl if wl > 0.0 else 0.0) + b / wr
    if impurity == ENTROPY:
        return a + b - (wl * np.log(wl) if wl > 0.0 else 0.0) - wr * np.log(wr)
    return a + b


@jit
def _rank_categories(order, target, weight, present, channel, keys, spare, room):
    """Arrange entries by category, categories sorted by mean target or share of a class.

    On entry ``keys`` holds the codes of the entries in ``order``, ascending; on return the places
    of their categories, in the order of ``spare``. ``channel`` is the class, -1 for the mean.
    """
    n_codes, i = 0, 0
    while i < present:
        code, mass, share, begin = keys[i], 0.0, 0.0, i
        while i < present and keys[i] == code:
            t, w = target[order[i]], weight[order[i]]
            mass += w
            if channel < 0:
                share += w * t
            elif t == channel:
                share += w
            i += 1
        share /= mass
        j = n_codes
        while j > 0 and room[0, j - 1] > share:
            for c in range(3):
                room[c, j] = room[c, j - 1]
            j -= 1
        room[0, j] = share
        room[1, j] = begin
        room[2, j] = i
        n_codes += 1
    place = 0
    for rank in range(n_codes):
        for i in range(int(room[1, rank]), int(room[2, rank])):
            spare[place] = order[i]
            keys[place] = rank
            place += 1


@jit
def _absolute_losses(levels, order, target, weight, n, lost, losses, counts, sums):
    """Write into losses[k] the least sum of w |y - c| over the first k entries.

    Entries n to n + lost, those without a value, come in before. Two Fenwick trees over the ranks
    of targets hold weights and weighted targets; both are left empty.
    """
    size, top = len(levels), 1
    while 2 * top <= size:
        top *= 2
    all_weight = all_sum = 0.0
    losses[0] = 0.0
    for step in range(-lost, n):
        e = order[n - 1 - step] if step < 0 else order[step]
        rank, w = np.int64(target[e]), weight[e]
        y = levels[rank]
        all_weight += w
        all_sum += w * y
        j = rank + 1
        while j <= size:
            counts[j] += w
            sums[j] += w * y
            j += j & -j
        if step < -1:
            continue
        below, weight_below, sum_below, jump = 0, 0.0, 0.0, top
        while jump > 0:
            if below + jump <= size and 2.0 * (weight_below + counts[below + jump]) < all_weight:
                below += jump
                weight_below += counts[below]
                sum_below += sums[below]
            jump //= 2
        c = levels[below if below < size else size - 1]
        losses[step + 1] = all_sum - 2.0 * sum_below + c * (2.0 * weight_below - all_weight)
    for i in range(n + lost):
        j = np.int64(target[order[i]]) + 1
        while j <= size:
            counts[j] = 0.0
            sums[j] = 0.0
            j += j & -j


@jit
def _scan(impurity, levels, rules, work, total, monotone, node, f, n, missing, best):
    """Find the best cut of n arranged entries: (score, last on the left, missing left)."""
    target, weight, spare, keys, sums = work.target, work.weight, work.spare, work.keys, work.sums
    present = n - missing
    left = work.room[3]
    where, to_left = -1, False
    for side in range(2 if missing > 0 else 1):
        for c in range(len(total)):
            left[c] = 0.0
        outside = missing if side == 1 else np.int64(0)
        if levels is not None:
            _absolute_losses(
                levels, spare, target, weight, present, outside, sums[0], sums[2], sums[3]
            )
            # Right sides are left sides of the entries in reverse.
            for turn in range(2):
                for i in range(present // 2):
                    e = spare[i]
                    spare[i] = spare[present - 1 - i]
                    spare[present - 1 - i] = e
                if turn == 0:
                    lost = missing - outside
                    _absolute_losses(
                        levels, spare, target, weight, present, lost, sums[1], sums[2], sums[3]
                    )
        for i in range(present, present + outside):
            t, w = target[spare[i]], weight[spare[i]]
            left[0] += w
            if impurity is None:
                left[1] += w * t
            else:
                left[1 + np.int64(t)] += w
        # All values can go left only if missing ones stay on the right.
        for i in range(present if missing > outside else present - 1):
            t, w = target[spare[i]], weight[spare[i]]
            left[0] += w
            if impurity is None:
                left[1] += w * t
            else:
                left[1 + np.int64(t)] += w
            if i + 1 < present and keys[i] == keys[i + 1]:
                continue
            wl, n_left = left[0], i + 1 + outside
            wr = total[0] - wl
            if n_left < rules.min_samples_leaf or n - n_left < rules.min_samples_leaf:
                continue
            if wl < rules.min_weight_leaf or wr < rules.min_weight_leaf:
                continue
            if monotone is not None and monotone.signs[f] != 0:
                answer = 1 if impurity is None else 2
                y, z = left[answer] / wl, (total[answer] - left[answer]) / wr
                if min(y, z) < monotone.low[node] or max(y, z) > monotone.high[node]:
                    continue
                if (y - z) * monotone.signs[f] > 0:
                    continue
            if levels is not None:
                score = -sums[0, i + 1] - sums[1, present - 1 - i]
            elif impurity is None:
                d = left[1] * wr - (total[1] - left[1]) * wl
                score = d * d / (wl * wr)
            else:
                score = _explained(impurity, total, left)
            if score > best:
                best, where = score, i
                to_left = side == 1 if missing > 0 else wl >= wr
    return best, where, to_left


@jit
def _search(kinds, impurity, levels, rules, work, grown, monotone, node, start, stop):
    """Find the best split of a node among features drawn at random; return its gain, or -1.

    As many features are drawn as the rules say, and more while all drawn are constant.
    """
    features, state, spare, keys = work.features, work.state, work.spare, work.keys
    total, n, n_features = grown.total[node], stop - start, len(features)
    best, visited, varies = -np.inf, 0, False
    while visited < n_features and (visited < rules.max_features or not varies):
        if rules.max_features < n_features:
            state[0] = state[0] * 6364136223846793005 + 1442695040888963407
            j = visited + ((((state[0] >> 33) & 0x7FFFFFFF) * (n_features - visited)) >> 31)
            f = features[j]
            features[j] = features[visited]
            features[visited] = f
        f = features[visited]
        visited += 1
        order = work.order[f, start:stop]
        channel = -1 if impurity is None else 0
        while channel < 0 or channel < (len(total) - 1 if impurity is not None else 0):
            missing = np.int64(0)
            for i in range(n):
                spare[i] = order[i]
                keys[i] = work.columns[f, order[i]]
                if np.isnan(keys[i]):
                    missing += 1
            if missing < n and (missing > 0 or keys[0] != keys[n - 1]):
                varies = True
            else:
                break
            if kinds is not None and kinds[f] > 0:
                _rank_categories(
                    order, work.target, work.weight, n - missing, channel, keys, spare, work.room
                )
            score, where, to_left = _scan(
                impurity, levels, rules, work, total, monotone, node, f, n, missing, best
            )
            if where >= 0:
                best = score
                grown.nodes[node, 0], grown.nodes[node, 1] = f, to_left
                if kinds is not None and kinds[f] > 0:
                    for code in range(256):  # those not seen go with the missing
                        grown.bits[node, code] = to_left
                    for i in range(n - missing):
                        own = np.int64(work.columns[f, spare[i]])
                        grown.bits[node, own] = i <= where
                elif where + 1 < n - missing:
                    below, above = keys[where], keys[where + 1]
                    middle = 0.5 * below + 0.5 * above
                    # Between neighbouring floating-point numbers there is no middle.
                    grown.threshold[node] = middle if below <= middle < above else below
                else:
                    grown.threshold[node] = np.inf
            channel += 1
            if kinds is None or kinds[f] == 0 or impurity is None:
                break
    if best == -np.inf:
        return -1.0
    if levels is not None:
        _absolute_losses(
            levels, work.order[0, start:stop], work.target, work.weight, n, np.int64(0),
            work.sums[0], work.sums[2], work.sums[3],
        )  # fmt: skip
        best += work.sums[0, n]
        return best if best > 0.0 else 0.0
    if impurity is None:
        return best / total[0]
    for c in range(len(total)):
        work.room[3, c] = 0.0
    best -= _explained(impurity, total, work.room[3])
    return best if best > 0.0 else 0.0


@jit
def _partition(kinds, impurity, work, grown, node, child, start, stop):
    """Move the entries of a node to its children in every order; return where the right begins."""
    f, to_left = grown.nodes[node, 0], grown.nodes[node, 1] != 0
    side, spare, target = work.side, work.spare, work.target
    middle = start
    for c in range(grown.total.shape[1]):
        grown.total[child, c] = 0.0
        grown.total[child + 1, c] = 0.0
    for i in range(start, stop):
        e = work.order[f, i]
        x = work.columns[f, e]
        if np.isnan(x):
            side[e] = to_left
        elif kinds is not None and kinds[f] > 0:
            side[e] = grown.bits[node, np.int64(x)]
        else:
            side[e] = x <= grown.threshold[node]
        middle += side[e]
        here, w, t = child if side[e] else child + 1, work.weight[e], target[e]
        grown.total[here, 0] += w
        if impurity is None:
            grown.total[here, 1] += w * t
        else:
            grown.total[here, 1 + np.int64(t)] += w
    for j in range(work.order.shape[0]):
        order, a, b = work.order[j], start, 0
        for i in range(start, stop):
            e = order[i]
            if side[e]:
                order[a] = e
                a += 1
            else:
                spare[b] = e
                b += 1
        for i in range(b):
            order[a + i] = spare[i]
    return middle


@jit
def _bound_children(impurity, monotone, grown, node, child):
    """Bound the answers below a split by the mean of its sides."""
    total, low, high = grown.total, monotone.low, monotone.high
    answer, sign = 1 if impurity is None else 2, monotone.signs[grown.nodes[node, 0]]
    y, z = total[child, answer] / total[child, 0], total[child + 1, answer] / total[child + 1, 0]
    for side in range(2):
        low[child + side] = low[node]
        high[child + side] = high[node]
    # Within the bounds also if the last digit of a sum has left them.
    middle = min(max(0.5 * y + 0.5 * z, low[node]), high[node])
    if sign > 0:
        high[child] = low[child + 1] = middle
    elif sign < 0:
        low[child] = high[child + 1] = middle


@jit
def grow_exact(kinds, impurity, levels, rules, work, grown, monotone):
    """Grow a tree from all entries; return its number of nodes.

    ``kinds`` says how many categories a column has, 0 for numbers; None if all are. Depth first,
    or the largest gain first if leaves are limited. ``total`` holds the root's. A split of
    a constrained column must keep the order of its sides and the bounds of its node; the mean of
    both sides then bounds what is below them.
    """
    nodes, gain, queue, target = grown.nodes, grown.gain, work.queue, work.target
    # Not the literal 0, for which functions would be compiled a second time.
    n_nodes, n_open, child, depth = np.int64(1), 0, np.int64(0), 0
    start, middle, end = np.int64(0), np.int64(0), work.order.shape[1]
    best_first = rules.max_leaf_nodes < end
    while True:
        for node in range(child, n_nodes):
            a, b = (start, middle) if child > 0 and node == child else (middle, end)
            nodes[node, 0] = nodes[node, 2] = -1
            nodes[node, 1] = 0
            nodes[node, 3], nodes[node, 4] = a, b
            gain[node] = grown.threshold[node] = 0.0
            varies = False
            for i in range(a + 1, b):
                if target[work.order[0, i]] != target[work.order[0, a]]:
                    varies = True
                    break
            if not varies or depth >= rules.max_depth or b - a < rules.min_samples_split:
                continue
            found = _search(kinds, impurity, levels, rules, work, grown, monotone, node, a, b)
            if found < rules.min_gain:
                nodes[node, 0] = -1
                continue
            gain[node] = found
            queue[n_open, 0], queue[n_open, 1] = node, depth
            n_open += 1
        if n_open == 0 or n_nodes > 2 * rules.max_leaf_nodes - 2:
            break
        n_open -= 1
        chosen = n_open
        if best_first:
            for k in range(n_open):
                if gain[queue[k, 0]] > gain[queue[chosen, 0]]:
                    chosen = k
        node, depth = queue[chosen, 0], queue[chosen, 1] + 1
        queue[chosen, 0], queue[chosen, 1] = queue[n_open, 0], queue[n_open, 1]
        start, end = nodes[node, 3], nodes[node, 4]
        child = n_nodes
        n_nodes += 2
        nodes[node, 2] = child
        middle = _partition(kinds, impurity, work, grown, node, child, start, end)
        if monotone is not None:
            _bound_children(impurity, monotone, grown, node, child)
    for k in range(n_open):
        nodes[queue[k, 0], 0] = -1
        gain[queue[k, 0]] = 0.0
    return n_nodes
