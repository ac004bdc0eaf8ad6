"""One value however it is written, one error for what it cannot be, one hash for what determines a result."""

import dataclasses
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optac.errors import InvalidInput
from optac.settings import (
    assignments,
    canonical,
    changed,
    digest,
    read,
    read_fields,
    read_parameters,
    run_id,
    setting,
)
from optac.words import plain


@dataclasses.dataclass(frozen=True)
class Small:
    """One setting of every kind."""

    rate: float = setting(0.5, "a number", least=0.0, most=1.0)
    size: int = setting(4, "a count", least=1)
    ties: bool = setting(False, "a switch")
    head: Literal["mlp", "fourier"] = setting("mlp", "a choice")
    target: float | None = setting(None, "a number or none")
    timeout: float = setting(300.0, "seconds", determines=False)


SPELLINGS = {
    "rate": st.sampled_from([0.5, "0.5", "0.50", "5e-1", ".5", np.float64(0.5)]),
    "size": st.sampled_from([7, "7", 7.0, "7.0", "07", "7e0", np.int64(7)]),
    "ties": st.sampled_from([True, "true", "True", "TRUE", "1", 1, np.True_]),
    "head": st.just("fourier"),
    "target": st.sampled_from([-2, -2.0, "-2", "-2.0", "-2e0"]),
}


@given(st.fixed_dictionaries(SPELLINGS), st.permutations(list(SPELLINGS)))
def test_every_spelling_and_order_reads_as_the_same_settings_with_one_hash(spelt, order) -> None:
    got = Small(**read_fields(Small, {name: spelt[name] for name in order}))
    assert got == Small(0.5, 7, True, "fourier", -2.0)
    assert [type(value) for value in dataclasses.astuple(got)] == [float, int, bool, str, float, float]
    usual = dataclasses.asdict(Small())
    found = changed({name: dataclasses.asdict(got)[name] for name in order}, usual, Small)
    assert found == {"size": 7, "ties": True, "head": "fourier", "target": -2.0}
    assert digest(found) == digest({"target": -2, "size": 7.0, "head": "fourier", "ties": True})


def test_what_determines_no_result_and_what_is_the_presets_enter_no_hash() -> None:
    usual = dataclasses.asdict(Small())
    assert changed({**usual, "timeout": 1.0}, usual, Small) == {}
    assert changed(usual | {"rate": np.float32(0.5)}, usual) == {}
    grown = {**usual, "new": 0}
    assert changed({**grown, "size": 5}, grown) == changed({**usual, "size": 5}, usual) == {"size": 5}
    assert digest({"size": 5}) != digest({"size": 6}) != digest({})


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("rate", "much", "rate=much is not valid; rate must be a finite number, at least 0.0 and at most 1.0"),
        ("rate", 1.5, "rate=1.5 is not valid"),
        ("rate", "nan", "rate=nan is not valid"),
        ("rate", True, "rate=True is not valid"),
        ("size", 0, "size=0 is not valid; size must be a whole number, at least 1"),
        ("size", "2.5", "size=2.5 is not valid"),
        ("size", "inf", "size=inf is not valid"),
        ("size", None, "size=None is not valid"),
        ("size", [1], "size=[1] is not valid"),
        ("ties", "maybe", "ties=maybe is not valid; ties must be true or false"),
        ("head", "mpl", "unknown head 'mpl'; known, nearest first: mlp, fourier"),
        ("target", "low", "target=low is not valid; target must be a finite number, or none"),
        ("sizes", 1, "unknown setting 'sizes'; known, nearest first: size"),
    ],
)  # fmt: skip
def test_what_a_setting_cannot_be_is_refused_with_what_it_may_be(name, value, message) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_fields(Small, {name: value})
    assert message in str(caught.value)


def test_none_is_read_where_a_setting_may_be_none() -> None:
    assert [read("target", given, float | None) for given in (None, "none", "None", "0")] == [
        None,
        None,
        None,
        0,
    ]


def test_bounds_may_be_left_out_of_the_range() -> None:
    assert read("share", "0.25", float, above=0, below=1) == 0.25
    for outside in (0, 1, "1.0"):
        with pytest.raises(InvalidInput, match="above 0 and below 1"):
            read("share", outside, float, above=0, below=1)


def test_large_whole_numbers_keep_their_last_digit() -> None:
    assert read("seed", "9007199254740993", int) == 9007199254740993


def test_assignments_are_words_with_one_equals_sign_and_one_value_a_name() -> None:
    assert assignments(["a=1", "b=x=y"], "setting") == {"a": "1", "b": "x=y"}
    for words, message in ((["a"], "'a' is not a setting"), (["a=1", "a=2"], "a is given twice: 1 and 2")):
        with pytest.raises(InvalidInput, match=message):
            assignments(words, "setting")


def test_a_value_of_no_known_kind_is_read_for_what_it_looks_like() -> None:
    assert [plain(word) for word in ("true", "4", "4.5", "4x4", "none")] == [True, 4, 4.5, "4x4", None]


@given(
    st.dictionaries(
        st.text(max_size=3), st.integers() | st.floats(allow_nan=False) | st.booleans(), max_size=4
    )
)
def test_the_canonical_form_forgets_the_order_and_nothing_else(values) -> None:
    turned = dict(reversed(values.items()))
    assert list(canonical(turned)) == list(canonical(values)) and canonical(values) == values


@pytest.mark.parametrize(
    ("said", "meant"),
    [("007", 7), ('"007"', "007"), ("'nan'", "nan"), ("none", None), ("'", "'"), ('""', "")],
)
def test_text_in_quotes_stays_text(said: str, meant: object) -> None:
    assert plain(said) == meant


def test_targets_that_differ_in_what_a_name_leaves_out_have_other_ids() -> None:
    targets = [
        "Pendulum-v1 g=5.0",
        "Pendulum-v1 g=-5.0",
        "txt word=a_b",
        "txt word=a-b",
        "optac/Ant-v0",
        "optac/Ant v0",
    ]
    assert len({run_id("sac", target, {}, 0) for target in targets}) == len(targets)
    assert run_id("sac", "optac/Ant-v0", {}, 0) == f"sac-optac-Ant-v0-{digest({})}-s0", "as it always was"


def odd(horizon, depth=None, seed: int = 0): ...


@pytest.mark.parametrize("name", ["horizon", "depth"])
def test_a_parameter_of_no_known_kind_is_refused_with_what_to_do(name: str) -> None:
    with pytest.raises(InvalidInput, match=f"the problem does not say of what kind its parameter {name} is"):
        read_parameters(odd, {name: "3"}, "the problem")
    assert read_parameters(odd, {"seed": "3"}, "the problem") == {"seed": 3}
