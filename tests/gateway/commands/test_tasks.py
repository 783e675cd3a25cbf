"""`/task`: what a conversation is about."""

import pytest

from gateway.context.task import SET_TASK, WithTask
from gateway.conversation import ConversationKey
from gateway.errors import ToolError
from gateway.message import MessageAuthor
from gateway.notes import SetTask
from gateway.turn.toolbox import Toolbox
from tests.gateway.commands.test_control import BUTTONS, command, press
from tests.gateway.llm.asking import ADD
from tests.gateway.turn.stubs import StubTools
from tests.support.gateway import Gateway, gateway
from tests.support.messages import direct, received

KEY = ConversationKey("default", "test", "main", "W1", "C1")
BY = SetTask("", "test:main:ada", "Ada", "m1")


async def kept(g: Gateway, key: ConversationKey = KEY) -> SetTask | None:
    return (await g.services.stores.conversations.opened(key, 1))[1].task


async def test_a_task_is_set_shown_and_ended() -> None:
    async with gateway() as g:
        await g.take(command("task"))
        assert g.texts[-1].startswith("No task is set here")
        await g.take(command("task", "Bake bread"))
        assert "The task here (set by Ada)" in g.texts[-1]
        await g.take(command("task", " "))
        assert "Bake bread" in g.texts[-1]
        await g.take(command("task", "clear"))
        assert g.texts[-1].startswith("Done")
        await g.take(command("task", "  "))
        assert g.texts[-1].startswith("No task is set here")


async def test_a_model_without_other_tools_is_not_offered_this_one() -> None:
    async with gateway() as g:
        assert not await WithTask(Toolbox(), g.services.stores.notes, KEY, BY, g.clock).tools()
        await g.take(received("hello"))
        assert not g.model.requests[-1].tools


async def test_a_task_belongs_to_its_conversation() -> None:
    async with gateway() as g:
        await g.take(command("task", "Bake bread"))
        await g.take(command("task", at=direct("D2")))
        assert g.texts[-1].startswith("No task is set here")


async def test_clearing_the_conversation_clears_its_task() -> None:
    async with gateway(capabilities=BUTTONS) as g:
        await g.take(command("task", "Bake bread"))
        await g.take(command("clear"))
        await press(g, "Delete")
        await g.take(command("task"))
        assert g.texts[-1].startswith("No task is set here")


async def test_a_task_that_is_too_long_is_refused_and_the_old_one_stays() -> None:
    async with gateway() as g:
        await g.take(command("task", "Bake bread"))
        await g.take(command("task", "x" * 2_001))
        assert "2,000 characters" in g.texts[-1]
        await g.take(command("task"))
        assert "Bake bread" in g.texts[-1]


async def test_no_secret_is_kept_in_a_task() -> None:
    async with gateway() as g:
        await g.take(command("task", "Log in with AKIAIOSFODNN7EXAMPLE", by=MessageAuthor("b")))
        rows = await g.database.run(
            lambda db: db.execute("SELECT task FROM conversation_notes").fetchall()
        )
        assert "AKIAIOSFODNN7EXAMPLE" not in rows[0][0]


async def test_the_model_sets_and_ends_a_task() -> None:
    async with gateway() as g:
        tools = WithTask(StubTools(ADD), g.services.stores.notes, KEY, BY, g.clock)
        assert [tool.name for tool in await tools.tools()] == ["add", "set_task"]

        assert await tools.call("set_task", {"task": "Bake bread"}) == '{"success": true}'
        assert await kept(g) == SetTask("Bake bread", BY.person, "Ada", "m1")
        await tools.call("set_task", {"task": ""})
        assert await kept(g) is None


@pytest.mark.parametrize("arguments", [{}, {"task": 7}, {"task": "x" * 4_001}])
async def test_what_the_model_gets_wrong_it_is_told(arguments: dict[str, object]) -> None:
    async with gateway() as g:
        tools = WithTask(Toolbox(), g.services.stores.notes, KEY, BY, g.clock)
        with pytest.raises(ToolError, match="task: a text"):
            await tools.call(SET_TASK.name, arguments)
        with pytest.raises(ToolError, match="no tool 'other'"):
            await tools.call("other", {})
