"""Every public estimator with the settings it is tested with.

An estimator that is not listed here is tested with its defaults. List one only to make it fast
or to declare a scikit-learn check that it cannot pass, with the reason.
"""

import importlib
import inspect
import pkgutil
from functools import cache
from typing import Any

import corollary

# name -> keyword arguments for the common checks
PARAMETERS: dict[str, dict[str, Any]] = {
    # Weighting a row and repeating it take different ways to the same minimum.
    "ElasticNet": {"tol": 1e-13},
    "Lasso": {"tol": 1e-13},
    "ElasticNetCV": {"tol": 1e-13, "alphas": 10, "eps": 0.05},
    "LassoCV": {"tol": 1e-13, "alphas": 10, "eps": 0.05},
    "LinearSVC": {"tol": 1e-11, "max_iter": 100_000},
    "LinearSVR": {"tol": 1e-11, "max_iter": 10_000},
    "MulticlassSVC": {"tol": 1e-11, "max_iter": 20_000},
    "NuSVC": {"tol": 1e-9, "nu": 0.35},
    "NuSVR": {"tol": 1e-11},
    "OneClassSVM": {"tol": 1e-11},
    "SVC": {"tol": 1e-11},
    "SVR": {"tol": 1e-11},
    # The check's rows can be interpolated; without a penalty or a floor, rounding decides.
    "HuberRegressor": {"tol": 1e-9, "alpha": 1.0},
    "SparseGaussianProcessRegressor": {"alpha": 0.1, "tol": 1e-13, "max_iter": 500},
    # Rows far from the origin and a high price make the program slow.
    "StructuralSVM": {"C": 1e-3, "tol": 0.05, "max_iter": 50},
    # Without a penalty, separable data rightly raise a warning.
    "ERMClassifier": {"alpha": 0.1},
    # Leaves count rows, not weights, so that copies of a row only equal its weight without a limit.
    "GradientBoostingClassifier": {"n_estimators": 10},
    "GradientBoostingRegressor": {"n_estimators": 10},
    "HistGradientBoostingClassifier": {"max_iter": 20, "min_samples_leaf": 1},
    "HistGradientBoostingRegressor": {"max_iter": 20, "min_samples_leaf": 1},
    "LogisticRegressionCV": {"Cs": 3, "cv": 3},
    # The checks ask far from all rows; within this distance everyone is a neighbour.
    "RadiusNeighborsClassifier": {"radius": 1000.0, "weights": "distance"},
    "RadiusNeighborsRegressor": {"radius": 1000.0, "weights": "distance"},
    "StagewiseClassifier": {"n_estimators": 20},
    "ExtraTreesClassifier": {"n_estimators": 10},
    "ExtraTreesRegressor": {"n_estimators": 10},
    "RandomForestClassifier": {"n_estimators": 10},
    "RandomForestRegressor": {"n_estimators": 10},
    # A start that is the same in memory, in files and on clusters; "k-means++" is in memory only.
    "KMeans": {"init": "k-means||", "n_clusters": 3},
    "KMedians": {"n_clusters": 3},
    "KMedoids": {"n_clusters": 3},
    "MiniBatchKMeans": {"n_clusters": 3},
    "VectorQuantizer": {"n_codes": 3},
    "DirichletProcessMixture": {"burn_in": 5, "n_draws": 10},
    # One batch size for every number of rows, so that a network of each width is compiled once.
    "PseudoLabelFeatures": {
        "batch_size": 16,
        "n_clusters": 3,
        "hidden_layer_sizes": (8, 4),
        "n_rounds": 2,
        "epochs": 2,
    },
    # Copies of rows have further directions, without variance and so any.
    "PCA": {"n_components": 2},
    "KernelPCA": {"n_components": 2},
    # A weight goes where its row goes, and copies of a row are held out one by one.
    "SoftImpute": {"alpha": 1.0, "tol": 1e-12, "max_iter": 10_000},
    # The checks fit fewer rows than columns, which have no density without a floor.
    "GaussianDensity": {"reg_covar": 1.0},
    # Small networks compile quickly, those with one batch size once, and large steps end training
    # within its budget.
    **{
        name: {
            "hidden_layer_sizes": (8,),
            "learning_rate_init": 0.03,
            "standardize": True,
            "batch_size": 16,
        }
        for name in ("MLPClassifier", "MLPRegressor")
    },
    "PACBayesClassifier": {
        "hidden_layer_sizes": (8,),
        "learning_rate_init": 0.03,
        "max_iter": 2,
        "batch_size": 16,
        "n_draws": 5,
        "prior_epochs": 60,
    },
}

