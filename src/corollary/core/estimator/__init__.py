"""Estimator: scikit-learn's contract, declared once.

A parameter is one annotated line of a class, what ``fit`` learns is one :func:`fitted` line;
constructor, constraints, error messages and file schema follow. :class:`Regressor`,
:class:`Classifier`, :class:`Transformer`, :class:`Density` and :class:`Clusterer` hold what all of
a kind share, so that a subclass writes its method only, and :class:`MetaEstimator` what those share
that fit others. Training rows are remembered by a fingerprint, by which :func:`corollary.certify`
refuses to sell a training error as a held-out one.
"""

from corollary.core.estimator._bases import (
    Classifier,
    Clusterer,
    Density,
    Learner,
    ProbabilisticClassifier,
    Regressor,
    ScoringClassifier,
    Transformer,
    Unsupervised,
    class_factors,
    probabilities_of,
    refuse_one_class,
)
from corollary.core.estimator._checked import checked
from corollary.core.estimator._checks import (
    check_new_data,
    check_squares,
    check_training_data,
    clear_errors,
    remember_rows,
    without_memory,
)
from corollary.core.estimator._declaration import Estimator, fitted
from corollary.core.estimator._densities import LogDensityMixin, SampleMixin
from corollary.core.estimator._moments import MomentsMixin
from corollary.core.estimator._parameters import (
    AnyReal,
    ArrayLike,
    ClassWeight,
    Count,
    CountFromTwo,
    CountFromZero,
    Fraction,
    NoEffect,
    NonNegative,
    Positive,
    PositiveOrInfinite,
    Predictor,
    Probability,
    RandomSeed,
    RowsLike,
    Share,
)
from corollary.core.estimator._routing import MetaEstimator, takes_weights, weight_parameters
from corollary.core.estimator._source import read_source

__all__ = [
    "AnyReal",
    "ArrayLike",
    "ClassWeight",
    "Classifier",
    "Clusterer",
    "Count",
    "CountFromTwo",
    "CountFromZero",
    "Density",
    "Estimator",
    "Fraction",
    "Learner",
    "LogDensityMixin",
    "MetaEstimator",
    "MomentsMixin",
    "NoEffect",
    "NonNegative",
    "Positive",
    "PositiveOrInfinite",
    "Predictor",
    "ProbabilisticClassifier",
    "Probability",
    "RandomSeed",
    "Regressor",
    "RowsLike",
    "SampleMixin",
    "ScoringClassifier",
    "Share",
    "Transformer",
    "Unsupervised",
    "check_new_data",
    "check_squares",
    "check_training_data",
    "checked",
    "class_factors",
    "clear_errors",
    "fitted",
    "probabilities_of",
    "read_source",
    "refuse_one_class",
    "remember_rows",
    "takes_weights",
    "weight_parameters",
    "without_memory",
]
