"""The five blocks of a prompt: what goes in, and what comes out. Frozen values, no I/O.

Rank 1 is the most important and the last to be cut. The order of the ranks is also the order in
the prompt: what stays the same comes first, so that the model's service can cache it (sources 004,
"Memory Blocks").
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final, Literal, NamedTuple, TypeAlias

Count: TypeAlias = Callable[[str], int]
"""Tokens of a text: 0 for an empty one, never less for a longer beginning of the same text."""


class BlockKind(StrEnum):
    """The blocks, in the order in which they stand in the prompt."""

    SYSTEM = "system"
    PROJECT = "project"
    TASK = "task"
    HISTORY = "history"
    KNOWLEDGE = "knowledge"


KINDS: Final = tuple(BlockKind)
CHAT_RANKS: Final = KINDS
"""Knowledge goes first: it can be recalled again at the next question, what was said cannot."""

_PLACES: Final = {kind: place for place, kind in enumerate(KINDS)}

ANSWER_RANKS: Final = (
    BlockKind.SYSTEM,
    BlockKind.PROJECT,
    BlockKind.TASK,
    BlockKind.KNOWLEDGE,
    BlockKind.HISTORY,
)
"""Ranks 4 and 5 swapped, for single questions where the facts count more than the talk."""


class Section(NamedTuple):
    """A text under a tag of its own within a block, such as SOUL. `share` is its part of what is
    left of its block when all of it does not fit; the shares of a block need not sum to 1."""

    name: str
    text: str
    share: float


@dataclass(frozen=True, slots=True)
class PromptParts:
    """What the model is told of the person and the project all the time, by memory. Each is empty
    for nothing, and stays the same through a session, because that is cached by the model's
    service. `skill` says how to use memory; `shared` is what is remembered for everybody."""

    skill: str = ""
    soul: str = ""
    brief: str = ""
    bible: str = ""
    heartbeat: str = ""
    shared: str = ""


NO_PROMPT_PARTS: Final = PromptParts()


@dataclass(frozen=True, slots=True)
class Task:
    """What a conversation is about at present. `set_by` is a person's name."""

    text: str
    set_by: str = ""


class DialogueTurn(NamedTuple):
    """One step of the conversation, as the model is to read it. `id` is the message's. `own` is
    what its writer wrote themselves, where that is not all of `text`; `writer` is named in rooms,
    and `shown` is the framed text of somebody else. A tuple, because a message makes many of them.
    """

    id: str
    role: Literal["user", "assistant"]
    text: str
    at: datetime
    own: str | None = None
    writer: str = ""
    shown: str = ""

    @property
    def words(self) -> str:
        """The writer's own, without a name before it."""
        return self.text if self.own is None else self.own

    @property
    def spoken(self) -> str:
        """The writer's own, in a room with the name before it."""
        return spoken(self.writer, self.words)


def spoken(writer: str, words: str) -> str:
    """What somebody said, in a room with the name of the writer before it."""
    return f"[{writer}] {words}" if writer else words


@dataclass(frozen=True, slots=True)
class KnowledgeItem:
    """Something that was recalled for this question, best first in a sequence of them.

    `source` is what it can be traced back to ("ADR-007", "conversation of 2026-11-02"),
    `confidence` is 0 to 1, `score` is the retrieval's own and comparable within one answer only.
    `label` says how far it can be trusted ("from web, may be inaccurate"), empty for nothing to
    say. `kind` and `scope` are those of `memory/model/record.py`, empty for what is no memory.
    `message_id` is set for what was said in this very conversation, and `line` is how the brief
    tells it, where it does: both may be in sight already. `ref` is the id by which the model names
    it to a tool, empty for what it cannot change.
    """

    id: str
    text: str
    source: str
    confidence: float
    kind: str = ""
    scope: str = ""
    label: str = ""
    at: datetime | None = None
    score: float = 0.0
    message_id: str = ""
    line: str = ""
    ref: str = ""


@dataclass(frozen=True, slots=True)
class ContextParts:
    """Everything that may go into a prompt, before it is made to fit.

    `own` is the operator's text with the program's rules, which is never cut. `skills` are left out
    whole where they do not fit. `personal` stands in the System block, `project` in the Project
    block. `summary` is of what was said before `turns`.
    """

    own: str
    skills: str = ""
    personal: tuple[Section, ...] = ()
    project: tuple[Section, ...] = ()
    task: Task | None = None
    summary: str = ""
    turns: tuple[DialogueTurn, ...] = ()
    knowledge: tuple[KnowledgeItem, ...] = ()


Why: TypeAlias = Literal["cut", "left_out", "summarised"]


@dataclass(frozen=True, slots=True)
class Loss:
    """What a block had to go without: `what` is a piece's name, "turns", an item's id; never
    any content. `tokens` are those that are missing."""

    what: str
    why: Why
    tokens: int


class Block(NamedTuple):
    """A block as it is sent. `budget` is its share by the table, `allotted` what it got after the
    waterfall; `tokens` never exceed it. `needed` is what all of it would have taken."""

    kind: BlockKind
    rank: int
    text: str
    tokens: int
    needed: int
    budget: int
    allotted: int
    losses: tuple[Loss, ...] = ()


@dataclass(frozen=True, slots=True)
class Assembled:
    """A prompt that fits. `blocks` are all of them in the order of the prompt; `total` is what they
    could take together. `turns` are those that are sent as they were said, `summary` stands for the
    rest.
    """

    blocks: tuple[Block, ...]
    total: int
    turns: tuple[DialogueTurn, ...] = ()
    summary: str = ""
    taken: tuple[str, ...] = field(default=())
    """The ids of the knowledge that is in the prompt."""

    @property
    def tokens(self) -> int:
        """All blocks together."""
        return sum([block.tokens for block in self.blocks])

    @property
    def free(self) -> int:
        """Tokens that no block needs."""
        return self.total - self.tokens

    def __getitem__(self, kind: BlockKind) -> Block:
        return self.blocks[_PLACES[kind]]

    @property
    def text(self) -> str:
        """The whole prompt in one text, every block in its tag; without the empty ones."""
        return "\n\n".join(
            block.text
            if block.kind is not BlockKind.SYSTEM
            else f"<system>\n{block.text}\n</system>"
            for block in self.blocks
            if block.text
        )
