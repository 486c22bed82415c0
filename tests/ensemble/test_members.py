"""What ensembles of any estimators share."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from corollary.ensemble._members import aligned_probabilities, label_codes, make_member


@pytest.mark.parametrize(
    ("classes", "labels", "codes"),
    [
        ([1, 3, 5], [5, 1, 3], [2, 0, 1]),
        ([1, 3, 5], [5.0, 1.0], [2, 0]),
        (["a", "ö"], ["ö", "a", "a"], [1, 0, 0]),
        ([False, True], [True, False], [1, 0]),
        ([3, 1, 2], [1, 2, 3], [1, 2, 0]),
    ],
)
def test_positions_of_labels(classes, labels, codes):
    assert label_codes("here", np.array(classes), np.array(labels)).tolist() == codes
    objects = np.array(classes, dtype=object)
    assert label_codes("here", objects, np.array(labels, dtype=object)).tolist() == codes


def test_strangers_are_named():
    with pytest.raises(ValueError, match="member of here predicts the label 4"):
        label_codes("here", np.array([1, 3]), np.array([1, 4]))
    with pytest.raises(ValueError, match="predicts the label nan"):
        label_codes("here", np.array([1.0, 3.0]), np.array([np.nan]))
    with pytest.raises(ValueError, match="predicts the label 'x'"):
        label_codes("here", np.array([1, 3]), np.array(["x"]))


def test_every_seed_inside_a_member_is_set():
    template = make_pipeline(StandardScaler(), DecisionTreeClassifier())
    members = [make_member(template, np.random.RandomState(0)) for _ in range(2)]
    seeds = [m.get_params()["decisiontreeclassifier__random_state"] for m in members]
    assert seeds[0] == seeds[1]
    assert isinstance(seeds[0], int)
    assert template.get_params()["decisiontreeclassifier__random_state"] is None
    random = np.random.RandomState(0)
    one, other = (make_member(DecisionTreeClassifier(), random).random_state for _ in range(2))
    assert one != other


def test_unknown_classes_have_probability_zero():
    model = LogisticRegression().fit([[0.0], [1.0]], ["a", "c"])
    table = aligned_probabilities("here", np.array(["a", "b", "c"]), model, [[0.3]])
    assert table[0, 1] == 0
    np.testing.assert_allclose(table[:, [0, 2]], model.predict_proba([[0.3]]))
