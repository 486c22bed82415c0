"""certify: every guarantee that theory gives a fitted model on given rows."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from corollary.core.compat import HasMethods, Interval, validate_params
from corollary.theory.certificate import Certificate, Quantity
from corollary.theory.concentration import check_losses
from corollary.theory.conformal_certificates import (
    miss_rate,
    predicts_regions,
    refuse_calibration_rows,
)
from corollary.theory.guard import count_different, is_suspicious, look_up, refuse_training_rows
from corollary.theory.theorem import Evidence, theorems


@validate_params(
    {
        "model": [HasMethods("predict")],
        "seen": ["boolean"],
        "confidence": [Interval(Real, 0, 1, closed="neither")],
        "loss": [callable, None],
        "loss_range": ["array-like", None],
        "kept_aside": ["boolean"],
        "anytime": ["boolean"],
    },
    prefer_skip_nested_validation=True,
)
def certify(
    model: Any,
    X: Any,
    y: Any,
    *,
    seen: bool = False,
    confidence: float = 0.95,
    loss: Callable[[np.ndarray, np.ndarray], Any] | None = None,
    loss_range: tuple[float, float] | None = None,
    kept_aside: bool = False,
    anytime: bool = False,
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

    Returns
    -------
    certificates : list of Certificate
        In the order of registration. To use the smallest after looking at all, call
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
    the rows. Checked by ``tests/theory/test_certify.py`` on 2,000 simulated worlds with 1 to 300
    rows.

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
    targets = np.asarray(y)
    if targets.ndim == 0:
        raise ValueError(
            f"certify needs one target for every row. Got {type(y).__name__} instead; pass y as "
            "an array, a list or a column."
        )
    y = targets
    check_consistent_length(X, y)
    if len(y) == 0:
        raise ValueError("certify needs at least one row. Got none.")
    if _missing(y):
        raise ValueError("certify needs a target for every row. Got missing values in y.")
    needs = "seen" if seen else "anytime" if anytime else "unseen"
    if predicts_regions(model):
        if seen:
            needs = "model"  # thresholds come from other rows than the model; none speaks of both
        else:
            refuse_calibration_rows(model, X, y)
    assumptions: tuple[str, ...] = ()
    if needs == "seen":
        assumptions = _check_seen(model, X, len(y))
    elif not seen:
        assumptions = _check_unseen(model, X, len(y))
    # The first assumption is about the population; what follows, about these rows and this model.
    checked = assumptions[1:] if kept_aside and not seen else ()
    evidence = gather(model, X, y, loss, loss_range, seen)
    certificates = []
    for theorem in theorems():
        if theorem.needs not in (needs, "model") or not theorem.applies(evidence):
            continue
        for certificate in theorem.prove(evidence, confidence):
            if theorem.needs != "model":
                certificate = replace(
                    certificate,
                    assumptions=tuple(dict.fromkeys((*assumptions, *certificate.assumptions))),
                    checked=tuple(dict.fromkeys((*checked, *certificate.checked))),
                    seen=seen,
                )
            certificates.append(certificate)
    if not certificates:
        rows = "its training rows" if seen else "rows it has not seen"
        repair = (
            "pass rows that it was not trained on, without seen=True"
            if seen
            else "pass 'loss' and 'loss_range'"
        )
        warnings.warn(
            f"No registered theorem certifies {type(model).__name__} from {rows}: the list is "
            f"empty. To get certificates, {repair}.",
            UserWarning,
            stacklevel=2,
        )
    return certificates


def _check_unseen(model: Any, X: Any, n: int) -> tuple[str, ...]:
    overlaps = refuse_training_rows(
        model,
        X,
        who="certify",
        repair="Pass rows kept aside, or seen=True to ask for theorems about training rows.",
    )
    independent = "The row is a draw from the population the claim is about."
    if n > 1:
        independent = (
            f"The {n:,} rows{_repeats(X, n)} are independent draws from the population the claim "
            "is about."
        )
    if not overlaps:
        return (
            independent,
            "The rows were used neither to train the model, which keeps no record of its training "
            "rows, nor to choose it.",
        )
    repeated = max(overlap.seen for overlap in overlaps)
    if repeated:
        return (
            independent,
            "The rows were used neither to train nor to choose the model "
            f"({repeated} equal a training row, no more than repeated rows explain).",
        )
    return (
        independent,
        "The rows were not used to choose the model (that it was not trained on them was checked).",
    )


def _repeats(X: Any, n: int) -> str:
    """Say how many rows are different where most of them are copies."""
    different = count_different(X)
    return "" if different is None or 2 * different > n else f", {different:,} of them different,"


def _check_seen(model: Any, X: Any, n: int) -> tuple[str, ...]:
    found = look_up(model, X)
    independent = (
        f"The {n:,} training rows{_repeats(X, n)} are independent draws from the population."
    )
    if not found:
        return independent, "The rows are exactly those the model was trained on."
    for fingerprint, overlap in found:
        if fingerprint.n_rows == n and overlap.seen == overlap.compared:
            return (independent,)
    best = max((overlap for _, overlap in found), key=lambda overlap: overlap.seen)
    note = "" if is_suspicious(best) else " Leave seen=True out to certify from new rows."
    raise ValueError(
        f"seen=True needs exactly the rows that {type(model).__name__} was trained on. Got {n} "
        f"rows, of which {best.seen} of {best.compared} compared are among its "
        f"{max(fingerprint.n_rows for fingerprint, _ in found)} training rows.{note}"
    )


def gather(
    model: Any, X: Any, y: np.ndarray, loss: Any = None, loss_range: Any = None, seen: bool = False
) -> Evidence:
    """Collect what a model does on rows."""
    kind = _kind(model)
    prediction = np.asarray(model.predict(X))
    if len(prediction) != len(y):
        raise ValueError(
            f"{type(model).__name__} predicted {len(prediction)} rows for {len(y)} targets."
        )
    if _missing(prediction):
        raise ValueError(
            f"certify needs a prediction for every row. {type(model).__name__} returned missing "
            "values."
        )
    known: dict[str, Any] = {}
    if loss is not None:
        known = _with_loss(loss, loss_range, y, prediction)
    elif kind == "classifier":
        if loss_range is not None:
            raise ValueError(
                "The 'loss_range' parameter of certify goes with 'loss' or a regressor; the error "
                "of a classifier is 0 or 1. Leave it out."
            )
        known = {"losses": _errors_of(model, y, prediction), "quantity": Quantity()}
    elif kind == "regressor":
        known = _with_absolute_error(loss_range, y, prediction)
    elif not seen:
        raise ValueError(
            f"certify cannot tell whether {type(model).__name__} is a classifier or a regressor. "
            "Pass 'loss' (and 'loss_range' unless it returns booleans)."
        )
    if not seen and predicts_regions(model):
        known["misses"] = np.asarray(model.misses(X, y), dtype=float)
        known["region"] = miss_rate(model)
    return Evidence(model=model, X=X, y=y, prediction=prediction, kind=kind, seen=seen, **known)


def _kind(model: Any) -> str:
    if hasattr(model, "__sklearn_tags__"):
        if is_classifier(model):
            return "classifier"
        return "regressor" if is_regressor(model) else "other"
    return "classifier" if hasattr(model, "classes_") else "other"


def _missing(values: np.ndarray) -> bool:
    if values.dtype.kind in "fc":
        return bool(np.isnan(values).any())
    if values.dtype == object:
        return any(value is None or value != value for value in values.ravel())
    return False


def _errors_of(model: Any, y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    if y.shape != prediction.shape:
        raise ValueError(
            f"The targets must have the shape of the predictions, {prediction.shape}. "
            f"Got {y.shape} instead."
        )
    classes = getattr(model, "classes_", None)
    if isinstance(classes, np.ndarray) and not any(
        label in set(classes.tolist()) for label in y.ravel().tolist()
    ):
        raise ValueError(
            f"None of the targets is a class of {type(model).__name__} "
            f"({', '.join(map(repr, classes.tolist()[:5]))}{', ...' if len(classes) > 5 else ''}). "
            f"Got {y.ravel().tolist()[0]!r} of type {y.dtype}; encode y as in training."
        )
    wrong = y.astype(object) != prediction.astype(object)
    return np.asarray(wrong, dtype=float).reshape(len(y), -1).max(axis=1)


def _with_absolute_error(loss_range: Any, y: np.ndarray, prediction: np.ndarray) -> dict[str, Any]:
    if y.shape != prediction.shape or y.ndim != 1:
        raise ValueError(
            "certify measures the absolute error of one target per row. Got targets of shape "
            f"{y.shape} and predictions of shape {prediction.shape}; pass 'loss' for others."
        )
    errors = np.abs(y.astype(float) - prediction.astype(float))
    if loss_range is None:
        return {"errors": errors}
    low, cap = _check_range(loss_range)
    if low != 0:
        raise ValueError(
            "The 'loss_range' parameter of certify must start at 0 for the absolute error. "
            f"Got {loss_range!r} instead."
        )
    quantity = Quantity(f"mean of min(|error|, {cap:g})", 0.0, cap, None)
    return {"errors": errors, "losses": np.minimum(errors, cap), "quantity": quantity}


def _with_loss(loss: Any, loss_range: Any, y: np.ndarray, prediction: np.ndarray) -> dict[str, Any]:
    name = getattr(loss, "__name__", type(loss).__name__)
    losses = np.asarray(loss(y, prediction))
    if losses.shape != (len(y),):
        raise ValueError(
            f"The loss {name} must return one value per row, shape ({len(y)},). "
            f"Got shape {losses.shape} instead."
        )
    if losses.dtype == bool:
        quantity = Quantity(f"share of {name}", predicate=f"count as {name}")
        return {"losses": losses.astype(float), "quantity": quantity}
    if loss_range is None:
        raise ValueError(
            f"certify needs 'loss_range' for the loss {name}: the smallest and largest value it "
            "can take, known before seeing the rows. A loss that returns booleans needs none."
        )
    low, high = _check_range(loss_range)
    losses = check_losses(losses, low, high, who="certify")
    return {"losses": losses, "quantity": Quantity(f"mean of {name}", low, high, None)}


def _check_range(loss_range: Any) -> tuple[float, float]:
    ends = np.asarray(loss_range, dtype=float)
    if ends.shape != (2,) or not np.isfinite(ends).all() or ends[0] >= ends[1]:
        raise ValueError(
            "The 'loss_range' parameter of certify must be two finite numbers (low, high) with "
            f"low < high. Got {loss_range!r} instead."
        )
    return float(ends[0]), float(ends[1])
