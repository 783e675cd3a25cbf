"""Arguments of the model's tools in a chat: null for an optional one counts as left out."""

import json

import pytest

from gateway.errors import ToolError
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
