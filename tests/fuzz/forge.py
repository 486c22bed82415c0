"""A seeded forger of model files: it changes what a file says and signs it with a valid checksum.

Random bits would only ever be refused by the checksum. The forger therefore works on the decoded
header and arrays: it drops, renames, swaps and retypes nodes, and reshapes, retypes and poisons
arrays, one to three changes at a time, so that much of the file stays believable.
"""

import copy
import random
from typing import Any

import numpy as np

from corollary.core.files import pack, unpack

HUGE = 10**400


def forge(whole: bytes, seed: Any) -> bytes:
    """Return the file with a few random changes."""
    rng = random.Random(seed)
    header, arrays = unpack(whole)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        if arrays and rng.random() < 0.4:
            place = rng.randrange(len(arrays))
            arrays[place] = _changed_array(rng, arrays[place])
        else:
            _change_node(rng, header, arrays)
    return pack(header, arrays)


def _slots(node: Any) -> list[tuple[Any, Any]]:
    found = []
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in items:
        found.append((node, key))
        if isinstance(value, dict | list):
            found += _slots(value)
    return found


def _change_node(rng: random.Random, header: dict, arrays: list[np.ndarray]) -> None:
    slots = _slots(header["root"])
    if not slots:
        return
    parent, key = rng.choice(slots)
    other = copy.deepcopy((lambda p, k: p[k])(*rng.choice(slots)))
    match rng.choice(["drop", "rename", "swap", "swap", "repeat", "object", "retype", "retype"]):
        case "drop":
            del parent[key]
        case "rename" if isinstance(parent, dict):
            parent[rng.choice(["x", key + "_", "coef_", "n_features_in_"])] = parent.pop(key)
        case "repeat" if isinstance(parent[key], list):
            parent[key] = rng.choice([parent[key] * 2, parent[key][::-1], parent[key][:-1]])
        case "object":
            objects = [p[k] for p, k in slots if isinstance(p[k], dict) and "class" in p[k]]
            parent[key] = copy.deepcopy(rng.choice(objects or [None]))
        case "swap":
            parent[key] = other
        case _:
            parent[key] = _value(rng, arrays)


def _value(rng: random.Random, arrays: list[np.ndarray]) -> Any:
    def store(array: Any) -> int:
        arrays.append(np.asarray(array))
        return len(arrays) - 1

    shape = tuple(rng.choice([0, 1, 2, 3, 7]) for _ in range(rng.choice([0, 1, 1, 2, 2, 3])))
    dtype = rng.choice(["<f8", "<f4", "<f2", "<i8", "<u1", "|b1"])
    plain = [None, True, 0, -1, 1, 2**40, 10**30, HUGE, 1e308, -1e-308, "x", ""]
    match rng.randrange(12):
        case 0:
            return {"t": "float", "v": rng.choice(["nan", "inf", "-inf"])}
        case 1:
            return {"t": rng.choice(["list", "tuple"]), "v": rng.choice([[], [1, "a", None]])}
        case 2:
            return {"t": "dict", "k": ["a", 1, None], "v": [1, 2, 3]}
        case 3:
            return {"t": "array", "v": store(np.zeros(shape, dtype))}
        case 4:
            return {"t": "array", "v": store(np.zeros((0, 2**40)))}
        case 5:
            scalars = [np.float32("nan"), np.int8(3), np.bool_(True), np.uint64(2**64 - 1)]
            return {"t": "scalar", "v": store(rng.choice(scalars))}
        case 6:
            return {"t": "strings", "shape": [3], "v": ["a", "b", "c"]}
        case 7:
            items = rng.choice([["a", None, 1.5], ["a", 1, True], [{"t": "list", "v": []}] * 3])
            return {"t": "objects", "shape": [3], "v": items}
        case 8:
            return {"t": rng.choice(["dtype", "numpy type"]), "v": rng.choice(["<f8", "|b1"])}
        case 9:
            parts = [store(np.ones(1)), store(np.array([2])), store(np.array([0, 1, 1, 1]))]
            return {"t": "sparse", "format": "csr", "shape": [3, 3], "v": parts}
        case _:
            return rng.choice(plain)


def _changed_array(rng: random.Random, array: np.ndarray) -> np.ndarray:
    match rng.choice(["type", "value", "value", "constant", "shape", "shape", "order"]):
        case "type":
            with np.errstate(all="ignore"):
                kinds = ["<f8", "<f4", "<f2", "<i8", "<i1", "<u8", "|b1"]
                return array.astype(rng.choice(kinds))
        case "value" if array.size:
            changed = array.copy()
            values = [-1, 0, 2**62]
            if array.dtype.kind == "f":
                values += [np.nan, np.inf, -np.inf, 1e308]
            place = rng.randrange(array.size)
            with np.errstate(all="ignore"):
                changed.flat[place] = np.array(rng.choice(values)).astype(array.dtype)
            return changed
        case "constant":
            with np.errstate(all="ignore"):
                fill = rng.choice([0.0, np.nan] if array.dtype.kind == "f" else [0, 1])
                return np.full_like(array, fill)
        case "shape" if array.ndim:
            changes = [array.T, array[:-1], array[..., None], array[None], array[:0]]
            changes += [array[..., :0], np.concatenate([array, array])]
            changes += [np.concatenate([array, array], axis=-1)]
            return rng.choice(changes).copy()
        case "order" if array.ndim:
            return array[::-1].copy()
    return array
