"""Splitters by units and time inside scikit-learn's own searches and scores."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    TimeSeriesSplit,
    cross_val_predict,
    cross_val_score,
)

from corollary.validation import BlockKFold, ForwardChaining, UnitKFold, block_folds, forward_folds

RNG = np.random.default_rng(0)
UNITS = RNG.permutation(np.repeat(np.arange(12), RNG.integers(2, 9, 12)))
X = RNG.normal(size=(len(UNITS), 3))
Y = X[:, 0] + RNG.normal(size=len(UNITS))


def test_units_are_left_out_in_scores_and_searches():
    folds = UnitKFold(4, random_state=0)
    splits = list(folds.split(X, Y, UNITS))
    assert sorted(np.concatenate([test for _, test in splits])) == list(range(len(UNITS)))
    for train, test in splits:
        assert not set(UNITS[train]) & set(UNITS[test])
    assert len(cross_val_score(Ridge(), X, Y, groups=UNITS, cv=folds)) == 4
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=folds).fit(X, Y, groups=UNITS)
    assert search.n_splits_ == 4
    with config_context(enable_metadata_routing=True):
        routed = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=folds).fit(X, Y, groups=UNITS)
    assert np.array_equal(
        routed.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"]
    )


def test_classes_are_spread_if_asked_for():
    rare = np.isin(UNITS, [0, 1, 2, 3])
    shares = [
        np.ptp([rare[test].sum() for _, test in folds.split(X, rare, UNITS)])
        for folds in (
            UnitKFold(4, random_state=seed, stratify=stratify)
            for stratify in (True, False)
            for seed in range(20)
        )
    ]
    assert np.mean(shares[:20]) < 0.6 * np.mean(shares[20:])
    folds = UnitKFold(4, random_state=0, stratify=True)
    predicted = cross_val_predict(LogisticRegression(), X, rare, groups=UNITS, cv=folds)
    assert predicted.shape == rare.shape


def test_forward_chaining_is_scikit_learns_for_rows_in_order():
    rows = np.zeros((30, 1))
    peers = list(TimeSeriesSplit(4).split(rows))
    for fold, peer in zip(ForwardChaining(4).split(rows), peers, strict=True):
        assert all(np.array_equal(*pair) for pair in zip(fold, peer))


def test_moments_are_those_of_the_constructor():
    moments = np.random.default_rng(1).permutation(len(Y))
    for splitter, folds in (
        (
            ForwardChaining(3, horizon=9, gap=2, time=moments),
            forward_folds(moments, 3, horizon=9, gap=2),
        ),
        (ForwardChaining(3, first=0.6, time=moments), forward_folds(moments, 3, first=0.6)),
        (BlockKFold(3, gap=4, time=pd.Series(moments)), block_folds(moments, 3, gap=4)),
    ):
        assert splitter.get_n_splits() == 3
        for fold, expected in zip(splitter.split(X), folds, strict=True):
            assert all(np.array_equal(*pair) for pair in zip(fold, expected))
        assert len(cross_val_score(Ridge(), X, Y, cv=splitter)) == 3
        assert GridSearchCV(Ridge(), {"alpha": [1.0]}, cv=splitter).fit(X, Y).n_splits_ == 3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: list(UnitKFold(3).split(X, Y)), "Pass them as groups="),
        (lambda: list(UnitKFold(3).split(X, Y, UNITS[1:])), "one unit for each of the"),
        (lambda: list(UnitKFold(13).split(X, Y, UNITS)), "Got 12 units for 13 folds"),
        (lambda: list(ForwardChaining(time=[1, 2, 3]).split(X)), "one moment for each of the"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
