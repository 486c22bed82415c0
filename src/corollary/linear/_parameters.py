"""Types of parameters that several linear models have."""

from typing import Annotated, Any, Literal

Folds = Annotated[Any, "cv_object"]
LinearProgram = Literal["highs", "highs-ds", "highs-ipm"]
LogisticSolver = Literal[
    "auto",
    "newton",
    "lbfgs",
    "proximal",
    "liblinear",
    "newton-cg",
    "newton-cholesky",
    "sag",
    "saga",
]
