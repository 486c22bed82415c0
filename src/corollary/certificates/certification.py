"""certify: every guarantee that theory gives a fitted model on given rows."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from typing import Annotated, Any

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from corollary.certificates._dependence import read_dependence
from corollary.certificates._gather import gather, has_missing
from corollary.certificates._questions import ask_dependent, ask_independent
from corollary.certificates.register import theorems
from corollary.core.certificate import Certificate, merge_assumptions
from corollary.core.compat import HasMethods
from corollary.core.estimator import ArrayLike, Probability, checked


@checked
def certify(
    model: Annotated[Any, HasMethods("predict")],
    X: Any,
    y: Any,
    *,
    seen: bool = False,
    confidence: Probability = 0.95,
    loss: Callable[..., Any] | None = None,
    loss_range: ArrayLike | None = None,
    kept_aside: bool = False,
    anytime: bool = False,
    declared: dict | None = None,
    groups: Any = None,
    time: Any = None,
    unit: str | tuple[str, ...] = "",
    training_groups: Any = None,
) -> list[Certificate]:
    """Compute the guarantees that hold for a fitted model, each valid on its own.

    By default the rows are ones the model never saw. Then

    * a classifier gets bounds on its error rate: the exact binomial bound first, which is the
      tightest, then the empirical Bernstein and Hoeffding bounds;
    * a regressor gets bounds on the 50%, 90% and 95% quantiles of its absolute error, which need
      no assumption about how large errors can be, and with `loss_range` also bounds on the mean
      of the absolute error cut at the end of that range;
    * with `loss`, any model gets bounds on its mean.

    These are about a number of rows that was fixed beforehand. With ``anytime=True`` the rows keep
    coming, in their order, and certify may be called after any of them: confidence sequences
    make all these certificates true together.

    With ``seen=True`` the rows are the model's training rows, and the theorems that speak about
    those are offered instead.

    All these take rows for independent draws. If rows have owners (several rows of each person,
    copies of a row), pass them as `groups`: owners count, not rows, and the claims are about rows
    of new owners. If rows follow each other in time, pass their moments as `time`: the claims are
    about the period of these rows, under any dependence, and about no later one. With both, claims
    about new owners speak of that period too.

    A conformal wrapper is judged by its intervals or sets first: how many targets of such rows
    lie outside them, by what its calibration rows prove (for which no further row is needed, so
    that it is offered with ``seen=True`` too) and by the rows given.

    Parameters
    ----------
    model : estimator
        A fitted model, ours or any with scikit-learn's ``predict``. It is not changed.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows, passed to the model as they come.
    y : array-like of shape (n_samples,)
        Their targets. For a classifier of several labels at once a row is an error if any of its
        labels is wrong.
    seen : bool, default=False
        Whether the rows are the model's training rows, all of them.
    confidence : float, default=0.95
        Confidence of each certificate.
    loss : callable or None, default=None
        ``loss(y, prediction)`` gives one loss per row. Booleans mark rows with an error and get
        the exact bound on their share; numbers need `loss_range`. None takes the error of a
        classifier and the absolute error of a regressor.
    loss_range : tuple of two floats or None, default=None
        Smallest and largest possible loss, chosen before seeing the rows. The default loss of a
        regressor is cut at the upper end; values of `loss` outside are refused.
    kept_aside : bool, default=False
        Whether you vouch that the rows were kept aside from training and from every choice about
        the model. The assumption that says so is then listed as checked, and a model that keeps no
        record of its training rows raises no warning.
    anytime : bool, default=False
        Whether you look more than once while rows arrive, or stop when you like what you see.
    declared : dict of str to float or None, default=None
        Numbers about the population that registered theorems need, by the names under which they
        ask for them (:attr:`Theorem.declares`); known before seeing the rows.
    groups : array-like of shape (n_samples,) or (n_samples, n_columns) or None, default=None
        The owner of every row; with several columns each combination is an owner. Of nested owners
        pass the coarsest that differs from one to the next.
    time : array-like of shape (n_samples,) or None, default=None
        The moment of every row: numbers, dates, or text like 2020-05-01. The model must have been
        fixed before the first of them.
    unit : str or tuple of str, default=""
        What an owner is called in sentences, in the singular; several names for several columns.
    training_groups : array-like or None, default=None
        The owners of the rows that trained, tuned or calibrated the model. They are refused among
        `groups`. Not needed for models that remember their owners.

    Returns
    -------
    certificates : list of Certificate
        In the order of :func:`theorems`. To use the smallest after looking at all, call
        :func:`tightest`, which pays for the choice. Empty, with a warning, if no theorem applies.

    Raises
    ------
    ValueError
        If rows overlap the model's training rows without ``seen=True`` (or do not with it), if
        rows are those that calibrated a conformal wrapper, if two of `seen`, `anytime` and
        `groups` or `time` are set, if owners had training rows, if there is one owner only, if
        targets, predictions, owners or moments are missing, or if a loss leaves its range.

    See Also
    --------
    tightest : Choose among certificates.
    register_theorem : Offer another theorem.

    Notes
    -----
    Whether the rows are new is checked by the fingerprint that our estimators keep of their
    training rows, through pipelines, searches and wrappers. Other models keep none: certify then
    warns, unless ``kept_aside=True``, and the certificates say that it is assumed.

    Guarantee: each certificate is false with probability at most 1 - confidence over the draw of
    the rows. Checked by ``tests/certificates/test_certify.py`` on 2,000 simulated worlds with 1 to
    300 rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> import corollary
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, X_new, y, y_new = train_test_split(X, y, random_state=0)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    >>> for certificate in corollary.certify(model, X_new, y_new, kept_aside=True):
    ...     print(f"{certificate.theorem}: {certificate.claim}")
    theory.clopper-pearson: at most 8.2% of such rows are classified wrongly
    theory.empirical-bernstein: at most 14.9% of such rows are classified wrongly
    theory.hoeffding: at most 14.5% of such rows are classified wrongly

    If the rows came from 20 persons, they are as much evidence as 20 persons are:

    >>> import numpy as np
    >>> persons = np.arange(len(y_new)) % 20
    >>> for certificate in corollary.certify(
    ...     model, X_new, y_new, kept_aside=True, groups=persons, unit="person"
    ... ):
    ...     print(f"{certificate.theorem}: {certificate.claim}")
    theory.unit-betting: at most 19.4% of rows of new persons are classified wrongly
    theory.unit-one-row: at most 28.3% of rows of new persons are classified wrongly
    """
    _check_combination(seen, anytime, groups, time, unit, training_groups)
    if hasattr(model, "fit"):
        check_is_fitted(model)
    y = _check_targets(X, y)
    dependence = None
    if groups is not None or time is not None:
        dependence = read_dependence(groups, time, unit, training_groups, len(y))
        questions = ask_dependent(model, X, y, dependence, kept_aside=kept_aside)
    else:
        questions = ask_independent(model, X, y, seen=seen, anytime=anytime, kept_aside=kept_aside)
    evidence = gather(model, X, y, loss, loss_range, seen, _check_declared(declared or {}))
    if dependence is not None:
        evidence = replace(evidence, groups=dependence.groups, order=dependence.order)
    asked = {q.needs: (q, replace(evidence, population=q.population)) for q in questions}
    certificates = []
    for theorem in theorems():
        if theorem.needs not in asked or theorem.declares.keys() - evidence.declared:
            continue
        question, shown = asked[theorem.needs]
        if not theorem.applies(shown):
            continue
        for certificate in theorem.prove(shown, confidence):
            if question.assumptions is not None:
                # To vouch for rows kept aside is to vouch for what is about them and this model.
                assumed = question.vouched() if kept_aside and not seen else question.assumptions
                merged = merge_assumptions(assumed, certificate.assumptions)
                certificate = replace(certificate, assumptions=merged, seen=seen)
            certificates.append(replace(certificate, page=certificate.page or theorem.page))
    if not certificates:
        _warn_of_nothing(model, seen, dependence is not None)
    return certificates


def _check_combination(
    seen: bool, anytime: bool, groups: Any, time: Any, unit: Any, training_groups: Any
) -> None:
    """Refuse options that contradict each other, or go with one that was left out."""
    if seen and anytime:
        raise ValueError(
            "certify with anytime=True needs rows that the model has not seen. Got seen=True as "
            "well; leave one of them out."
        )
    for name, value in (("groups", groups), ("time", time)):
        if value is not None and seen:
            raise ValueError(
                f"certify with '{name}' needs rows that the model has not seen: no theorem about "
                "training rows holds for rows that depend on each other. Got seen=True as well; "
                "leave one of them out."
            )
        if value is not None and anytime:
            raise ValueError(
                f"certify with '{name}' needs rows whose number was fixed beforehand. Got "
                "anytime=True as well; leave one of them out."
            )
    if groups is None and (training_groups is not None or unit):
        raise ValueError(
            "The 'unit' and 'training_groups' parameters of certify go with 'groups', the owners "
            "of the rows. Got no groups; pass them too."
        )


def _check_targets(X: Any, y: Any) -> np.ndarray:
    """Return the targets as an array, one for every row and none missing."""
    targets = np.asarray(y)
    if targets.ndim == 0:
        raise ValueError(
            f"certify needs one target for every row. Got {type(y).__name__} instead; pass y as "
            "an array, a list or a column."
        )
    check_consistent_length(X, targets)
    if len(targets) == 0:
        raise ValueError("certify needs at least one row. Got none.")
    if has_missing(targets):
        raise ValueError("certify needs a target for every row. Got missing values in y.")
    return targets


def _check_declared(declared: dict[str, float]) -> dict[str, float]:
    """Refuse numbers that no theorem asks for, and what is no number."""
    asked = {name: text for theorem in theorems() for name, text in theorem.declares.items()}
    for name, value in declared.items():
        if name not in asked:
            there_is = "; ".join(f"{known!r}, {text}" for known, text in asked.items())
            raise ValueError(
                f"No registered theorem asks for a declared {name!r}. Got declared={declared!r}; "
                f"declare {there_is or 'nothing'}."
            )
        if not isinstance(value, Real) or not np.isfinite(value):
            raise ValueError(
                f"The declared {name!r} must be a finite number: {asked[name]}. Got {value!r}."
            )
    return {name: float(value) for name, value in declared.items()}


def _warn_of_nothing(model: Any, seen: bool, dependent: bool) -> None:
    rows = "its training rows" if seen else "rows it has not seen"
    repair = "pass 'loss_range'" if dependent else "pass 'loss' and 'loss_range'"
    if seen:
        repair = (
            "pass rows that it was not trained on, without seen=True (theorems about training rows "
            "need tables of finite numbers, and models whose training they can follow)"
        )
    warnings.warn(
        f"No registered theorem certifies {type(model).__name__} from {rows}: the list is "
        f"empty. To get certificates, {repair}.",
        UserWarning,
        stacklevel=4,
    )
