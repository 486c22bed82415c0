"""Bins of nearly equal count."""

import itertools


def equal_count_bins(n: int, most: int, least: int) -> list[slice]:
    """Cut n ordered rows into bins of nearly equal count."""
    if n == 0:
        return []
    parts = max(min(most, n // least), 1)
    cuts = [round(i * n / parts) for i in range(parts + 1)]
    return [slice(a, b) for a, b in itertools.pairwise(cuts)]
