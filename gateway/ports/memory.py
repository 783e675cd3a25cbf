"""The seam to memory: what the gateway tells it of a turn, and what it wants back.

The gateway knows no memory; `parley/app.py` hands one in. Without one everything works as before,
and nothing is remembered beyond the conversation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Protocol

from gateway.authorship import Material
from gateway.errors import ToolError
from gateway.message import Button, Place, Reply
from gateway.people import PersonId, Principal
from gateway.ports import CommandSpec, ToolProvider, ToolSpec
from gateway.ports.prompt_blocks import NO_PROMPT_PARTS, KnowledgeItem, PromptParts

REDACTION_NOTICE: Final = "I removed what looks like a secret before I stored this."
"""The sentence of an `AnswerFooter` that tells of a secret in a stored text."""


@dataclass(frozen=True, slots=True)
class GivenFile:
    """A file that came with a command: its bytes, or None and the `problem` in words."""

    name: str
    data: bytes | None = field(default=None, repr=False)
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Caller:
    """A person who wants something, with the place and their words.

    `id` is the turn's, the same when its work is done again. `words` are what this person wrote
    themselves, nothing quoted, nothing from files; `message_ids` are the messages they stand in.
    `attributed_text` is the same as others read it: in a room with the author's name. `material` is
    what this person shows and somebody else wrote. `files` came with a command that takes files.
    `conversation` is a `str(ConversationKey)`. `alone` is false where others read the answer to a
    command of theirs, and what memory says under an answer: in a room whose platform shows nothing
    to one person alone.
    """

    id: str
    principal: Principal
    name: str
    place: Place
    conversation: str
    at: datetime
    message_ids: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    attributed_text: str = ""
    material: tuple[Material, ...] = ()
    alone: bool = True
    files: tuple[GivenFile, ...] = ()


@dataclass(frozen=True, slots=True)
class WaitingTurn:
    """A turn as it was said, kept together with its answer until memory takes it up.

    `person` is a `str(PersonId)`, `room` empty in private; `channel` is "platform:account:channel",
    within which `message_ids` are unique. `body` is memory's own.
    """

    id: str
    tenant: str
    person: str
    room: str
    channel: str
    message_ids: tuple[str, ...]
    at: datetime
    body: str


@dataclass(frozen=True, slots=True)
class AnswerFooter:
    """The text under an answer, apart from it, for the person who asked alone: Markdown and
    buttons. `typed` says the same where the buttons cannot be shown, empty where nothing has to be
    said in another form. `turn` is to be kept with the answer."""

    note: str = ""
    buttons: tuple[Button, ...] = ()
    turn: WaitingTurn | None = None
    typed: str = ""


NO_FOOTER: Final = AnswerFooter()


class TurnMemory(Protocol):
    """Memory for one turn, bound to the person who asks and to whoever reads along."""

    @property
    def tools(self) -> ToolProvider:
        """The tools of memory for the model in this turn."""
        ...

    def reads(self, material: Sequence[Material]) -> None:
        """Note what the model reads in this turn that the person did not write: what is shown or
        quoted, files, results of tools, and the same of earlier turns."""

    async def prompt_parts(self) -> PromptParts:
        """The parts of the prompt that memory writes. They are the same all through a session,
        because what stays the same is cached by the model's service."""

    @property
    def keeps(self) -> bool:
        """False where the person wants nothing of the turn to be kept, and nothing recalled."""

    @property
    def recalls(self) -> bool:
        """False where there is surely nothing to recall."""

    async def knowledge(self, question: str) -> Sequence[KnowledgeItem]:
        """The memories that may answer this question, best first, also where `prompt_parts` has
        them."""

    async def tell_later(self, sentence: str) -> None:
        """Say this with the person's next direct message. For a place where nothing can be said to
        one person alone. The sentence quotes nothing of what was said."""

    async def finish(
        self, answer: str, tools_used: Sequence[str], without: Sequence[str] = ()
    ) -> AnswerFooter:
        """End the turn: the footer, and what is to be kept. The footer leaves out the sentences
        `without`, in whose place something else is said."""


class MemoryPort(Protocol):
    """A memory beyond the conversation. Everything raises `StoreUnavailable`."""

    async def turn(self, caller: Caller) -> TurnMemory:
        """Memory for this person, here and now."""

    async def knows(self, tenant: str, place: Place, message_ids: Sequence[str]) -> bool:
        """True when something goes back to one of these messages."""

    async def linked(self, who: Principal) -> Sequence[PersonId]:
        """The identities that are linked with this person, without their own."""

    async def suggested(self, caller: Caller, typed: str) -> Sequence[str]:
        """Completions of the beginning of a question, from memories, best first."""
        ...

    async def learned(self, caller: Caller, conversation: str) -> int:
        """How much this person's memory holds of what was said in a conversation."""

    async def forget_learned(self, caller: Caller, conversation: str, until: datetime) -> int:
        """Delete what this person's memory holds of a conversation, and was learned by then; how
        much went."""

    async def edited(self, tenant: str, place: Place, message_id: str, text: str) -> None:
        """A person changed a message that was answered."""

    async def deleted(self, tenant: str, place: Place, message_ids: Sequence[str]) -> None:
        """Messages are gone, and what goes back to them goes too."""

    async def left(self, tenant: str, place: Place, person: str = "") -> None:
        """A person (a `str(PersonId)`) is no longer in the project of a place; without one, the
        assistant itself was removed, and nobody is known to be in it any more."""


class CommandSet(Protocol):
    """Further commands that people have."""

    @property
    def specs(self) -> tuple[CommandSpec, ...]:
        """Their names and texts."""

    async def run(self, name: str, arguments: str, caller: Caller) -> Reply:
        """Run a command and return the answer. Raises `BadInput` with words for the person."""

    def owns(self, value: str) -> bool:
        """True for the value of a button under an answer of these commands, or in a footer."""

    async def press(self, value: str, caller: Caller) -> Reply:
        """Run the action of a button and return the answer. Raises `BadInput` with words for the
        person."""


class NoTools:
    """Offers nothing."""

    async def tools(self) -> tuple[ToolSpec, ...]:
        """No tools, or nobody."""
        return ()

    async def call(self, name: str, arguments: Mapping[str, object]) -> str:
        """Refuse: no tool is offered."""
        raise ToolError(f"there is no tool {name!r}")

    async def close(self) -> None:
        """Close: there is no connection."""


class NoMemory:
    """No memory: implements `MemoryPort` and `TurnMemory`."""

    tools: ToolProvider = NoTools()
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

    async def tell_later(self, sentence: str) -> None:
        """Forget it: nothing waits without a memory."""

    async def finish(
        self, answer: str, tools_used: Sequence[str], without: Sequence[str] = ()
    ) -> AnswerFooter:
        """Keeps nothing."""
        return NO_FOOTER

    async def knows(self, tenant: str, place: Place, message_ids: Sequence[str]) -> bool:
        """No memory, so no result."""
        return False

    async def linked(self, who: Principal) -> Sequence[PersonId]:
        """No tools, or nobody."""
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
        """None of them."""
        return False

    async def press(self, value: str, caller: Caller) -> Reply:
        """Raise: no command or button is offered."""
        raise AssertionError("there are no buttons")
