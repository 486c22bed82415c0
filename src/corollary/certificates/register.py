"""The register of theorems that :func:`corollary.certify` offers.

A theorem is a function ``prove(evidence, confidence)`` that yields certificates, together with
what it needs: rows the model never saw, such rows in the order of their coming, exactly its
training rows, rows of owners or of a period it never saw, or none, since the model remembers what
it rests on. Theorems are added with
:func:`register_theorem`; certify asks each one whether it applies. Those of this library are listed
in the order that ``_order.py`` states, whatever was imported first.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from corollary.certificates._order import ORDER
from corollary.core.certificate import Certificate, Population, Quantity

_Needs = Literal["unseen", "seen", "anytime", "model", "units", "period"]


@dataclass(frozen=True, eq=False)
class Evidence:
    """A fitted model, rows, and what the model does on them.

    Parameters
    ----------
    model : estimator
        The fitted model. Theorems may read it and must not change it.
    X : array-like or data frame of shape (n_samples, n_features)
        The rows as they came.
    y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Their targets.
    prediction : ndarray
        ``model.predict(X)``.
    kind : {"classifier", "regressor", "other"}
        What the model is.
    losses : ndarray of shape (n_samples,) or None, default=None
        One bounded loss per row; None if no bounded loss is defined.
    quantity : Quantity or None, default=None
        What the mean of the losses is called, and the range that was declared for it.
    errors : ndarray of shape (n_samples,) or None, default=None
        Absolute errors of a regressor, unbounded.
    misses : ndarray of shape (n_samples,) or None, default=None
        1 where a target lies outside the interval or the set that the model predicts, else 0;
        None for models that predict none.
    region : Quantity or None, default=None
        What the mean of the misses is called.
    seen : bool, default=False
        Whether the rows are the model's training rows.
    declared : dict of str to float, default={}
        Numbers about the population that the caller declared, by name.
    groups : ndarray of shape (n_samples,) or None, default=None
        The number of the owner of each row, from 0; None for rows without owners.
    order : ndarray of shape (n_samples,) or None, default=None
        Positions of the rows in the order of time; None for rows without moments.
    population : Population, default=Population()
        Of which rows the theorem that is asked speaks.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.certificates import Evidence, Quantity, theorems
    >>> evidence = Evidence(
    ...     model=None, X=np.zeros((3, 1)), y=np.array([0, 1, 1]), prediction=np.ones(3),
    ...     kind="classifier", losses=np.array([1.0, 0.0, 0.0]), quantity=Quantity(),
    ... )
    >>> theorem = theorems(needs="unseen")[0]
    >>> theorem.name, theorem.applies(evidence)
    ('theory.clopper-pearson', True)
    """

    model: Any
    X: Any
    y: np.ndarray
    prediction: np.ndarray
    kind: str
    losses: np.ndarray | None = None
    quantity: Quantity | None = None
    errors: np.ndarray | None = None
    misses: np.ndarray | None = None
    region: Quantity | None = None
    seen: bool = False
    declared: Mapping[str, float] = field(default_factory=dict)
    groups: np.ndarray | None = None
    order: np.ndarray | None = None
    population: Population = field(default_factory=Population)


@dataclass(frozen=True)
class Theorem:
    """A registered theorem.

    Parameters
    ----------
    name : str
        Identifier.
    needs : {"unseen", "seen", "anytime", "model", "units", "period"}
        Which rows it speaks about.
    applies : callable
        ``applies(evidence)`` is True when its assumptions can hold.
    prove : callable
        ``prove(evidence, confidence)`` yields certificates, each valid on its own.
    page : str, default=""
        Where its documentation is, relative to the root of the documentation; empty if there is
        none.
    title : str, default=""
        What a report calls it; empty for its identifier.
    idea : str, default=""
        What it makes of the rows, in a few words that complete a sentence about the theorem.
    declares : dict of str to str, default={}
        Numbers that the caller of :func:`certify` must declare, with what they mean.

    See Also
    --------
    register_theorem : Makes one of a function.

    Examples
    --------
    >>> from corollary.certificates import theorems
    >>> theorem = theorems(needs="unseen")[0]
    >>> theorem.name, theorem.needs
    ('theory.clopper-pearson', 'unseen')
    """

    name: str
    needs: _Needs
    applies: Callable[[Evidence], bool]
    prove: Callable[[Evidence, float], Iterable[Certificate]]
    page: str = ""
    title: str = ""
    idea: str = ""
    declares: Mapping[str, str] = field(default_factory=dict, compare=False)


_THEOREMS: dict[str, Theorem] = {}

_Prove = Callable[[Evidence, float], Iterable[Certificate]]


def register_theorem(
    name: str,
    *,
    needs: _Needs,
    applies: Callable[[Evidence], bool],
    page: str = "",
    title: str = "",
    idea: str = "",
    declares: Mapping[str, str] | None = None,
) -> Callable[[_Prove], _Prove]:
    """Offer a theorem to :func:`corollary.certify`.

    Parameters
    ----------
    name : str
        Identifier, such as ``"theory.hoeffding"``; each belongs to one function. To register the
        same function again, as a second import of its module does, replaces it.
    needs : {"unseen", "seen", "anytime", "model", "units", "period"}
        Whether it speaks about rows the model never saw, about its training rows, about rows it
        never saw that keep coming while one looks, or about what the model remembers, whatever
        rows are given; its certificates then state all that they assume. "units" speaks about rows
        of new owners, from rows whose owners are told, "period" about the rows of one period, from
        rows whose moments are told; both about ``evidence.population``.
    applies : callable
        ``applies(evidence)`` says whether the theorem fits this model and these rows. It may look
        at the model and at what was declared, not at how good the outcome is.
    page : str, default=""
        Where the theorem is explained, which :attr:`Certificate.page` repeats. A theorem of this
        library is explained by the page of its bound, or at its anchor on the page of certificates.
    title : str, default=""
        What a report calls it; empty for its identifier.
    idea : str, default=""
        What it makes of the rows, in a few words.
    declares : dict of str to str or None, default=None
        Numbers about the population that the theorem needs, with what they mean. It is asked only
        if the caller of :func:`certify` declared all of them, and finds them in
        ``evidence.declared``.

    Returns
    -------
    decorator : callable
        For a function ``prove(evidence, confidence)`` that yields certificates.

    Raises
    ------
    ValueError
        If another function has the name, or `needs` is unknown.

    Examples
    --------
    >>> from corollary.certificates import forget_theorem, register_theorem, theorems
    >>> @register_theorem("example.nothing", needs="seen", applies=lambda evidence: False)
    ... def nothing(evidence, confidence):
    ...     yield from ()
    >>> [theorem.name for theorem in theorems(needs="seen") if "example" in theorem.name]
    ['example.nothing']
    >>> forget_theorem("example.nothing")
    """
    if needs not in get_args(_Needs):
        raise ValueError(
            "The 'needs' parameter of register_theorem must be 'unseen', 'seen', 'anytime', "
            f"'model', 'units' or 'period'. Got {needs!r} instead."
        )

    def register(prove: _Prove) -> _Prove:
        earlier = _THEOREMS.get(name)
        if earlier is not None and _origin(earlier.prove) != _origin(prove):
            raise ValueError(
                f"A theorem named {name!r} is registered already, by {_origin(earlier.prove)}; "
                "choose another name."
            )
        anchor = _page_of(name) if name in ORDER else ""
        _THEOREMS[name] = Theorem(
            name, needs, applies, prove, page or anchor, title, idea, declares or {}
        )
        return prove

    return register


def forget_theorem(name: str) -> None:
    """Take a theorem out of the register, so that it is no longer offered.

    Parameters
    ----------
    name : str
        Its identifier.

    Raises
    ------
    ValueError
        If there is no such theorem.

    See Also
    --------
    register_theorem : Offers one.

    Examples
    --------
    >>> from corollary.certificates import forget_theorem
    >>> forget_theorem("example.unknown")
    Traceback (most recent call last):
        ...
    ValueError: No theorem is registered as 'example.unknown'.
    """
    if _THEOREMS.pop(name, None) is None:
        raise ValueError(f"No theorem is registered as {name!r}.")


def _page_of(theorem: str) -> str:
    """Return the place that explains a theorem of this library: its page, or its anchor."""
    known = _THEOREMS.get(theorem)
    return known.page if known else f"certificates.html#{theorem.replace('.', '-')}"


def _origin(prove: _Prove) -> str:
    module = getattr(prove, "__module__", "")
    return f"{module}.{getattr(prove, '__qualname__', repr(prove))}"


def theorems(*, needs: _Needs | None = None) -> list[Theorem]:
    """List the registered theorems.

    Parameters
    ----------
    needs : {"unseen", "seen", "anytime", "model", "units", "period"} or None, default=None
        Only those that speak about such rows; None for all.

    Returns
    -------
    listed : list of Theorem
        In the order in which :func:`certify` lists their certificates: this library's in a
        declared order, others after them as they were registered.

    Examples
    --------
    >>> from corollary.certificates import theorems
    >>> theorems(needs="unseen")[0].name
    'theory.clopper-pearson'
    """
    place = {name: number for number, name in enumerate(ORDER)}
    ordered = sorted(_THEOREMS.values(), key=lambda one: place.get(one.name, len(place)))
    return [one for one in ordered if needs is None or one.needs == needs]
