"""Estimators that the moments of their rows determine, wherever the rows are."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

from corollary.core.compat import fit_context
from corollary.core.estimator._source import read_source
from corollary.core.summary import Moments


class MomentsMixin:
    """Add ``fit_source`` to an estimator; subclasses write ``_learn(moments)``."""

    @fit_context(prefer_skip_nested_validation=True)
    def fit_source(
        self,
        data: Any,
        *,
        columns: Sequence[str] | None = None,
        sample_weight: str | None = None,
        n_jobs: int | None = None,
    ) -> Self:
        """Fit to data that need not fit in memory, in one pass.

        The result has the bits of :meth:`fit` wherever that goes by the moments of the rows, too.

        Parameters
        ----------
        data : path, data frame, Dask collection, or iterable of chunks
            See :func:`corollary.core.summary.open_source`. Arrays and chunks hold ``(X,)`` or
            ``(X, y, sample_weight)``, of which y is left out.
        columns : sequence of str or None, default=None
            Names of the features; None for all columns but the weight.
        sample_weight : str or None, default=None
            Name of the column of weights.
        n_jobs : int or None, default=None
            Threads; None means one per available core. The result does not depend on it.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        self._require_moments("fit_source")
        _, moments = read_source(
            self,
            data,
            lambda source: Moments.of_width(source.n_features),
            columns=columns,
            sample_weight=sample_weight,
            n_jobs=n_jobs,
            supervised=False,
        )
        self._learn(moments)
        return self

    def _require_moments(self, method: str) -> None:
        """Raise where parameters ask for more than moments, before anything is read."""

    @abstractmethod
    def _learn(self, moments: Moments) -> None:
        """Learn from the moments of rows."""
