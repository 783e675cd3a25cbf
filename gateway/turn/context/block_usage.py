"""Token usage of the blocks as one line of the message's trace: figures and names, no content."""

import re
from dataclasses import dataclass
from typing import Final

from gateway.ports.prompt_blocks import Assembled, Block, BlockKind

MAX_LOSSES: Final = 20
_BLOCK: Final = re.compile(
    r"(?P<kind>[a-z]+) (?P<tokens>\d+)/(?P<budget>\d+)(?: of (?P<needed>\d+))?"
    r"(?: got (?P<allotted>\d+))?(?: \[(?P<losses>[^\]]*)\])?"
)
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_.:-]+")


@dataclass(frozen=True, slots=True)
class BlockFigures:
    """The figures of one block: tokens used, budget, tokens needed, tokens allotted, and losses,
    each as "what why tokens"."""

    kind: str
    tokens: int
    budget: int
    needed: int
    allotted: int
    losses: tuple[str, ...] = ()

    @property
    def percent(self) -> int:
        """The used part of the budget in percent; 0 without a budget."""
        return round(100 * self.tokens / self.budget) if self.budget else 0


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of all blocks, and the window of the budgets."""

    window: int
    reserved: int
    blocks: tuple[BlockFigures, ...]

    @property
    def tokens(self) -> int:
        """The tokens of all blocks."""
        return sum(block.tokens for block in self.blocks)

    def of(self, kind: BlockKind) -> BlockFigures | None:
        return next((block for block in self.blocks if block.kind == kind.value), None)


def told(made: Assembled, window: int, reserved: int) -> str:
    """Return the line "window 8192 reserved 3192: system 312/500; …". `reserved` are the tokens for
    question, answer and buffer."""
    blocks = "; ".join(map(_told, made.blocks))
    return f"window {window} reserved {reserved}: {blocks}"


def read(line: str) -> Figures | None:
    """Parse a line; None if it has another form."""
    head = re.match(r"window (\d+) reserved (\d+): ", line)
    if head is None:
        return None
    blocks = (_BLOCK.fullmatch(part) for part in line[head.end() :].split("; "))
    return Figures(int(head[1]), int(head[2]), tuple(_read(b) for b in blocks if b is not None))


def warnings(figures: Figures) -> list[str]:
    """Return problems with their solutions (sources 004, "Common issues")."""
    problems: list[str] = []
    knowledge, history = figures.of(BlockKind.KNOWLEDGE), figures.of(BlockKind.HISTORY)
    if knowledge is not None and not knowledge.tokens:
        problems.append(
            "Knowledge block is empty - retrieval may have failed: check `parley recall`, and that "
            "there are matching memories"
        )
    if history is not None and history.tokens < 100:
        problems.append("History block is very short - context may be lost")
    if history is not None and any("left_out" in loss for loss in history.losses):
        problems.append(
            "Older turns were dropped without a summary: raise context.max_tokens, or use a model "
            "with a larger window"
        )
    for kind in (BlockKind.SYSTEM, BlockKind.PROJECT):
        block = figures.of(kind)
        if block is not None and block.losses:
            problems.append(
                f"{kind.value.capitalize()} block was shortened: make its documents shorter, or "
                "use a model with a larger window"
            )
    return problems


def _told(block: Block) -> str:
    text = f"{block.kind} {block.tokens}/{block.budget}"
    if block.needed == block.tokens:
        return text if block.tokens <= block.budget else f"{text} got {block.allotted}"
    losses = [f"{_UNSAFE.sub('_', loss.what)} {loss.why} {loss.tokens}" for loss in block.losses]
    if len(losses) > MAX_LOSSES:
        losses[MAX_LOSSES:] = [f"{len(losses) - MAX_LOSSES} more"]
    return f"{text} of {block.needed} got {block.allotted} [{', '.join(losses)}]"


def _read(match: re.Match[str]) -> BlockFigures:
    tokens, budget = int(match["tokens"]), int(match["budget"])
    needed = int(match["needed"] or tokens)
    allotted = int(match["allotted"] or tokens)
    losses = tuple(loss for loss in (match["losses"] or "").split(", ") if loss)
    return BlockFigures(match["kind"], tokens, budget, needed, allotted, losses)
