"""A contradiction in a chat replaces the older memory, with and without its id."""

import re
from pathlib import Path

import pytest

from simulators.anthropic import Answer, AnthropicSimulator, UseTool
from tests.e2e.conftest import open_lab_with_model
from tests.e2e.test_authorship import rows
from tests.e2e.test_memory import direct

CURRENT = "SELECT content FROM memories WHERE role = '' AND superseded_by = ''"
OLD, NEW = "I prefer tabs over spaces", "I prefer spaces now, not tabs"


def told_id(model: AnthropicSimulator, text: str) -> str:
    """The id beside a memory, as the model reads it."""
    match = re.search(
        rf"{re.escape(text)}[^\\n]{{0,40}}?(mem-[0-9a-f]{{8}})", str(model.bodies[-1])
    )
    assert match is not None, model.bodies[-1]
    return match[1]


@pytest.mark.parametrize("tool", ["memory_store", "update_customer_brain", "without its id"])
async def test_a_contradiction_replaces_a_memory_that_the_model_saw(
    tool: str, tmp_path: Path
) -> None:
    async with open_lab_with_model("telegram-polling", tmp_path) as (lab, model):
        ada = direct(lab)
        await ada.command("remember", OLD)
        model.script("Hello Ada.")
        await ada.say("what can you do?")
        name = told_id(model, OLD)
        stored = {"content": "Prefers spaces", "quote": NEW}
        if tool == "update_customer_brain":
            call = UseTool(tool, {**stored, "target": "memory", "supersedes": name})
        elif tool == "memory_store":
            call = UseTool(tool, {**stored, "type": "preference", "supersedes": name})
        else:
            call = UseTool("memory_store", {**stored, "type": "preference"})
        model.script(Answer(tools=(call,)), "Spaces it is.")
        answer = await ada.say(NEW)
        assert "Spaces it is." in answer.text
        assert f"It replaces “{OLD}”" in answer.text
        assert await rows(lab, CURRENT) == [NEW]
