"""The exported policy acts by its formula, needs numpy alone, and distrusts its file."""

import io
import json
import math
import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optac import numpy_policy
from optac.errors import InvalidInput


def small(**changes):
    """Two observations, one hidden unit, one action in [−2, 4]."""
    parts = {
        "layers": [([[1.0], [-1.0]], [0.5]), ([[2.0]], [0.0])],
        "activation": "elu",
        "action_low": [-2.0],
        "action_high": [4.0],
    }
    return parts | changes


@pytest.fixture
def file(tmp_path):
    return tmp_path / "policy.npz"


def arrays_of(file):
    with np.load(file, allow_pickle=False) as stored:
        return dict(stored)


@pytest.mark.parametrize(("activation", "hidden"), [("elu", math.exp(-1.5) - 1), ("relu", 0.0)])
def test_action_is_the_formula_by_hand(file, activation, hidden):
    numpy_policy.save(file, **small(activation=activation))
    policy = numpy_policy.load(file)
    expected = -2 + 6 * (1 + math.tanh(2 * hidden)) / 2  # 1·1 − 1·3 + 0.5 = −1.5 before the activation
    assert policy([1.0, 3.0]) == pytest.approx([expected], abs=1e-6)
    assert policy([3.0, 1.0]) == pytest.approx([-2 + 6 * (1 + math.tanh(5.0)) / 2], abs=1e-5)


def test_normaliser_is_applied_to_the_observation(file):
    numpy_policy.save(file, **small(observation_mean=[1.0, 2.0], observation_deviation=[2.0, 4.0]))
    normalised = numpy_policy.load(file)([5.0, 6.0])
    numpy_policy.save(file, **small())
    assert np.array_equal(normalised, numpy_policy.load(file)([2.0, 1.0]))


EMBEDDED = {
    "embeddings": [
        [([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0])],
        [([[1.0], [-1.0]], [0.0]), ([[1.0, 0.0]], [0.0, 3.0])],
    ],
    "layers": [([[1.0], [2.0], [0.5], [0.25]], [0.0])],
}


def test_embeddings_are_scaled_and_stand_side_by_side(file):
    """(3, −1) is (1.5, −0.5) in the first; 4, then (4, 3) and (8/7, 6/7) in the second."""
    numpy_policy.save(file, **small(**EMBEDDED))
    policy = numpy_policy.load(file)
    before = 1.5 - 2 * 0.5 + 0.5 * 8 / 7 + 0.25 * 6 / 7
    assert policy([3.0, -1.0]) == pytest.approx([-2 + 6 * (1 + math.tanh(before)) / 2], abs=1e-5)
    assert policy([0.0, 0.0]) == pytest.approx([-2 + 6 * (1 + math.tanh(0.25 * 2)) / 2], abs=1e-5)
    assert policy.observation_size == 2 and policy(np.zeros((5, 2))).shape == (5, 1)
    with pytest.raises(InvalidInput, match=r"takes \(2,\)"):
        policy(np.zeros(4))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda arrays: arrays.pop("weight_0_0"), "a policy holds"),
        (lambda arrays: arrays.pop("bias_1_1"), "a policy holds"),
        (lambda arrays: arrays.update(weight_2_1=arrays["weight_1_1"]), "a policy holds"),
        (lambda arrays: arrays.update(weight_x_0=arrays["weight_1_1"]), "a policy holds"),
        (lambda arrays: arrays.update(weight_0_0_0=arrays["weight_1_1"]), "a policy holds"),
        (lambda arrays: arrays.update(weight_1_1=arrays["weight_0_0"]), r"weight_1_1 has shape \(2, 2\)"),
        (lambda arrays: arrays.update(weight_1_0=np.ones((3, 1), np.float32)), r"must be \(2, 1\)"),
        (lambda arrays: arrays.update(weight_0=np.ones((3, 1), np.float32)), r"must be \(4, 1\)"),
        (lambda arrays: arrays.update(bias_0_0=np.full(2, np.nan, np.float32)), "finite"),
    ],
)
def test_a_file_with_other_embeddings_is_refused(file, change, says):
    numpy_policy.save(file, **small(**EMBEDDED))
    arrays = arrays_of(file)
    change(arrays)
    np.savez(file, allow_pickle=False, **arrays)
    with pytest.raises(InvalidInput, match=says):
        numpy_policy.load(file)


def test_a_batch_gives_each_rows_action(file):
    numpy_policy.save(file, **small())
    policy = numpy_policy.load(file)
    rows = np.random.default_rng(0).normal(size=(7, 2))
    assert policy(rows).shape == (7, 1)
    assert policy(rows) == pytest.approx(np.stack([policy(row) for row in rows]), abs=1e-6)


@given(st.lists(st.floats(-(2.0**100), 2.0**100, width=32), min_size=2, max_size=2))
@settings(max_examples=50, deadline=None)
def test_actions_never_leave_their_bounds(observation):
    parts = {
        name: np.asarray(value, np.float32) for name, value in small().items() if name.startswith("action")
    }
    layers = tuple((np.float32(weight), np.float32(bias)) for weight, bias in small()["layers"])
    identity = {"observation_mean": np.zeros(2, np.float32), "observation_deviation": np.ones(2, np.float32)}
    policy = numpy_policy.Policy(layers=layers, activation="elu", **parts, **identity)
    assert -2.0 <= policy(observation).item() <= 4.0


@pytest.mark.parametrize("shape", [(3,), (1,), (), (2, 3), (1, 1, 2)])
def test_observation_of_another_shape_is_refused(file, shape):
    numpy_policy.save(file, **small())
    with pytest.raises(InvalidInput, match=r"takes \(2,\)"):
        numpy_policy.load(file)(np.zeros(shape))