# name -> {check: reason}; the reason is a sentence that a user could read
EXPECTED_FAILURES: dict[str, dict[str, str]] = {
    name: {
        f"check_sample_weight_equivalence_on_{kind}_data": "Training is in single precision, and "
        "copies of a row fall into different batches; the law holds for a full batch, to rounding."
        for kind in ("dense", "sparse")
    }
    for name in ("MLPClassifier", "MLPRegressor")
}

EXPECTED_FAILURES |= {
    name: {
        f"check_sample_weight_equivalence_on_{kind}_data": "A weight multiplies the step of one "
        "round; copies of a row are rounds of their own, each met by other weights."
        for kind in ("dense", "sparse")
    }
    for name in ("OnlineClassifier", "OnlineRegressor", "Perceptron")
}

EXPECTED_FAILURES["Ridge"] = {
    "check_non_transformer_estimators_n_iter": "Direct solvers do not iterate: n_iter_ is None, as "
    "it is in scikit-learn."
}

EXPECTED_FAILURES["NuSVC"] = {
    "check_class_weight_classifiers": "Nu stands for the price of slack that class weights would "
    "multiply; as in scikit-learn they are not used."
}

EXPECTED_FAILURES["OneClassSVM"] = {
    f"check_sample_weight_equivalence_on_{kind}_data": "Free support vectors lie on the boundary: "
    "their score is zero and the sign of its rounding is their label. The scores do agree."
    for kind in ("dense", "sparse")
}

EXPECTED_FAILURES |= {
    name: {
        f"check_sample_weight_equivalence_on_{kind}_data": "Weights are chances to be drawn: "
        "weight k and k copies give the same law of bags, not the same bags."
        for kind in ("dense", "sparse")
    }
    for name in (
        *("BaggingClassifier", "BaggingRegressor"),
        *("RandomForestClassifier", "RandomForestRegressor"),
    )
}

EXPECTED_FAILURES |= {
    name: {
        f"check_sample_weight_equivalence_on_{kind}_data": "Copies of a row fall on both sides of "
        "the split, or into different folds; a weight goes where its row goes."
        for kind in ("dense", "sparse")
    }
    for name in (
        *("CalibratedClassifierCV", "ConformalQuantileRegressor", "CVPlusRegressor"),
        *("SplitConformalClassifier", "SplitConformalRegressor"),
    )
}

EXPECTED_FAILURES |= {
    name: {
        f"check_sample_weight_equivalence_on_{kind}_data": "Of splits of equal gain the rounding "
        "of weighted sums decides, and later stages start from other residuals."
        for kind in ("dense", "sparse")
    }
    for name in ("GradientBoostingClassifier", "GradientBoostingRegressor")
}

EXPECTED_FAILURES["AdaBoostRegressor"] = {
    f"check_sample_weight_equivalence_on_{kind}_data": "Weights are chances to be drawn: weight k "
    "and k copies give the same law of draws, not the same draws."
    for kind in ("dense", "sparse")
}

EXPECTED_FAILURES |= {
    name: {
        f"check_sample_weight_equivalence_on_{kind}_data": "Weights are chances of a row to be a "
        "start: weight k and k copies give the same law of starts, not the same starts."
        for kind in ("dense", "sparse")
    }
    for name in (
        *("KMeans", "KMedians", "KMedoids", "MiniBatchKMeans"),
        *("PseudoLabelFeatures", "VectorQuantizer"),
    )
}

