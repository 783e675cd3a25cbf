"""The port to memory.

The gateway knows no memory; `parley/app.py` passes one in. Without one everything else works, and
nothing is remembered beyond the conversation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Final, Protocol

from msgspec import Struct

from gateway.authorship import Material
from gateway.errors import ToolError
from gateway.message import Button, Choice, Place, Reply, button_in
from gateway.people import PersonId, Principal
from gateway.ports import CommandSpec, TextToolProvider, ToolSpec
from gateway.ports.prompt_blocks import NO_PROMPT_PARTS, KnowledgeItem, PromptParts
from gateway.text import NO_TEXT, Language, Text, text

REDACTION_NOTICE: Final = text("I removed what looks like a secret before I stored this.")
"""The sentence of an `AnswerFooter` about a secret in a stored text."""


@dataclass(frozen=True, slots=True)
class GivenFile:
    """A file that came with a command: its bytes, or None and the `problem` in words."""

    name: str
    """The file's name as its sender gave it."""
    data: bytes | None = field(default=None, repr=False)
    """The content; None if it could not be read."""
    problem: str = ""


class Caller(Struct, frozen=True):
    """A caller with their place and their words.

    `id` is the turn's, the same when its work is repeated. `words` is the person's own text,
    without quotations and files; `message_ids` are its messages. `attributed_text` is the same as
    others read it: in a room with the author's name. `material` is text of somebody else that this
    person shows. `files` came with a command that takes files. `conversation` is a
    `str(ConversationKey)`. `alone` is false if others read the answer to a command, and the footer
    of memory: in a room whose platform shows nothing to one person alone.
    """

    id: str
    principal: Principal
    """The person with tenant and role."""
    name: str
    place: Place
    conversation: str
    at: datetime
    """The time of the call, in UTC."""
    message_ids: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    attributed_text: str = ""
    material: tuple[Material, ...] = ()
    alone: bool = True
    files: tuple[GivenFile, ...] = ()
    replied: str = ""
    """The person's own earlier message to which a command replies; empty for none. A message of
    another author is in `material`."""
    client: bool = False
    """True for a program with a token: it is unknown what it has read."""
    agent: str = ""
    """The id of the agent of the person whose token this is; empty: the person calls."""
    zone: tzinfo = UTC
    """The time zone in which the person counts days."""
    languages: tuple[str, ...] = ()
    """Languages in which they may ask, the likeliest first."""


class WaitingTurn(Struct, frozen=True):
    """A turn, stored with its answer until memory processes it.

    `person` is a `str(PersonId)`, `room` empty in private; `channel` is "platform:account:channel",
    within which `message_ids` are unique. `body` is memory's own.
    """

    id: str
    """The id of the turn."""
    tenant: str
    """The tenant of the person."""
    person: str
    room: str
    channel: str
    message_ids: tuple[str, ...]
    at: datetime
    """The time of the turn, in UTC."""
    body: str


class AnswerFooter(Struct, frozen=True):
    """The footer of an answer, for the person who asked alone: Markdown and buttons. `typed` is the
    form without buttons, empty if none is needed. `turn` is to be stored with the answer, and so is
    `derived`: the authorship of text that the answer was made from and memory may not keep."""

    note: Text = NO_TEXT
    """The text, in Markdown; empty for none."""
    buttons: tuple[Choice, ...] = ()
    turn: WaitingTurn | None = None
    typed: Text = NO_TEXT
    derived: tuple[Material, ...] = ()

    def shown(self, language: Language) -> "ShownFooter":
        """Return the footer as the readers of this language see it."""
        buttons = tuple(button_in(language, one) for one in self.buttons)
        shown = language.shown
        return ShownFooter(shown(self.note), buttons, self.turn, shown(self.typed), self.derived)


class ShownFooter(Struct, frozen=True):
    """An `AnswerFooter` in the language of its reader."""

    note: str = ""
    buttons: tuple[Button, ...] = ()
    turn: WaitingTurn | None = None
    typed: str = ""
    derived: tuple[Material, ...] = ()


NO_FOOTER: Final = AnswerFooter()
NOTHING_BENEATH: Final = ShownFooter()
"""The footer of an answer without one."""


class TurnMemory(Protocol):
    """Memory for one turn, bound to the person who asks and to the other readers."""

    @property
    def tools(self) -> TextToolProvider:
        """Return the tools of memory for the model in this turn."""
        ...

    def reads(self, material: Sequence[Material]) -> None:
        """Note text that the model reads in this turn and the person did not write: shown or quoted
        text, files, results of tools, and the same of earlier turns."""

    async def prompt_parts(self) -> PromptParts:
        """Return the parts of the prompt that memory writes. They stay the same within a session,
        so that the model's service can cache them."""

    @property
    def keeps(self) -> bool:
        """Return False if the person wants this turn neither stored nor recalled for."""

    @property
    def recalls(self) -> bool:
        """Return False if there is certainly nothing to recall."""

    async def knowledge(self, question: str) -> Sequence[KnowledgeItem]:
        """Return the memories that may answer this question, best first, including those in
        `prompt_parts`."""

    async def tell_later(self, sentence: Text) -> None:
        """Defer a sentence to the person's next direct message, for a place where they cannot be
        told alone. The sentence quotes no message."""

    async def finish(
        self, answer: str, tools_used: Sequence[str], without: Sequence[Text] = ()
    ) -> AnswerFooter:
        """End the turn; return the footer and the turn to store. The footer omits the sentences
        `without`, because others replace them."""


