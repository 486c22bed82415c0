"""What a model file must hold so that a split conformal wrapper can be used."""

from typing import Any

import numpy as np

from corollary.conformal.split._cells import Cells


def calibration_problem(wrapper: Any) -> str | None:
    """Say what is wrong between the attributes of a loaded wrapper, or None."""
    score, labels, sizes = wrapper.conformity_score_, wrapper.group_labels_, wrapper.group_sizes_
    if not isinstance(score, type(wrapper._score())):
        return "its score is not the one that it names"
    if score.randomised and not hasattr(wrapper, "set_seed_"):
        return "it has no seed of random scores"
    if sizes.sum() != len(wrapper.scores_) or len(wrapper.scores_) != wrapper.n_calibration_:
        return "its group sizes do not add up to its scores"
    if len(sizes) != len(labels) * wrapper._n_classes():
        return "its groups do not fit its labels"
    if wrapper._row_partition() is None and labels.tolist() != [0]:
        return "it has groups, but no partition into them"
    if np.any(labels[1:] <= labels[:-1]):
        return "its groups are not sorted"
    by_groups = wrapper.exchangeable_ == "groups"
    if by_groups != (wrapper.calibration_groups_ is not None):
        return "its groups do not fit what it takes to be exchangeable"
    cells = Cells(wrapper.scores_, wrapper.weights_, sizes)
    problem = score.problem(wrapper.estimator_) or cells.problem(
        wrapper.calibrated_confidence_, wrapper.thresholds_
    )
    # Rows that weigh what their groups do share a threshold; density ratios leave none to share.
    shared = wrapper.weights_ is not None and wrapper.thresholds_ is not None
    if problem is None and by_groups != shared:
        return "its thresholds do not fit its weights"
    return problem
