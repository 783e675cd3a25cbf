"""The five blocks of a prompt: input and result of the assembly. Frozen values, no I/O.

Rank 1 is the most important and is cut last. The order of the ranks is also the order in the
prompt: stable blocks come first, so that the model's service can cache them.
"""

from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from typing import Final, Literal, NamedTuple, TypeAlias

from msgspec import Struct, field

Count: TypeAlias = Callable[[str], int]
"""Counts the tokens of a text: 0 for an empty one, never fewer for a longer beginning of the same
text."""


class BlockKind(StrEnum):
    """The blocks, in the order of the prompt."""

    SYSTEM = "system"
    PROJECT = "project"
    TASK = "task"
    HISTORY = "history"
    KNOWLEDGE = "knowledge"


KINDS: Final = tuple(BlockKind)
CHAT_RANKS: Final = KINDS
"""Knowledge is cut first: it can be recalled again, earlier messages cannot."""
_PLACES: Final = {kind: place for place, kind in enumerate(KINDS)}
ANSWER_RANKS: Final = (
    BlockKind.SYSTEM,
    BlockKind.PROJECT,
    BlockKind.TASK,
    BlockKind.KNOWLEDGE,
    BlockKind.HISTORY,
)
"""Ranks 4 and 5 swapped, for single questions where facts matter more than the dialogue."""


class BlockSection(NamedTuple):
    """A text under a tag of its own within a block, such as SOUL. `share` is its part of the rest
    of its block if not everything fits; the shares of a block need not sum to 1."""

    name: str
    """The tag around the text."""
    text: str
    share: float


class MissingPart(NamedTuple):
    """A part of memory that could not be read for an answer: brief or recall; with the reason code
    too_slow, unavailable or failed."""

    part: str
    reason: str


class PromptParts(Struct, frozen=True):
    """Texts from memory for every prompt of a session; they do not change within a session, so that
    the model's service can cache them. Empty texts are left out. `skill` explains how to use
    memory; `shared` holds the memories for everybody."""

    skill: str = ""
    soul: str = ""
    """A person's preferences (SOUL)."""
    brief: str = ""
    """The person's brief."""
    bible: str = ""
    """A project's notes (BIBLE)."""
    heartbeat: str = ""
    """A project's status (HEARTBEAT)."""
    shared: str = ""
    missing: tuple[MissingPart, ...] = ()
    """The parts that could not be read."""


NO_PROMPT_PARTS: Final = PromptParts()


class Task(Struct, frozen=True):
    """The task of a conversation. `set_by` is a person's name."""

    text: str
    """The task, in the words of a person."""
    set_by: str = ""


class DialogueTurn(NamedTuple):
    """One message of the conversation, as the model reads it. `own` is the writer's own text, if
    that is not all of `text`; `writer` is set in rooms, and `shown` is the framed text of somebody
    else. A tuple, because a message creates many of them."""

    id: str
    """The platform's id of the message."""
    role: Literal["user", "assistant"]
    """The writer: people, or the assistant."""
    text: str
    at: datetime
    """The time of the message, in UTC."""
    own: str | None = None
    writer: str = ""
    shown: str = ""

    @property
    def words(self) -> str:
        """The writer's own text, without the name."""
        return self.text if self.own is None else self.own

    @property
    def spoken(self) -> str:
        """The writer's own text, with the name in a room."""
        return spoken(self.writer, self.words)


def spoken(writer: str, words: str) -> str:
    """Return a text, with the writer's name before it in a room."""
    return f"[{writer}] {words}" if writer else words


class KnowledgeItem(Struct, frozen=True):
    """A recalled item; in a sequence the best comes first.

    `source` is its origin ("ADR-007", "conversation of Monday, 2 November 2026"), `confidence`
    is 0 to 1, `score` is the retrieval's own and comparable within one result only. `label`
    qualifies its reliability ("from web, may be inaccurate"). `kind` and `scope` are those of
    `memory/model/record.py`, empty if it is no memory. `message_id` is set for a message of
    this conversation, and `line` is its line in the brief: both may be in the prompt already.
    `ref` is the id for tools, empty if it cannot be changed. `ranks` are its ranks in the
    searches that found it, from 1.
    """

    id: str
    text: str
    """The text of the item."""
    source: str
    confidence: float
    kind: str = ""
    scope: str = ""
    label: str = ""
    at: datetime | None = None
    """The time of its origin, in the time zone of the person; None if unknown."""
    score: float = 0.0
    message_id: str = ""
    line: str = ""
    ref: str = ""
    ranks: tuple[tuple[str, int], ...] = ()


