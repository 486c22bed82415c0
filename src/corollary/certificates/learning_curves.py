"""What more training rows buy, with a guarantee at every number of them."""

from collections.abc import Callable
from numbers import Integral
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import check_consistent_length, check_random_state

from corollary.certificates._gather import gather
from corollary.certificates.certification import certify
from corollary.certificates.register import Evidence
from corollary.core.certificate import Certificate
from corollary.core.compat import HasMethods, safe_indexing
from corollary.core.display import axes_for
from corollary.core.estimator import ArrayLike, Probability, RandomSeed, checked

# Sizes that are tried if none are given.
_NUMBER = 8


class LearningCurve(NamedTuple):
    """Losses of a learner on growing parts of its training rows.

    Parameters
    ----------
    sizes : ndarray of int of shape (n_sizes,)
        Numbers of training rows.
    training : ndarray of shape (n_sizes,)
        Values of the quantity on the training rows themselves.
    certificates : tuple of Certificate
        One for each size, from rows kept aside.
    confidence : float
        Probability that all of them are true together or, without `simultaneous`, each.
    simultaneous : bool
        Whether it is the former.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from corollary.certificates import learning_curve
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> curve = learning_curve(GaussianNB(), X, X[:, 0] > 0, sizes=[20, 200], random_state=0)
    >>> curve.sizes, bool(np.all(curve.bound > curve.held_out))
    (array([ 20, 200]), True)
    """

    sizes: np.ndarray
    training: np.ndarray
    certificates: tuple[Certificate, ...]
    confidence: float
    simultaneous: bool

    @property
    def held_out(self) -> np.ndarray:
        """Values of the quantity on the rows kept aside."""
        return np.array([certificate.empirical for certificate in self.certificates])

    @property
    def bound(self) -> np.ndarray:
        """Upper bounds on the quantity in the population."""
        return np.array([certificate.bound for certificate in self.certificates])

    @property
    def quantity(self) -> str:
        """Name of the quantity."""
        return self.certificates[0].quantity.name


@checked
def learning_curve(
    estimator: Annotated[Any, HasMethods(["fit", "predict"])],
    X: Any,
    y: Any,
    *,
    sizes: ArrayLike | None = None,
    test_share: Probability = 0.25,
    confidence: Probability = 0.95,
    simultaneous: bool = True,
    loss: Callable[..., Any] | None = None,
    loss_range: ArrayLike | None = None,
    random_state: RandomSeed = None,
) -> LearningCurve:
    r"""Train on growing parts of the rows and certify each model on rows kept aside.

    Rows are put in random order. The last of them are kept aside; the model of size n is trained on
    the first n.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn estimator; it is cloned for each size.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Their targets.
    sizes : array-like of int or None, default=None
        Numbers of training rows; None for eight up to all that are not kept aside, each the same
        factor larger, from the first at which all classes have occurred.
    test_share : float, default=0.25
        Share of the rows that is kept aside.
    confidence : float, default=0.95
        Confidence of the curve.
    simultaneous : bool, default=True
        Whether the bounds hold together at all k sizes, so that a size may be chosen by looking at
        them: each has then confidence :math:`1-(1-c)/k`. With False each has confidence c.
    loss : callable or None, default=None
        As in :func:`certify`.
    loss_range : tuple of two floats or None, default=None
        As in :func:`certify`. A regressor without it is judged by the median of its absolute error.
    random_state : int, RandomState instance or None, default=None
        Source of the order of the rows.

    Returns
    -------
    curve : LearningCurve
        Values on training rows, and certificates.

    Raises
    ------
    ValueError
        If a size is below 1 or above the number of rows that are not kept aside.

    See Also
    --------
    LearningCurveDisplay : Its picture.
    certify : Computes each certificate; the first of its list is taken.

    Notes
    -----
    Guarantee: the models are different, the rows kept aside are the same; by the union bound all k
    claims are true with probability at least c. Checked by ``tests/guarantees/held_out.py``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import LogisticRegression
    >>> from corollary.certificates import learning_curve
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 3))
    >>> y = X[:, 0] + rng.normal(size=2000) > 0
    >>> curve = learning_curve(LogisticRegression(), X, y, sizes=[30, 1500], random_state=0)
    >>> print(curve.certificates[-1].claim)
    at most 28.5% of such rows are classified wrongly
    """
    check_consistent_length(X, y)
    n = len(np.asarray(y))
    order = check_random_state(random_state).permutation(n)
    kept = max(1, round(test_share * n))
    least = (
        _rows_with_all_classes(np.asarray(y)[order[: n - kept]]) if is_classifier(estimator) else 2
    )
    numbers = _check_sizes(sizes, least, n - kept)
    X_new, y_new = safe_indexing(X, order[n - kept :]), np.asarray(y)[order[n - kept :]]
    level = 1 - (1 - confidence) / len(numbers) if simultaneous else confidence
    training, certificates = [], []
    for size in numbers:
        rows, targets = safe_indexing(X, order[:size]), np.asarray(y)[order[:size]]
        model = clone(estimator).fit(rows, targets)
        (certificate, *_) = certify(
            model, X_new, y_new, confidence=level, loss=loss, loss_range=loss_range, kept_aside=True
        )
        certificates.append(certificate)
        training.append(_value(gather(model, rows, targets, loss, loss_range, seen=True)))
    return LearningCurve(numbers, np.array(training), tuple(certificates), confidence, simultaneous)


