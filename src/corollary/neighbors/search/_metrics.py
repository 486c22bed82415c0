"""Distances that searches know, and how they are measured."""

import numpy as np

METRICS = {
    "euclidean": "euclidean",
    "l2": "euclidean",
    "manhattan": "manhattan",
    "cityblock": "manhattan",
    "l1": "manhattan",
    "chebyshev": "chebyshev",
    "infinity": "chebyshev",
    "minkowski": "minkowski",
    "p": "minkowski",
    "cosine": "cosine",
}
#: Distances of scikit-learn's that are measured pair by pair, one after the other.
PAIR_METRICS = (
    *("braycurtis", "canberra", "dice", "hamming", "haversine", "jaccard", "mahalanobis"),
    *("rogerstanimoto", "russellrao", "seuclidean", "sokalmichener", "sokalsneath"),
)
#: All for which every pair is measured.
OTHER_METRICS = (
    *PAIR_METRICS,
    *("correlation", "nan_euclidean", "precomputed", "sqeuclidean", "yule"),
)


def check_metric(who: str, metric: str, p: float) -> tuple[str, float]:
    """Resolve the name of a metric."""
    name = METRICS[metric]
    if name != "minkowski":
        return name, {"manhattan": 1.0, "chebyshev": np.inf}.get(name, 2.0)
    if not p >= 1:
        raise ValueError(
            f"The 'p' parameter of {who} must be at least 1, or it is no metric. Got {p!r} instead."
        )
    for power, special in ((1.0, "manhattan"), (2.0, "euclidean"), (np.inf, "chebyshev")):
        if p == power:
            return special, power
    return name, float(p)


def metric_code(metric: str) -> int:
    """Return the number by which compiled searches know a metric."""
    from corollary.neighbors._loops import distances

    codes = {
        "manhattan": distances.MANHATTAN,
        "chebyshev": distances.CHEBYSHEV,
        "minkowski": distances.MINKOWSKI,
    }
    return codes.get(metric, distances.SQUARED)


def measure(metric: str, p: float, values: np.ndarray) -> np.ndarray:
    """Turn reduced distances into distances."""
    if metric == "euclidean":
        return np.sqrt(values)
    if metric == "cosine":  # of unit rows, half the squared distance
        return 0.5 * values
    return values ** (1.0 / p) if metric == "minkowski" else values


def shift_of(largest: float, metric: str, p: float) -> int:
    """Return the power of two to divide by, lest powers of distances overflow or vanish."""
    if metric == "cosine":
        return 0
    exponent = int(np.frexp(largest)[1])
    power = {"euclidean": 2.0, "minkowski": p}.get(metric, 1.0)
    return exponent if abs(exponent) > 900 / power else 0


def unit_rows(X: np.ndarray) -> np.ndarray:
    """Scale rows to unit length."""
    largest = np.abs(X).max(axis=1, initial=0.0, keepdims=True)
    check_directions(largest[:, 0] > 0)
    scaled = X / largest  # so that squares neither overflow nor vanish
    return np.ascontiguousarray(scaled / np.linalg.norm(scaled, axis=1, keepdims=True))


def check_directions(has_direction: np.ndarray) -> None:
    """Refuse rows of zeros."""
    if not has_direction.all():
        raise ValueError(
            "The cosine distance is not defined for rows of zeros, and row "
            f"{int(np.flatnonzero(~has_direction)[0])} is one. Leave such rows out or choose "
            "another metric."
        )


def room(n_queries: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Make room for the result of a search."""
    return np.empty((n_queries, k)), np.empty((n_queries, k), dtype=np.int64)


def in_order(distances: np.ndarray, neighbors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Order equal distances by row number: a root can make different squares equal."""
    wrong = (distances[:, 1:] == distances[:, :-1]) & (neighbors[:, 1:] < neighbors[:, :-1])
    for j in np.flatnonzero(wrong.any(axis=1)):
        neighbors[j] = neighbors[j][np.lexsort((neighbors[j], distances[j]))]
    return distances, neighbors
