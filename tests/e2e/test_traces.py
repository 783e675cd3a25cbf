"""Decisions about a message can be read later, as with `parley why`."""

import sys
from pathlib import Path
from typing import Final

from parley.cli.why import describe
from simulators.anthropic.answers import Answer, UseTool
from simulators.base import PlatformSimulator
from tests.e2e.conftest import only, open_lab, open_lab_with_model
from tests.e2e.harness import Lab
from tests.support.patience import LAUNCH
from tests.support.waiting import eventually

STAGES: Final = [
    "invocation",
    "identity",
    "loop_guard",
    "access",
    "limits",
    "budget",
    "memory",
    "context",
    "thread",
    "attachments",
    "recall",
    "documents",
    "context",
    "model",
    "response_filter",
    "memory",
    "task",
    "render",
]
PROGRAM: Final = Path(__file__).parents[1] / "attacks" / "tool_server.py"
"""It starts in no time. What real servers do is in `test_tool_servers.py`."""


def servers(folder: Path) -> dict[str, object]:
    """A server with tools that read and one that writes, to this folder."""
    return {"servers": {"desk": {"command": sys.executable, "args": [str(PROGRAM), str(folder)]}}}


async def test_every_decision_is_recorded_without_the_text_of_the_message(lab: Lab) -> None:
    ada = lab.platform.person("Ada")
    room = lab.platform.direct(ada)
    message_id = await lab.platform.say(ada, room, "hello, I am looking for my keys")
    await lab.answer(room)
    await lab.idle()
    (trace,) = await lab.app.services.stores.traces.find(message_id)
    assert [decision.stage for decision in trace.decisions] == STAGES
    assert all(decision.allowed for decision in trace.decisions)
    assert (trace.outcome, trace.platform) == ("answered", lab.platform.platform)
    text = describe(trace)
    assert "direct_message" in text
    assert "keys" not in text


async def test_a_refusal_names_its_decision(variant: str, tmp_path: Path) -> None:
    def block(platform: PlatformSimulator) -> dict[str, object]:
        return {"access": {"blocked_users": [platform.person("Mallory").id]}}

    async with open_lab(variant, tmp_path, block) as lab:
        mallory = lab.platform.person("Mallory")
        message_id = await lab.platform.say(mallory, lab.platform.direct(mallory), "let me in")
        await lab.reasons(message_id)
        (trace,) = await lab.app.services.stores.traces.find(message_id)
        assert trace.outcome == "refused:access"
        (refused,) = [decision for decision in trace.decisions if not decision.allowed]
        assert (refused.stage, refused.reason) == ("access", "user_blocked")
        assert "NO   access" in describe(trace)


@only("discord", "telegram-polling")
async def test_a_tool_is_used_where_role_and_audience_allow_it(
    variant: str, tmp_path: Path
) -> None:
    """A tool with side effects is not even shown to the model in a public room."""
    async with open_lab_with_model(variant, tmp_path, {"mcp": servers(tmp_path)}) as (lab, model):
        ada = lab.platform.person("Ada")
        direct, room = lab.platform.direct(ada), lab.platform.room("general")
        await tools_connected(lab)
        model.script(
            Answer(tools=(UseTool("desk__write_note", {"text": "milk"}),)), "I wrote it down."
        )
        message_id = await lab.platform.say(ada, direct, "note milk")
        assert (await lab.answer(direct)).text == "I wrote it down."
        assert "desk__write_note" in await lab.reasons(message_id)
        assert offered(model.bodies[0]) >= {"desk__write_note", "desk__page"}
        await lab.platform.say(ada, room, "what can you do here?", mention=True)
        await lab.answer(room)
        public = offered(model.bodies[-1])
        assert "desk__page" in public
        assert "desk__write_note" not in public


@only("slack-socket", "whatsapp")
async def test_a_guest_gets_no_tools(variant: str, tmp_path: Path) -> None:
    def members(platform: PlatformSimulator) -> dict[str, object]:
        ben = platform.person("Ben").id
        return {"mcp": servers(tmp_path), "access": {"default_role": "guest", "members": [ben]}}

    async with open_lab_with_model(variant, tmp_path, members) as (lab, model):
        await tools_connected(lab)
        for name in ("Ada", "Ben"):
            person = lab.platform.person(name)
            await lab.platform.say(person, lab.platform.direct(person), "hello")
            await lab.answer(lab.platform.direct(person))
        assert offered(model.bodies[0]) == set()
        assert "desk__page" in offered(model.bodies[1])


async def tools_connected(lab: Lab) -> None:
    """The tools' program has started, which a busy machine may take its time for.

    A question that comes earlier is answered without tools.
    """
    toolbox = lab.app.services.toolbox

    async def offered() -> bool:
        return any(tool.name.startswith("desk__") for tool in await toolbox.tools())

    await eventually(offered, LAUNCH)


def offered(body: object) -> set[str]:
    """Names of the tools that a request shows to the model."""
    assert isinstance(body, dict)
    return {str(tool["name"]) for tool in body.get("tools", [])}
