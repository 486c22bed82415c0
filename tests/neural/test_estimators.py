"""The estimators: laws, peers, files, interruptions, bad input."""

import hashlib
import math
import os
import pathlib
import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss, r2_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import corollary
from corollary.neural import MLPClassifier, MLPLoss, MLPRegressor, apply_mlp
from corollary.neural._base import auto_batch_size, auto_patience, location_and_scale

IRIS = load_iris(return_X_y=True)
# A few networks that stop by a loss, for tables as they are.
ENSEMBLE = {
    "standardize": True,
    "n_members": 5,
    "early_stopping": "loss",
    "n_iter_no_change": "auto",
    "learning_rate_init": 0.003,
    "max_iter": 1000,
    "weight_decay": 0.01,
    "batch_size": 32,
    "random_state": 0,
}
# Small and quick, and always the same shapes, so that these tests share compiled code.
QUICK = {
    **ENSEMBLE,
    "hidden_layer_sizes": (8,),
    "n_members": 2,
    "learning_rate_init": 0.03,
    "n_iter_no_change": 10,
}
FULL = {**QUICK, "early_stopping": False, "batch_size": 10**6, "max_iter": 30, "tol": 0.0}


def regression(seed, n=120):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, X @ [1, -2, 0, 3] + np.sin(3 * X[:, 0]) + 0.1 * rng.normal(size=n)


