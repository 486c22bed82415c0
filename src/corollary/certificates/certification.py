"""certify: every guarantee that theory gives a fitted model on given rows."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from typing import Annotated, Any

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from corollary.certificates._gather import gather, has_missing
from corollary.certificates.register import theorems
from corollary.core.certificate import Assumption, Certificate, merge_assumptions
from corollary.core.compat import HasMethods
from corollary.core.estimator import ArrayLike, Probability, checked
from corollary.core.guard import count_different, is_suspicious, look_up, refuse_training_rows
from corollary.core.protocols import HasCalibrationCells, PredictsRegions


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
        Whether you vouch that the rows were kept aside from every choice about the model. The
        assumption that says so is then listed as checked.
    anytime : bool, default=False
        Whether you look more than once while rows arrive, or stop when you like what you see.
    declared : dict of str to float or None, default=None
        Numbers about the population that registered theorems need, by the names under which they
        ask for them (:attr:`Theorem.declares`); known before seeing the rows.

    Returns
    -------
    certificates : list of Certificate
        In the order of :func:`theorems`. To use the smallest after looking at all, call
        :func:`tightest`, which pays for the choice. Empty, with a warning, if no theorem applies.

    Raises
    ------
    ValueError
        If rows overlap the model's training rows without ``seen=True`` (or do not with it), if
        rows are those that calibrated a conformal wrapper, if both `seen` and `anytime` are set,
        if targets or predictions are missing, or if a loss leaves its range.

    See Also
    --------
    tightest : Choose among certificates.
    register_theorem : Offer another theorem.

    Notes
    -----
    Whether the rows are new is checked by the fingerprint that our estimators keep of their
    training rows, through pipelines, searches and wrappers. Other models keep none; their
    certificates then say that it is assumed.

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
    >>> for certificate in corollary.certify(model, X_new, y_new):
    ...     print(f"{certificate.theorem}: {certificate.claim}")
    theory.clopper-pearson: at most 8.2% of such rows are classified wrongly
    theory.empirical-bernstein: at most 14.9% of such rows are classified wrongly
    theory.hoeffding: at most 14.5% of such rows are classified wrongly
    """
    if seen and anytime:
        raise ValueError(
            "certify with anytime=True needs rows that the model has not seen. Got seen=True as "
            "well; leave one of them out."
        )
    if hasattr(model, "fit"):
        check_is_fitted(model)
    y = _check_targets(X, y)
    needs = "seen" if seen else "anytime" if anytime else "unseen"
    if isinstance(model, PredictsRegions):
        if seen:
            needs = "model"  # thresholds come from other rows than the model; none speaks of both
        else:
            _refuse_calibration_rows(model, X, y)
    assumptions: tuple[Assumption, ...] = ()
    if needs == "seen":
        assumptions = _check_seen(model, X, len(y))
    elif not seen:
        assumptions = _check_unseen(model, X, len(y))
        if kept_aside:  # which vouches for what is about these rows and this model
            assumptions = tuple(a if a.about == "draws" else a.vouched() for a in assumptions)
    evidence = gather(model, X, y, loss, loss_range, seen, _check_declared(declared or {}))
    certificates = []
    for theorem in theorems():
        if theorem.needs not in (needs, "model") or theorem.declares.keys() - evidence.declared:
            continue
        if not theorem.applies(evidence):
            continue
        for certificate in theorem.prove(evidence, confidence):
            if theorem.needs != "model":
                merged = merge_assumptions(assumptions, certificate.assumptions)
                certificate = replace(certificate, assumptions=merged, seen=seen)
            certificates.append(replace(certificate, page=certificate.page or theorem.page))
    if not certificates:
        _warn_of_nothing(model, seen)
    return certificates


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


def _warn_of_nothing(model: Any, seen: bool) -> None:
    rows = "its training rows" if seen else "rows it has not seen"
    repair = "pass 'loss' and 'loss_range'"
    if seen:
        repair = "pass rows that it was not trained on, without seen=True"
    warnings.warn(
        f"No registered theorem certifies {type(model).__name__} from {rows}: the list is "
        f"empty. To get certificates, {repair}.",
        UserWarning,
        stacklevel=4,
    )


def _refuse_calibration_rows(model: Any, X: Any, y: np.ndarray) -> None:
    """Raise if rows that should be new to a wrapper are those that calibrated it."""
    if isinstance(model, HasCalibrationCells) and model.calibrated_on(X, y):
        raise ValueError(
            f"certify needs rows that {type(model).__name__} was not calibrated on. Got rows with "
            "the scores of its calibration rows. Pass rows kept aside, or seen=True to ask what "
            "the calibration rows prove."
        )


def _check_unseen(model: Any, X: Any, n: int) -> tuple[Assumption, ...]:
    overlaps = refuse_training_rows(
        model,
        X,
        who="certify",
        repair="Pass rows kept aside, or seen=True to ask for theorems about training rows.",
    )
    drawn = "The row is a draw from the population the claim is about."
    if n > 1:
        drawn = (
            f"The {n:,} rows{_repeats(X, n)} are independent draws from the population the claim "
            "is about."
        )
    repeated = max((overlap.seen for overlap in overlaps), default=0)
    if not overlaps:
        unused = (
            "The rows were used neither to train the model, which keeps no record of its training "
            "rows, nor to choose it."
        )
    elif repeated:
        unused = (
            "The rows were used neither to train nor to choose the model "
            f"({repeated} equal a training row, no more than repeated rows explain)."
        )
    else:
        unused = (
            "The rows were not used to choose the model (that it was not trained on them was "
            "checked)."
        )
    return Assumption(drawn, "draws"), Assumption(unused, "rows")


def _repeats(X: Any, n: int) -> str:
    """Say how many rows are different where most of them are copies."""
    different = count_different(X)
    return "" if different is None or 2 * different > n else f", {different:,} of them different,"


def _check_seen(model: Any, X: Any, n: int) -> tuple[Assumption, ...]:
    drawn = f"The {n:,} training rows{_repeats(X, n)} are independent draws from the population."
    overlaps = look_up(model, X)
    if not overlaps:
        same = "The rows are exactly those the model was trained on."
        return Assumption(drawn, "draws"), Assumption(same, "rows")
    for fingerprint, overlap in overlaps:
        if fingerprint.n_rows == n and overlap.seen == overlap.compared:
            return (Assumption(drawn, "draws"),)
    best = max((overlap for _, overlap in overlaps), key=lambda overlap: overlap.seen)
    note = "" if is_suspicious(best) else " Leave seen=True out to certify from new rows."
    raise ValueError(
        f"seen=True needs exactly the rows that {type(model).__name__} was trained on. Got {n} "
        f"rows, of which {best.seen} of {best.compared} compared are among its "
        f"{max(fingerprint.n_rows for fingerprint, _ in overlaps)} training rows.{note}"
    )