class ThreadText(NamedTuple):
    """The earlier messages of a thread for one question, each as it stands in the prompt. `first`
    and `title` are empty if they are not known; `latest` are oldest first. `between`: so many
    messages between the two are missing, with `or_more` at least; `newest_missing`: later ones
    are missing."""

    first: str
    latest: tuple[str, ...]
    between: int = 0
    or_more: bool = False
    newest_missing: bool = False
    title: str = ""


class ContextParts(Struct, frozen=True):
    """Everything that may go into a prompt, before it is cut to fit.

    `own` is the operator's text with the program's rules, which is never cut. `skills` are left out
    as a whole if they do not fit. `personal` belongs to the System block, `project` to the Project
    block. `summary` covers the time before `turns`. `thread` belongs to the History block.
    """

    own: str
    skills: str = ""
    personal: tuple[BlockSection, ...] = ()
    project: tuple[BlockSection, ...] = ()
    task: Task | None = None
    """The task of the conversation; None for none."""
    summary: str = ""
    turns: tuple[DialogueTurn, ...] = ()
    thread: ThreadText | None = None
    knowledge: tuple[KnowledgeItem, ...] = ()
    """Recalled items, the best first."""


Why: TypeAlias = Literal["cut", "left_out", "summarised"]


class LeftOut(Struct, frozen=True):
    """A part that a block had to leave out: `what` is a section's name, "turns" or an item's id,
    never content. `tokens` is the size of the missing part."""

    what: str
    why: Why
    """The kind of omission: a shorter text, no text, or a summary in its place."""
    tokens: int


class Block(NamedTuple):
    """A block of the final prompt. `budget` is its share by the table, `allotted` its limit after
    the allocation; `tokens` never exceed it. `needed` is the size without cuts."""

    kind: BlockKind
    """The kind of block."""
    rank: int
    """The rank in the allocation: the first is cut last."""
    text: str
    """The final text."""
    tokens: int
    needed: int
    budget: int
    allotted: int
    losses: tuple[LeftOut, ...] = ()
    """The parts that are missing."""


class Assembled(Struct, frozen=True):
    """A prompt that fits. `blocks` are in the order of the prompt; `total` is their common limit.
    `turns` are sent unchanged, `summary` replaces the rest, and `thread` are messages of the thread
    that are not in the conversation."""

    blocks: tuple[Block, ...]
    total: int
    turns: tuple[DialogueTurn, ...] = ()
    summary: str = ""
    taken: tuple[str, ...] = field(default=())
    """The ids of the knowledge items in the prompt."""
    thread: str = ""

    @property
    def tokens(self) -> int:
        """All blocks together."""
        return sum([block.tokens for block in self.blocks])

    @property
    def free(self) -> int:
        """Unused tokens."""
        return self.total - self.tokens

    def __getitem__(self, kind: BlockKind) -> Block:
        return self.blocks[_PLACES[kind]]

    @property
    def text(self) -> str:
        """The prompt as one text, every non-empty block in its tag."""
        return "\n\n".join(
            block.text
            if block.kind is not BlockKind.SYSTEM
            else f"<system>\n{block.text}\n</system>"
            for block in self.blocks
            if block.text
        )


def block_for(kind: str, scope: str, *, standing: bool = False) -> BlockKind:
    """Return the block of a memory; `kind` and `scope` as in `memory/model/record.py`. `standing`
    memories are in the brief and do not depend on the question.

    A person's preferences belong to System, a project's to Project. Facts belong to Project if they
    are standing and shared. Everything else is Knowledge.
    """
    own = scope == "user"
    if kind in ("preference", "instruction", "correction"):
        return BlockKind.SYSTEM if own else BlockKind.PROJECT
    if standing:
        return BlockKind.SYSTEM if own else BlockKind.PROJECT
    return BlockKind.KNOWLEDGE
