"""Model files: what is saved comes back, and hostile files are refused."""

import hashlib
import json
import os
import pathlib
import pickle
import struct
import subprocess
import sys
import textwrap
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)

import corollary
from corollary.core.files import SIGNATURE, ModelFileError, atomic_write, pack, unpack
from corollary.core.files.persist import _Reader, _Writer

OLD_ROWS = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 3.0], [4.0, 0.0]])
NUMBERS = pd.DataFrame({"a": [1.0, 2.0, np.nan, 4.0], "b": [0.5, 1.0, 2.0, 3.0]})
WORDS = pd.DataFrame({"c": list("xyxz"), "d": list("uuvv")})


def saved(tmp_path, model):
    path = tmp_path / "model.corollary"
    corollary.save(model, path)
    return path


def written_and_read(value):
    """Pass a part of a model, which is no model by itself, through the bytes of a file."""
    writer = _Writer()
    root = writer.node(value, "value", 0)
    header, arrays = unpack(pack({"root": root}, writer.arrays))
    return _Reader(arrays).value(header["root"], 0)


def rewrite(path, change):
    """Change the header of a file and give it a correct checksum, as an attacker would."""
    header, arrays = unpack(path.read_bytes())
    change(header, arrays)
    path.write_bytes(pack(header, arrays))


@pytest.mark.parametrize(
    ("step", "table"),
    [
        (StandardScaler(), NUMBERS),
        (StandardScaler(with_mean=False), NUMBERS),
        (MinMaxScaler(), NUMBERS),
        (MaxAbsScaler(), NUMBERS),
        (RobustScaler(), NUMBERS),
        (SimpleImputer(add_indicator=True), NUMBERS),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), WORDS),
        (OrdinalEncoder(), WORDS),
        (make_pipeline(SimpleImputer(), StandardScaler()), NUMBERS),
    ],
    ids=lambda x: type(x).__name__,
)
def test_a_preprocessing_step_comes_back(tmp_path, step, table):
    step.fit(table)
    again = corollary.load(saved(tmp_path, step))
    np.testing.assert_array_equal(again.transform(table), step.transform(table))
    assert again.get_feature_names_out().tolist() == step.get_feature_names_out().tolist()


@pytest.mark.parametrize("model", [DummyClassifier(), DummyRegressor()])
def test_a_baseline_comes_back(tmp_path, model):
    y = ["n", "p", "p", "n"] if isinstance(model, DummyClassifier) else [0.0, 1.0, 2.0, 7.0]
    model.fit(NUMBERS, y)
    again = corollary.load(saved(tmp_path, model))
    assert again.predict(NUMBERS).tolist() == model.predict(NUMBERS).tolist()


def test_an_unfitted_model_comes_back(tmp_path):
    assert corollary.load(saved(tmp_path, StandardScaler(with_std=False))).with_std is False


@pytest.mark.parametrize(
    ("model", "what"),
    [
        (FunctionTransformer(np.log), "FunctionTransformer"),
        (make_pipeline(StandardScaler(), RandomForestClassifier()), "RandomForestClassifier"),
        (make_pipeline(StandardScaler(), memory="somewhere"), "memory"),
        ({"a": lambda: None}, "function"),
    ],
)
def test_what_is_not_data_is_not_saved(tmp_path, model, what):
    path = tmp_path / "model.corollary"
    path.write_bytes(b"the old file")
    with pytest.raises(TypeError, match=what):
        corollary.save(model, path)
    assert path.read_bytes() == b"the old file"
    assert os.listdir(tmp_path) == ["model.corollary"]


def test_a_model_that_contains_itself_is_refused(tmp_path):
    loop = []
    loop.append(loop)
    with pytest.raises(TypeError, match="nested too deeply"):
        corollary.save(loop, tmp_path / "model.corollary")


def test_values_keep_their_types():
    value = {
        "a": [1, 2.5, True, None, "text", float("inf"), -float("inf")],
        "b": (np.float64(0.1), np.int32(7), np.bool_(True)),
        "c": np.arange(6, dtype=np.float32).reshape(2, 3),
        "d": np.array(["x", "yy"]),
        "e": np.array(["x", None, 1.5], dtype=object),
        3: {"nested": []},
        "empty": np.empty((0, 4)),
        "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "unicode": "Größe \u2028 \x00",
    }
    again = written_and_read(value)
    assert list(again) == list(value)
    assert again["a"] == value["a"]
    assert [type(v) for v in again["b"]] == [type(v) for v in value["b"]]
    for key in "cde":
        assert again[key].dtype == value[key].dtype
        assert again[key].tolist() == value[key].tolist()
    assert again["empty"].shape == (0, 4)
    np.testing.assert_array_equal(again["fortran"], value["fortran"])
    assert again["fortran"].flags.f_contiguous
    assert not again["fortran"].flags.c_contiguous
    assert again["unicode"] == value["unicode"]


def test_an_array_of_lists_comes_back():
    array = np.empty(2, dtype=object)
    array[0], array[1] = [1, 2], [3, 4]
    again = written_and_read(array)
    assert again.shape == (2,)
    assert again.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("value", [[1.0], {"a": 1}, 3.5, "text", None, np.zeros(3)])