def test_loading_and_acting_imports_nothing_but_numpy(file):
    numpy_policy.save(file, **small())
    program = f"""
import sys
class Wall:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] not in {{"optac", "numpy"}} | sys.stdlib_module_names:
            raise ImportError("imported " + name)
sys.meta_path.insert(0, Wall())
import optac
print(optac.numpy_policy.load({str(file)!r})([1.0, 3.0])[0])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stderr == ""
    assert float(done.stdout) == pytest.approx(numpy_policy.load(file)([1.0, 3.0]).item())


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"activation": "gelu"}, "allowed are elu, relu"),
        ({"action_low": [4.0]}, "below action_high"),
        ({"action_low": [-2.0, -2.0]}, "as many"),
        ({"action_high": [math.nan]}, "finite"),
        ({"layers": []}, "weight_0"),
        ({"layers": [([[1.0], [1.0]], [0.0, 0.0])]}, r"must be \(2, 2\)"),
        ({"layers": [([[math.inf], [1.0]], [0.0])]}, "finite"),
        ({"observation_mean": [0.0], "observation_deviation": [1.0]}, "2 entries"),
        ({"observation_mean": [0.0, 0.0], "observation_deviation": [1.0, 0.0]}, "positive"),
    ],
)
def test_unsound_parts_are_refused_and_no_file_is_left(tmp_path, changes, says):
    with pytest.raises(InvalidInput, match=says):
        numpy_policy.save(tmp_path / "policy.npz", **small(**changes))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("width", "fits"), [(128, True), (129, False)])
def test_an_array_too_large_to_be_read_again_is_not_written(file, monkeypatch, width, fits):
    monkeypatch.setattr(numpy_policy, "_LARGEST_ARRAY_BYTES", 2048)
    wide = small(layers=[(np.ones((2, width)), np.zeros(width)), (np.ones((width, 1)), [0.0])])
    if fits:
        numpy_policy.save(file, **wide)
        assert numpy_policy.load(file).observation_size == 2
    else:
        with pytest.raises(InvalidInput, match=r"shape \(2, 129\).* below 1 GiB"):
            numpy_policy.save(file, **wide)
        assert not file.exists()


def test_a_file_with_python_objects_is_refused_and_runs_nothing(file, tmp_path):
    class Payload:
        def __reduce__(self):
            return (open, (str(tmp_path / "ran"), "w"))

    numpy_policy.save(file, **small())
    np.savez(file, **(arrays_of(file) | {"bias_0": np.array([Payload()], dtype=object)}))
    (tmp_path / "ran").unlink(missing_ok=True)  # reading the array back here would have made it
    with pytest.raises(InvalidInput, match="bias_0"):
        numpy_policy.load(file)
    assert not (tmp_path / "ran").exists()


def rewritten(file, name, content):
    """The policy's file with one member replaced by raw bytes, compressed."""
    with zipfile.ZipFile(file) as old:
        members = {member: old.read(member) for member in old.namelist()}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        for member, data in (members | {f"{name}.npy": content}).items():
            new.writestr(member, data)


def header(shape, descr="<f4"):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": descr, "fortran_order": False, "shape": shape})
    return stream.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        header((2**62,)) + b"0000",
        header((-3,)) + b"0000",
        header((1,)) + b"",
        header((1,), "<f8") + b"00000000",
        header((1,), "|O") + b"0000",
        b"\x93NUMPY\x07\x00",
        b"not an array",
        header((2**24,)) + bytes(2**26 + 1),
    ],
    ids=["huge", "negative", "cut", "double", "object", "version", "garbage", "bomb"],
)
def test_forged_arrays_are_refused(file, content):
    numpy_policy.save(file, **small())
    rewritten(file, "bias_0", content)
    with pytest.raises(InvalidInput):
        numpy_policy.load(file)


def test_every_flipped_bit_is_noticed_or_harmless(file):
    numpy_policy.save(file, **small())
    sound, whole = numpy_policy.load(file)([1.0, 3.0]), file.read_bytes()
    for position in range(0, len(whole), 7):
        damaged = bytearray(whole)
        damaged[position] ^= 1 << (position % 8)
        file.write_bytes(damaged)
        try:
            acted = numpy_policy.load(file)([1.0, 3.0])
        except InvalidInput:
            continue
        assert np.array_equal(acted, sound)


def test_a_compressed_file_is_refused_before_it_is_unpacked(file):
    numpy_policy.save(file, **small())
    with np.load(file) as arrays:
        np.savez_compressed(file, **arrays)
    with pytest.raises(InvalidInput, match=r"is not a policy: .* is compressed"):
        numpy_policy.load(file)


@pytest.mark.parametrize("length", [0, 1, 100, -1])
def test_a_truncated_file_is_refused(file, length):
    numpy_policy.save(file, **small())
    file.write_bytes(file.read_bytes()[:length])
    with pytest.raises(InvalidInput, match="is not a policy"):
        numpy_policy.load(file)


def test_a_missing_file_and_another_npz_say_how_to_make_one(file):
    with pytest.raises(InvalidInput, match="optac export"):
        numpy_policy.load(file)
    np.savez(file, json.dumps({}))
    with pytest.raises(InvalidInput, match="a policy holds format"):
        numpy_policy.load(file)


@pytest.mark.parametrize("put", [os.mkfifo, os.mkdir])
def test_a_pipe_or_a_folder_is_refused_and_not_waited_for(put, file):
    put(file)
    with pytest.raises(InvalidInput, match="it is no plain file"):
        numpy_policy.load(file)
