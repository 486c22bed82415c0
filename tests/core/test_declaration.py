"""An estimator is declared once: constructor, constraints and schema follow from its lines."""

import inspect
from dataclasses import KW_ONLY
from numbers import Integral
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from corollary.core.compat import Interval, InvalidParameterError, Only, is_missing
from corollary.core.estimator import (
    Classifier,
    Count,
    Estimator,
    NoEffect,
    NonNegative,
    ProbabilisticClassifier,
    RandomSeed,
    Regressor,
    ScoringClassifier,
    Transformer,
    checked,
    class_factors,
    fitted,
    probabilities_of,
)
from corollary.core.schema import Array, Integer


class Shrunk(Regressor):
    """Ridge regression without an intercept."""

    alpha: NonNegative = 1.0
    _: KW_ONLY
    how: Literal["solve", "inverse"] = "solve"
    folds: Annotated[int, Interval(Integral, 2, None, closed="left")] | None = None
    random_state: RandomSeed = None
    coef_: np.ndarray = fitted(Array("f", "d"))
    n_iter_: int = fitted(Integer(1))

    limit: ClassVar[int] = 3
    _hidden: int = 4

    def _fit(self, X: Any, y: np.ndarray, sample_weight: np.ndarray | None) -> None:
        weight = np.ones(len(X)) if sample_weight is None else sample_weight
        gram = (X * weight[:, None]).T @ X + self.alpha * np.eye(X.shape[1])
        self.coef_, self.n_iter_ = np.linalg.solve(gram, X.T @ (weight * y)), 1

    def _predict(self, X: Any) -> np.ndarray:
        return X @ self.coef_

    def _fits_together(self) -> str | None:
        return "there are infinite coefficients" if np.isinf(self.coef_).any() else None


class Nearest(ScoringClassifier, ProbabilisticClassifier):
    """The class of the nearest mean."""

    means_: np.ndarray = fitted(Array("f", "k", "d"))

    def _fit(self, X: Any, codes: np.ndarray, sample_weight: np.ndarray | None) -> None:
        weight = np.ones(len(X)) if sample_weight is None else sample_weight
        groups = [codes == k for k in range(len(self.classes_))]
        if not all(weight[g].any() for g in groups):
            raise ValueError("every class needs weight")
        self.means_ = np.array([np.average(X[g], axis=0, weights=weight[g]) for g in groups])

    def _scores(self, X: Any) -> np.ndarray:
        scores = -((X[:, None] - self.means_) ** 2).sum(axis=2)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def _probabilities(self, X: Any) -> np.ndarray:
        return probabilities_of(self._scores(X))


class Centred(Transformer):
    """Rows less their mean."""

    mean_: np.ndarray = fitted(Array("f", "d"))

    def _fit(self, X: Any, sample_weight: np.ndarray | None) -> None:
        self.mean_ = np.average(X, axis=0, weights=sample_weight)

    def _transform(self, X: Any) -> Any:
        return X - self.mean_


@pytest.mark.parametrize("model", [Shrunk(), Nearest(), Centred()], ids=lambda m: type(m).__name__)
def test_declared_estimators_pass_scikit_learns_checks(model):
    check_estimator(model, on_skip=None)


def test_the_signature_is_that_of_the_declaration():
    signature = inspect.signature(Shrunk)
    assert list(signature.parameters) == ["alpha", "how", "folds", "random_state"]
    kinds = [p.kind.name for p in signature.parameters.values()]
    assert kinds == ["POSITIONAL_OR_KEYWORD", *["KEYWORD_ONLY"] * 3]
    assert signature.parameters["alpha"].annotation is float
    assert Shrunk(2.0).get_params() == {
        "alpha": 2.0,
        "how": "solve",
        "folds": None,
        "random_state": None,
    }
    assert clone(Shrunk(how="inverse")).how == "inverse"
    assert not hasattr(Shrunk, "alpha")
    assert not hasattr(Shrunk(), "coef_")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": -1}, r"'alpha' parameter of Shrunk must be a float in the range \[0.0, inf\)"),
        # In the order in which they were declared, whatever the hash seed.
        ({"how": "magic"}, "must be a str among {'solve', 'inverse'}. Got 'magic'"),
        ({"folds": 1}, r"must be an int in the range \[2, inf\) or None"),
        ({"random_state": "x"}, "'random_state' parameter"),
    ],
)
def test_values_outside_their_type_are_refused_by_fit(parameters, message):
    with pytest.raises(InvalidParameterError, match=message):
        Shrunk(**parameters).fit(np.eye(3), np.arange(3.0))


def test_objects_are_asked_for_by_the_name_of_their_class():
    class Around(Shrunk):
        """Ridge regression around another."""

        inner: Shrunk | None = None

    with pytest.raises(InvalidParameterError, match=r"must be an instance of Shrunk or None\. Got"):
        Around(inner=3).fit(np.eye(3), np.arange(3.0))
    Around(inner=Shrunk()).fit(np.eye(3), np.arange(3.0))


def test_parameters_of_scikit_learn_are_taken_or_refused_with_advice():
    class Familiar(Shrunk):
        """Ridge regression for scripts that were written for another library."""

        copy_X: NoEffect = True
        positive: Annotated[bool, Only(False, instead="Lasso has it")] = False

    X, y = np.eye(2), np.ones(2)
    Familiar(copy_X="whatever").fit(X, y)
    for refused in (True, 0, np.zeros(2)):
        with pytest.raises(InvalidParameterError, match=r"False here \(Lasso has it\)"):
            Familiar(positive=refused).fit(X, y)


