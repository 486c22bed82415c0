"""All partitions of a few rows."""


def partitions(n):
    """Yield every partition of n rows as labels in the order of their first appearance."""

    def grow(labels, n_blocks):
        if len(labels) == n:
            yield tuple(labels)
            return
        for label in range(n_blocks + 1):
            yield from grow([*labels, label], max(n_blocks, label + 1))

    yield from grow([], 0)


def in_order(labels):
    """Number blocks in the order of their first row."""
    names = {}
    return tuple(names.setdefault(label, len(names)) for label in labels)
