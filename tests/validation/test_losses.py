"""Which loss an estimator is measured by."""

from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression as PeerLogistic

from corollary.linear import Ridge
from corollary.validation import (
    bootstrap_risk,
    compare_learners,
    cross_validate,
    hold_out,
    nested_risk,
    tune,
)


def test_the_loss_of_a_regressor_is_squared_unless_said_otherwise():
    X, y = load_diabetes(return_X_y=True)
    grid = {"alpha": [0.1, 10.0]}
    runs = {
        "cross_validate": lambda **how: cross_validate(Ridge(), X, y, random_state=0, **how).risk,
        "hold_out": lambda **how: hold_out(Ridge(), X, y, random_state=0, **how).risk,
        "tune": lambda **how: tune(Ridge(), grid, X, y, random_state=0, **how).risks[0],
        "nested": lambda **how: nested_risk(Ridge(), grid, X, y, random_state=0, **how).risk,
        "bootstrap": lambda **how: (
            bootstrap_risk(Ridge(), X, y, n_resamples=3, random_state=0, **how).leave_one_out
        ),
        "compare": lambda **how: (
            compare_learners(Ridge(), Ridge(alpha=9.0), X, y, **how).difference
        ),
    }
    for name, run in runs.items():
        assert run() == run(loss="square"), name
        assert run() != run(loss="absolute"), name
    iris, species = load_iris(return_X_y=True)
    outcome = cross_validate(PeerLogistic(max_iter=1000), iris, species, random_state=0)
    assert set(outcome.losses) == {0.0, 1.0}
