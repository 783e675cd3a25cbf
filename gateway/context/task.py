"""The task of a conversation: what people and the model may set, and the model's tool for it."""

from collections.abc import Mapping
from typing import Final

from gateway.conversation import ConversationKey
from gateway.errors import StoreUnavailable, ToolError
from gateway.notes import MAX_TASK, NoteStore, SetTask
from gateway.ports import Clock, ToolProvider, ToolSpec
from safety.secrets import redact_secrets
from safety.unicode import safe_unicode

SET_TASK: Final = ToolSpec(
    "set_task",
    "Note this chat's task; empty: done",
    {"type": "object", "properties": {"task": {"type": "string"}}},
    side_effects=False,
)
NO_TASK: Final = frozenset({"clear", "done", "none", "off"})
"""What ends a task, written after `/task`."""


def prepared_task(text: str) -> str:
    """A task as it is kept: without secrets, on at most 2,000 characters."""
    return redact_secrets(safe_unicode(text)).text.strip()[:MAX_TASK]


class WithTask:
    """The tools of a turn, and one more: with which the model notes what the conversation is
    about. Implements `ToolProvider`."""

    def __init__(
        self, tools: ToolProvider, notes: NoteStore, key: ConversationKey, by: SetTask, clock: Clock
    ) -> None:
        """`by` says on whose behalf, with the message that the task will go back to."""
        self._tools = tools
        self._notes = notes
        self._key = key
        self._by = by
        self._clock = clock

    async def tools(self) -> tuple[ToolSpec, ...]:
        """Those there are, and this one last; none where there are none, because not every model
        takes tools."""
        others = await self._tools.tools()
        return (*others, SET_TASK) if others else ()

    async def call(self, name: str, arguments: Mapping[str, object]) -> str:
        """Run a tool. Raises `ToolError`."""
        if name != SET_TASK.name:
            return await self._tools.call(name, arguments)
        text = arguments.get("task")
        if not isinstance(text, str) or len(text) > 2 * MAX_TASK:
            raise ToolError(f"task: a text of at most {MAX_TASK} characters")
        told, by = prepared_task(text), self._by
        task = SetTask(told, by.person, by.name, by.message_id) if told else None
        try:
            await self._notes.set_task(self._key, task, self._clock.now())
        except StoreUnavailable as error:
            raise ToolError("the task could not be noted") from error
        return '{"success": true}'

    async def close(self) -> None:
        """The tools stay open: they are not this turn's alone."""