def test_only_a_model_is_saved_and_loaded(tmp_path, value):
    with pytest.raises(TypeError, match=f"Only a model can be saved.*a {type(value).__name__}"):
        corollary.save(value, tmp_path / "file")
    path = saved(tmp_path, StandardScaler().fit(NUMBERS))
    writer = _Writer()
    root = writer.node(value, "value", 0)
    path.write_bytes(pack({"format": 1, "root": root}, writer.arrays))
    with pytest.raises(ModelFileError, match=f"holds no model but a {type(value).__name__}"):
        corollary.load(path)


def test_the_same_model_gives_the_same_bytes(tmp_path):
    model = StandardScaler().fit(NUMBERS)
    first = saved(tmp_path, model).read_bytes()
    assert saved(tmp_path, model).read_bytes() == first


def test_a_file_of_the_first_format_still_loads():
    model = corollary.load(pathlib.Path(__file__).parent / "files" / "ridge-format-1.corollary")
    assert model.predict(OLD_ROWS) == pytest.approx([1.0, 2.0, 4.0, 8.0], abs=0.5)
    assert model[-1].fingerprint_.n_rows == 4


# -- hostile files ---------------------------------------------------------------------------


class Payload:
    def __reduce__(self):
        return (os.system, ("touch owned",))


def a_pickle(path):
    path.write_bytes(pickle.dumps(Payload()))


