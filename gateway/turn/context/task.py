"""The task of a conversation: who may set it, which texts are allowed, and the model's tool for it.

The model's input may be written by anybody: a file, a page, another person in the room. A task that
the model proposes is set at once only if its words are part of a sentence that the asking person
wrote in this turn; the task is then that sentence, so that no "not" is lost. Anything else becomes
a question to that person. It is stored when the answer is complete, and shown below the answer.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from gateway.errors import ToolError
from gateway.people import Audience, Principal, Role
from gateway.policy.response_filter import filter_response
from gateway.ports import ToolAnswer, ToolProvider, ToolSpec
from gateway.ports.conversations import MAX_TASK, ConversationTask
from gateway.turn.context.shortening import sentences
from safety.injection_detection.detect import detect_injection
from safety.secret_detection.detect import redact_secrets
from safety.unicode import cut, safe_unicode

SET_TASK: Final = ToolSpec(
    "set_task",
    "Set the chat's task in their words; empty ends it",
    {"type": "object", "properties": {"task": {"type": "string"}}},
    side_effects=False,
)
NO_TASK: Final = frozenset({"clear", "done", "end", "none", "off", "stop"})
"""Words after `/task` that end the task."""
MAX_NOTED: Final = 500
"""Characters of a proposed task: all of it is shown below the answer."""


class ProposedTask(Struct, frozen=True):
    """The task that the model proposed; an empty text ends it. `stated`: it is a sentence of the
    asking person in this turn."""

    task: ConversationTask
    stated: bool


def may_set_task(who: Principal, audience: Audience) -> bool:
    """Return True if a person may change the task and the history of a conversation: everybody in
    their direct messages, members in a room."""
    return audience is Audience.DIRECT or who.role.at_least(Role.MEMBER)


def reads_like_instructions(text: str) -> bool:
    """Return True for a text that resembles a prompt injection."""
    return bool(detect_injection(text))


def stated_in(text: str, own: Sequence[str]) -> str:
    """Return the sentence of these messages that contains the words of `text` in sequence; empty if
    there is none, or if it is too long to be shown."""
    words = _words(text)
    if not words.strip():
        return ""
    matches = (
        sentence.strip() for one in own for sentence in sentences(one) if words in _words(sentence)
    )
    return next((sentence for sentence in matches if len(sentence) <= MAX_NOTED), "")


def _words(text: str) -> str:
    plain = "".join(char if char.isalnum() else " " for char in text.casefold())
    return f" {' '.join(plain.split())} "


def prepared_task(text: str) -> str:
    """Return a task as it is stored: without secrets, at most 2,000 characters."""
    return cut(redact_secrets(safe_unicode(text)).text.strip(), MAX_TASK)


class TaskTool:
    """The tools of a turn with one more, which proposes a task. Implements `ToolProvider`. `noted`
    is the last proposal."""

    def __init__(
        self, tools: ToolProvider, by: ConversationTask, own: Sequence[str], audience: Audience
    ) -> None:
        """`by` names the person and the message that the task derives from; `own` are the person's
        texts in this turn."""
        self._tools = tools
        self._by = by
        self._own = own
        self._audience = audience
        self.noted: ProposedTask | None = None

    async def tools(self) -> tuple[ToolSpec, ...]:
        """Return the others and this one last; none without others, because not every model
        supports tools."""
        others = await self._tools.tools()
        return (*others, SET_TASK) if others else ()

    async def call(self, name: str, arguments: Mapping[str, object]) -> ToolAnswer:
        if name != SET_TASK.name:
            return await self._tools.call(name, arguments)
        text = arguments.get("task")
        if not isinstance(text, str) or len(text) > MAX_NOTED:
            raise ToolError(f"task: a text of at most {MAX_NOTED} characters")
        task, by = prepared_task(text), self._by
        stated = stated_in(task, self._own)
        task = prepared_task(stated) if stated else task
        if reads_like_instructions(text) or reads_like_instructions(task):
            raise ToolError("the task was not noted: it reads like instructions to you")
        if filter_response(task, self._audience).blocked:
            raise ToolError("the task was not noted: it may hold a secret")
        decided = bool(stated) or not task
        self.noted = ProposedTask(
            ConversationTask(task, by.person, by.name, by.message_id), decided
        )
        if not decided:
            return '{"status": "waiting_for_the_person"}'
        return json.dumps({"success": True, "task": task}, ensure_ascii=False)

    async def close(self) -> None:
        """Does nothing: the tools outlive the turn."""
