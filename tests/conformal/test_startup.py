"""What conformal prediction around a fitted model must not wait for."""

import math
import subprocess
import sys

import pytest
from sklearn import config_context

from corollary.conformal import (
    ConformalQuantileRegressor,
    CVPlusRegressor,
    JackknifeAfterBootstrapRegressor,
    SplitConformalClassifier,
    SplitConformalRegressor,
)
from corollary.core.compat import InvalidParameterError, parameters_fit, validate_parameters

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


WRAPPERS = [
    ConformalQuantileRegressor,
    CVPlusRegressor,
    JackknifeAfterBootstrapRegressor,
    SplitConformalClassifier,
    SplitConformalRegressor,
]


class Model:
    fit = predict = get_params = lambda self: None


VALUES = (None, True, 0, 2, -1, 0.5, 1.0, 1.5, "loo", "aps", "absolute", math.nan, len, Model())


@pytest.mark.parametrize("kind", WRAPPERS)
def test_the_quick_check_of_parameters_agrees_with_the_slow_one(kind):
    assert parameters_fit(kind(Model()))
    for name in kind._parameter_constraints:
        wrapper, found = kind(Model()), {True: 0, False: 0}
        for value in (*VALUES, object()):
            setattr(wrapper, name, value)
            try:
                validate_parameters(wrapper)
            except InvalidParameterError:
                good = False
            else:
                good = True
            assert parameters_fit(wrapper) == good, (name, value)
            found[good] += 1
        assert all(found.values()), name
        with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of {kind.__name__}"):
            wrapper.fit([[0.0]], [0.0])


def test_a_check_that_the_user_switched_off_stays_off():
    with config_context(skip_parameter_validation=True):
        SplitConformalRegressor(Model(), confidence=2)._check_parameters()
    with pytest.raises(InvalidParameterError, match="'confidence'"):
        SplitConformalRegressor(Model(), confidence=2)._check_parameters()
