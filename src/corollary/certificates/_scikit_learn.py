"""Models as theorems see them: by their own word, or read from scikit-learn's classes.

A model that has the method of a protocol is asked. Else it is read by scikit-learn's conventions:
any linear model by its ``coef_`` and ``intercept_``, any kernel machine by its ``dual_coef_``; what
was read is checked against what the model predicts before a theorem uses it. Where the way in which
a class was trained matters, exactly that class of scikit-learn is read, since a subclass may train
in another way.
"""

import math
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from corollary.core.protocols import (
    AffineMap,
    Bag,
    Descent,
    HasAffineMap,
    HasBag,
    HasDescent,
    HasPlane,
    HasRidgePenalty,
    Plane,
    repeats,
)


def dense(matrix: Any) -> np.ndarray:
    """Return a matrix as an array of numbers."""
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix, dtype=np.float64)


# -- planes ----------------------------------------------------------------------------------


def plane_of(model: Any, n_features: int) -> Plane | None:
    """Read a classifier as a plane in its columns, through searches and affine maps."""
    searched = getattr(model, "best_estimator_", None)
    if searched is not None:
        plane = plane_of(searched, n_features)
        # Whether there is an offset may have been searched for, too.
        return None if plane is None else Plane(plane.weights, plane.intercept, True)
    steps = getattr(model, "steps", None)
    if steps is None:
        return model.as_plane() if isinstance(model, HasPlane) else _linear_model(model)
    return _behind_affine_maps([step for _, step in steps], n_features)


def _linear_model(model: Any) -> Plane | None:
    coef = getattr(model, "coef_", None)
    if coef is None and getattr(model, "kernel", None) == "linear":
        coef = dense(model.dual_coef_) @ dense(model.support_vectors_)
    if coef is None or not hasattr(model, "intercept_"):
        return None
    weights, intercept = np.atleast_2d(dense(coef)), np.ravel(model.intercept_)
    if len(weights) != 1 or len(intercept) != 1:
        return None
    affine = getattr(model, "fit_intercept", True) is not False or intercept[0] != 0
    return Plane(weights[0], float(intercept[0]), affine)


def _behind_affine_maps(steps: list[Any], n_features: int) -> Plane | None:
    """Read a plane behind affine maps of the columns, which is a plane before them."""
    matrix, offset = np.eye(n_features), np.zeros(n_features)
    for step in _maps(steps):
        affine = affine_map_of(step, matrix.shape[1])
        if affine is None or len(affine.matrix) != matrix.shape[1]:
            return None
        matrix, offset = matrix @ affine.matrix, offset @ affine.matrix + affine.offset
    plane = plane_of(steps[-1], matrix.shape[1])
    if plane is None or len(plane.weights) != matrix.shape[1]:
        return None
    return Plane(
        matrix @ plane.weights, plane.intercept + float(offset @ plane.weights), affine=True
    )


def affine_map_of(step: Any, n_features: int) -> AffineMap | None:
    """Read a transformer as an affine map, from the images of the axes."""
    if isinstance(step, HasAffineMap):
        return step.as_affine()
    if type(step) not in _affine_maps() or getattr(step, "clip", False):
        return None
    with warnings.catch_warnings():
        # The images of the axes have no column names.
        warnings.simplefilter("ignore")
        try:
            base = dense(step.transform(np.zeros((1, n_features))))
            matrix = dense(step.transform(np.eye(n_features))) - base
        except (TypeError, ValueError):
            return None
    return AffineMap(matrix, base[0])


def _maps(steps: list[Any]) -> list[Any]:
    """Leave the last step out, and those that pass rows through."""
    return [step for step in steps[:-1] if step is not None and not isinstance(step, str)]


@cache
def _affine_maps() -> frozenset[type]:
    """List maps of columns that are affine whatever was learnt."""
    from sklearn.decomposition import PCA, TruncatedSVD
    from sklearn.feature_selection import SelectKBest, SelectPercentile, VarianceThreshold
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

    scalers = (StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler)
    return frozenset(
        (*scalers, PCA, TruncatedSVD, VarianceThreshold, SelectKBest, SelectPercentile)
    )


# -- kernel machines -------------------------------------------------------------------------