def a_zip_with_a_path_outside(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../owned", "x")


def an_empty_file(path):
    path.write_bytes(b"")


def a_signature_alone(path):
    path.write_bytes(SIGNATURE)


def a_claim_of_a_huge_payload(path):
    path.write_bytes(SIGNATURE + struct.pack("<QQ", 10, 2**62) + bytes(32) + b"{}" * 5)


def a_deeply_nested_header(path):
    text = b'{"arrays":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    lengths = struct.pack("<QQ", len(text), 0)
    path.write_bytes(SIGNATURE + lengths + hashlib.sha256(lengths + text).digest() + text)


def a_header_with_nan(path):
    text = b'{"arrays":[],"root":NaN}'
    lengths = struct.pack("<QQ", len(text), 0)
    path.write_bytes(SIGNATURE + lengths + hashlib.sha256(lengths + text).digest() + text)


def a_header_that_is_a_list(path):
    text = b"[]"
    lengths = struct.pack("<QQ", len(text), 0)
    path.write_bytes(SIGNATURE + lengths + hashlib.sha256(lengths + text).digest() + text)


@pytest.mark.parametrize(
    "write",
    [
        a_pickle,
        a_zip_with_a_path_outside,
        an_empty_file,
        a_signature_alone,
        a_claim_of_a_huge_payload,
        a_deeply_nested_header,
        a_header_with_nan,
        a_header_that_is_a_list,
    ],
)
def test_a_file_that_is_not_ours_is_refused(tmp_path, write, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "model.corollary"
    write(path)
    with pytest.raises(ModelFileError):
        corollary.load(path)
    assert os.listdir(tmp_path) == ["model.corollary"]


def test_every_truncation_is_refused(tmp_path):
    path = saved(tmp_path, StandardScaler().fit(NUMBERS))
    whole = path.read_bytes()
    for size in range(0, len(whole), 7):
        path.write_bytes(whole[:size])
        with pytest.raises(ModelFileError):
            corollary.load(path)


def test_every_flipped_bit_is_noticed(tmp_path):
    path = saved(tmp_path, StandardScaler().fit(NUMBERS))
    whole = bytearray(path.read_bytes())
    for place in range(0, len(whole), 5):
        whole[place] ^= 1 << (place % 8)
        path.write_bytes(bytes(whole))
        with pytest.raises(ModelFileError):
            corollary.load(path)
        whole[place] ^= 1 << (place % 8)


def state(header):
    return header["root"]["state"]


def forged(change):
    """Name a forgery after its function."""
    FORGERIES.append(pytest.param(change, id=change.__name__.replace("_", "-")))
    return change


FORGERIES: list = []


@forged
def names_a_function(header, arrays):
    header["root"]["class"] = "os.system"


@forged
def names_a_private_class(header, arrays):
    header["root"]["class"] = "corollary.core.files._Reader"


@forged
def names_a_class_without_schema(header, arrays):
    header["root"]["class"] = "corollary.core.schema.Schema"


@forged
def names_a_path(header, arrays):
    header["root"]["class"] = "corollary.../../evil.Evil"


@forged
def names_an_unlisted_scikit_learn_class(header, arrays):
    header["root"]["class"] = "sklearn.FunctionTransformer"


@forged
def adds_an_unknown_parameter(header, arrays):
    header["root"]["parameters"]["func"] = "eval"


@forged
def gives_a_parameter_the_wrong_type(header, arrays):
    header["root"]["parameters"]["with_mean"] = {"t": "list", "v": []}


@forged
def adds_an_unknown_attribute(header, arrays):
    state(header)["transform"] = 3


@forged
def shadows_a_method(header, arrays):
    state(header)["__class__"] = "x"


@forged
def drops_an_attribute(header, arrays):
    del state(header)["n_samples_seen_"]


@forged
def turns_an_array_into_text(header, arrays):
    state(header)["mean_"] = "eval('1')"


@forged
def shortens_an_array(header, arrays):
    arrays[state(header)["mean_"]["v"]] = np.zeros(1)


@forged
def makes_an_array_two_dimensional(header, arrays):
    arrays[state(header)["mean_"]["v"]] = np.zeros((2, 2))


@forged
def points_past_the_arrays(header, arrays):
    state(header)["mean_"]["v"] = 99


@forged
def points_before_the_arrays(header, arrays):
    state(header)["mean_"]["v"] = -1


@forged
def claims_other_feature_count(header, arrays):
    state(header)["n_features_in_"] = 3


@forged
def uses_true_as_a_count(header, arrays):
    state(header)["n_features_in_"] = True


@forged
def has_an_unknown_node(header, arrays):
    state(header)["mean_"] = {"t": "pickle", "v": "gASV"}


@forged
def comes_from_the_future(header, arrays):
    header["format"] = 99


@forged
def has_no_format(header, arrays):
    del header["format"]


@forged
def has_strings_of_an_impossible_shape(header, arrays):
    state(header)["feature_names_in_"] = {"t": "strings", "shape": [0, 2**60], "v": []}


@forged
def nests_beyond_reason(header, arrays):
    node = 1
    for _ in range(300):
        node = {"t": "list", "v": [node]}
    state(header)["mean_"] = node


@pytest.mark.parametrize("change", FORGERIES)
def test_a_forged_file_is_refused(tmp_path, change):
    path = saved(tmp_path, StandardScaler().fit(NUMBERS))
    rewrite(path, change)
    with pytest.raises(ModelFileError):
        corollary.load(path)


def test_the_forger_can_write_valid_files(tmp_path):
    # If rewriting itself broke files, every refusal above would be for the wrong reason.
    model = StandardScaler().fit(NUMBERS)
    path = saved(tmp_path, model)
    rewrite(path, lambda header, arrays: None)
    np.testing.assert_array_equal(corollary.load(path).mean_, model.mean_)


def test_a_pipeline_in_a_file_cannot_name_a_cache_folder(tmp_path):
    path = saved(tmp_path, make_pipeline(StandardScaler()).fit(NUMBERS))

    def change(header, arrays):
        header["root"]["parameters"]["memory"] = str(tmp_path)

    rewrite(path, change)
    with pytest.raises(ModelFileError, match="memory"):
        corollary.load(path)


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "|O", "shape": [1], "offset": 0},
        {"dtype": "<f8", "shape": [2**40, 2**40], "offset": 0},
        {"dtype": "<f8", "shape": [-1], "offset": 0},
        {"dtype": "<f8", "shape": [True], "offset": 0},
        {"dtype": "<f8", "shape": [0, 2**61], "offset": 0},
        {"dtype": "<f8", "shape": [1], "offset": 2**63},
        {"dtype": "<f8", "shape": [1], "offset": -8},
        {"dtype": "<f8", "shape": [1] * 40, "offset": 0},
        {"dtype": "<f8", "shape": "1", "offset": 0},
        "array",
    ],
)
def test_impossible_arrays_are_refused(entry):
    text = json.dumps({"arrays": [entry]}).encode()
    lengths = struct.pack("<QQ", len(text), 8)
    body = text + bytes(8)
    with pytest.raises(ModelFileError, match="impossible array"):
        unpack(SIGNATURE + lengths + hashlib.sha256(lengths + body).digest() + body)


# -- atomic writing --------------------------------------------------------------------------


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt), atomic_write(path) as file:  # noqa: PT012
        file.write(b"half of the new")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_killed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    code = textwrap.dedent(
        f"""
        import os, signal
        from corollary.core.files import atomic_write
        with atomic_write({str(path)!r}) as file:
            file.write(b"half of the new")
            file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == -9
    assert path.read_bytes() == b"old"


def test_a_new_file_has_ordinary_permissions(tmp_path):
    path = tmp_path / "file"
    with atomic_write(path) as file:
        file.write(b"x")
    ordinary = tmp_path / "ordinary"
    ordinary.write_bytes(b"x")
    assert path.stat().st_mode == ordinary.stat().st_mode


def test_a_link_keeps_pointing_to_its_file(tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "link").symlink_to("file")
    with atomic_write(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_pipe_stays_a_pipe(tmp_path):
    # Replaced by a file, the pipe would be gone; for /dev/null everybody would notice.
    os.mkfifo(tmp_path / "pipe")
    handle = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with atomic_write(tmp_path / "pipe") as file:
        file.write(b"through")
    assert os.read(handle, 100) == b"through"
    os.close(handle)
    assert (tmp_path / "pipe").is_fifo()


def test_long_names_are_written(tmp_path):
    with atomic_write(tmp_path / ("n" * 250)) as file:
        file.write(b"x")
    assert (tmp_path / ("n" * 250)).read_bytes() == b"x"
