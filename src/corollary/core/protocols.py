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

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.core.protocols import Plane
    >>> Plane(np.array([1.0]), -2.0).predict(np.array([[1.0], [3.0]]))
    array([0, 1])
    """

    weights: np.ndarray  # its normal vector, in the units of the columns
    intercept: float = 0.0  # its offset
    affine: bool = True  # whether an offset was allowed for
    # labels below and above the plane
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
        """Return itself."""
        return self


class AffineMap(NamedTuple):
    """A transformation of rows by a matrix and an offset: a plane behind it is one before it."""

    matrix: np.ndarray  # what rows are multiplied by
    offset: np.ndarray  # what is added


class Bag(NamedTuple):
    """Classifiers that were trained on draws of the rows, and vote."""

    members: Sequence[Any]  # the fitted classifiers
    drawn: Sequence[np.ndarray]  # positions of the training rows that each member has seen
    columns: Sequence[Any]  # columns that each member takes, as an index
    # labels if members speak of their positions in it, None if they speak of labels
    classes: np.ndarray | None = None


class Replay(NamedTuple):
    """The single pass of an online classifier over its rows, played again."""

    # 1 where the label of a round was predicted wrongly before it was learnt, else 0
    mistakes: np.ndarray
    losses: np.ndarray  # loss of every round, before it was learnt from
    # name of the convex loss of a score if the model is the mean of the weights of the run, which
    # has no intercept; else empty
    averaged_loss: str = ""
    radius: float = math.inf  # radius of the ball in which the weights are kept


class Descent(NamedTuple):
    """A run of stochastic gradient descent that made a linear model."""

    loss: str  # its name, such as "logistic", "hinge" or "half_square"
    # ``step_at(t)`` gives the steps of rounds t, an array of whole numbers from 1 on
    step_at: Callable[[np.ndarray], np.ndarray]
    n_passes: int  # passes over the rows
    stopped: bool  # whether the number of passes was chosen by looking at the rows
    penalty: float  # weight of the squared norm
    averaging: bool  # whether the model is the mean of the weights over the run
    radius: float  # radius of the ball in which weights are kept; infinite if there is none
    repeated: bool  # whether the run was repeated and gave the same model
    epsilon: float = 0.0  # parameter of the loss, if it has one


class DeterminingRows(NamedTuple):
    """Training rows that would give the same model without the others."""

    rows: np.ndarray  # which they are
    by: Literal["support-vectors", "mistakes"]  # why they determine the model


@runtime_checkable
class HasFittedParts(Protocol):
    """A model made of fitted models, which may remember their training rows."""

    def fitted_parts(self, X: Any) -> Iterable[tuple[Any, Any]]:
        """List the models inside, each with the rows as they reach it."""
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
        """Return the bag for these training labels; None if other rows touched a member."""
        ...


@runtime_checkable
class HasReplay(Protocol):
    """An online classifier whose run over its training rows can be repeated."""

    def replay(self, X: Any, y: np.ndarray) -> Replay | None:
        """Play the run again; None if it was no single pass, or gives another model."""
        ...


@runtime_checkable
class HasDescent(Protocol):
    """A linear model that may be the result of stochastic gradient descent."""

    def as_descent(self, X: Any, y: np.ndarray) -> Descent | None:
        """Return the run that made the model of these rows; None if none did."""
        ...


@runtime_checkable
class HasDeterminingRows(Protocol):
    """A classifier that some of its training rows may determine."""

    def determining_rows(self, X: Any, y: np.ndarray) -> DeterminingRows | None:
        """Return which rows they are; None if all may matter."""
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
        """Say which targets lie outside the region that is predicted for their row."""
        ...


@runtime_checkable
class PredictsSets(Protocol):
    """A model whose regions are sets of labels."""

    def predict_set(self, X: Any) -> np.ndarray:
        """Return which labels are in the set of each row."""
        ...


@runtime_checkable
class RemembersGroups(Protocol):
    """A model that may remember the owners of the rows that made it."""

    def knows_groups(self, groups: Any) -> np.ndarray | None:
        """Say of each owner whether one of its rows was used; None if owners were not told."""
        ...


@runtime_checkable
class HasCalibrationCells(PredictsRegions, Protocol):
    """A conformal wrapper with thresholds from rows that its model has not seen."""

    def calibration_cells(self) -> Sequence[Any]:
        """List the groups of calibration rows that have a threshold."""
        ...

    def calibrated_on(self, X: Any, y: Any) -> bool:
        """Tell whether rows are those that calibrated it."""
        ...


@runtime_checkable
class HasCalibrationFolds(PredictsRegions, Protocol):
    """A conformal wrapper with residuals from folds."""

    def calibration_folds(self) -> Any:
        """Return the sizes of folds and the rank of the ends; None if rows are not drawn alike."""
        ...


def repeats(model: Any, X: Any, y: np.ndarray, *, n_passes: int, fit_passes: int) -> bool | None:
    """Tell whether a repeated run of a linear learner gives the same model."""
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
