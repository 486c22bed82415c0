"""How many data sets and how many solutions a combinatorial problem has.

Learning as information processing means many possible data mapped to few solutions,
``|data| >> |solutions|``. A complete graph on n nodes with K weight levels has
``K^(n (n - 1) / 2)`` data sets. Solutions number about ``exp(n log n)`` for permutations,
spanning trees and tours, but only ``k^n = exp(n log k)`` for colourings with k colours.
"""

import math
from collections.abc import Callable


def count_weighted_graphs(n_nodes: int, n_levels: int) -> int:
    """Return the number of weighted complete graphs, ``K^(n (n - 1) / 2)``.

    Parameters
    ----------
    n_nodes : int
        Nodes n, at least 1.
    n_levels : int
        Weight levels K of an edge, at least 1.

    Returns
    -------
    count : int
        The exact number.

    Examples
    --------
    >>> from corollary.representation import count_weighted_graphs
    >>> count_weighted_graphs(4, 2)
    64
    """
    _check("count_weighted_graphs", "n_nodes", n_nodes, 1)
    _check("count_weighted_graphs", "n_levels", n_levels, 1)
    return n_levels ** (n_nodes * (n_nodes - 1) // 2)


def count_spanning_trees(n_nodes: int) -> int:
    """Return the number of labelled trees, ``n^(n - 2)`` (Cayley).

    Parameters
    ----------
    n_nodes : int
        Nodes n, at least 1.

    Returns
    -------
    count : int
        The exact number of spanning trees of the complete graph.

    Examples
    --------
    >>> from corollary.representation import count_spanning_trees
    >>> count_spanning_trees(5)
    125
    """
    _check("count_spanning_trees", "n_nodes", n_nodes, 1)
    return 1 if n_nodes < 3 else n_nodes ** (n_nodes - 2)


def count_tours(n_nodes: int) -> int:
    """Return the number of Hamiltonian cycles of the complete graph, ``(n - 1)! / 2``.

    Parameters
    ----------
    n_nodes : int
        Nodes n, at least 3.

    Returns
    -------
    count : int
        The exact number of undirected round tours.

    Examples
    --------
    >>> from corollary.representation import count_tours
    >>> count_tours(5)
    12
    """
    _check("count_tours", "n_nodes", n_nodes, 3)
    return math.factorial(n_nodes - 1) // 2


def count_permutations(n_nodes: int) -> int:
    """Return the number of orders, ``n!``.

    Parameters
    ----------
    n_nodes : int
        Nodes n, at least 1.

    Returns
    -------
    count : int
        The exact number.

    Examples
    --------
    >>> from corollary.representation import count_permutations
    >>> count_permutations(4)
    24
    """
    _check("count_permutations", "n_nodes", n_nodes, 1)
    return math.factorial(n_nodes)


def count_colourings(n_nodes: int, n_colours: int) -> int:
    """Return the number of assignments of colours (or clusters) to nodes, ``k^n``.

    Parameters
    ----------
    n_nodes : int
        Nodes n, at least 1.
    n_colours : int
        Colours k, at least 1.

    Returns
    -------
    count : int
        The exact number.

    Examples
    --------
    >>> from corollary.representation import count_colourings
    >>> count_colourings(3, 2)
    8
    """
    _check("count_colourings", "n_nodes", n_nodes, 1)
    _check("count_colourings", "n_colours", n_colours, 1)
    return n_colours**n_nodes


def log_data_space(n_nodes: int, n_levels: int) -> float:
    """Return the logarithm of the number of weighted graphs, ``n (n - 1) / 2 log K``.

    Parameters
    ----------
    n_nodes : int
        Nodes n, at least 1.
    n_levels : int
        Weight levels K of an edge, at least 1.

    Returns
    -------
    size : float
        Natural logarithm; works where the number itself would not fit.

    Examples
    --------
    >>> from corollary.representation import log_data_space
    >>> round(log_data_space(100, 2) / log_data_space(10, 2), 6)
    110.0
    """
    _check("log_data_space", "n_nodes", n_nodes, 1)
    _check("log_data_space", "n_levels", n_levels, 1)
    return n_nodes * (n_nodes - 1) / 2 * math.log(n_levels)


def smallest_informative_size(
    n_levels: int,
    count_solutions: Callable[[int], int],
    *,
    ratio: float = 1.0,
    smallest: int = 3,
    largest: int = 1000,
) -> int:
    """Return from which size on there are more data sets than solutions.

    Parameters
    ----------
    n_levels : int
        Weight levels K of an edge, at least 2.
    count_solutions : callable
        Number of solutions for n nodes, for instance :func:`count_spanning_trees`.
    ratio : float, default=1.0
        How many times larger the *logarithm* of the data space must be; large values stand for
        "much larger".
    smallest : int, default=3
        Where to start looking.
    largest : int, default=1000
        Where to give up.

    Returns
    -------
    n_nodes : int
        The smallest n in the range from which on, up to ``largest``, the data space wins.

    Raises
    ------
    ValueError
        If the solutions still win at ``largest``.

    Examples
    --------
    >>> from corollary.representation import count_permutations, smallest_informative_size
    >>> smallest_informative_size(2, count_permutations, smallest=1)
    3
    """
    _check("smallest_informative_size", "n_levels", n_levels, 2)
    _check("smallest_informative_size", "smallest", smallest, 1)
    found = None
    # From the top down, so that an early lead that is lost again does not count.
    for n in range(largest, smallest - 1, -1):
        solutions = math.log(count_solutions(n))
        if not log_data_space(n, n_levels) > ratio * solutions:
            break
        found = n
    if found is None:
        raise ValueError(
            f"The solutions still outnumber the data at n = {largest}. Raise 'largest' of "
            "smallest_informative_size, or lower 'ratio'."
        )
    return found


def _check(name: str, parameter: str, value: int, smallest: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < smallest:
        raise ValueError(
            f"The '{parameter}' parameter of {name} must be an int in the range "
            f"[{smallest}, inf). Got {value!r} instead."
        )