class KernelExpansion(NamedTuple):
    """A classifier of two classes by the sign of a weighted sum of kernels and an offset."""

    kernel: str
    settings: dict[str, float]
    vectors: np.ndarray
    weights: np.ndarray
    intercept: float

    def gram(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """Evaluate the kernel at all pairs of rows."""
        from sklearn.metrics.pairwise import pairwise_kernels

        return pairwise_kernels(X, Z, metric=self.kernel, filter_params=True, **self.settings)

    def squares(self, X: np.ndarray) -> np.ndarray | None:
        """Evaluate k(x, x) of rows; None if the kernel spans no space of such lengths."""
        if self.kernel == "rbf":
            return np.ones(len(X))
        gamma, coef0 = self.settings["gamma"], self.settings["coef0"]
        squares = (gamma * (X**2).sum(axis=1) + coef0) ** self.settings["degree"]
        return None if coef0 < 0 or not np.all(squares >= 0) else squares


def kernel_expansion_of(model: Any, n_features: int) -> KernelExpansion | None:
    """Read a kernel machine of two classes, if its kernel was fixed before the rows."""
    kernel = getattr(model, "kernel", None)
    # A width taken from the rows makes the space depend on them; a sigmoid spans none.
    if not isinstance(kernel, str) or kernel not in ("rbf", "poly"):
        return None
    if not hasattr(model, "dual_coef_"):
        return None
    gamma = 1 / n_features if model.gamma == "auto" else model.gamma
    if isinstance(gamma, str):
        return None
    dual, intercept = dense(model.dual_coef_), np.ravel(model.intercept_)
    if dual.shape != (1, len(model.support_vectors_)) or len(intercept) != 1:
        return None
    settings = {"gamma": gamma, "degree": model.degree, "coef0": model.coef0}
    return KernelExpansion(
        kernel, settings, dense(model.support_vectors_), dual[0], float(intercept[0])
    )


# -- bags ------------------------------------------------------------------------------------


def bag_of(model: Any, y: np.ndarray) -> Bag | None:
    """Read a classifier as a bag, each member of which has seen its draw of the rows alone."""
    if isinstance(model, HasBag):
        return model.as_bag(y)
    if not hasattr(model, "estimators_samples_"):
        return None
    reader = _readers_of_bags().get(type(model))
    return None if reader is None else reader(model)


@cache
def _readers_of_bags() -> dict[type, Callable[[Any], Bag | None]]:
    from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier

    return {
        RandomForestClassifier: _read_forest,
        ExtraTreesClassifier: _read_forest,
        BaggingClassifier: _read_bagging,
    }


def _read_forest(model: Any) -> Bag | None:
    # "balanced" weights depend on the labels of all rows.
    if not model.bootstrap or isinstance(model.class_weight, str):
        return None
    # Single trees speak of class numbers.
    columns = [slice(None)] * len(model.estimators_)
    return Bag(model.estimators_, model.estimators_samples_, columns, model.classes_)


def _read_bagging(model: Any) -> Bag | None:
    # Rows that were not drawn reach members with weight zero; trees drop those.
    for member in model.estimators_:
        if type(member) not in _trees() or isinstance(member.class_weight, str):
            return None
    columns = model.estimators_features_
    return Bag(model.estimators_, model.estimators_samples_, columns, model.classes_)


@cache
def _trees() -> frozenset[type]:
    from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

    return frozenset((DecisionTreeClassifier, ExtraTreeClassifier))


# -- ridge regression ------------------------------------------------------------------------


def ridge_penalty_of(model: Any) -> float | None:
    """Read the penalty of ridge regression through the origin."""
    if isinstance(model, HasRidgePenalty):
        return model.ridge_penalty()
    if not hasattr(model, "alpha") or not hasattr(model, "coef_"):
        return None
    if type(model) not in _ridges() or model.fit_intercept or model.positive:
        return None
    return float(model.alpha) if np.ndim(model.alpha) == 0 and model.alpha > 0 else None


@cache
def _ridges() -> frozenset[type]:
    from sklearn.linear_model import Ridge

    return frozenset((Ridge,))


# -- gradient descent ------------------------------------------------------------------------

_LOSSES = {
    "log_loss": "logistic",
    "squared_error": "half_square",
    "squared_hinge": "squared_hinge",
    "modified_huber": "modified_huber",
    "huber": "huber",
}


def behind_row_maps(model: Any, X: Any) -> tuple[Any, Any]:
    """Return the last step of a pipeline and its rows, if no step before looks at other rows."""
    steps = getattr(model, "steps", None)
    if steps is None:
        return model, X
    for step in _maps([step for _, step in steps]):
        if type(step) not in _row_by_row():
            return None, X
        X = step.transform(X)
    return steps[-1][1], X


@cache
def _row_by_row() -> frozenset[type]:
    """List maps of a row that look at no other row."""
    from sklearn.preprocessing import Binarizer, Normalizer, PolynomialFeatures

    return frozenset((Normalizer, PolynomialFeatures, Binarizer))


def descent_of(model: Any, X: Any, y: np.ndarray) -> Descent | None:
    """Read the run of gradient descent that made a linear model of rows."""
    if isinstance(model, HasDescent):
        return model.as_descent(X, y)
    if not hasattr(model, "t_") or not hasattr(model, "coef_") or sparse.issparse(X):
        return None
    if type(model) not in _descents():
        return None
    # A stop on rows set aside, an L1 penalty and an average that starts late are other learners.
    if model.early_stopping or model.penalty not in ("l2", None) or model.warm_start:
        return None
    if model.loss not in _LOSSES or model.average not in (False, True):
        return None
    step_at = _steps(model)
    n_passes, odd = divmod(int(model.t_) - 1, len(y))
    if step_at is None or odd or not n_passes:
        return None
    repeated = repeats(model, X, y, n_passes=n_passes, fit_passes=n_passes)
    if repeated is None:
        return None
    return Descent(
        loss=_LOSSES[model.loss],
        step_at=step_at,
        n_passes=n_passes,
        stopped=model.tol is not None and model.max_iter > 1,
        penalty=float(model.alpha) if model.penalty == "l2" else 0.0,
        averaging=bool(model.average),
        radius=math.inf,
        repeated=repeated,
        epsilon=float(model.epsilon),
    )


@cache
def _descents() -> frozenset[type]:
    from sklearn.linear_model import SGDClassifier, SGDRegressor

    return frozenset((SGDClassifier, SGDRegressor))


def _steps(model: Any) -> Callable[[np.ndarray], np.ndarray] | None:
    """Return the schedule of steps, unless it looks at the rows."""
    eta, power, alpha = float(model.eta0), float(model.power_t), float(model.alpha)
    if model.learning_rate == "constant":
        return lambda t: np.full(len(t), eta)
    if model.learning_rate == "invscaling":
        return lambda t: eta / t**power
    if model.learning_rate == "optimal":
        # All slopes at a wrong score are negative: the first step is a power of alpha.
        return lambda t: 1 / (alpha**0.25 + alpha * (t - 1))
    return None
