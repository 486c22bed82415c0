"""Every public estimator in a model file: it comes back whole, and forgeries of it do no harm.

A forged file may be refused, and a loaded one may predict nonsense or say that it cannot; it may
not run code, hang, exhaust memory, read outside arrays or fail in the depths.
"""

import functools
import hashlib
import json
import struct
import warnings
from copy import copy

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)

import corollary
from corollary.conformal import (
    ConformalQuantileRegressor,
    SplitConformalClassifier,
    SplitConformalRegressor,
)
from corollary.core.files import SIGNATURE, ModelFileError, load, pack, save, unpack
from corollary.kernels import RBF
from corollary.linear import (
    LogisticRegression,
    QuantileInterval,
    QuantileRegressor,
    Ridge,
)
from corollary.risk import ERMClassifier
from tests.fuzz.forge import forge
from tests.registry import estimators

ROWS = 40
METHODS = (
    *("predict", "predict_proba", "predict_log_proba", "decision_function", "transform"),
    *("predict_interval", "predict_set", "get_feature_names_out", "kneighbors"),
    "score_samples",
)


@functools.cache
def tables():
    rng = np.random.default_rng(0)
    numbers = pd.DataFrame(rng.normal(size=(ROWS, 3)), columns=["a", "b", "c"])
    y = (numbers["a"] + 0.1 * rng.normal(size=ROWS)).to_numpy()
    labels = np.where(numbers["b"] > 0.3, "plus", np.where(numbers["c"] > 0, "minus", "ö"))
    words = ["alpha", "beta", "gamma", "delta"]
    mixed = pd.DataFrame(
        {
            "number": rng.normal(size=ROWS),
            "holes": [None if i % 9 == 0 else float(i % 5) for i in range(ROWS)],
            "few": list("xyzw") * (ROWS // 4),
            "many": [f"level {i % 38}" for i in range(ROWS)],
            "date": pd.date_range("2020-01-01", periods=ROWS).astype(str),
            "flag": [True, False] * (ROWS // 2),
            "text": [" ".join(rng.choice(words, 6)) + str(i) for i in range(ROWS)],
            "empty": [None] * ROWS,
        }
    )
    return numbers, y, labels, mixed


def all_models():
    numbers, y, labels, mixed = tables()
    holes = numbers.mask(numbers > 1.5)
    words = mixed[["few", "many"]]
    ours = [e for e in estimators() if type(e).__name__ not in ("MLPClassifier", "MLPRegressor")]
    found = {}
    for estimator in ours:
        name = type(estimator).__name__
        if name == "TableEncoder":
            found[name] = (estimator.set_params(max_levels=10, text_dimensions=3), mixed, y)
            continue
        if name.startswith("SplitConformal"):
            continue
        target = labels if is_classifier(estimator) else y
        if estimator.__sklearn_tags__().target_tags.positive_only:
            target = np.abs(y)
        if name == "ERMClassifier":
            estimator.set_params(loss="cross_entropy")
        found[name] = (estimator, numbers, target)
        if estimator.__sklearn_tags__().target_tags.multi_output:
            several = np.column_stack([y, -y, y**2])
            if is_classifier(estimator):
                several = np.column_stack([labels, np.where(y > 0, "up", "down")])
            found[f"{name}-outputs"] = (clone(estimator), numbers, several)
    half = {"confidence": 0.5, "random_state": 0}
    for name, score in [("lac", {}), ("aps", {"conformity_score": "aps", "randomised": True})]:
        model = SplitConformalClassifier(LogisticRegression(), **half, **score)
        found[f"SplitConformalClassifier-{name}"] = (model, numbers, labels)
    for score in ("absolute", "normalised"):
        model = SplitConformalRegressor(Ridge(), conformity_score=score, **half)
        found[f"SplitConformalRegressor-{score}"] = (model, numbers, y)
    model = ConformalQuantileRegressor(QuantileRegressor(alpha=0.1), **half)
    found["ConformalQuantileRegressor-two"] = (model, numbers, y)
    found["ERMClassifier-two"] = (ERMClassifier(alpha=0.1), numbers, labels == "plus")
    steps = (SimpleImputer(add_indicator=True), StandardScaler())
    found["Pipeline"] = (make_pipeline(*steps, Ridge()), holes, y)
    frame = StandardScaler().set_output(transform="pandas")
    found["Pipeline-frame"] = (make_pipeline(frame, Ridge()), numbers, y)
    found["OneHotEncoder"] = (OneHotEncoder(handle_unknown="ignore"), mixed[["few", "flag"]], None)
    found["OneHotEncoder-drop"] = (OneHotEncoder(drop="if_binary"), mixed[["few", "flag"]], None)
    found["OneHotEncoder-numbers"] = (OneHotEncoder(), np.arange(8).reshape(4, 2), None)
    found["OrdinalEncoder"] = (OrdinalEncoder(), words, None)
    # Objects only: asked to look a number up among strings, scikit-learn fails by a TypeError.
    found["OrdinalEncoder-missing"] = (OrdinalEncoder(), mixed[["few", "empty"]], None)
    found["SimpleImputer-constant"] = (
        SimpleImputer(strategy="constant", fill_value=3.0),
        holes,
        None,
    )
    for step in (StandardScaler(), MinMaxScaler(), MaxAbsScaler(), RobustScaler()):
        found[f"sklearn {type(step).__name__}"] = (step, numbers, None)
    found["MissingIndicator"] = (MissingIndicator(error_on_new=False), holes, None)
    columns = ColumnTransformer(
        [
            ("numbers", StandardScaler(), ["number", "holes"]),
            ("words", OneHotEncoder(handle_unknown="ignore"), ["few", "many"]),
            ("flag", "passthrough", ["flag"]),
        ]
    )
    found["ColumnTransformer"] = (make_pipeline(columns, Ridge()), mixed.fillna({"holes": 0.0}), y)
    by_number = ColumnTransformer(
        [("half", MaxAbsScaler(), slice(0, 1)), ("none", "drop", [1])], remainder=MinMaxScaler()
    )
    found["ColumnTransformer-numbers"] = (by_number, numbers.to_numpy(), None)
    found["DummyClassifier"] = (DummyClassifier(strategy="prior"), numbers, labels)
    found["DummyRegressor"] = (DummyRegressor(), numbers, y)
    return found


MODELS = all_models()
# Networks are compiled when they learn; the classifier is enough for the forger.
NETWORKS = [e for e in estimators() if type(e).__name__ in ("MLPClassifier", "MLPRegressor")]


@functools.cache
def fitted(name):
    if name.startswith("MLP"):
        numbers, y, labels, _ = tables()
        estimator = next(e for e in NETWORKS if type(e).__name__ == name.split("-")[0])
        target = labels if is_classifier(estimator) else y
        target = np.column_stack([y, -y]) if name.endswith("-outputs") else target
        estimator = clone(estimator).set_params(max_iter=2, hidden_layer_sizes=(4, 3))
        X = numbers
    else:
        estimator, X, target = MODELS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = estimator.fit(X) if target is None else estimator.fit(X, target)
    return model, X


def saved(tmp_path, model):
    path = tmp_path / "model.corollary"
    corollary.save(model, path)
    return path


def results(model, X):
    """Everything a model says of rows, by method."""
    found = {}
    for name in METHODS:
        # The names a pipeline of models gives are none, and it says so by an AttributeError.
        if not hasattr(model, name) or (
            name == "get_feature_names_out" and hasattr(model, "steps")
        ):
            continue
        method = getattr(model, name)
        found[name] = method() if name == "get_feature_names_out" else method(X)
    return found


def assert_same(first, second):
    assert type(first) is type(second)
    if isinstance(first, list):
        assert len(first) == len(second)
        for one, other in zip(first, second):
            assert_same(one, other)
        return
    if hasattr(first, "toarray"):
        first, second = first.toarray(), second.toarray()
    first, second = np.asarray(first), np.asarray(second)
    assert first.dtype == second.dtype
    assert first.shape == second.shape
    if first.dtype == object:
        assert first.tolist() == second.tolist()
    else:
        assert first.tobytes() == second.tobytes()


NAMES = [*MODELS, "MLPClassifier", "MLPRegressor", "MLPRegressor-outputs"]


@pytest.mark.parametrize("name", NAMES)
def test_a_model_comes_back_bit_for_bit(tmp_path, name):
    model, X = fitted(name)
    again = corollary.load(saved(tmp_path, model))
    before, after = results(model, X), results(again, X)
    assert before
    assert list(before) == list(after)
    for method, value in before.items():
        assert_same(value, after[method])
    assert repr(again) == repr(model)
    # What comes back can be saved again, to the same bytes.
    first = (tmp_path / "model.corollary").read_bytes()
    assert saved(tmp_path, again).read_bytes() == first


def test_every_public_estimator_is_saved_here():
    covered = {name.split("-")[0] for name in NAMES}
    assert {type(e).__name__ for e in estimators()} <= covered


def attempt(path, X):
    """Load and use a file; return None if that is harmless, else the error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = corollary.load(path)
            if hasattr(model, "get_params"):
                results(model, X)
                repr(model)
    except ValueError as error:  # ModelFileError, NotFittedError and refusals of rows are such
        return None if str(error) else error
    except TypeError as error:  # scikit-learn's refusal, where a step before makes sparse rows
        return None if str(error).startswith("Sparse data was passed") else error
    except Exception as error:
        return error
    return None


def assert_forgeries_are_harmless(tmp_path, name, seeds):
    model, X = fitted(name)
    path = saved(tmp_path, model)
    whole = path.read_bytes()
    for seed in seeds:
        path.write_bytes(forge(whole, f"{name} {seed}"))
        error = attempt(path, X)
        assert error is None, f"forgery {seed} of {name}: {error!r}"


@pytest.mark.parametrize("name", [n for n in NAMES if not n.startswith("MLPRegressor-")])
def test_forgeries_are_refused_or_harmless(tmp_path, name):
    assert_forgeries_are_harmless(tmp_path, name, range(25))


@pytest.mark.verify
@pytest.mark.parametrize("name", NAMES)
def test_many_forgeries_are_refused_or_harmless(tmp_path, name):
    assert_forgeries_are_harmless(tmp_path, name, range(25, 2000))


def test_the_forger_is_believed_now_and_then(tmp_path):
    # If every forgery were refused at once, the tests above would show nothing of prediction.
    model, _ = fitted("Ridge")
    path = saved(tmp_path, model)
    whole, loaded = path.read_bytes(), 0
    for seed in range(100):
        path.write_bytes(forge(whole, seed))
        try:
            loaded += hasattr(corollary.load(path), "predict")
        except ModelFileError:
            continue
    assert 5 <= loaded <= 95


# -- attacks by hand -------------------------------------------------------------------------


def write(path, header, payload=b""):
    text = json.dumps(header).encode()
    lengths = struct.pack("<QQ", len(text), len(payload))
    body = text + payload
    path.write_bytes(SIGNATURE + lengths + hashlib.sha256(lengths + body).digest() + body)
    return path


def test_arrays_that_share_bytes_cannot_fill_the_memory(tmp_path):
    entry = {"dtype": "|u1", "shape": [2**20], "offset": 0}
    header = {"format": 1, "root": None, "arrays": [entry] * 2}
    with pytest.raises(ModelFileError, match="impossible array"):
        corollary.load(write(tmp_path / "file", header, bytes(2**20)))


def test_one_long_string_cannot_fill_the_memory(tmp_path):
    # An array of strings gives each the room of the longest: 19 GiB for a file of 1 MB.
    node = {"t": "strings", "shape": [5001], "v": ["a"] * 5000 + ["b" * 2**20]}
    header = {"format": 1, "root": node, "arrays": []}
    with pytest.raises(ModelFileError, match="too large"):
        corollary.load(write(tmp_path / "file", header))


def test_what_could_not_be_loaded_is_not_saved(tmp_path):
    strings = np.array(["a"] * 70 + ["b" * 2**20])
    with pytest.raises(TypeError, match="Shorten the longest strings"):
        corollary.save([strings], tmp_path / "file")


def test_an_array_is_used_once(tmp_path):
    # Otherwise a million references to one array would take a million checks of it.
    entry = {"dtype": "|u1", "shape": [2], "offset": 0}
    root = {"t": "list", "v": [{"t": "array", "v": 0}] * 2}
    header = {"format": 1, "root": root, "arrays": [entry]}
    with pytest.raises(ModelFileError, match="more than once"):
        corollary.load(write(tmp_path / "file", header, bytes(2)))


def forged(tmp_path, name, change):
    path = saved(tmp_path, fitted(name)[0])
    header, arrays = unpack(path.read_bytes())
    root = header["root"]
    change(root["parameters"], root["state"], arrays)
    path.write_bytes(pack(header, arrays))
    return path


def refuse(tmp_path, name, change, match):
    with pytest.raises(ModelFileError, match=match):
        corollary.load(forged(tmp_path, name, change))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    ("name", "attribute"),
    [
        ("Ridge", "coef_"),
        ("Lasso", "intercept_"),
        ("GaussianProcessRegressor", "alpha_"),
        ("GaussianProcessClassifier", "X_"),
        ("SVC", "dual_coef_"),
        ("KernelRidge", "X_fit_"),
        ("TableEncoder", "centre_"),
        ("KNeighborsRegressor", "targets_"),
        ("MLPRegressor", "input_mean_"),
    ],
)
def test_numbers_that_are_not_finite(tmp_path, name, attribute, value):
    def change(parameters, state, arrays):
        node = state[attribute]
        if isinstance(node, dict):
            arrays[node["v"]].flat[0] = value
        else:
            state[attribute] = {"t": "float", "v": repr(value)}

    refuse(tmp_path, name, change, f"attribute '{attribute}' has the wrong type, shape or range")


@pytest.mark.parametrize(
    ("name", "attribute", "array", "words"),
    [
        ("KMeans", "cluster_centers_", lambda a: a[:0], "'cluster_centers_' has the wrong"),
        ("VectorQuantizer", "codebook_", lambda a: a[:0], "'codebook_' has the wrong"),
        ("SVR", "dual_coef_", lambda a: a[:0], "'dual_coef_' has the wrong"),
        ("OneClassSVM", "dual_coef_", lambda a: a[:0], "'dual_coef_' has the wrong"),
        ("KMedoids", "cluster_centers_", np.float16, "'cluster_centers_' has the wrong"),
        ("DirichletProcessMixture", "factors_", np.zeros_like, "have no positive diagonal"),
        ("PseudoLabelFeatures", "coefs_", lambda a: a[:, :0], "layers do not fit together"),
    ],
)
def test_arrays_that_no_prediction_could_use(tmp_path, name, attribute, array, words):
    def change(parameters, state, arrays):
        node = state[attribute]
        place = (node["v"][0] if node["t"] == "list" else node)["v"]
        arrays[place] = array(arrays[place])

    refuse(tmp_path, name, change, words)


def test_whole_numbers_beyond_floats_are_neither_read_nor_written(tmp_path):
    refuse(tmp_path, "KernelDensity", lambda p, s, a: p.update(atol=10**400), "beyond all floats")
    with pytest.raises(TypeError, match="beyond all floats, which cannot be saved"):
        saved(tmp_path, fitted("KernelDensity")[0].set_params(atol=10**400))


def test_thresholds_may_be_infinite(tmp_path):
    # Three calibration rows cannot promise 90%: the interval is the whole line.
    numbers, y, _, _ = tables()
    model = SplitConformalRegressor(Ridge(), confidence=0.9, calibration_size=3, random_state=0)
    with pytest.warns(UserWarning, match="intervals are infinite"):
        model.fit(numbers, y)
    again = corollary.load(saved(tmp_path, model))
    assert np.isinf(again.predict_interval(numbers)).all()


@pytest.mark.parametrize(
    "name", ["GaussianProcessRegressor", "SparseGaussianProcessRegressor", "SVR", "KernelRidge"]
)
def test_a_kernel_of_other_columns(tmp_path, name):
    model = clone(fitted(name)[0]).fit(*(lambda t: (t[0], t[1]))(tables()))
    model.kernel_ = RBF(length_scale=[1.0, 2.0])  # of the three columns there are
    with pytest.raises(TypeError, match="its kernel cannot compare its rows"):
        corollary.save(model, tmp_path / "file")


def test_a_process_of_other_columns(tmp_path):
    def change(parameters, state, arrays):
        state["n_features_in_"] = 2
        del state["feature_names_in_"]

    refuse(tmp_path, "GaussianProcessRegressor", change, "not those of its coefficients")


def test_a_polynomial_of_endless_degree(tmp_path):
    def change(parameters, state, arrays):
        arrays[state["exponents_"]["v"]] = np.zeros((0, 10**7), dtype=np.int64)
        arrays[state["coef_"]["v"]] = np.zeros(0)
        state["n_features_in_"] = state["degree_"] = 10**7
        del state["feature_names_in_"]

    refuse(tmp_path, "PolynomialRegression", change, "monomials")


@pytest.mark.parametrize("width", [1, 10**12])
def test_a_one_hot_encoder_that_writes_outside_its_columns(tmp_path, width):
    # With too few columns, scikit-learn builds a sparse matrix with indices outside: a product
    # with it reads memory that does not belong to it. With too many, it asks for terabytes.
    def change(parameters, state, arrays):
        state["_n_features_outs"]["v"][0] = width

    refuse(tmp_path, "OneHotEncoder", change, "number of columns")


def test_categories_out_of_order(tmp_path):
    # They are looked up by bisection, which would end beyond the last one.
    def change(parameters, state, arrays):
        place = state["categories_"]["v"][0]["v"]
        arrays[place] = arrays[place][::-1].copy()

    refuse(tmp_path, "OneHotEncoder-numbers", change, "categories_")


@pytest.mark.parametrize("dtype", ["V1000000000", "<U100000000", None])
def test_an_encoder_with_a_dtype_of_enormous_items(tmp_path, dtype):
    def change(parameters, state, arrays):
        parameters["dtype"] = dtype

    refuse(tmp_path, "OneHotEncoder", change, "dtype")


def test_a_type_is_no_way_to_make_names(tmp_path):
    def change(parameters, state, arrays):
        parameters["feature_name_combiner"] = {"t": "numpy type", "v": "<f8"}

    refuse(tmp_path, "OneHotEncoder", change, "feature_name_combiner")


def test_infrequent_categories_are_refused_by_name(tmp_path):
    encoder = OneHotEncoder(min_frequency=2).fit([["a"], ["a"], ["b"]])
    with pytest.raises(TypeError, match="min_frequency"):
        corollary.save(encoder, tmp_path / "file")


def test_a_pipeline_needs_steps_that_transform(tmp_path):
    def too_early(parameters, state, arrays):
        steps = parameters["steps"]["v"]
        steps.append({"t": "tuple", "v": ["after the model", "passthrough"]})

    def empty(parameters, state, arrays):
        parameters["steps"]["v"] = []

    def same_names(parameters, state, arrays):
        parameters["steps"]["v"][0]["v"][0] = parameters["steps"]["v"][1]["v"][0]

    for change in (too_early, empty, same_names):
        refuse(tmp_path, "Pipeline", change, "steps")


def test_an_imputer_without_its_indicator(tmp_path):
    def change(parameters, state, arrays):
        parameters["steps"]["v"][0]["v"][1]["state"]["indicator_"] = None

    refuse(tmp_path, "Pipeline", change, "indicator")


@pytest.mark.parametrize("strategy", ["no strategy", "constant"])
def test_a_dummy_of_another_strategy(tmp_path, strategy):
    def change(parameters, state, arrays):
        state["_strategy"] = strategy

    refuse(tmp_path, "DummyClassifier", change, "strategy")


def test_conformal_intervals_around_labels(tmp_path):
    regressor, X = fitted("SplitConformalRegressor-absolute")
    inner = LogisticRegression().fit(X, tables()[2])
    model = clone(regressor).fit(X, tables()[1])
    model.estimator_ = inner
    with pytest.raises(TypeError, match="not regressors"):
        corollary.save(model, tmp_path / "file")


def test_conformal_sets_of_other_classes(tmp_path):
    def change(parameters, state, arrays):
        state["classes_"] = {"t": "strings", "shape": [2], "v": ["a", "b"]}

    refuse(tmp_path, "SplitConformalClassifier-lac", change, "classes")


def test_a_forged_fingerprint(tmp_path):
    def unsorted(parameters, state, arrays):
        place = state["fingerprint_"]["state"]["hashes"]["v"]
        arrays[place] = arrays[place][::-1].copy()

    def too_many(parameters, state, arrays):
        arrays[state["fingerprint_"]["state"]["counts"]["v"]][0] = 2**62

    for change in (unsorted, too_many):
        refuse(tmp_path, "Ridge", change, "Fingerprint")


def test_an_interval_predicts_a_frame_in_silence():
    # It used to hand its own array to a method that expects the names of the frame.
    numbers, y, _, _ = tables()
    model = QuantileInterval().fit(numbers, y)
    inside = model.predict_interval(numbers)
    assert np.all(model.predict(numbers) >= inside[:, 0])


def test_columns_that_were_chosen_by_a_function_are_saved_by_their_names(tmp_path):
    *_, mixed = tables()
    frame = mixed[["number", "few", "many"]]
    numbers = make_column_selector(dtype_include="number")
    model = ColumnTransformer(
        [("numbers", StandardScaler(), numbers), ("words", OneHotEncoder(), frame.columns[1:])]
    ).fit(frame)
    save(model, tmp_path / "model.corollary")
    again = load(tmp_path / "model.corollary")
    assert [columns for *_, columns in again.transformers] == [["number"], ["few", "many"]]
    assert np.array_equal(model.transform(frame).toarray(), again.transform(frame).toarray())
    assert list(again.get_feature_names_out()) == list(model.get_feature_names_out())
    with pytest.raises(TypeError, match="parameter 'transformers'"):
        save(ColumnTransformer([("numbers", StandardScaler(), numbers)]), tmp_path / "unfitted")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda model: model._transformer_to_input_indices.update(a=[0, 9]), "do not exist"),
        (lambda model: model._transformer_to_input_indices.update(a=[0]), "another number"),
        (lambda model: model._transformer_to_input_indices.pop("b"), "names of their own"),
        (lambda model: model.output_indices_.update(c=slice(0, 1)), "belongs to no part"),
        (lambda model: model.transformers_.__setitem__(1, ("b", "drop", ["x"])), "other names"),
        (lambda model: model.transformers_.__setitem__(1, ("b", "drop", [7])), "do not exist"),
    ],
)
def test_parts_of_columns_must_fit_together(change, sentence, tmp_path):
    model = ColumnTransformer([("a", StandardScaler(), [0, 1]), ("b", "drop", [2])])
    change(model.fit(np.eye(3)))
    with pytest.raises(TypeError, match=sentence):
        save(model, tmp_path / "model.corollary")


@pytest.mark.parametrize("name", ["DecisionTreeClassifier", "RandomForestClassifier"])
def test_classes_are_counted_target_by_target(tmp_path, name):
    model = copy(fitted(f"{name}-outputs")[0])
    assert model.n_classes_.tolist() == [3, 2]
    model.n_classes_ = np.array([2, 3])  # as many together
    with pytest.raises(TypeError, match="the number of classes does not fit"):
        saved(tmp_path, model)