class MemoryPort(Protocol):
    """A memory beyond the conversation. Every method raises `StoreUnavailable`."""

    async def turn(self, caller: Caller) -> TurnMemory:
        """Return the memory of this caller for one turn."""

    async def knows(self, tenant: str, place: Place, message_ids: Sequence[str]) -> bool:
        """Return True if a memory derives from one of these messages."""

    async def linked(self, who: Principal) -> Sequence[PersonId]:
        """Return the other identities that are linked with this person."""

    async def suggested(self, caller: Caller, typed: str) -> Sequence[str]:
        """Return completions of a typed question, from memories, best first."""
        ...

    async def learned(self, caller: Caller, conversation: str) -> int:
        """Return the number of this person's memories from a conversation."""

    async def forget_learned(self, caller: Caller, conversation: str, until: datetime) -> int:
        """Delete this person's memories from a conversation until then; return their number."""

    async def edited(self, tenant: str, place: Place, message_id: str, text: str) -> None:
        """Apply the edit of an answered message."""

    async def deleted(self, tenant: str, place: Place, message_ids: Sequence[str]) -> None:
        """Delete what derives from deleted messages."""

    async def left(self, tenant: str, place: Place, person: str = "") -> None:
        """Record that a person (a `str(PersonId)`) left the project of a place; without one, that
        the assistant was removed and everybody left."""


class CommandSet(Protocol):
    """Further commands for people."""

    @property
    def specs(self) -> tuple[CommandSpec, ...]:
        """Return their names and texts."""

    async def run(self, name: str, arguments: str, caller: Caller) -> Reply:
        """Run a command and return the answer. Raises `BadInput` with words for the person."""

    def owns(self, value: str) -> bool:
        """Return True for the value of a button of these commands, or of a footer."""

    async def press(self, value: str, caller: Caller) -> Reply:
        """Run the action of a button and return the answer. Raises `BadInput` with words for the
        person."""


class NoTools:
    """Offers nothing."""

    async def tools(self) -> tuple[ToolSpec, ...]:
        """Return an empty tuple."""
        return ()

    async def call(self, name: str, arguments: Mapping[str, object]) -> str:
        """Refuse: no tool is offered."""
        raise ToolError(f"there is no tool {name!r}")

    async def close(self) -> None:
        """Close: there is no connection."""


class NoMemory:
    """No memory: implements `MemoryPort` and `TurnMemory`."""

    tools: TextToolProvider = NoTools()
    keeps: bool = True
    recalls: bool = False

    async def turn(self, caller: Caller) -> TurnMemory:
        """No memory, so no result."""
        return self

    def reads(self, material: Sequence[Material]) -> None:
        """Stores nothing, so it needs to know nothing."""

    async def prompt_parts(self) -> PromptParts:
        """No memory, so no result."""
        return NO_PROMPT_PARTS

    async def knowledge(self, question: str) -> Sequence[KnowledgeItem]:
        """No memory, so no result."""
        return ()

    async def tell_later(self, sentence: Text) -> None:
        """Discard it: nothing waits without memory."""

    async def finish(
        self, answer: str, tools_used: Sequence[str], without: Sequence[Text] = ()
    ) -> AnswerFooter:
        """Stores nothing."""
        return NO_FOOTER

    async def knows(self, tenant: str, place: Place, message_ids: Sequence[str]) -> bool:
        """No memory, so no result."""
        return False

    async def linked(self, who: Principal) -> Sequence[PersonId]:
        """Return an empty tuple."""
        return ()

    async def suggested(self, caller: Caller, typed: str) -> Sequence[str]:
        """No memory, so no result."""
        return ()

    async def learned(self, caller: Caller, conversation: str) -> int:
        """No memory, so no result."""
        return 0

    async def forget_learned(self, caller: Caller, conversation: str, until: datetime) -> int:
        """No memory, so no result."""
        return 0

    async def edited(self, tenant: str, place: Place, message_id: str, text: str) -> None:
        """Change nothing."""

    async def deleted(self, tenant: str, place: Place, message_ids: Sequence[str]) -> None:
        """Delete nothing."""

    async def left(self, tenant: str, place: Place, person: str = "") -> None:
        """No project is known here."""


class NoCommands:
    """No further commands."""

    specs: tuple[CommandSpec, ...] = ()

    async def run(self, name: str, arguments: str, caller: Caller) -> Reply:
        """Raise: no command or button is offered."""
        raise AssertionError(f"/{name} is not one of these commands")

    def owns(self, value: str) -> bool:
        """Return False: there are no buttons."""
        return False

    async def press(self, value: str, caller: Caller) -> Reply:
        """Raise: no command or button is offered."""
        raise AssertionError("there are no buttons")
