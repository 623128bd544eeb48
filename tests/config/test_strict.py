"""Nothing is coerced, and each fault names its file, its place, what came and what is allowed."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import attrs
import pytest

from oakemu_rl.config.dqn import DQNExperimentConfiguration
from oakemu_rl.config.paths import setting_paths
from oakemu_rl.config.ppo import PPOExperimentConfiguration
from oakemu_rl.config.strict import load_toml, parse_toml_value, structure, unstructure
from oakemu_rl.config.wording import is_union
from oakemu_rl.core.errors import ConfigurationError
from oakemu_rl.core.schedules import Schedule, linear

RECORDS = (PPOExperimentConfiguration, DQNExperimentConfiguration)
SETTINGS = [
    pytest.param(record_type, path, id=f"{record_type.__name__[:3]}-{path}")
    for record_type in RECORDS
    for path in setting_paths(record_type)
]
GROUPS = [(record_type, name) for record_type in RECORDS for name in attrs.fields_dict(record_type)]
VALUES: Mapping[type, Any] = {
    bool: True,
    int: 7,
    float: 1.5,
    str: "7",
    list: [],
    dict: {"a": 1},
    date: date(2024, 1, 31),
}


def accepted_kinds(wanted: Any) -> set[type]:
    """The kinds of TOML values that a field may hold, told here without the converter."""
    if is_union(wanted):
        return set().union(*(accepted_kinds(member) for member in get_args(wanted)))
    origin = get_origin(wanted)
    if origin is tuple:
        return {list}
    if origin is not None and issubclass(origin, Mapping):
        return {dict}
    return {float: {int, float}, Schedule: {int, float, dict}}.get(wanted, {wanted})


def nested(path: str, value: object) -> dict[str, Any]:
    for part in reversed(path.split(".")):
        value = {part: value}
    assert isinstance(value, dict)
    return value


def refusal(data: object, record_type: type = PPOExperimentConfiguration) -> str:
    with pytest.raises(ConfigurationError) as caught:
        structure(data, record_type, source="x.toml")
    return str(caught.value)


@pytest.mark.parametrize(("record_type", "path"), SETTINGS)
def test_every_setting_refuses_every_other_type_and_names_its_path(
    record_type: type, path: str
) -> None:
    accepted = accepted_kinds(setting_paths(record_type)[path])
    refused = [value for kind, value in VALUES.items() if kind not in accepted]
    assert len(refused) >= 4
    for value in refused:
        message = refusal(nested(path, value), record_type)
        assert message.startswith((f"x.toml: {path}: got ", f"x.toml: {path}.a: got "))
        assert "allowed is " in message
        assert "\n" not in message


@pytest.mark.parametrize(("record_type", "path"), SETTINGS)
def test_every_setting_takes_back_its_default(record_type: type, path: str) -> None:
    group, name = path.split(".")
    default = record_type()
    value = unstructure(default)[group].get(name)
    if value is not None:
        assert structure(nested(path, value), record_type, source="") == default


@pytest.mark.parametrize(("record_type", "group"), GROUPS)
def test_every_group_refuses_an_unknown_key_and_lists_the_known_ones(
    record_type: type, group: str
) -> None:
    message = refusal({group: {"zzzzz": 1}}, record_type)
    assert message.startswith(f"x.toml: {group}.zzzzz: unknown key (allowed: ")
    assert (
        refusal({group: 3}, record_type)
        == f"x.toml: {group}: got 3 (an integer), allowed is a table"
    )


def test_an_integer_is_taken_for_a_number_and_becomes_one() -> None:
    data = {"rollout": {"gamma": 1}, "optimisation": {"learning_rate": 1}}
    configuration = structure(data, PPOExperimentConfiguration, source="x.toml")
    assert type(configuration.rollout.gamma) is float
    assert configuration.optimisation.learning_rate.to_data() == 1.0


def test_an_integer_too_large_for_a_number_is_refused() -> None:
    assert refusal({"rollout": {"gamma": 10**400}}).startswith("x.toml: rollout.gamma: got 1000")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            {"optimisation": {"learning_rte": 1}},
            "optimisation.learning_rte: unknown key; did you mean learning_rate? "
            "(allowed: learning_rate, ppo_epochs, ",
        ),
        (
            {"loss": {"entropy_weight": "x"}},
            'loss.entropy_weight: got "x" (a string), allowed is a number or a schedule table',
        ),
        ({"rollout": {"steps": 0}}, "rollout.steps: got 0, allowed is an integer, at least 1"),
        (
            {"rollout": {"gamma": float("nan")}},
            "rollout.gamma: got nan, allowed is a finite number, at least 0.0, at most 1.0",
        ),
        (
            {"model": {"hidden_sizes": [64, "64"]}},
            'model.hidden_sizes[1]: got "64" (a string), allowed is an integer',
        ),
        (
            {"model": {"hidden_sizes": [64, 0]}},
            "model.hidden_sizes[1]: got 0, allowed is an integer, at least 1",
        ),
        (
            {"model": {"trunk": "cnn"}},
            "model.trunk: got 'cnn', allowed is one of auto, mlp, nature, impala",
        ),
        (
            {"environment": {"arguments": {"a": [1]}}},
            "environment.arguments.a: got [1] (a list), "
            "allowed is true or false, a number or a string",
        ),
        (
            {"loss": {"entropy_weight": {"kind": "linear", "start": 1.0, "end": 0.0}}},
            "loss.entropy_weight: steps: missing",
        ),
        ({"loss": {"entropy_weight": -0.1}}, "loss.entropy_weight: got -0.1, allowed is "),
        ({"run": {"device": "gpu"}}, "run.device: got 'gpu', allowed is auto, cpu, cuda, "),
    ],
)
def test_a_fault_is_told_with_its_place(data: object, message: str) -> None:
    assert refusal(data).startswith(f"x.toml: {message}")


@attrs.frozen(kw_only=True)
class Value:
    address: int
    kind: Literal["byte", "word"] = "byte"


@attrs.frozen(kw_only=True)
class Thing:
    values: Mapping[str, Value]
    blocks: tuple[Value, ...] = ()
    pair: tuple[int, float] = (1, 2.0)
    names: str | tuple[str, ...] | None = None
    amount: int | float = 1
    side: Literal["left", "right"] = "left"
    best: Value | None = None
    rate: Schedule = attrs.field(default=linear(1.0, 0.0, 10))
    choice: int = attrs.field(default=1, validator=attrs.validators.in_([1, 2]))
    derived: int = attrs.field(init=False, default=3)


def test_records_of_all_kinds_of_fields_go_to_data_and_back() -> None:
    data = {
        "values": {"score high": {"address": 1, "kind": "word"}},
        "blocks": [{"address": 2}],
        "pair": [3, 4],
        "names": ["a", "b"],
        "amount": 1.5,
        "side": "right",
        "best": {"address": 5},
        "rate": 0.5,
    }
    thing = structure(data, Thing, source="x.toml")
    assert thing.values["score high"] == Value(address=1, kind="word")
    assert thing.blocks == (Value(address=2),)
    assert thing.pair == (3, 4.0)
    assert thing.names == ("a", "b")
    assert structure(unstructure(thing), Thing, source="x.toml") == thing


def test_none_and_derived_fields_are_left_out_of_the_data() -> None:
    data = unstructure(structure({"values": {}}, Thing, source=""))
    assert not {"names", "best", "derived"} & set(data)


def test_an_integer_stays_one_where_both_are_allowed() -> None:
    assert type(structure({"values": {}, "amount": 1}, Thing, source="").amount) is int


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "values: missing, needed is a table of tables"),
        ({"values": {"a b": {}}}, 'values."a b".address: missing, needed is an integer'),
        (
            {"values": {"a": {"address": True}}},
            "values.a.address: got true (a boolean), allowed is an integer",
        ),
        ({"values": {"a": {"address": "1"}}}, 'values.a.address: got "1" (a string), '),
        (
            {"values": {}, "blocks": [{"address": 1}, {"address": 1, "kid": "byte"}]},
            "blocks[1].kid: unknown key; did you mean kind? (allowed: address, kind)",
        ),
        (
            {"values": {"a": {"address": 1, "kind": "wrd"}}},
            'values.a.kind: got "wrd" (a string), allowed is one of byte, word; did you mean word?',
        ),
        ({"values": {}, "pair": [1]}, "pair: got [1] (a list), allowed is a list of 2: an integer"),
        ({"values": {}, "pair": [1, True]}, "pair[1]: got true (a boolean), allowed is a number"),
        ({"values": {}, "names": 3}, "names: got 3 (an integer), allowed is a string or a list of"),
        ({"values": {}, "names": ["a", 1]}, "names[1]: got 1 (an integer), allowed is a string"),
        ({"values": {}, "side": "up"}, 'side: got "up" (a string), allowed is one of left, right'),
        ({"values": {}, "best": {"address": 1.5}}, "best.address: got 1.5 (a number), "),
        ({"values": {}, "choice": 3}, "choice: 'choice' must be in [1, 2] (got 3)"),
        ({"values": {}, "derived": 3}, "derived: unknown key"),
        ([], "got [] (a list), allowed is a table"),
    ],
)
def test_a_fault_deep_in_a_record_is_told_with_its_place(data: object, message: str) -> None:
    assert refusal(data, Thing).startswith(f"x.toml: {message}")


def test_a_long_value_is_shortened_in_the_message() -> None:
    assert len(refusal({"rollout": {"steps": "x" * 10_000}})) < 150


def test_a_file_of_toml_is_read_with_or_without_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_bytes(b"\xef\xbb\xbf[loss]\r\nclip_range = 0.1\r\n")
    assert load_toml(file) == {"loss": {"clip_range": 0.1}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[loss]\nclip_range 0.1\n", "line 2"),
        (b"a = 1\n\na = 2\n", "line 3"),
        (b"a = 1\nb = [1", "line 2, the end of the file"),
        (b"a = '\xff'", "is not UTF-8 text (byte 5)"),
    ],
)
def test_broken_toml_is_told_with_file_and_line(
    content: bytes, message: str, tmp_path: Path
) -> None:
    file = tmp_path / "broken.toml"
    file.write_bytes(content)
    with pytest.raises(ConfigurationError) as caught:
        load_toml(file)
    assert str(caught.value).startswith(f"{file}: is not ")
    assert message in str(caught.value)


def test_a_missing_file_and_a_folder_are_told_as_such(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"none\.toml: there is no such file"):
        load_toml(tmp_path / "none.toml")
    with pytest.raises(ConfigurationError, match="is a folder, allowed is a TOML file"):
        load_toml(tmp_path)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1", 0.1),
        ("1e-3", 1e-3),
        ("7", 7),
        ("-7", -7),
        ("true", True),
        ("[1, 2]", [1, 2]),
        ('{kind = "constant", value = 1}', {"kind": "constant", "value": 1}),
        ('"7"', "7"),
        ("greedy", "greedy"),
        ("cuda:1", "cuda:1"),
        ("True", "True"),
        ("64,64", "64,64"),
        ("", ""),
        ("1\nother = 2", "1\nother = 2"),
    ],
)
def test_a_word_is_read_as_a_toml_value_or_stays_a_string(text: str, value: object) -> None:
    parsed = parse_toml_value(text)
    assert parsed == value
    assert type(parsed) is type(value)
