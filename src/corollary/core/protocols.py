"""How a model says what it is.

A theorem is about a plane, a bag, a run of gradient descent, not about a class of some library. A
model that is one of these says so by a method, which returns a record of what theorems need, or
None if this model is not one after all (its parameters or its rows do not allow it). Nobody has to
recognise a class by its name; ``corollary.certificates`` has one file that reads scikit-learn's
classes in the same way. Linear models follow scikit-learn's own convention, ``coef_`` and
``intercept_``, and need no method.
"""

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from sklearn.base import clone


@dataclass(frozen=True, eq=False)
class Plane:
    """A classifier of two classes by the side of a plane on which a row lies.

    It predicts, so that it can be certified by itself: ``certify(plane, X, y, seen=True)``.

    Parameters
    ----------
    weights : ndarray of shape (n_features,)
        Its normal vector, in the units of the columns.
    intercept : float, default=0.0
        Its offset.
    affine : bool, default=True
        Whether an offset was allowed for.
    classes_ : ndarray of shape (2,), default=0 and 1
        Labels below and above the plane.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.core.protocols import Plane
    >>> Plane(np.array([1.0]), -2.0).predict(np.array([[1.0], [3.0]]))
    array([0, 1])
    """

    weights: np.ndarray
    intercept: float = 0.0
    affine: bool = True
    classes_: np.ndarray = field(default_factory=lambda: np.array([0, 1]))

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores whose signs decide.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Positive above the plane.
        """
        return np.asarray(X) @ self.weights + self.intercept

    def predict(self, X: Any) -> np.ndarray:
        """Predict labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            One of the two classes each.
        """
        return self.classes_[(self.decision_function(X) > 0).astype(int)]

    def as_plane(self) -> "Plane":
        """Return itself.

        Returns
        -------
        plane : Plane
            This plane.
        """
        return self


class AffineMap(NamedTuple):
    """A transformation of rows by a matrix and an offset: a plane behind it is one before it.

    Parameters
    ----------
    matrix : ndarray of shape (n_features, n_outputs)
        What rows are multiplied by.
    offset : ndarray of shape (n_outputs,)
        What is added.
    """

    matrix: np.ndarray
    offset: np.ndarray


class Bag(NamedTuple):
    """Classifiers that were trained on draws of the rows, and vote.

    Parameters
    ----------
    members : sequence of estimators
        The fitted classifiers.
    drawn : sequence of ndarray of int
        Positions of the training rows that each member has seen.
    columns : sequence
        Columns that each member takes, as an index.
    classes : ndarray or None, default=None
        Labels if members speak of their positions in it, None if they speak of labels.
    """

    members: Sequence[Any]
    drawn: Sequence[np.ndarray]
    columns: Sequence[Any]
    classes: np.ndarray | None = None


class Replay(NamedTuple):
    """The single pass of an online classifier over its rows, played again.

    Parameters
    ----------
    mistakes : ndarray of shape (n_samples,)
        1 where the label of a round was predicted wrongly before it was learnt, else 0.
    losses : ndarray of shape (n_samples,)
        Loss of every round, before it was learnt from.
    averaged_loss : str, default=""
        Name of the convex loss of a score if the model is the mean of the weights of the run,
        which has no intercept; else empty.
    radius : float, default=infinity
        Radius of the ball in which the weights are kept.
    """

    mistakes: np.ndarray
    losses: np.ndarray
    averaged_loss: str = ""
    radius: float = math.inf


class Descent(NamedTuple):
    """A run of stochastic gradient descent that made a linear model.

    Parameters
    ----------
    loss : str
        Name of the loss: "logistic", "hinge", "squared_hinge", "square", "half_square", ...
    step_at : callable
        ``step_at(t)`` gives the steps of the rounds t = 1, 2, 3, ...
    n_passes : int
        Passes over the rows.
    stopped : bool
        Whether the number of passes was chosen by looking at the rows.
    penalty : float
        Weight of the squared norm.
    averaging : bool
        Whether the model is the mean of the weights over the run.
    radius : float
        Radius of the ball in which weights are kept; infinite if there is none.
    repeated : bool
        Whether the run was repeated and gave the same model.
    epsilon : float, default=0.0
        Parameter of the loss, if it has one.
    """

    loss: str
    step_at: Callable[[np.ndarray], np.ndarray]
    n_passes: int
    stopped: bool
    penalty: float
    averaging: bool
    radius: float
    repeated: bool
    epsilon: float = 0.0


class DeterminingRows(NamedTuple):
    """Training rows that would give the same model without the others.

    Parameters
    ----------
    rows : ndarray of bool of shape (n_samples,)
        Which they are.
    by : {"support-vectors", "mistakes"}
        Why they determine the model.
    """

    rows: np.ndarray
    by: Literal["support-vectors", "mistakes"]


@runtime_checkable
class HasFittedParts(Protocol):
    """A model made of fitted models, which may remember their training rows."""

    def fitted_parts(self, X: Any) -> Iterable[tuple[Any, Any]]:
        """List the models inside, each with the rows as they reach it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows as the model takes them.

        Returns
        -------
        parts : iterable of (model, rows)
            Models, each with the rows in the form that it takes.
        """
        ...


@runtime_checkable
class HasPlane(Protocol):
    """A classifier that may be a plane in its columns."""

    def as_plane(self) -> Plane | None:
        """Return the plane; None if it is none."""
        ...


@runtime_checkable
class HasAffineMap(Protocol):
    """A transformer that may be affine, whatever it learnt."""

    def as_affine(self) -> AffineMap | None:
        """Return the map; None if it is none."""
        ...


@runtime_checkable
class HasBag(Protocol):
    """A classifier that may be a bag, each member of which has seen its draw of the rows alone."""

    def as_bag(self, y: np.ndarray) -> Bag | None:
        """Return the bag for these training labels; None if other rows touched a member.

        Parameters
        ----------
        y : ndarray of shape (n_samples,)
            Their targets.

        Returns
        -------
        bag : Bag or None
            Members, and the rows that each has drawn.
        """
        ...


@runtime_checkable
class HasReplay(Protocol):
    """An online classifier whose run over its training rows can be repeated."""

    def replay(self, X: Any, y: np.ndarray) -> Replay | None:
        """Play the run again; None if it was no single pass, or gives another model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows as the model takes them.
        y : ndarray of shape (n_samples,)
            Their targets.

        Returns
        -------
        run : Replay or None
            Mistakes and losses of its rounds.
        """
        ...


@runtime_checkable
class HasDescent(Protocol):
    """A linear model that may be the result of stochastic gradient descent."""

    def as_descent(self, X: Any, y: np.ndarray) -> Descent | None:
        """Return the run that made the model of these rows; None if none did.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows as the model takes them.
        y : ndarray of shape (n_samples,)
            Their targets.

        Returns
        -------
        run : Descent or None
            Its loss, steps and passes.
        """
        ...


@runtime_checkable
class HasDeterminingRows(Protocol):
    """A classifier that some of its training rows may determine."""

    def determining_rows(self, X: Any, y: np.ndarray) -> DeterminingRows | None:
        """Return which rows they are; None if all may matter.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows as the model takes them.
        y : ndarray of shape (n_samples,)
            Their targets.

        Returns
        -------
        determining : DeterminingRows or None
            Which they are, and why.
        """
        ...


@runtime_checkable
class HasRidgePenalty(Protocol):
    """A linear regressor through the origin that may minimise squares plus a squared norm."""

    def ridge_penalty(self) -> float | None:
        """Return the weight of the squared norm beside the sum of squares; None if it does not."""
        ...


@runtime_checkable
class HasCertificate(Protocol):
    """A model that carries a certificate, since it was trained to have a good one."""

    @property
    def certificate_(self) -> Any:
        """The certificate, which can be moved to another confidence."""
        ...


@runtime_checkable
class PredictsRegions(Protocol):
    """A model that predicts intervals or sets of targets, at its ``confidence``."""

    confidence: float

    def misses(self, X: Any, y: Any) -> np.ndarray:
        """Say which targets lie outside the region that is predicted for their row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows as the model takes them.
        y : ndarray of shape (n_samples,)
            Their targets.

        Returns
        -------
        outside : ndarray of bool of shape (n_samples,)
            True where the region does not hold the target.
        """
        ...


@runtime_checkable
class PredictsSets(Protocol):
    """A model whose regions are sets of labels."""

    def predict_set(self, X: Any) -> np.ndarray:
        """Return which labels are in the set of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows as the model takes them.

        Returns
        -------
        sets : ndarray of bool of shape (n_samples, n_classes)
            True for labels in the set.
        """
        ...


@runtime_checkable
class HasCalibrationCells(PredictsRegions, Protocol):
    """A conformal wrapper with thresholds from rows that its model has not seen."""

    def calibration_cells(self) -> Sequence[Any]:
        """List the groups of calibration rows that have a threshold."""
        ...

    def calibrated_on(self, X: Any, y: Any) -> bool:
        """Tell whether rows are those that calibrated it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows as the model takes them.
        y : ndarray of shape (n_samples,)
            Their targets.

        Returns
        -------
        same : bool
            True if they are.
        """
        ...


@runtime_checkable
class HasCalibrationFolds(PredictsRegions, Protocol):
    """A conformal wrapper with residuals from folds."""

    def calibration_folds(self) -> Any:
        """Return the sizes of the folds, and the rank that makes the ends of intervals."""
        ...


def repeats(model: Any, X: Any, y: np.ndarray, *, n_passes: int, fit_passes: int) -> bool | None:
    """Tell whether a repeated run of a linear learner gives the same model.

    Parameters
    ----------
    model : estimator
        A fitted linear model with ``fit`` and ``partial_fit``, `shuffle` and `random_state`.
    X : array-like of shape (n_samples, n_features)
        Its training rows.
    y : ndarray of shape (n_samples,)
        Their targets.
    n_passes : int
        Passes over the rows that made the model.
    fit_passes : int
        Passes that ``fit`` makes.

    Returns
    -------
    repeated : bool or None
        None if the run gives another model. False means that nobody can know: the seed of a
        shuffled run was not kept.
    """
    hidden = model.shuffle and not isinstance(model.random_state, int | np.integer)
    first = {"classes": model.classes_} if hasattr(model, "classes_") else {}
    runs: list[Callable[[], Any]] = []
    if n_passes == fit_passes and not hidden:
        runs.append(lambda: clone(model).fit(X, y))
    if n_passes == 1:
        runs.append(lambda: clone(model).partial_fit(X, y, **first))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as that the run did not converge
        for run in runs:
            again = run()
            same = np.array_equal(again.coef_, model.coef_)
            if same and np.array_equal(again.intercept_, model.intercept_):
                return True
    return False if hidden and n_passes == fit_passes else None
