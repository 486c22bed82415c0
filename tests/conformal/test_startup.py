"""What conformal prediction around a fitted model must not wait for."""

import subprocess
import sys

SLOW = "corollary.theory corollary.ensemble sklearn.model_selection sklearn.metrics numba jax"
PROGRAM = """
import sys
import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from corollary.conformal import SplitConformalRegressor

class Zero(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        self.fitted_ = True
        return self
    def predict(self, X):
        return np.zeros(len(X))

X, y = np.zeros((20, 1)), np.arange(20.0)
model = SplitConformalRegressor(Zero().fit(X, y), prefit=True).fit(X, y)
assert model.predict_interval(X).shape == (20, 2)
print(*(name for name in {slow!r}.split() if name in sys.modules))
"""


def test_a_fitted_model_is_wrapped_without_loading_theory_or_compilers():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(slow=SLOW)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == []
