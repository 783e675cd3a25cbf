"""The schemas of the tools that a model is offered."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from gateway.ports import ToolSpec
from gateway.turn.context.task import SET_TASK
from gateway.turn.reminder_tool import REMIND, RUN
from memory.turns.document_tool import UPDATE
from memory.turns.knowledge_tools import TOOLS as KNOWLEDGE
from memory.turns.tools import TOOLS

EVERY = (*TOOLS, UPDATE, SET_TASK, REMIND, RUN, *(tool.spec for tool in KNOWLEDGE))


def without_type(schema: Mapping[str, Any], path: str) -> Iterator[str]:
    for name, value in (schema.get("properties") or {}).items():
        if "type" not in value:
            yield f"{path}.{name}"
        yield from without_type(value, f"{path}.{name}")
    if "items" in schema:
        yield from without_type({"properties": {"[]": schema["items"]}}, path)


@pytest.mark.parametrize("tool", EVERY, ids=lambda tool: tool.name)
def test_every_property_has_a_type(tool: ToolSpec) -> None:
    """Gemini refuses a request with an `enum` that has none."""
    assert list(without_type(tool.schema, tool.name)) == []
