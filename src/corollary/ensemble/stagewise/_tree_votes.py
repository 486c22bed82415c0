"""The weighted vote of many trees as one sum over their leaves.

A leaf that votes for a class adds the weight of its tree to that class. So the votes of stumps and
decision trees are one walk of the rows down all of them, without a round of validation for each.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from corollary.ensemble._members import label_codes
from corollary.ensemble.stagewise.stump import StumpClassifier
from corollary.tree import DecisionTreeClassifier, Trees


def trees_of_votes(
    who: str, members: Sequence[Any], weights: np.ndarray, classes: np.ndarray
) -> Trees | None:
    """Turn fitted classifiers into trees whose leaves hold weighted votes."""
    if all(_answers_like(StumpClassifier, member) for member in members):
        joined = _join_stumps(members)
        choices = [np.array([0, *member.leaf_classes_]) for member in members]
    elif all(
        _answers_like(DecisionTreeClassifier, member) and not len(member.categories_.columns)
        for member in members
    ):
        # Members may know different classes, so their own values have no common width.
        none = np.zeros((0, 1))
        joined = Trees.join([replace(member.nodes_, value=none) for member in members])
        choices = [member.nodes_.value.argmax(axis=1) for member in members]
    else:
        return None
    value = []
    for member, weight, choice in zip(members, weights, choices):
        votes = np.zeros((len(choice), len(classes)))
        votes[np.arange(len(choice)), label_codes(who, classes, member.classes_)[choice]] = weight
        value.append(votes)
    return replace(joined, value=np.concatenate(value))


def _answers_like(kind: Any, member: Any) -> bool:
    """Tell whether a member predicts by the rule of this class; subclasses may have others."""
    rules = ("predict", "_scores", "_probabilities")
    return isinstance(member, kind) and all(
        getattr(member.__class__, rule) is getattr(kind, rule) for rule in rules
    )


def _join_stumps(stumps: Sequence[StumpClassifier]) -> Trees:
    size = 3 * len(stumps)
    feature, left = np.full(size, -1, dtype=np.int32), np.full(size, -1, dtype=np.int32)
    feature[::3], left[::3] = [stump.feature_ for stump in stumps], 1
    threshold = np.zeros(size)
    # A stump sends its threshold up, a tree sends it down.
    threshold[::3] = np.nextafter([stump.threshold_ for stump in stumps], -np.inf)
    return Trees(
        offsets=np.arange(0, size + 1, 3),
        feature=feature,
        threshold=threshold,
        missing_left=np.zeros(size, dtype=bool),
        left=left,
        value=np.zeros((size, 1)),
        weight=np.ones(size),
        gain=np.zeros(size),
        n_features=stumps[0].n_features_in_,
        categories=np.zeros(0, dtype=np.int32),
        bitsets=np.zeros((0, 8), dtype=np.uint32),
    )