def _rows_with_all_classes(y: np.ndarray) -> int:
    """Return after how many rows every class has occurred, since fewer cannot train a model."""
    if y.ndim != 1 or not len(y):
        return 2
    return int(np.unique(y, return_index=True)[1].max()) + 1


def _check_sizes(sizes: Any, least: int, most: int) -> np.ndarray:
    if most < 1:
        raise ValueError(
            "learning_curve needs rows to train on. Got none beside those kept aside; lower "
            "'test_share' or give more rows."
        )
    if sizes is None:
        first = min(most, max(2, least, most // 2**_NUMBER))
        return np.unique(np.geomspace(first, most, _NUMBER).astype(int))
    numbers = np.asarray(sizes)
    if numbers.ndim != 1 or not len(numbers) or not issubclass(numbers.dtype.type, Integral):
        raise ValueError(
            f"The 'sizes' parameter of learning_curve must hold whole numbers. Got {sizes!r}."
        )
    if numbers.min() < 1 or numbers.max() > most:
        raise ValueError(
            f"The 'sizes' parameter of learning_curve must lie between 1 and {most}, the rows that "
            f"are not kept aside. Got values from {numbers.min()} to {numbers.max()}."
        )
    return np.unique(numbers)


def _value(evidence: Evidence) -> float:
    if evidence.losses is not None:
        return float(np.mean(evidence.losses))
    assert evidence.errors is not None
    return float(np.quantile(evidence.errors, 0.5, method="inverted_cdf"))


class LearningCurveDisplay:
    """Draw a learning curve with its guarantee.

    Parameters
    ----------
    curve : LearningCurve
        What to draw.
    name : str or None, default=None
        Name of the learner, the title of the picture.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure it belongs to.
    bound_ : matplotlib Line2D
        The guarantee.

    See Also
    --------
    learning_curve : What is drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from corollary.certificates import LearningCurveDisplay
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> display = LearningCurveDisplay.from_estimator(GaussianNB(), X, X[:, 0] > 0, random_state=0)
    >>> display.ax_.get_xlabel(), display.ax_.get_ylabel()
    ('training rows', 'error rate')
    """

    def __init__(self, curve: LearningCurve, *, name: str | None = None) -> None:
        self.curve = curve
        self.name = name

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, name: str | None = None, ax: Any = None, **how: Any
    ) -> "LearningCurveDisplay":
        """Compute a curve and draw it.

        Parameters
        ----------
        estimator : estimator
            The learner.
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their targets.
        name : str or None, default=None
            Title of the picture.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        **how
            Passed to :func:`learning_curve`.

        Returns
        -------
        display : LearningCurveDisplay
            The drawn display.
        """
        return cls(learning_curve(estimator, X, y, **how), name=name).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : LearningCurveDisplay
            Itself, with ``ax_``, ``figure_`` and ``bound_``.
        """
        ax = axes_for(ax)
        curve = self.curve
        bound = np.where(np.isfinite(curve.bound), curve.bound, np.nan)
        together = " together" if curve.simultaneous else " each"
        (self.bound_,) = ax.plot(
            curve.sizes,
            bound,
            "o-",
            markersize=4,
            label=f"guaranteed at {100 * curve.confidence:g}%{together}",
        )
        colour = self.bound_.get_color()
        ax.fill_between(curve.sizes, curve.held_out, bound, color=colour, alpha=0.12, linewidth=0)
        ax.plot(curve.sizes, curve.held_out, "s-", color="0.3", markersize=4, label="kept aside")
        ax.plot(curve.sizes, curve.training, "--", color="0.6", label="training rows")
        ax.set(xscale="log", xlabel="training rows", ylabel=curve.quantity, title=self.name or "")
        ax.set_ylim(bottom=0)
        ax.legend(fontsize="small", frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