def fit_quietly(model, *args, **kwargs):
    """Fit with too few epochs on purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*args, **kwargs)


# -- what it computes ------------------------------------------------------------------------


def test_predictions_are_the_mean_over_networks():
    X, y = IRIS
    model = MLPClassifier(**QUICK).fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    total = 0
    for member in range(2):
        parameters = []
        for W, b in zip(model.coefs_, model.intercepts_):
            parameters += [W[member], b[member]]
        odds = np.exp(apply_mlp(parameters, Z))
        total = total + odds / odds.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), total / 2, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
    assert model.score(X, y) > 0.95


def test_members_differ_and_stop_by_their_own_rows():
    model = MLPClassifier(**QUICK).fit(*IRIS)
    assert np.abs(model.coefs_[0][0] - model.coefs_[0][1]).max() > 0.1
    assert len(model.validation_curves_) == 2
    best = [curve.min() for curve in model.validation_curves_]
    assert model.best_loss_ == pytest.approx(np.mean(best))
    assert model.n_iter_ == max(len(curve) for curve in model.loss_curves_)
    # The reported loss is the kept network's own, on rows it did not learn from.
    for curve in model.validation_curves_:
        assert len(curve) - 1 - np.argmin(curve) <= model.n_iter_no_change + 1


def test_same_seed_same_bits_and_other_seed_other_bits():
    first, again = (MLPClassifier(**QUICK).fit(*IRIS) for _ in range(2))
    other = MLPClassifier(**{**QUICK, "random_state": 1}).fit(*IRIS)
    for one, two, three in zip(first.coefs_, again.coefs_, other.coefs_):
        np.testing.assert_array_equal(one, two)
        assert np.any(one != three)


SO_MANY_CORES = """
import os, sys
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(sys.argv[1])])
from tests.neural.test_estimators import wide_fit
print(wide_fit())
"""


def wide_fit():
    X = np.random.default_rng(0).normal(size=(3000, 50))
    model = MLPClassifier(hidden_layer_sizes=(256, 256), n_members=1, max_iter=2, random_state=0)
    fit_quietly(model, X, (X[:, 0] * X[:, 1] > 0).astype(int))
    return hashlib.sha256(b"".join(W.tobytes() for W in model.coefs_)).hexdigest()


@pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity") or len(os.sched_getaffinity(0)) < 2,
    reason="needs a system that can restrict a process to one of several cores",
)
def test_same_bits_on_one_core():
    root = pathlib.Path(__file__).parents[2]
    bits = {
        subprocess.run(
            [sys.executable, "-c", SO_MANY_CORES, cores],
            cwd=root,
            env={name: value for name, value in os.environ.items() if name != "NPROC"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for cores in "12"
    }
    assert len(bits) == 1


def test_several_folds_compile_once(monkeypatch):
    traces = []
    original = MLPLoss.__call__

    def counting(self, vector, batch, key):
        traces.append(self)
        return original(self, vector, batch, key)

    monkeypatch.setattr(MLPLoss, "__call__", counting)
    X, y = IRIS
    options = {**QUICK, "hidden_layer_sizes": (9,), "n_members": 1, "alpha": 1e-3}
    MLPClassifier(**options).fit(X, y)
    assert len(traces) > 0  # a size that no other test uses
    del traces[:]
    for fold in range(5):
        MLPClassifier(**options).fit(np.delete(X, slice(fold, None, 5), axis=0),
                                     np.delete(y, slice(fold, None, 5)))  # fmt: skip
    MLPClassifier(**{**options, "learning_rate_init": 0.05, "alpha": 0.1}).fit(X, y)
    assert traces == []


def test_small_tables_of_many_sizes_share_compiled_code(monkeypatch):
    traces = []
    original = MLPLoss.__call__

    def counting(self, vector, batch, key):
        traces.append(batch["x"].shape)
        return original(self, vector, batch, key)

    monkeypatch.setattr(MLPLoss, "__call__", counting)
    rng = np.random.default_rng(0)
    for n in range(92, 129, 4):  # in one batch each, by default
        X = rng.normal(size=(n, 3))
        model = fit_quietly(
            MLPRegressor(hidden_layer_sizes=(5,), max_iter=2, random_state=0), X, X[:, 0]
        )
        assert model.t_ == 2 * n
    assert set(traces) == {(128, 3)}
    assert len(traces) <= 2


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_outputs_keep_their_shape(seed, n_outputs):
    X, y = regression(seed)
    Y = y if n_outputs == 1 else np.column_stack([y, -y, 100 + 0.01 * X[:, 0]])
    model = MLPRegressor(**QUICK).fit(X, Y)
    assert model.predict(X).shape == Y.shape
    assert r2_score(Y, model.predict(X), multioutput="raw_values").min() > 0.9
    assert model.n_outputs_ == n_outputs


# -- laws ------------------------------------------------------------------------------------


def test_weight_equals_repetition_for_a_full_batch(seed):
    X, y = IRIS
    weight = np.random.default_rng(seed).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    by_weight = fit_quietly(MLPClassifier(**FULL), X, y, sample_weight=weight)
    by_copies = fit_quietly(MLPClassifier(**FULL), X[rows], y[rows])
    np.testing.assert_allclose(
        by_weight.predict_proba(X), by_copies.predict_proba(X), rtol=1e-3, atol=1e-4
    )
    R, t = regression(seed)
    weight = np.random.default_rng(seed).integers(0, 4, len(t))
    rows = np.repeat(np.arange(len(t)), weight)
    by_weight = fit_quietly(MLPRegressor(**FULL), R, t, sample_weight=weight)
    by_copies = fit_quietly(MLPRegressor(**FULL), R[rows], t[rows])
    np.testing.assert_allclose(by_weight.predict(R), by_copies.predict(R), rtol=1e-3, atol=1e-2)


def test_weight_zero_is_no_row(seed):
    X, y = regression(seed)
    weight = np.ones(len(y))
    weight[::3] = 0
    with_zeros = MLPRegressor(**QUICK).fit(X, y, sample_weight=weight)
    without = MLPRegressor(**QUICK).fit(X[weight > 0], y[weight > 0])
    np.testing.assert_array_equal(with_zeros.coefs_[0], without.coefs_[0])


def test_class_weight_is_sample_weight():
    X, y = IRIS
    X, y = X[20:], y[20:]
    balanced = MLPClassifier(**QUICK, class_weight="balanced").fit(X, y)
    weight = len(y) / (3 * np.bincount(y))[y]
    np.testing.assert_array_equal(
        balanced.coefs_[0], MLPClassifier(**QUICK).fit(X, y, sample_weight=weight).coefs_[0]
    )
    heavy = MLPClassifier(**QUICK, class_weight={0: 1, 1: 50, 2: 1}).fit(X, y)
    assert heavy.predict_proba(X)[:, 1].mean() > balanced.predict_proba(X)[:, 1].mean()


def test_units_of_inputs_and_targets_do_not_matter(seed):
    X, y = regression(seed)
    model = MLPRegressor(**FULL)
    plain = fit_quietly(model, X, y).predict(X)
    scaled = fit_quietly(model, 64 * X - 8, 32 * y + 1024).predict(64 * X - 8)
    np.testing.assert_allclose((scaled - 1024) / 32, plain, rtol=1e-3, atol=1e-3)


def test_labels_may_be_anything():
    X, y = IRIS
    numbers = MLPClassifier(**QUICK).fit(X, y)
    words = MLPClassifier(**QUICK).fit(X, np.array(["a", "b", "c"])[y])
    assert words.predict(X).tolist() == [["a", "b", "c"][i] for i in numbers.predict(X)]


def test_polars_and_pandas_keep_names():
    import pandas as pd
    import polars as pl

    X, y = IRIS
    names = list("abcd")
    plain = MLPClassifier(**QUICK).fit(X, y)
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        model = MLPClassifier(**QUICK).fit(frame, y)
        assert model.feature_names_in_.tolist() == names
        np.testing.assert_array_equal(model.predict_proba(frame), plain.predict_proba(X))


# -- how good --------------------------------------------------------------------------------


def scores(model_c, model_r, sets, seeds):
    """Mean log loss or 1 - R^2 on test rows of each data set."""
    found = {}
    for name, (load, is_classes) in sets.items():
        X, y = load(return_X_y=True)
        values = []
        for seed in seeds:
            split = train_test_split(
                X, y, test_size=0.3, random_state=seed, stratify=y if is_classes else None
            )
            Xa, Xb, ya, yb = split
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model = (model_c if is_classes else model_r)(seed).fit(Xa, ya)
            if is_classes:
                values.append(log_loss(yb, model.predict_proba(Xb)))
            else:
                values.append(1 - r2_score(yb, model.predict(Xb)))
        found[name] = np.mean(values)
    return found


SETS = {
    "cancer": (load_breast_cancer, True),
    "digits": (load_digits, True),
    "diabetes": (load_diabetes, False),
}


def compare(sets, seeds):
    from sklearn.neural_network import MLPClassifier as PeerClassifier
    from sklearn.neural_network import MLPRegressor as PeerRegressor

    ours = scores(lambda s: MLPClassifier(**{**ENSEMBLE, "random_state": s}),
                  lambda s: MLPRegressor(**{**ENSEMBLE, "random_state": s}),
                  sets, seeds)  # fmt: skip
    theirs = scores(
        lambda s: make_pipeline(StandardScaler(), PeerClassifier(random_state=s)),
        lambda s: make_pipeline(StandardScaler(), PeerRegressor(random_state=s)),
        sets,
        seeds,
    )
    return ours, theirs


def test_an_ensemble_beats_one_network_on_a_small_table():
    ours, theirs = compare({"diabetes": SETS["diabetes"]}, [0])
    assert ours["diabetes"] < min(theirs["diabetes"], 0.75)


def smooth(name, rng, n):
    if name == "sine":
        x = rng.uniform(-3, 3, size=(n, 1))
        return x, np.sin(3 * x[:, 0])
    X = rng.normal(size=(n, 5 if name == "product" else 4))
    if name == "product":
        return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    return X, (np.prod(X, axis=1) > 0).astype(int)


@pytest.mark.parametrize(
    ("name", "n", "least"), [("sine", 200, 0.4), ("sine", 500, 0.8), ("product", 200, 0.75),
                             ("product", 500, 0.88), ("parity", 1000, 0.8)]
)  # fmt: skip
def test_an_ensemble_learns_smooth_functions(name, n, least):
    # A decay of 1 shrinks such functions away, and ten epochs of a small table are no patience.
    from sklearn.neural_network import MLPClassifier as PeerClassifier
    from sklearn.neural_network import MLPRegressor as PeerRegressor

    rng = np.random.default_rng(1)
    (X, y), (X_new, y_new) = smooth(name, rng, n), smooth(name, rng, 2000)
    kinds = (MLPClassifier, PeerClassifier) if name == "parity" else (MLPRegressor, PeerRegressor)
    models = kinds[0](**ENSEMBLE), kinds[1](random_state=0)
    ours, theirs = (fit_quietly(model, X, y).score(X_new, y_new) for model in models)
    assert ours > max(least, theirs)


def test_a_constant_target_is_predicted():
    X = np.random.default_rng(0).normal(size=(100, 2))
    model = fit_quietly(MLPRegressor(**QUICK), X, np.full(100, 3.0))
    np.testing.assert_array_equal(model.predict(X), 3.0)


@pytest.mark.verify
def test_ensembles_are_better_than_one_network_on_the_whole():
    ours, theirs = compare(SETS, range(6))
    ratios = {name: ours[name] / theirs[name] for name in SETS}
    assert max(ratios.values()) < 1.2, ratios  # on breast cancer one network does a little better
    assert math.prod(ratios.values()) < 1, ratios


# -- continuing, stopping, files -------------------------------------------------------------


def test_warm_start_goes_on_from_the_last_fit(seed):
    X, y = regression(seed)
    model = fit_quietly(MLPRegressor(**FULL, warm_start=True), X, y)
    before, mean = model.loss_curves_[0][-1], model.input_mean_.copy()
    fit_quietly(model, X[10:], y[10:])
    assert model.loss_curves_[0][30] < 1.5 * before
    assert len(model.loss_curve_) == 60
    np.testing.assert_array_equal(model.input_mean_, mean)
    with pytest.raises(ValueError, match=r"Got n_members=3 and .* Set warm_start=False"):
        model.set_params(n_members=3).fit(X, y)
    classifier = fit_quietly(MLPClassifier(**FULL, warm_start=True), *IRIS)
    with pytest.raises(ValueError, match=r"Previously got \[0 1 2\], `y` has \[0 1\]"):
        classifier.fit(IRIS[0][:100], IRIS[1][:100])


def test_checkpoint_gives_the_same_networks(tmp_path):
    X, y = IRIS
    folder = tmp_path / "new" / "folder"
    plain = MLPClassifier(**QUICK).fit(X, y)
    kept = MLPClassifier(**QUICK).fit(X, y, checkpoint=folder)
    assert sorted(os.listdir(folder)) == ["member-0.npz", "member-1.npz"]
    # As if killed while the second network was learning.
    (folder / "member-1.npz").unlink()
    resumed = MLPClassifier(**QUICK).fit(X, y, checkpoint=folder)
    for model in (kept, resumed):
        for one, two in zip(plain.coefs_, model.coefs_):
            np.testing.assert_array_equal(one, two)
    with pytest.raises(ValueError, match="belongs to other work"):
        MLPClassifier(**QUICK).fit(X[1:], y[1:], checkpoint=folder)


def test_saved_models_predict_without_jax(tmp_path, seed):
    X, y = regression(seed)
    for model, data in [(MLPClassifier(**QUICK), IRIS), (MLPRegressor(**QUICK), (X, y))]:
        model.fit(*data)
        path = tmp_path / "model.corollary"
        corollary.save(model, path)
        np.save(tmp_path / "x.npy", data[0])
        code = (
            "import sys, numpy as np, corollary\n"
            f"model = corollary.load({str(path)!r})\n"
            f"np.save({str(tmp_path / 'p.npy')!r}, "
            f"model.predict(np.load({str(tmp_path / 'x.npy')!r})))\n"
            "assert not {'jax', 'optax', 'equinox'} & set(sys.modules)"
        )
        subprocess.run([sys.executable, "-c", code], check=True)
        np.testing.assert_array_equal(np.load(tmp_path / "p.npy"), model.predict(data[0]))


def save_and_load(model, path):
    corollary.save(model, path)
    return corollary.load(path)


@pytest.mark.parametrize(
    "damage",
    [
        lambda m: m.coefs_.pop(),
        lambda m: m.coefs_.__setitem__(0, m.coefs_[0][:, :3]),
        lambda m: setattr(m, "out_activation_", "exp"),
        lambda m: setattr(m, "input_scale_", None),
        lambda m: m.intercepts_.__setitem__(1, m.intercepts_[1][:1]),
        lambda m: setattr(m, "input_scale_", m.input_scale_ * 0),
        lambda m: (
            setattr(m, "coefs_", [W[:0] for W in m.coefs_])
            or setattr(m, "intercepts_", [b[:0] for b in m.intercepts_])
        ),
    ],
)
def test_files_whose_layers_do_not_fit_are_refused(tmp_path, damage):
    model = MLPClassifier(**QUICK).fit(*IRIS)
    damage(model)
    path = tmp_path / "model.corollary"
    with pytest.raises((TypeError, ValueError), match=r"fit|wrong type, shape or range"):
        save_and_load(model, path)


def test_import_does_not_load_jax():
    code = "import corollary.neural, sys; assert not {'jax', 'optax', 'equinox'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


# -- trouble ---------------------------------------------------------------------------------


def test_too_few_epochs_are_reported():
    message = r"2 of 2 networks were still learning after max_iter=3 .* Raise max_iter"
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        MLPClassifier(**{**QUICK, "max_iter": 3}).fit(*IRIS)
    assert caught[0].filename == __file__


def test_divergence_is_an_error_or_a_warning(seed):
    X, y = regression(seed)
    wild = {**QUICK, "activation": "identity", "learning_rate_init": 1e4, "weight_decay": 0.0}
    with pytest.raises(ValueError, match=r"non-finite parameter .* lower learning_rate_init"):
        MLPRegressor(**{**wild, "early_stopping": False, "learning_rate_init": 1e25}).fit(X, y)
    with pytest.warns(ConvergenceWarning, match=r"2 of 2 networks diverged"):
        model = MLPRegressor(**{**wild, "learning_rate_init": 1e25}).fit(X, y)
    assert np.isfinite(model.predict(X)).all()


def test_degenerate_tables():
    X, y = IRIS
    constant = np.column_stack([X, np.full(len(X), 1e17), np.zeros(len(X))])
    assert MLPClassifier(**QUICK).fit(constant, y).score(constant, y) > 0.9
    one_class = fit_quietly(MLPClassifier(**FULL), X, np.zeros(len(y)))
    assert one_class.predict(X).tolist() == [0] * len(y)
    flat = fit_quietly(MLPRegressor(**FULL), X, np.full(len(y), 7.0))
    np.testing.assert_allclose(flat.predict(X), 7, rtol=1e-12)
    for n in (2, 3, 20):
        few = fit_quietly(MLPClassifier(**QUICK), X[:: 150 // n][:n], np.arange(n) % 2)
        assert few.predict_proba(X).shape == (150, 2)
        assert (few.validation_curves_ is None) == (n < 20)


def test_extreme_new_inputs_give_finite_predictions(seed):
    X, y = regression(seed)
    model = MLPRegressor(**QUICK).fit(X, y)
    assert np.isfinite(model.predict(np.full((2, 4), [[1e300], [-1e300]]))).all()


def test_errors():
    X, y = IRIS
    with pytest.raises(ValueError, match=r"MLPClassifier.fit needs weights with a positive sum"):
        MLPClassifier(class_weight={0: 0, 1: 0, 2: 0}).fit(X, y)
    with pytest.raises(ValueError, match=r"'hidden_layer_sizes' parameter of MLPClassifier must"):
        MLPClassifier(hidden_layer_sizes=(5, 0)).fit(X, y)
    with pytest.raises(ValueError, match=r"'validation_fraction' parameter of MLPRegressor must"):
        MLPRegressor(validation_fraction=1.0).fit(X, y)
    with pytest.raises(ValueError, match=r"'activation' parameter of MLPClassifier must be a str"):
        MLPClassifier(activation="swish").fit(X, y)


def test_location_and_scale(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 3)) * [1, 1e200, 1e-200] + [0, 1e200, 0]
    weight = rng.integers(1, 4, 50)
    mean, scale = location_and_scale(X, weight)
    copies = np.repeat(X / [1, 1e200, 1e-200], weight, axis=0)
    np.testing.assert_allclose(mean / [1, 1e200, 1e-200], copies.mean(axis=0), rtol=1e-10)
    np.testing.assert_allclose(scale / [1, 1e200, 1e-200], copies.std(axis=0), rtol=1e-10)


def test_auto_batch_size_has_few_values():
    assert {auto_batch_size(n) for n in range(1, 100_000, 7)} == {32, 64, 128, 256}


def test_auto_patience_is_250_steps_at_least():
    assert auto_patience(2048, 32) == 20
    assert auto_patience(200, 32) == 42
    assert all(auto_patience(n, 32) * max(1, n // 32) >= 250 for n in range(1, 5000, 13))
