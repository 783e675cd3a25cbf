"""The task of a conversation: who may set it, what may become one, and the model's tool for it.

What the model reads may have been written by anybody: a file, a page, somebody else in the room. So
a task that the model notes is set at once only where its words stand in a sentence that the person
who asks wrote themselves in this turn, and then it is that sentence, so that no "not" is left out;
anything else is a question to that person. It is kept when the answer is complete,
and the person reads it below the answer.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.errors import ToolError
from gateway.people import Audience, Principal, Role
from gateway.policy.response_filter import filter_response
from gateway.ports import ToolProvider, ToolSpec
from gateway.ports.conversation_notes import MAX_TASK, ConversationTask
from gateway.turn.context.sentence_cut import sentences
from safety.injection_detection.detect import detect_injection
from safety.secret_detection.detect import redact_secrets
from safety.unicode import safe_unicode

SET_TASK: Final = ToolSpec(
    "set_task",
    "This chat's task, in their words; empty: done",
    {"type": "object", "properties": {"task": {"type": "string"}}},
    side_effects=False,
)
NO_TASK: Final = frozenset({"clear", "done", "end", "none", "off", "stop"})
"""What ends a task, written after `/task`."""
MAX_NOTED: Final = 500
"""Characters of a task that the model notes: all of it is shown below the answer."""


@dataclass(frozen=True, slots=True)
class ProposedTask:
    """The task that the model noted; an empty text ends it. `stated`: it is a sentence that the
    person who asks wrote themselves in this turn."""

    task: ConversationTask
    stated: bool


def may_set_task(who: Principal, audience: Audience) -> bool:
    """True when a person decides on the task, and the history, of a conversation: in a direct
    message everybody of their own, in a room its members."""
    return audience is Audience.DIRECT or who.role.at_least(Role.MEMBER)


def reads_like_instructions(text: str) -> bool:
    """True for a text with the shape of an injection."""
    return bool(detect_injection(text))


def stated_in(text: str, own: Sequence[str]) -> str:
    """The sentence of one of these messages in which the words of `text` stand, one after the
    other; empty where there is none, or one that is too long to be shown."""
    wanted = _words(text)
    if not wanted.strip():
        return ""
    found = (said.strip() for one in own for said in sentences(one) if wanted in _words(said))
    return next((said for said in found if len(said) <= MAX_NOTED), "")


def _words(text: str) -> str:
    plain = "".join(char if char.isalnum() else " " for char in text.casefold())
    return f" {' '.join(plain.split())} "


def prepared_task(text: str) -> str:
    """A task as it is kept: without secrets, on at most 2,000 characters."""
    return redact_secrets(safe_unicode(text)).text.strip()[:MAX_TASK]


class TaskTool:
    """The tools of a turn, and one more: with which the model notes what the conversation is
    about. Implements `ToolProvider`. `noted` is what it noted last."""

    def __init__(
        self, tools: ToolProvider, by: ConversationTask, own: Sequence[str], audience: Audience
    ) -> None:
        """`by` says on whose behalf, with the message that the task will go back to; `own` are the
        words that this person wrote in this turn."""
        self._tools = tools
        self._by = by
        self._own = own
        self._audience = audience
        self.noted: ProposedTask | None = None

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
        """The tools stay open: they are not this turn's alone."""
