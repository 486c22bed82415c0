"""Metadata routing: members of ensembles decide whether they get the weights of rows."""

import numpy as np
import pytest
import sklearn
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.metadata_routing import MetadataRouter

from corollary.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture
def rows(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    return X, y, rng.uniform(0.1, 5.0, size=60)


def asks(wish, member=LogisticRegression):
    return member().set_fit_request(sample_weight=wish)


def test_a_member_that_wants_no_weights_gets_none(routing, rows):
    X, y, w = rows
    members = [("with", asks(True)), ("without", asks(False))]
    model = VotingClassifier(members).fit(X, y, sample_weight=w)
    weighted, plain = (LogisticRegression().fit(X, y, v).coef_ for v in (w, None))
    assert not np.allclose(weighted, plain)
    np.testing.assert_array_equal(model.estimators_[0].coef_, weighted)
    np.testing.assert_array_equal(model.estimators_[1].coef_, plain)


def test_members_of_stacks_are_asked_in_folds_and_at_the_end(routing, rows):
    X, y, w = rows
    model = StackingRegressor(
        [("with", asks(True, Ridge)), ("without", asks(False, Ridge))], asks(False, Ridge)
    ).fit(X, y, sample_weight=w)
    weighted, plain = (Ridge().fit(X, y, v).coef_ for v in (w, None))
    np.testing.assert_array_equal(model.estimators_[0].coef_, weighted)
    np.testing.assert_array_equal(model.estimators_[1].coef_, plain)
    alone = StackingRegressor([("without", Ridge())], Ridge()).fit(X, y)
    same = StackingRegressor([("without", asks(False, Ridge))], asks(False, Ridge))
    # A stack uses weights itself, so that they may be given though no member wants them.
    same.fit(X, y, sample_weight=w)
    np.testing.assert_array_equal(same.final_estimator_.coef_, alone.final_estimator_.coef_)


def test_bags_repeat_rows_for_members_without_weights(routing, rows):
    X, y, _ = rows

    class Counts(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            self.seen_ = None if sample_weight is None else len(sample_weight)
            return super().fit(X, y, sample_weight)

    for wish, weighted in ((True, True), (False, False), (None, False)):
        bag = BaggingClassifier(Counts().set_fit_request(sample_weight=wish), 2, random_state=0)
        seen = [member.seen_ for member in bag.fit(X, y).estimators_]
        assert all((size is not None) == weighted for size in seen)


def test_a_member_without_a_wish_is_refused(routing, rows):
    X, y, w = rows
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        VotingClassifier([("a", LogisticRegression())]).fit(X, y, sample_weight=w)
    VotingClassifier([("a", LogisticRegression())]).fit(X, y)


@pytest.mark.parametrize(
    "model",
    [
        VotingClassifier([("a", LogisticRegression())]),
        VotingRegressor([("a", Ridge())]),
        StackingClassifier([("a", LogisticRegression())]),
        BaggingClassifier(LogisticRegression()),
        BaggingClassifier(),
        AdaBoostClassifier(LogisticRegression()),
        AdaBoostClassifier(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_ensembles_are_routers(model):
    assert isinstance(model.get_metadata_routing(), MetadataRouter)


def test_a_search_routes_through_an_ensemble(routing, rows):
    X, y, w = rows
    vote = VotingClassifier([("a", asks(True))])
    search = GridSearchCV(vote, {"a__C": [1.0]}, cv=2).fit(X, y, sample_weight=w)
    best = search.best_estimator_.estimators_[0]
    np.testing.assert_array_equal(best.coef_, LogisticRegression().fit(X, y, w).coef_)


def test_without_routing_weights_reach_all_members(rows):
    X, y, w = rows
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    model = VotingClassifier([("a", LogisticRegression()), ("b", pipeline)])
    model.fit(X, y, sample_weight=w)
    np.testing.assert_array_equal(
        model.estimators_[0].coef_, LogisticRegression().fit(X, y, w).coef_
    )
    peer = make_pipeline(StandardScaler(), LogisticRegression())
    peer.fit(X, y, logisticregression__sample_weight=w)
    np.testing.assert_array_equal(model.estimators_[1][-1].coef_, peer[-1].coef_)
    with pytest.raises(ValueError, match="KNeighborsClassifier doesn't support it"):
        VotingClassifier([("a", KNeighborsClassifier())]).fit(X, y, sample_weight=w)
