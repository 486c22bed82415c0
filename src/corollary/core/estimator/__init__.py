"""Estimator: scikit-learn's contract, declared once."""

from corollary.core.estimator.checks import (
    check_new_data,
    check_squares,
    check_training_data,
    clear_errors,
    remember_rows,
)

__all__ = [
    "check_new_data",
    "check_squares",
    "check_training_data",
    "clear_errors",
    "remember_rows",
]
