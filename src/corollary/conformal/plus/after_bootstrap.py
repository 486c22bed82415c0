"""Jackknife+-after-bootstrap: intervals at the price of one bagged ensemble."""

from dataclasses import KW_ONLY
from typing import Annotated, Any, Self

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import check_random_state, indexable
from sklearn.utils.validation import check_is_fitted

from corollary.conformal._checks import warn_of_missing_rows, warn_user
from corollary.conformal._order import rank_of_level
from corollary.conformal.plus._base import PlusWrapper
from corollary.conformal.plus._ends import interval_ends
from corollary.conformal.plus.intervals import plus_coverage
from corollary.core.compat import HasMethods, fit_context, safe_indexing
from corollary.core.estimator import Count, RandomSeed, fitted
from corollary.core.parallel import row_products
from corollary.core.schema import Array

# Numbers held at once while intervals are made: new rows times training rows.
_BLOCK = 4_000_000


class JackknifeAfterBootstrapRegressor(PlusWrapper):
    r"""Prediction intervals from the out-of-bag members of a bagged ensemble.

    The jackknife+ of a bag needs no further fit: the members whose bags miss row i average to a
    model :math:`\hat\mu_{-i}` that has not seen it. The interval reaches from the k-th largest
    :math:`\hat\mu_{-i}(x) - R_i` to the k-th smallest :math:`\hat\mu_{-i}(x) + R_i`, with
    :math:`k = \lceil (n+1)(1-\alpha) \rceil`.

    Parameters
    ----------
    estimator : estimator
        A bag of regressors that averages its members and tells their rows
        (``estimators_samples_``), such as :class:`corollary.ensemble.RandomForestRegressor` or
        :class:`corollary.ensemble.BaggingRegressor`, with ``bootstrap=True``.
    confidence : float, default=0.9
        The level :math:`1 - \alpha` at which intervals are built, strictly between 0 and 1. They
        usually cover about as often; what is proved is ``guaranteed_coverage_``.
    n_estimators : int, default=200
        Number of bags to draw from one row more than there is; those that would hold the further
        row are left out, so that about 37% are fitted. The theorem needs this random number.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the number of members and, through it, of the bag.

    Attributes
    ----------
    estimator_ : estimator
        The fitted bag.
    residuals_ : ndarray of shape (n_samples,)
        Absolute out-of-bag residuals; infinite for rows that every bag holds.
    left_out_ : ndarray of bool of shape (n_members, n_samples)
        Whether a bag misses a row.
    guaranteed_coverage_ : float
        The coverage that is proved, that of jackknife+ in :func:`plus_coverage`.

    See Also
    --------
    CVPlusRegressor : Jackknife+ and CV+ of any model.

    Notes
    -----
    Guarantee: for exchangeable rows an interval holds the target with probability at least
    ``guaranteed_coverage_``, a little more than :math:`1 - 2\alpha`; in practice near
    :math:`1 - \alpha`. Simulated in ``tests/conformal/test_bootstrap.py``.

    There are no weights of rows: a bag draws rows by weight, and the theorem needs every row, the
    new one included, to be drawn alike. Use :class:`CVPlusRegressor` with weights.

    Predicting m rows takes time in proportion to m, n and the members, and memory for a block of
    rows at a time.

    Rows that come in groups are not exchangeable, and nothing is proved of them here; use
    :class:`SplitConformalRegressor`, whose ``fit`` takes groups.

    References
    ----------
    Kim, B., Xu, C. and Barber, R. F. (2020). Predictive inference is free with the
    jackknife+-after-bootstrap. Advances in Neural Information Processing Systems 33.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.conformal import JackknifeAfterBootstrapRegressor
    >>> from corollary.ensemble import RandomForestRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(1, 5, size=(100, 1))
    >>> y = 2 * X[:, 0] + rng.normal(size=100)
    >>> model = JackknifeAfterBootstrapRegressor(RandomForestRegressor(), random_state=0)
    >>> model.fit(X, y).predict_interval([[2.0]]).shape
    (1, 2)
    >>> round(model.guaranteed_coverage_, 2)
    0.81
    """

    estimator: Annotated[Any, HasMethods(["fit", "predict", "get_params"])]
    _: KW_ONLY
    n_estimators: Count = 200
    random_state: RandomSeed = None

    left_out_: np.ndarray = fitted(Array("b", "m", "n"))

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any) -> Self:
        """Fit a bag and take the residuals of the rows that its members left out.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows, passed to the bag as they come.
        y : array-like of shape (n_samples,)
            Targets.

        Returns
        -------
        self : JackknifeAfterBootstrapRegressor
            The fitted estimator.
        """
        from corollary.ensemble import number_of_draws

        y = self._check_pair(X, y)
        (X,) = indexable(X)
        given = self.estimator.get_params(deep=False)
        if "n_estimators" not in given or given.get("bootstrap") is not True:
            raise ValueError(
                "JackknifeAfterBootstrapRegressor needs a bag with 'n_estimators' and "
                f"bootstrap=True. Got {self.estimator!r}; use RandomForestRegressor or "
                "BaggingRegressor."
            )
        rng = check_random_state(self.random_state)
        draws = number_of_draws(given.get("max_samples"), len(y))
        # A bag of `draws` from n + 1 rows misses the further one this often.
        missing = (1 - 1 / (len(y) + 1)) ** draws
        drawn = int(rng.binomial(self.n_estimators, missing))
        count = max(1, drawn)
        settings = {"n_estimators": count, "random_state": int(rng.randint(2**31 - 1))}
        self.estimator_ = clone(self.estimator).set_params(**settings).fit(X, y)
        self.left_out_ = np.ones((count, len(y)), dtype=bool)
        for absent, rows in zip(self.left_out_, self.estimator_.estimators_samples_):
            absent[rows] = False
        if drawn == 0:
            self.left_out_[:] = False  # the one member is for predict alone
        sums = np.zeros(len(y))
        for absent, said in zip(self.left_out_, self._members(X)):
            sums[absent] += said[absent]
        times = self.left_out_.sum(axis=0)
        known = times > 0
        self.residuals_ = np.full(len(y), np.inf)
        self.residuals_[known] = np.abs(y[known] - sums[known] / times[known])
        if not np.isfinite(self.residuals_[known]).all():
            raise ValueError(
                "JackknifeAfterBootstrapRegressor got predictions that are not finite numbers from "
                f"{type(self.estimator).__name__}."
            )
        self.guaranteed_coverage_ = plus_coverage(len(y), len(y), self.confidence)
        self._warn_if_too_few(self.confidence)
        return self

    def predict_interval(self, X: Any, *, confidence: float | None = None) -> np.ndarray:
        """Predict an interval for each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows, passed to the members as they come.
        confidence : float or None, default=None
            Another level than that of the constructor, from the same bag.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2)
            Lower and upper ends, both included.
        """
        check_is_fitted(self)
        level = self._check_confidence(confidence)
        if level != self.confidence:
            self._warn_if_too_few(level)
        (X,) = indexable(X)
        said = np.column_stack(list(self._members(X)))
        self._warn_of_unknown(said)
        known = np.flatnonzero(np.isfinite(self.residuals_))
        absent = self.left_out_[:, known].astype(float)
        absent /= np.maximum(absent.sum(axis=0), 1)
        # Rows without an out-of-bag member count as infinitely far; their shift is of no matter.
        n = len(self.residuals_)
        shares = np.zeros((len(absent), n))
        shares[:, known] = absent
        sizes = np.ones(n, dtype=np.int64)
        step = max(1, _BLOCK // n)
        parts = [
            interval_ends(row_products(said[i : i + step], shares), self.residuals_, sizes, level)
            for i in range(0, max(len(said), 1), step)
        ]
        return np.concatenate(parts)

    def _warn_if_too_few(self, level: float) -> None:
        n, known = len(self.residuals_), int(np.isfinite(self.residuals_).sum())
        warn_of_missing_rows(type(self).__name__, n, level)
        if known < rank_of_level(n, level) <= n:
            warn_user(
                f"JackknifeAfterBootstrapRegressor has out-of-bag residuals of {known} of {n} "
                f"rows only, too few for confidence {level:g}: intervals are infinite. Raise "
                f"n_estimators={self.n_estimators}."
            )

    def _fits_together(self) -> str | None:
        bag = self.estimator_
        if is_classifier(bag) or not hasattr(bag, "estimators_samples_"):
            return "its model is not a bag of regressors"
        residuals, absent = self.residuals_, self.left_out_
        if (residuals < 0).any():
            return "a residual is negative"
        if len(absent) != len(bag.estimators_):
            return "its bags do not fit its members"
        if np.any(np.isfinite(residuals) & ~absent.any(axis=0)):
            return "a residual comes from no member"
        return None

    def _members(self, X: Any) -> Any:
        bag = self.estimator_
        columns = getattr(bag, "estimators_features_", None)
        for number, member in enumerate(bag.estimators_):
            rows = X
            if columns is not None and len(columns[number]) != bag.n_features_in_:
                rows = safe_indexing(X, columns[number], axis=1)
            yield np.asarray(member.predict(rows), dtype=float).ravel()
