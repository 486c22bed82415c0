r"""Boolean functions on bits: literals, conjunctions, disjunctions, disjunctive normal forms.

A literal is a whole number: ``j`` stands for input number j, counted from 1, and ``-j`` for its
negation :math:`1 - x_j`. A term is a conjunction of literals, a product; a function in disjunctive
normal form (DNF) is the disjunction of its terms. Every Boolean function has one.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from corollary.online._rows import binary_table


@dataclass(frozen=True)
class DNF:
    """A disjunction of conjunctions of literals.

    Parameters
    ----------
    terms : tuple of tuples of int
        Each term lists its literals: ``j`` for input j (from 1), ``-j`` for its negation. No terms
        make the function that is never true, an empty term makes the one that always is.

    Examples
    --------
    >>> from corollary.online import DNF
    >>> target = DNF(((1, 4, 7), (1, -2), (2, 5)))
    >>> str(target)
    'x1 x4 x7 | x1 ~x2 | x2 x5'
    >>> target([[1, 0, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 1, 1]])
    array([1, 0])
    """

    terms: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        terms = tuple(tuple(int(j) for j in term) for term in self.terms)
        if any(j == 0 for term in terms for j in term):
            raise ValueError(
                "A literal is j or -j for input number j, counted from 1. Got a literal 0."
            )
        object.__setattr__(self, "terms", terms)

    @property
    def n_terms(self) -> int:
        """How many terms there are."""
        return len(self.terms)

    @property
    def n_inputs(self) -> int:
        """The largest input that occurs."""
        return max((abs(j) for term in self.terms for j in term), default=0)

    @property
    def monotone(self) -> bool:
        """Whether no literal is negated."""
        return all(j > 0 for term in self.terms for j in term)

    def __call__(self, X: Any) -> np.ndarray:
        """Evaluate the function."""
        X = binary_table("DNF", X)
        if X.shape[1] < self.n_inputs:
            raise ValueError(
                f"{self} needs rows of at least {self.n_inputs} inputs. Got {X.shape[1]}."
            )
        values = np.zeros(len(X), dtype=np.int64)
        for term in self.terms:
            met = np.ones(len(X), dtype=bool)
            for j in term:
                met &= X[:, abs(j) - 1] == (j > 0)
            values |= met
        return values

    def __str__(self) -> str:
        if not self.terms:
            return "0"
        return " | ".join(
            " ".join(f"x{j}" if j > 0 else f"~x{-j}" for j in term) or "1" for term in self.terms
        )

    def literals(self, n_features: int) -> np.ndarray:
        """Return a monotone disjunction as the 0/1 vector of its literals.

        Parameters
        ----------
        n_features : int
            Inputs of a row.

        Returns
        -------
        literals : ndarray of shape (n_features,)
            1.0 for inputs that occur.
        """
        if not self.monotone or any(len(term) != 1 for term in self.terms):
            raise ValueError(f"Only a monotone disjunction is a vector of literals. Got {self}.")
        if n_features < self.n_inputs:
            raise ValueError(f"{self} needs at least {self.n_inputs} inputs. Got {n_features}.")
        vector = np.zeros(n_features)
        vector[[term[0] - 1 for term in self.terms]] = 1.0
        return vector


def conjunction(*literals: int) -> DNF:
    """Return a conjunction of literals: one term.

    Parameters
    ----------
    *literals : int
        ``j`` for input j, counted from 1, ``-j`` for its negation.

    Returns
    -------
    function : DNF
        True where all literals are.

    Examples
    --------
    >>> from corollary.online import conjunction
    >>> conjunction(1, -2)([[1, 0], [1, 1]])
    array([1, 0])
    """
    return DNF((literals,))


def disjunction(*literals: int) -> DNF:
    """Return a disjunction of literals: one term for each.

    Parameters
    ----------
    *literals : int
        ``j`` for input j, counted from 1, ``-j`` for its negation.

    Returns
    -------
    function : DNF
        True where any literal is.

    Examples
    --------
    >>> from corollary.online import disjunction
    >>> disjunction(1, -2)([[0, 1], [0, 0]])
    array([0, 1])
    """
    return DNF(tuple((j,) for j in literals))


def all_inputs(n_features: int) -> np.ndarray:
    """Return all rows of bits, in counting order.

    Parameters
    ----------
    n_features : int
        n, at most 20.

    Returns
    -------
    X : ndarray of int of shape (2 ** n_features, n_features)
        The first column changes slowest.

    Examples
    --------
    >>> from corollary.online import all_inputs
    >>> all_inputs(2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    if not 0 <= n_features <= 20:
        raise ValueError(
            "The 'n_features' parameter of all_inputs must be an int in the range [0, 20], since "
            f"there are 2^n rows. Got {n_features} instead."
        )
    return (np.arange(2**n_features)[:, None] >> np.arange(n_features)[::-1]) & 1


def dnf_from_truth_table(values: Any) -> DNF:
    """Return the normal form that lists the rows of a truth table where the function is true.

    Parameters
    ----------
    values : array-like of shape (2 ** n,)
        The function on :func:`all_inputs`, zeros and ones.

    Returns
    -------
    function : DNF
        One term of n literals for each one in the table.

    Examples
    --------
    >>> from corollary.online import dnf_from_truth_table
    >>> str(dnf_from_truth_table([0, 1, 1, 0]))
    '~x1 x2 | x1 ~x2'
    """
    values = np.asarray(values)
    n = len(values).bit_length() - 1
    if values.ndim != 1 or len(values) != 2**n or not np.isin(values, (0, 1)).all():
        raise ValueError(
            f"A truth table has one zero or one for each of 2^n inputs. Got shape {values.shape}."
        )
    rows = all_inputs(n)[values == 1]
    return DNF(tuple(tuple(j + 1 if bit else -(j + 1) for j, bit in enumerate(r)) for r in rows))


def random_disjunction(
    n_features: int, n_literals: int, *, monotone: bool = True, random_state: Any = None
) -> DNF:
    """Draw a disjunction of distinct inputs.

    Parameters
    ----------
    n_features : int
        n, inputs to choose from.
    n_literals : int
        k, literals.
    monotone : bool, default=True
        Whether none is negated; else each is with probability 1/2.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Returns
    -------
    function : DNF
        The target.

    Examples
    --------
    >>> from corollary.online import random_disjunction
    >>> random_disjunction(10, 3, random_state=0).n_terms
    3
    """
    return DNF(
        tuple(
            (j,)
            for j in _draw_literals(
                "random_disjunction", n_features, n_literals, monotone, random_state
            )
        )
    )


def random_dnf(
    n_features: int,
    n_terms: int,
    n_literals: int,
    *,
    monotone: bool = False,
    random_state: Any = None,
) -> DNF:
    """Draw a disjunction of terms of equal length.

    Parameters
    ----------
    n_features : int
        n, inputs to choose from.
    n_terms : int
        Terms; two may be equal.
    n_literals : int
        Literals of a term, on distinct inputs.
    monotone : bool, default=False
        Whether none is negated; else each is with probability 1/2.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Returns
    -------
    function : DNF
        The target.

    Examples
    --------
    >>> from corollary.online import random_dnf
    >>> target = random_dnf(8, 2, 3, random_state=0)
    >>> target.n_terms, len(target.terms[0])
    (2, 3)
    """
    random = check_random_state(random_state)
    return DNF(
        tuple(
            _draw_literals("random_dnf", n_features, n_literals, monotone, random)
            for _ in range(n_terms)
        )
    )


def _draw_literals(
    who: str, n_features: int, n_literals: int, monotone: bool, random_state: Any
) -> tuple[int, ...]:
    if not 1 <= n_literals <= n_features:
        raise ValueError(
            f"The 'n_literals' parameter of {who} must be an int in the range [1, n_features = "
            f"{n_features}]. Got {n_literals} instead."
        )
    random = check_random_state(random_state)
    inputs = 1 + np.sort(random.choice(n_features, n_literals, replace=False))
    signs = np.ones(n_literals, int) if monotone else random.choice([-1, 1], n_literals)
    return tuple(int(j) for j in inputs * signs)
