"""Which loss an estimator is measured by."""

from typing import Any

from sklearn.base import is_regressor

from corollary.risk import LossLike, check_loss


def loss_of(estimator: Any, loss: LossLike) -> Any:
    """Return the loss by which an estimator is measured."""
    if isinstance(loss, str) and loss == "auto":
        loss = "square" if is_regressor(estimator) else "zero_one"
    return check_loss(loss)
