"""Policies that compare mean losses: UCB1 and epsilon-greedy."""

import numpy as np

from corollary.core.draws import uniform
from corollary.core.jit import part


@part
def choose_confident(rule, r, t):
    """Return the arm with the smallest lower confidence bound."""
    mean, width = rule.mean[r], rule.width[r]
    factor = np.sqrt(rule.exploration * np.log(max(t, 2)))
    arm, least = 0, np.inf
    for i in range(mean.shape[0]):
        bound = mean[i] - factor * width[i]
        if bound < least:
            arm, least = i, bound
    return arm


@part
def learn_confident(rule, r, arm, pulls, total):
    """Update mean and width of an arm."""
    mean, width = rule.mean, rule.width
    mean[r, arm] = total / pulls
    width[r, arm] = 1.0 / np.sqrt(float(pulls))


@part
def choose_greedy(rule, r, t, stream):
    """Return the arm of the smallest mean, or with chance epsilon any arm; and its probability."""
    mean = rule.mean[r]
    n = mean.shape[0]
    epsilon = min(1.0, rule.epsilon * n / t) if rule.falling else rule.epsilon
    greedy = 0
    for i in range(1, n):
        if mean[i] < mean[greedy]:
            greedy = i
    arm = greedy
    if uniform(stream) < epsilon:
        arm = min(np.int64(uniform(stream) * n), n - 1)
    return arm, epsilon / n + (1.0 - epsilon if arm == greedy else 0.0)


@part
def learn_greedy(rule, r, arm, pulls, total):
    """Update the mean of an arm."""
    mean = rule.mean
    mean[r, arm] = total / pulls
