"""Folds against scikit-learn's."""

import math

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression as PeerLogistic
from sklearn.linear_model import Ridge as PeerRidge
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from corollary.validation import (
    cross_validate,
)
from tests.validation.majority import LABELS, ROWS, Majority


def test_folds_agree_with_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    folds = KFold(7, shuffle=True, random_state=3)
    outcome = cross_validate(PeerRidge(), X, y, loss="square", cv=folds)
    theirs = -cross_val_score(PeerRidge(), X, y, cv=folds, scoring="neg_mean_squared_error")
    assert outcome.fold_risks == pytest.approx(theirs)
    assert outcome.risk == pytest.approx(np.average(theirs, weights=outcome.fold_sizes))


def test_pipelines_are_refitted_per_fold_and_folds_are_shuffled_and_stratified():
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), PeerLogistic())
    one = cross_validate(pipeline, X, y, cv=5, random_state=0)
    with parallel_config("threading"):
        again = cross_validate(pipeline, X, y, cv=5, random_state=0, n_jobs=2)
    assert np.array_equal(one.losses, again.losses)
    assert one.risk < 0.1
    assert one.standard_error > np.std(one.fold_risks, ddof=1) / math.sqrt(5)


def test_groups_random_splits_and_rows_held_out_twice():
    groups = np.repeat(np.arange(8), 5)
    outcome = cross_validate(Majority(), ROWS, LABELS, cv=GroupKFold(4), groups=groups)
    assert outcome.fold_sizes.tolist() == [10] * 4
    splits = ShuffleSplit(3, test_size=10, random_state=0)
    outcome = cross_validate(Majority(), ROWS, LABELS, cv=splits)
    assert len(outcome.fold_risks) == 3
    assert np.isnan(outcome.losses).sum() == 40 - len({i for _, t in splits.split(ROWS) for i in t})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cross_validate(Majority(), ROWS, LABELS, cv="ten"), "'loo'"),
        (lambda: cross_validate(Majority(), ROWS, LABELS, cv=41), "from 2 to the number"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
