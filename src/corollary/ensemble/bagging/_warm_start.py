"""Adding members to a fitted ensemble.

Every member has a seed of its own, the same whatever the number of members. So members that are
added later are those that one fit of as many would have had, to the last bit, as long as nothing
else has changed; what has changed is therefore refused.
"""

import warnings
from typing import Any

import numpy as np

# What may change between fits: it does not change the members that there are.
_FREE = ("n_estimators", "n_jobs", "oob_score", "verbose", "warm_start")


def member_seeds(seed: int, n: int) -> list[np.random.SeedSequence]:
    """Return a seed for each member; the first ones are the same whatever their number."""
    return np.random.SeedSequence(int(seed)).spawn(n)


def settings_of(model: Any) -> np.ndarray:
    """List the parameters that every member depends on."""
    settings = []
    for name, value in sorted(model.get_params(deep=True).items()):
        if name in _FREE:
            continue
        if hasattr(value, "get_params"):  # its own parameters are listed, too
            text = type(value).__name__
        elif isinstance(value, np.random.RandomState):
            text = "a generator"
        else:
            text = repr(value)
        settings.append(f"{name}={text}")
    return np.array(settings)


def earlier_fit(model: Any, members: str) -> dict[str, Any] | None:
    """Return what an earlier fit has left, if this one adds to it."""
    if not model.warm_start or not hasattr(model, members):
        return None
    who, size = type(model).__name__, len(getattr(model, members))
    if model.n_estimators < size:
        raise ValueError(
            f"{who}(warm_start=True) adds members to the {size} that there are. Got "
            f"n_estimators={model.n_estimators}. Raise it, or set warm_start=False to start afresh."
        )
    earlier = list(getattr(model, "settings_", []))  # files of older versions have none
    changed = sorted(set(settings_of(model)) - set(earlier)) if earlier else []
    if changed:
        name = changed[0].partition("=")[0]
        before = next((s for s in earlier if s.startswith(f"{name}=")), f"no {name}")
        raise ValueError(
            f"{who}(warm_start=True) adds members like those that there are, which were fitted "
            f"with {before}. Got {changed[0]}. Set it back, or set warm_start=False to start "
            "afresh."
        )
    if model.n_estimators == size:
        warnings.warn(
            f"{who}(warm_start=True) has {size} members already and fits no more. Raise "
            "n_estimators to add some.",
            stacklevel=5,
        )
    return dict(vars(model))


def check_same_rows(model: Any, state: dict[str, Any] | None, weight: Any) -> None:
    """Verify that a warm start has read the rows of the earlier fit."""
    if state is None:
        return
    problem = None
    before, after = state.get("fingerprint_"), getattr(model, "fingerprint_", None)
    if model.n_features_in_ != state["n_features_in_"]:
        problem = f"{state['n_features_in_']} columns", f"{model.n_features_in_}"
    elif "classes_" in state and not np.array_equal(model.classes_, state["classes_"]):
        problem = f"the classes {state['classes_']}", f"{model.classes_}"
    elif model.n_samples_ != state["n_samples_"]:
        problem = f"{state['n_samples_']} rows", f"{model.n_samples_}"
    elif before and after and not np.array_equal(before.hashes, after.hashes):
        problem = "the rows of the last fit", "others"
    if problem is None:
        earlier_weight = state.get("bag_weight_")
        if (earlier_weight is None) != (weight is None) or not (
            earlier_weight is None or np.array_equal(earlier_weight, weight)
        ):
            problem = "the weights of the last fit", "others"
    if problem is not None:
        vars(model).clear()
        vars(model).update(state)
        raise ValueError(
            f"{type(model).__name__}(warm_start=True) needs {problem[0]}. Got {problem[1]}. Fit a "
            "model of its own to other rows, or set warm_start=False to start afresh."
        )
