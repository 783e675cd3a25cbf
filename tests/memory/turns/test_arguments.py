"""Arguments of the model's tools in a chat: null for an optional one counts as left out, and a
value may be written in another form."""

import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from gateway.errors import ToolError
from memory.model.record import Draft, Kind
from memory.turns.arguments import Arguments, read_arguments
from memory.turns.document_tool import UpdateArguments
from memory.turns.knowledge_tools import ServiceArguments, TopicArguments
from memory.turns.tools import BriefArguments, DeleteArguments, SearchArguments, StoreArguments
from tests.memory.rig import Rig

NEEDED: dict[type[Arguments], dict[str, str]] = {
    StoreArguments: {"type": "fact", "content": "Owns a kite"},
    SearchArguments: {},
    BriefArguments: {},
    DeleteArguments: {"id": "mem-1"},
    UpdateArguments: {"target": "memory", "content": "Owns a kite"},
    ServiceArguments: {"query": "kite"},
    TopicArguments: {"query": "kite"},
}


@pytest.mark.parametrize("model", NEEDED)
def test_null_for_an_optional_argument_counts_as_left_out(model: type[Arguments]) -> None:
    needed = NEEDED[model]
    nulls = dict.fromkeys(model.model_fields.keys() - needed.keys())
    assert read_arguments(model, needed | nulls) == model.model_validate(needed)


@pytest.mark.parametrize(
    ("model", "name"), [(model, name) for model, needed in NEEDED.items() for name in needed]
)
def test_null_for_a_needed_argument_is_refused(model: type[Arguments], name: str) -> None:
    with pytest.raises(ToolError, match=name):
        read_arguments(model, NEEDED[model] | {name: None})


def test_null_for_an_unknown_argument_is_refused() -> None:
    with pytest.raises(ToolError, match="trust"):
        read_arguments(StoreArguments, NEEDED[StoreArguments] | {"trust": None})


async def test_the_model_may_write_null_for_every_optional_argument(rig: Rig) -> None:
    turn = await rig.remembrance.turn(rig.caller(says="I own a kite"))
    fields: dict[str, object] = {"type": "fact", "content": "I own a kite", "quote": "I own a kite"}
    nulls = dict.fromkeys(("tags", "supersedes", "scope"))
    stored = json.loads(await turn.tools.call("memory_store", fields | nulls))
    assert stored["success"]
    found = json.loads(
        await turn.tools.call(
            "memory_search",
            {"query": None, "tags": None, "type": None, "include_superseded": None, "limit": None},
        )
    )
    assert [one["content"] for one in found["results"]] == ["I own a kite"]


class Every(Arguments):
    """An argument of each type."""

    number: int = 1
    share: float = 0.5
    flag: bool = False
    words: Annotated[list[str], Field(default_factory=list)]
    fields: Annotated[dict[str, Any], Field(default_factory=dict)]
    text: str = ""
    name: str | None = None
    kind: Literal["fact", "decision"] | None = None
    most: Annotated[int | None, Field(ge=1, le=100)] = None


READ: Sequence[tuple[str, object, object]] = (
    ("number", "5", 5),
    ("number", 5.0, 5),
    ("number", "5.0", 5),
    ("number", " -7 ", -7),
    ("number", "+3", 3),
    ("number", 0.0, 0),
    ("number", None, 1),
    ("most", "5", 5),
    ("most", 100.0, 100),
    ("most", "null", None),
    ("most", "", None),
    ("share", "0.25", 0.25),
    ("share", 1, 1.0),
    ("share", "2", 2.0),
    ("flag", "true", True),
    ("flag", "False", False),
    ("flag", None, False),
    ("words", '["tea", "cake"]', ["tea", "cake"]),
    ("words", " [] ", []),
    ("words", '["Žofín", "猫"]', ["Žofín", "猫"]),
    ("words", None, []),
    ("fields", '{"ticket": {"id": 7}}', {"ticket": {"id": 7}}),
    ("name", "null", None),
    ("kind", "null", None),
    ("kind", "", None),
    ("text", "5", "5"),
    ("text", "null", "null"),
    ("text", '["tea"]', '["tea"]'),
    ("text", "true", "true"),
    ("name", '["tea"]', '["tea"]'),
)
REFUSED: Sequence[tuple[str, object]] = (
    ("number", 5.5),
    ("number", "5.5"),
    ("number", "five"),
    ("number", "٥"),
    ("number", "1e3"),
    ("number", "0x10"),
    ("number", "1_000"),
    ("number", True),
    ("number", float("inf")),
    ("number", float("nan")),
    ("number", 1e300),
    ("number", "9" * 400),
    ("number", "[5]"),
    ("most", "0"),
    ("most", 101.0),
    ("share", "inf"),
    ("share", "NaN"),
    ("flag", "yes"),
    ("flag", 1),
    ("flag", "1"),
    ("words", "tea, cake"),
    ("words", '["tea"'),
    ("words", '{"tea": 1}'),
    ("words", "[5]"),
    ("words", "[" * 10_000),
    ("words", f'["{"x" * 200_000}"]'),
    ("fields", "[]"),
    ("fields", '{"a": NaN}'),
    ("kind", "None"),
    ("text", 5),
    ("text", ["tea"]),
)


@pytest.mark.parametrize(("name", "written", "meant"), READ)
def test_another_form_of_the_same_value_is_read(name: str, written: object, meant: object) -> None:
    read = read_arguments(Every, {name: written})
    assert getattr(read, name) == meant
    assert type(getattr(read, name)) is type(meant)


@pytest.mark.parametrize(("name", "written"), REFUSED)
def test_a_value_that_means_something_else_is_refused(name: str, written: object) -> None:
    with pytest.raises(ToolError, match=name):
        read_arguments(Every, {name: written})


def test_a_needed_argument_that_is_the_word_null_is_no_value() -> None:
    with pytest.raises(ToolError, match="type"):
        read_arguments(StoreArguments, {"type": "null", "content": "Owns a kite"})
    assert read_arguments(StoreArguments, {"type": "fact", "content": "null"}).content == "null"


async def test_a_chat_reads_a_long_list_in_pages(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.turns.pages.ANSWER_BYTES", 700)
    ada = await rig.handle("ada")
    for number in range(5):
        await ada.write.remember(Draft(f"Shelf {number} holds jars of jam", Kind.FACT))
        await rig.clock.advance(1)
    turn = await rig.remembrance.turn(rig.caller(says="What do the shelves hold?"))
    seen: list[str] = []
    given: dict[str, object] = {"limit": "5"}
    for _ in range(5):
        answer = json.loads(await turn.tools.call("memory_search", given))
        assert 0 < len(answer["results"]) < 5
        seen += [one["content"] for one in answer["results"]]
        if "next_cursor" not in answer:
            break
        given["cursor"] = answer["next_cursor"]
    assert seen == [f"Shelf {number} holds jars of jam" for number in reversed(range(5))]