def test_wrong_arguments_are_answered_with_the_right_names():
    with pytest.raises(TypeError, match=r"Shrunk: .*'alhpa'. Did you mean 'alpha'"):
        Shrunk(alhpa=1)
    with pytest.raises(TypeError, match="Its parameters are alpha, how, folds, random_state"):
        Shrunk(1.0, "solve")
    with pytest.raises(TypeError, match="Shrunk: multiple values for argument 'alpha'"):
        Shrunk(1.0, alpha=2.0)


def test_a_parameter_without_default_is_required():
    class Needy(Estimator):
        rate: NonNegative
        _: KW_ONLY
        steps: Count = 3

    assert vars(Needy(1.0)) == vars(Needy(rate=1.0)) == {"rate": 1.0, "steps": 3}
    for arguments in ({}, {"steps": 2}, {"rat": 1.0}):
        with pytest.raises(TypeError, match="Needy: missing a required argument: 'rate'"):
            Needy(**arguments)


def test_a_default_that_does_not_fit_is_refused_by_fit():
    class Misdeclared(Shrunk):
        alpha: NonNegative = -1.0

    with pytest.raises(InvalidParameterError, match="'alpha' parameter of Misdeclared"):
        Misdeclared().fit(np.eye(3), np.arange(3.0))


def test_a_subclass_adds_and_changes_parameters():
    class Looser(Shrunk):
        alpha: NonNegative = 0.5
        _: KW_ONLY
        passes: Count = 2

    assert list(inspect.signature(Looser).parameters) == [
        "alpha",
        "how",
        "folds",
        "random_state",
        "passes",
    ]
    assert Looser().alpha == 0.5
    with pytest.raises(InvalidParameterError, match="'passes'"):
        Looser(passes=0).fit(np.eye(3), np.arange(3.0))
    assert set(Looser._schema.attributes) >= {"coef_", "n_iter_", "n_features_in_", "fingerprint_"}


def test_a_default_without_a_type_is_refused():
    with pytest.raises(TypeError, match="sets 'alpha' without a type"):

        class Wrong(Shrunk):
            alpha = 2.0


def test_a_type_that_says_nothing_is_refused():
    with pytest.raises(TypeError, match="says nothing about values"):

        class Vague(Estimator):
            thing: Any = None


def test_a_constructor_by_hand_is_left_alone():
    class Handmade(Shrunk):
        def __init__(self, alpha: float = 3.0, extra: int = 1) -> None:
            super().__init__(alpha)
            self.extra = extra

    model = Handmade(extra=2)
    assert (model.alpha, model.extra, model.how) == (3.0, 2, "solve")
    assert list(inspect.signature(Handmade).parameters) == ["alpha", "extra"]


def test_the_schema_checks_what_belongs_together():
    model = Shrunk().fit(np.eye(3), np.arange(3.0))
    state = {k: v for k, v in vars(model).items() if k.endswith("_")}
    assert Shrunk._schema.problem(model.get_params(), state) is None
    assert "coef_" in Shrunk._schema.problem({}, state | {"coef_": np.ones(2)})
    assert Shrunk._schema.check(model) is None
    model.coef_[0] = np.inf
    assert Shrunk._schema.check(model) == "there are infinite coefficients"


def test_one_class_is_refused_by_name():
    with pytest.raises(
        ValueError, match=r"Nearest needs rows of at least 2 classes. Got one class: 'a'"
    ):
        Nearest().fit(np.eye(2), ["a", "a"])


def test_scores_and_probabilities_decide_alike():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.array(["no", "yes"])[rng.integers(0, 2, 40)]
    model = Nearest().fit(X, y)
    score = model.decision_function(X)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(score))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
    assert (model.predict(X) == np.where(score > 0, "yes", "no")).all()
    of_three = Nearest().fit(X, np.arange(40) % 3)
    assert (of_three.predict(X) == of_three.predict_proba(X).argmax(axis=1)).all()


def test_balanced_classes_have_equal_totals():
    classes, totals = np.array(["a", "b", "c"]), np.array([1.0, 3.0, 0.0])
    assert class_factors(None, classes, totals) is None
    factors = class_factors("balanced", classes, totals)
    np.testing.assert_allclose(factors * totals, [4 / 3, 4 / 3, 0])
    np.testing.assert_array_equal(class_factors({"b": 2.0}, classes, totals), [1, 2, 1])


def test_abstract_bases_cannot_be_made():
    with pytest.raises(TypeError, match="abstract"):
        Classifier()


def test_functions_are_checked_by_their_types():
    @checked
    def mix(
        n: Count,
        how: Literal["sum", "mean"] = "sum",
        *,
        share: NonNegative | None = None,
        free: Annotated[int, "no_validation"] = 0,
        anything: Any = None,
    ) -> tuple[Any, ...]:
        return n, how, share, free, anything

    assert mix(2, "mean", share=0, free="x", anything="y") == (2, "mean", 0, "x", "y")
    wrong = {"n": 0, "how": "max", "share": -1.0}
    for name, value in wrong.items():
        with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of .*mix must be"):
            mix(**{"n": 1, name: value})
    shown = inspect.signature(mix).parameters
    assert shown["n"].annotation is int
    assert shown["share"].annotation == float | None


def test_missing_values_of_every_kind_are_told():
    pd = pytest.importorskip("pandas")
    missing = (None, float("nan"), np.float64("nan"), pd.NA, pd.NaT)
    assert [is_missing(value) for value in missing] == [True] * 5
    present = (0, "", "nan", False, np.False_, True, 1.5, np.inf)
    assert [is_missing(value) for value in present] == [False] * 8
