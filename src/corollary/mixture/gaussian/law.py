"""A mixture of Gaussian laws: density, draws, margins, and laws given some columns."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from corollary.mixture.em.evidence import latent_posterior, log_evidence
from corollary.mixture.gaussian._conditional import ConditionalMoments, conditional_parts, impute
from corollary.mixture.gaussian._whitened import Components, cholesky_factors, log_joint_of


@dataclass(frozen=True, eq=False)
class MixtureLaw:
    r"""The law with density :math:`p(x)=\sum_j\pi_j\,\mathcal N(x;\mu_j,\Sigma_j)`.

    Parameters
    ----------
    weights : array-like of shape (n_components,)
        Non-negative, of sum one.
    means : array-like of shape (n_components, n_features)
        Means.
    covariances : array-like of shape (n_components, n_features, n_features)
        Symmetric and positive definite.

    Notes
    -----
    Methods take rows ``X`` of shape (n_samples, n_features). They may have missing values (NaN),
    which are integrated out, so that a row counts by the density of the columns that it has.
    Columns are distinct numbers from 0 on.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.mixture import MixtureLaw
    >>> law = MixtureLaw([0.3, 0.7], [[0.0, 0.0], [3.0, 3.0]], [np.eye(2), np.eye(2)])
    >>> law.logdensity([[0.0, 0.0], [0.0, np.nan]]).round(4)
    array([-3.0416, -2.0973])
    >>> law.condition([0], [3.0]).weights.round(4)
    array([0.0047, 0.9953])
    """

    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray

    def __post_init__(self) -> None:
        for name in ("weights", "means", "covariances"):
            object.__setattr__(self, name, np.array(getattr(self, name), dtype=float))
        k, d = self.means.shape if self.means.ndim == 2 else (0, 0)
        shapes = self.weights.shape, self.covariances.shape
        if k == 0 or shapes != ((k,), (k, d, d)):
            raise ValueError(
                "MixtureLaw needs k weights, a mean of d numbers for each and a covariance of d by "
                f"d. Got shapes {shapes[0]}, {self.means.shape} and {shapes[1]}."
            )
        if not (self.weights >= 0).all() or abs(self.weights.sum() - 1) > 1e-8:
            raise ValueError(
                "The weights of a MixtureLaw must be non-negative and sum to one. Got "
                f"{self.weights.tolist()}; divide them by their sum."
            )
        if not np.allclose(self.covariances, self.covariances.transpose(0, 2, 1)):
            raise ValueError("The covariances of a MixtureLaw must be symmetric.")

    @property
    def _components(self) -> Components:
        return Components(self.weights, self.means, self.covariances, "full")

    def log_joint(self, X: Any) -> np.ndarray:
        r"""Return :math:`\log\pi_j+\log\mathcal N(x_i;\mu_j,\Sigma_j)`, by row and component.

        See :class:`MixtureLaw`.
        """
        return log_joint_of(self._components, self._rows(X))

    def logdensity(self, X: Any) -> np.ndarray:
        """Return the logarithm of the density at each row. See :class:`MixtureLaw`."""
        return log_evidence(self.log_joint(X))

    def responsibilities(self, X: Any) -> np.ndarray:
        """Return the probability of every component given each row. See :class:`MixtureLaw`."""
        return latent_posterior(self.log_joint(X))

    def sample(self, n_samples: int, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw components, and rows given them; return the rows and their components.

        See :class:`MixtureLaw`; ``n_samples`` is the number of rows.
        """
        random = check_random_state(random_state)
        z = random.choice(len(self.weights), size=n_samples, p=self.weights / self.weights.sum())
        noise = random.normal(size=(n_samples, self.means.shape[1]))
        factors = cholesky_factors(self.covariances)
        return self.means[z] + np.einsum("nij,nj->ni", factors[z], noise), z

    def marginal(self, columns: Any) -> "MixtureLaw":
        """Return the law of some columns. See :class:`MixtureLaw`."""
        part = self._components.of_columns(self._columns(columns))
        return MixtureLaw(part.weights, part.means, part.covariances)

    def condition(self, columns: Any, values: Any) -> "MixtureLaw":
        """Return the law of the other columns, in their order, given values of some.

        See :class:`MixtureLaw`.
        """
        columns = self._columns(columns)
        values = np.asarray(values, dtype=float).reshape(len(columns))
        others = np.setdiff1d(np.arange(self.means.shape[1]), columns)
        if not len(others):
            raise ValueError("condition needs a column that is left over. Got values for all.")
        weights = self.marginal(columns).responsibilities(values[None])[0]
        slopes, covariances = conditional_parts(self.covariances, columns, others)
        steps = np.einsum("kmo,ko->km", slopes, values - self.means[:, columns])
        return MixtureLaw(weights, self.means[:, others] + steps, covariances)

    def impute(self, X: Any) -> ConditionalMoments:
        """Return the expectation and variance of missing values, given those of their row.

        With a column of targets as the missing one it is regression by conditioning. The result
        has the rows with expectations where values were missing as ``mean``, and a ``variance``
        that is zero where none was. See :class:`MixtureLaw`.
        """
        return impute(self._components, self._rows(X))

    def _rows(self, X: Any) -> np.ndarray:
        """Return rows of the right width."""
        X = np.asarray(X, dtype=float)
        if X.ndim != 2 or X.shape[1] != self.means.shape[1]:
            raise ValueError(
                f"Rows must have {self.means.shape[1]} columns like the means. Got shape {X.shape}."
            )
        return X

    def _columns(self, columns: Any) -> np.ndarray:
        """Return numbers of columns, or refuse them."""
        numbers = np.atleast_1d(np.asarray(columns, dtype=int))
        d = self.means.shape[1]
        if len(set(numbers.tolist())) != len(numbers) or not ((numbers >= 0) & (numbers < d)).all():
            raise ValueError(f"columns must be distinct numbers from 0 to {d - 1}. Got {columns}.")
        return numbers
