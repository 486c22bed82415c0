"""Train, validation and test rows, with a test set that can be looked at only at the end.

The error on test rows is an unbiased estimate of the risk only if the model was fixed before
anyone looked at them. :func:`three_way_split` therefore hands out training and validation rows
freely and locks the test rows away in a :class:`GuardedTestSet`, which opens for a fitted model
alone, refuses a second model unless told otherwise, and counts.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state, indexable
from sklearn.utils.validation import check_is_fitted

from corollary.core.guard import is_suspicious, look_up


class TestSetError(RuntimeError):
    """The test set was asked for too early, twice, or for a model that has seen it.

    Parameters
    ----------
    message : str
        What happened and how to repair it.

    Examples
    --------
    >>> from corollary.risk import ERMRegressor, GuardedTestSet
    >>> GuardedTestSet([[0.0]], [0.0]).open(ERMRegressor())
    Traceback (most recent call last):
        ...
    corollary.risk.risks.holdout.TestSetError: The test set opens for a fitted model only. ...
    """

    # pytest collects classes by this name.
    __test__ = False

    def __init__(self, message: str) -> None:
        super().__init__(message)


class GuardedTestSet:
    """Test rows that open for a final model only.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Test inputs.
    y : array-like of shape (n_samples,)
        Test outputs.

    Attributes
    ----------
    looks : int
        How many different models have been given the rows. After k looks a confidence statement
        needs ``delta / k`` in place of delta.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.risk import ERMRegressor, GuardedTestSet
    >>> locked = GuardedTestSet(np.array([[5.0], [6.0]]), np.array([10.0, 12.0]))
    >>> model = ERMRegressor().fit([[0.0], [1.0], [2.0]], [0.0, 2.0, 4.0])
    >>> X_test, y_test = locked.open(model)
    >>> locked.looks
    1
    """

    def __init__(self, X: Any, y: Any) -> None:
        self._X, self._y = indexable(X, y)
        self._models: list[Any] = []

    def __len__(self) -> int:
        return int(self._y.shape[0] if hasattr(self._y, "shape") else len(self._y))

    def __repr__(self) -> str:
        return f"GuardedTestSet({len(self)} rows, {self.looks} looks)"

    @property
    def looks(self) -> int:
        """How many different models have been given the rows."""
        return len(self._models)

    def open(self, model: Any, *, again: bool = False) -> tuple[Any, Any]:
        """Hand the rows out for the final model.

        Parameters
        ----------
        model : fitted estimator
            The model whose risk will be estimated.
        again : bool, default=False
            Whether a model other than the first may look. The estimates are then no longer
            unbiased for the model that is chosen because of them.

        Returns
        -------
        X : array-like of shape (n_samples, n_features)
            Test inputs.
        y : array-like of shape (n_samples,)
            Test outputs.

        Raises
        ------
        TestSetError
            If the model is not fitted, was fitted on these rows, or is not the first to look.
        """
        if not _is_fitted(model):
            raise TestSetError(
                "The test set opens for a fitted model only. "
                f"Got {model!r}; finish the choice of the model and fit it first."
            )
        if any(model is other for other in self._models):
            return self._X, self._y
        if self._models and not again:
            raise TestSetError(
                f"The test set has been opened for {self.looks} other model(s). Comparing models "
                "on it makes the error of the best too small; compare on validation rows, or pass "
                "again=True and divide delta by the number of looks."
            )
        _refuse_seen_rows(model, self._X)
        self._models.append(model)
        return self._X, self._y


class ThreeWaySplit(NamedTuple):
    """Training, validation and guarded test rows.

    Parameters
    ----------
    X_train : array-like
        Training inputs.
    y_train : array-like
        Training outputs.
    X_validation : array-like
        Validation inputs, for choosing between models.
    y_validation : array-like
        Validation outputs.
    test : GuardedTestSet
        The rest, locked.
    train_index : ndarray of ints
        Positions of the training rows.
    validation_index : ndarray of ints
        Positions of the validation rows.
    """

    X_train: Any
    y_train: Any
    X_validation: Any
    y_validation: Any
    test: GuardedTestSet
    train_index: np.ndarray
    validation_index: np.ndarray


def three_way_split(
    X: Any,
    y: Any,
    *,
    validation_size: float = 0.2,
    test_size: float = 0.2,
    stratify: bool = False,
    random_state: Any = None,
) -> ThreeWaySplit:
    """Split rows at random into training, validation and locked test rows.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Outputs.
    validation_size : float, default=0.2
        Share of validation rows, in (0, 1).
    test_size : float, default=0.2
        Share of test rows, in (0, 1).
    stratify : bool, default=False
        Whether each part gets its share of every class of y.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Returns
    -------
    split : ThreeWaySplit
        Disjoint parts that together hold every row once.

    Raises
    ------
    ValueError
        If a share is out of range or a part would be empty.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.risk import three_way_split
    >>> split = three_way_split(np.arange(20).reshape(10, 2), np.arange(10), random_state=0)
    >>> len(split.y_train), len(split.y_validation), split.test
    (6, 2, GuardedTestSet(2 rows, 0 looks))
    """
    X, y = indexable(X, y)
    for name, share in (("validation_size", validation_size), ("test_size", test_size)):
        if not 0 < share < 1:
            raise ValueError(
                f"The '{name}' parameter of three_way_split must be a float in the range "
                f"(0.0, 1.0). Got {share!r} instead."
            )
    if validation_size + test_size >= 1:
        raise ValueError(
            "three_way_split needs validation_size + test_size below 1, so that training rows "
            f"remain. Got {validation_size} + {test_size}."
        )
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    n_test, n_validation = round(test_size * n), round(validation_size * n)
    if min(n_test, n_validation, n - n_test - n_validation) < 1:
        raise ValueError(
            f"three_way_split would leave a part empty: {n} rows give {n_test} test, "
            f"{n_validation} validation and {n - n_test - n_validation} training rows."
        )
    from sklearn.model_selection import train_test_split

    rng, index = check_random_state(random_state), np.arange(n)
    X_rest, X_test, y_rest, y_test, rest, _ = train_test_split(
        X, y, index, test_size=n_test, stratify=y if stratify else None, random_state=rng
    )
    X_train, X_validation, y_train, y_validation, train, validation = train_test_split(
        X_rest,
        y_rest,
        rest,
        test_size=n_validation,
        stratify=y_rest if stratify else None,
        random_state=rng,
    )
    return ThreeWaySplit(
        X_train,
        y_train,
        X_validation,
        y_validation,
        GuardedTestSet(X_test, y_test),
        train,
        validation,
    )


def _is_fitted(model: Any) -> bool:
    if isinstance(model, type):
        return False
    if not hasattr(model, "fit"):
        # A plain function or a hypothesis that was never to be fitted is as fixed as can be.
        return callable(model) or hasattr(model, "predict")
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def _refuse_seen_rows(model: Any, X: Any) -> None:
    for _, overlap in look_up(model, X):
        if is_suspicious(overlap):
            raise TestSetError(
                f"The model was trained on test rows: {overlap.seen} of {overlap.compared} are "
                "among its training rows. Fit it on the training and validation rows only."
            )