# Estimators that wrap another and need one to be built
META: dict[str, Any] = {
    "StackingClassifier": lambda cls: cls([("a", _logistic()), ("b", _stump())], cv=3),
    "StackingRegressor": lambda cls: cls([("a", _ridge()), ("b", _stump(regressor=True))], cv=3),
    "VotingClassifier": lambda cls: cls([("a", _logistic()), ("b", _stump())], voting="soft"),
    "VotingRegressor": lambda cls: cls([("a", _ridge()), ("b", _stump(regressor=True))]),
    # The checks fit a few rows: at this confidence one calibration row is enough.
    "ConformalQuantileRegressor": lambda cls: cls(
        _ridge(), upper_estimator=_ridge(), confidence=0.5
    ),
    "CVPlusRegressor": lambda cls: cls(_ridge(), confidence=0.5, cv=2),
    "JackknifeAfterBootstrapRegressor": lambda cls: cls(_forest(), confidence=0.5, n_estimators=30),
    "SplitConformalClassifier": lambda cls: cls(_classifier(), confidence=0.5),
    "SplitConformalRegressor": lambda cls: cls(_regressor(), confidence=0.5),
}


def _stump(regressor: bool = False) -> Any:
    from corollary.ensemble import StumpClassifier, StumpRegressor

    return StumpRegressor() if regressor else StumpClassifier()


def _ridge() -> Any:
    from corollary.linear import Ridge

    return Ridge()


def _forest() -> Any:
    from corollary.ensemble import RandomForestRegressor

    return RandomForestRegressor()


def _logistic() -> Any:
    from corollary.linear import LogisticRegression

    return LogisticRegression()


def _classifier() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000)


def _regressor() -> Any:
    from sklearn.linear_model import LinearRegression

    return LinearRegression()


@cache
def packages() -> list[str]:
    """Names of all packages and public modules of the library."""
    names = ["corollary"]
    for module in pkgutil.walk_packages(corollary.__path__, "corollary."):
        if not any(part.startswith("_") for part in module.name.split(".")):
            names.append(module.name)
    return names


def family_packages() -> list[str]:
    """Packages whose namespace is public interface: what their __init__ exports."""
    return [f"corollary.{name}" for name in corollary._PACKAGES if name != "core"]


@cache
def public_objects() -> dict[str, Any]:
    """Every public function and class: exported by a family, or defined in a core module."""
    found: dict[str, Any] = {}
    for package in family_packages():
        module = importlib.import_module(package)
        for name, value in vars(module).items():
            if name.startswith("_") or inspect.ismodule(value):
                continue
            if getattr(value, "__module__", "").startswith("corollary") and callable(value):
                found[f"{package}.{name}"] = value
    for package in packages():
        if package.startswith("corollary.core.") and package.count(".") == 2:
            module = importlib.import_module(package)
            for name, value in vars(module).items():
                ours = str(getattr(value, "__module__", None)).startswith(package)
                if (
                    ours
                    and name[0] != "_"
                    and (inspect.isfunction(value) or inspect.isclass(value))
                ):
                    found[f"{package}.{name}"] = value
    return found


def estimators() -> list[Any]:
    """One instance of every public estimator, as the common checks use it."""
    from sklearn.base import BaseEstimator

    classes = {
        value
        for name, value in public_objects().items()
        if not name.startswith("corollary.core.")  # bases of estimators
        and inspect.isclass(value)
        and issubclass(value, BaseEstimator)
        and not inspect.isabstract(value)
    }
    instances = []
    for cls in sorted(classes, key=lambda c: c.__name__):
        if cls.__name__ in META:
            instances.append(META[cls.__name__](cls))
        else:
            instances.append(cls(**PARAMETERS.get(cls.__name__, {})))
    return instances
