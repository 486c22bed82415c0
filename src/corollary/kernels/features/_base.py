"""What feature maps share."""

from typing import Annotated, Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from corollary.core.compat import fit_context
from corollary.core.estimator import Transformer

# A seed, or a generator of either kind.
Seed = Annotated[
    int | np.random.RandomState | np.random.Generator | None, "random_state", np.random.Generator
]


class FeatureMap(ClassNamePrefixFeaturesOutMixin, Transformer):
    """A transformer without sample weights, whose features are numbered."""

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw what the features are made of.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training inputs.
        y : None, default=None
            Ignored.

        Returns
        -------
        self : estimator
            The fitted transformer.
        """
        X, _, _ = self._check(X, None, None)
        self._fit(X, None)
        return self
