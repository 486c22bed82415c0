"""Collapsed Gibbs sampling of the partition of a Dirichlet-process mixture.

A cluster is known by its count, the posterior mean of its location, and the lower Cholesky factor
of its posterior scale matrix, which a row changes by a rank-one update. Clusters have stable
numbers: ``active`` is a permutation of all of them, the occupied ones first, ``place`` its inverse.
"""

import numpy as np

from corollary.core.draws import uniform
from corollary.core.jit import jit, part

#: A downdate keeps at least this share of a squared diagonal entry, which only rounding can take.
LEAST = 1e-14


@part
def rank_one(factor, v, sign):
    """Add or subtract v v' in a Cholesky factor, and return the log of its determinant."""
    log_det = 0.0
    d = len(v)
    for j in range(d):
        old = factor[j, j]
        new = np.sqrt(max(old * old + sign * v[j] * v[j], LEAST * old * old))
        c, s = new / old, v[j] / old
        factor[j, j] = new
        log_det += np.log(new)
        for i in range(j + 1, d):
            factor[i, j] = (factor[i, j] + sign * s * v[i]) / c
            v[i] = c * v[i] - s * factor[i, j]
    return log_det


@part
def add_row(x, k, kappa, clusters, v):
    """Put a row into a cluster."""
    counts, means = clusters.counts, clusters.means
    factors, log_dets = clusters.factors, clusters.log_dets
    kappa = kappa + counts[k]
    root = np.sqrt(kappa / (kappa + 1.0))
    for i in range(len(x)):
        step = x[i] - means[k, i]
        v[i] = root * step
        means[k, i] += step / (kappa + 1.0)
    counts[k] += 1
    log_dets[k] = rank_one(factors[k], v, 1.0)


@part
def remove_row(x, k, kappa, clusters, v):
    """Take a row out of a cluster that keeps others."""
    counts, means = clusters.counts, clusters.means
    factors, log_dets = clusters.factors, clusters.log_dets
    kappa = kappa + counts[k]
    root = np.sqrt((kappa - 1.0) / kappa)
    for i in range(len(x)):
        means[k, i] -= (x[i] - means[k, i]) / (kappa - 1.0)
        v[i] = root * (x[i] - means[k, i])
    counts[k] -= 1
    log_dets[k] = rank_one(factors[k], v, -1.0)


@part
def open_cluster(prior, clusters):
    """Occupy a free cluster without rows, and return its number."""
    counts, means = clusters.counts, clusters.means
    factors, log_dets = clusters.factors, clusters.log_dets
    k = clusters.active[clusters.size[0]]
    clusters.size[0] += 1
    counts[k] = 0
    log_dets[k] = prior.log_det
    for i in range(len(prior.mean)):
        means[k, i] = prior.mean[i]
        for j in range(i + 1):
            factors[k, i, j] = prior.factor[i, j]
    return k


@part
def close_cluster(k, clusters):
    """Free a cluster."""
    active, place, size = clusters.active, clusters.place, clusters.size
    size[0] -= 1
    here, last = place[k], size[0]
    moved = active[last]
    active[here], active[last] = moved, k
    place[moved], place[k] = here, last


@part
def log_predictive(x, k, prior, heights, clusters, v):
    """Return the log density of a row given those of a cluster, a Student law."""
    means, factors = clusters.means, clusters.factors
    n = clusters.counts[k]
    kappa, square = prior.kappa + n, 0.0
    for i in range(len(x)):
        t = x[i] - means[k, i]
        for j in range(i):
            t -= factors[k, i, j] * v[j]
        t /= factors[k, i, i]
        v[i] = t
        square += t * t
    power = 0.5 * (prior.dof + n + 1.0)
    return heights[n] - clusters.log_dets[k] - power * np.log1p(square * kappa / (kappa + 1.0))


@part
def cluster_evidence(k, prior, evidences, clusters):
    """Return the log evidence of the rows of a cluster."""
    n = clusters.counts[k]
    return evidences[n] - (prior.dof + n) * clusters.log_dets[k]


@part
def shuffle(order, n, stream):
    """Put the first n entries into a random order."""
    for i in range(n - 1, 0, -1):
        j = int(uniform(stream) * (i + 1))
        order[i], order[j] = order[j], order[i]


@jit
def rebuild(X, labels, prior, clusters):
    """Compute all clusters from labels, and renumber these; return the number of clusters.

    Rounding that updates have left ends here.
    """
    size, active = clusters.size, clusters.active
    v = np.empty(X.shape[1])
    names = np.full(labels.max() + 1, -1, dtype=np.int64)
    for k in range(len(active)):
        active[k] = k
        clusters.place[k] = k
    size[0] = 0
    for i in range(len(X)):
        if names[labels[i]] < 0:
            names[labels[i]] = open_cluster(prior, clusters)
        labels[i] = names[labels[i]]
        add_row(X[i], labels[i], prior.kappa, clusters, v)
    return size[0]


@jit
def sweep(X, labels, order, start, prior, tables, clusters, scores, stream):
    """Resample the cluster of every row, from a place of the order on.

    Returns the place where room for clusters was used up, or the number of rows.
    """
    n, v = len(X), np.empty(X.shape[1])
    fresh, heights, log_alpha = tables.fresh, tables.heights, tables.log_alpha
    counts, active, size = clusters.counts, clusters.active, clusters.size
    if start == 0:
        shuffle(order, n, stream)
    for at in range(start, n):
        i = order[at]
        if size[0] + 1 >= len(counts):
            return at
        x, k = X[i], labels[i]
        if counts[k] == 1:
            close_cluster(k, clusters)
        else:
            remove_row(x, k, prior.kappa, clusters, v)
        m = size[0]
        top = log_alpha + fresh[i]
        scores[m] = top
        for a in range(m):
            k = active[a]
            scores[a] = np.log(counts[k]) + log_predictive(x, k, prior, heights, clusters, v)
            top = max(top, scores[a])
        total = 0.0
        for a in range(m + 1):
            total += np.exp(scores[a] - top)
            scores[a] = total
        threshold, a = uniform(stream) * total, 0
        while a < m and scores[a] <= threshold:
            a += 1
        k = active[a] if a < m else open_cluster(prior, clusters)
        labels[i] = k
        add_row(x, k, prior.kappa, clusters, v)
    return n


@part
def allocate(X, rows, count, sides, forced, prior, heights, clusters, v, stream):
    """Seat rows in one of two clusters, or where ``forced`` says; return the log probability."""
    counts = clusters.counts
    left, right = sides
    log_q = 0.0
    for at in range(count):
        x = X[rows[at]]
        first = np.log(counts[left]) + log_predictive(x, left, prior, heights, clusters, v)
        second = np.log(counts[right]) + log_predictive(x, right, prior, heights, clusters, v)
        gap = min(max(second - first, -700.0), 700.0)
        chance = 1.0 / (1.0 + np.exp(gap))
        if forced[rows[at]] == 0:
            forced[rows[at]] = 1 if uniform(stream) < chance else 2
        goes_left = forced[rows[at]] == 1
        log_q -= np.log1p(np.exp(gap if goes_left else -gap))
        add_row(x, left if goes_left else right, prior.kappa, clusters, v)
    return log_q


@jit
def split_merge(X, labels, rows, sides, prior, tables, clusters, stream):
    """Propose to split a cluster, or to merge two, by seating rows one after the other.

    Two rows are chosen. If they share a cluster it is split: each begins a cluster, and the others
    follow in random order. If not, their clusters are merged, and the probability of the split that
    would undo it is computed. Returns whether the proposal was accepted.
    """
    heights, evidences, log_gammas = tables.heights, tables.evidences, tables.log_gammas
    counts, n, v = clusters.counts, len(X), np.empty(X.shape[1])
    i = int(uniform(stream) * n)
    j = int(uniform(stream) * (n - 1))
    if j >= i:
        j += 1
    one, other = labels[i], labels[j]
    is_split, count = one == other, 0
    for row in range(n):
        sides[row] = 0
        if row not in (i, j) and labels[row] in (one, other):
            rows[count] = row
            count += 1
            if not is_split:
                sides[row] = 1 if labels[row] == one else 2
    shuffle(rows, count, stream)
    left, right = open_cluster(prior, clusters), open_cluster(prior, clusters)
    add_row(X[i], left, prior.kappa, clusters, v)
    add_row(X[j], right, prior.kappa, clusters, v)
    log_q = allocate(X, rows, count, (left, right), sides, prior, heights, clusters, v, stream)
    merged = one
    if not is_split:
        merged = open_cluster(prior, clusters)
        add_row(X[i], merged, prior.kappa, clusters, v)
        add_row(X[j], merged, prior.kappa, clusters, v)
        for at in range(count):
            add_row(X[rows[at]], merged, prior.kappa, clusters, v)
    gain = cluster_evidence(left, prior, evidences, clusters)
    gain += cluster_evidence(right, prior, evidences, clusters)
    gain -= cluster_evidence(merged, prior, evidences, clusters)
    gain += tables.log_alpha - log_gammas[counts[merged]]
    gain += log_gammas[counts[left]] + log_gammas[counts[right]] - log_q
    accepted = np.log(1.0 - uniform(stream)) < (gain if is_split else -gain)
    if is_split == accepted:  # the two halves stay: a split that is taken, or a merge that is not
        labels[i], labels[j] = left, right
        for at in range(count):
            labels[rows[at]] = left if sides[rows[at]] == 1 else right
        close_cluster(merged, clusters)
    else:
        labels[i], labels[j] = merged, merged
        for at in range(count):
            labels[rows[at]] = merged
        close_cluster(left, clusters)
        close_cluster(right, clusters)
    if not is_split:
        close_cluster(one, clusters)
        close_cluster(other, clusters)
    return accepted


@jit
def log_joint(prior, tables, clusters):
    """Return the log of the joint density of rows and partition, up to a constant."""
    evidences, log_gammas, active = tables.evidences, tables.log_gammas, clusters.active
    counts, n_clusters, total = clusters.counts, clusters.size[0], 0.0
    for a in range(n_clusters):
        k = active[a]
        total += tables.log_alpha + log_gammas[counts[k]]
        total += cluster_evidence(k, prior, evidences, clusters)
    return total


@jit
def predictive_loop(X, log_shares, prior, heights, clusters, out):
    """Fill the log density of rows under a mixture of the predictive laws of clusters."""
    v = np.empty(X.shape[1])
    for i in range(len(X)):
        total, top = 0.0, -np.inf
        for k in range(len(log_shares)):
            value = log_shares[k] + log_predictive(X[i], k, prior, heights, clusters, v)
            if value > top:
                total = total * np.exp(top - value) + 1.0
                top = value
            else:
                total += np.exp(value - top)
        out[i] = top + np.log(total)
