"""Assembles the five blocks so that they fit. Pure: the same input gives the same bytes.

Each block gets what it needs up to its budget, by rank; the rest goes to blocks that need more, the
least important first. What still does not fit is cut inside its block: knowledge by item, history
into its summary, texts at the end of a sentence. The operator's own text is never cut: if it is too
long, that is an error.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from gateway.errors import ConfigurationError
from gateway.ports.prompt_blocks import (
    CHAT_RANKS,
    KINDS,
    Assembled,
    Block,
    BlockKind,
    BlockSection,
    ContextParts,
    Count,
    DialogueTurn,
    LeftOut,
    Task,
    ThreadText,
)
from gateway.turn.context import knowledge
from gateway.turn.context.history import HistoryFitter
from gateway.turn.context.shortening import shortened
from gateway.turn.context.token_budgets import TokenBudget, allot
from gateway.turn.prompt import TAG, escaped, tagged

GAP: Final = "\n\n"


def system_text(parts: ContextParts) -> str:
    """Return the System block. Its tag is the request's own field for it."""
    return _joined([parts.own, parts.skills, *map(_section_text, parts.personal)])


def project_text(pieces: Sequence[BlockSection]) -> str:
    """Return the Project block, empty without a project."""
    inside = _joined(map(_section_text, pieces))
    return tagged(BlockKind.PROJECT, inside) if inside else ""


def fit_system(parts: ContextParts, limit: int, count: Count) -> tuple[str, tuple[LeftOut, ...]]:
    """Return the System block within `limit` tokens, which hold at least the own text."""
    fixed, losses = parts.own, []
    if parts.skills:
        with_skills = _joined([parts.own, parts.skills])
        if count(with_skills) <= limit:
            fixed = with_skills
        else:
            losses.append(LeftOut("skills", "left_out", count(parts.skills)))

    def block(written: Sequence[str]) -> str:
        return _joined([fixed, *written])

    text, cut = _fit(parts.personal, block, limit, count)
    return text, (*losses, *cut)


def fit_project(
    pieces: Sequence[BlockSection], limit: int, count: Count
) -> tuple[str, tuple[LeftOut, ...]]:
    """Return the Project block within `limit` tokens, empty if not even a sentence fits."""

    def block(written: Sequence[str]) -> str:
        inside = _joined(written)
        return tagged(BlockKind.PROJECT, inside) if inside else ""

    return _fit(pieces, block, limit, count)


def _fit(
    pieces: Sequence[BlockSection], block: Callable[[Sequence[str]], str], limit: int, count: Count
) -> tuple[str, tuple[LeftOut, ...]]:
    """Cut every section to its share; unused tokens go to the others."""
    room = limit - count(block([tagged("x", "")])) if pieces else 0
    needs = [_size(piece.text, piece.name, count) for piece in pieces]
    limits = allot(needs, [int(room * piece.share) for piece in pieces], room)
    written, over = [], 0
    for piece, need, most in zip(pieces, needs, limits, strict=True):
        text = _section_text(piece) if need <= most + over else _cut(piece, most + over, count)
        over += most - (count(GAP + text) if text else 0)  # complete sentences leave a rest
        written.append(text)
    while any(written) and count(block(written)) > limit:  # counts are not exactly additive
        last = max(index for index, text in enumerate(written) if text)
        written[last] = _cut(pieces[last], count(written[last]) - 1, count)
    losses = tuple(
        LeftOut(piece.name, "cut" if text else "left_out", lost)
        for piece, text, need in zip(pieces, written, needs, strict=True)
        if (lost := need - (count(GAP + text) if text else 0)) > 0
    )
    text = block(written)
    return (text, losses) if count(text) <= limit else (block([]), losses)


def _cut(piece: BlockSection, limit: int, count: Count) -> str:
    if limit <= 0:
        return ""
    text = shortened(piece.text, limit, lambda shorter: _size(shorter, piece.name, count))
    return _section_text(BlockSection(piece.name, text, piece.share))


def _size(text: str, name: str, count: Count) -> int:
    return count(GAP + tagged(name, escaped(text))) if text else 0


def _section_text(piece: BlockSection) -> str:
    return tagged(piece.name, escaped(piece.text)) if piece.text else ""


def _joined(texts: Iterable[str]) -> str:
    return GAP.join(text for text in texts if text)


class OwnTextTooLong(ConfigurationError):
    """The operator's own text does not fit into its block; it is never cut."""

    def __init__(self, tokens: int, budget: int) -> None:
        super().__init__(
            f"the System block ({tokens} tokens) exceeds its budget ({budget}) by "
            f"{tokens - budget}: make assistant.persona shorter, or use a model with a larger "
            "window"
        )
        self.excess = tokens - budget


class _Fit(NamedTuple):
    """The content of a block within a limit."""

    text: str
    tokens: int
    losses: tuple[LeftOut, ...] = ()
    turns: tuple[DialogueTurn, ...] = ()
    summary: str = ""
    taken: tuple[str, ...] = ()
    thread: str = ""


def assemble(
    parts: ContextParts,
    budget: TokenBudget,
    count: Count,
    *,
    ranks: Sequence[BlockKind] = CHAT_RANKS,
    total: int | None = None,
) -> Assembled:
    """Return the blocks within `total` tokens, by default the budget's own total; the operator's
    own text is always included.

    Raises `OwnTextTooLong`.
    """
    own = count(parts.own)
    if own > budget.system:
        raise OwnTextTooLong(own, budget.system)
    room = max(own, budget.blocks_total if total is None else min(total, budget.blocks_total))
    filling = _Filling(parts, count)
    fits = {kind: filling.all_of(kind) for kind in KINDS}
    needs = {kind: fit.tokens for kind, fit in fits.items()}
    shares = {kind: budget.of(kind) for kind in ranks}
    parts_of_room = allot([needs[k] for k in ranks], list(shares.values()), room)
    allotted = dict(zip(ranks, parts_of_room, strict=True))
    short = [kind for kind in ranks if needs[kind] > allotted[kind]]
    if short:
        for kind in short:
            fits[kind] = filling.within(kind, allotted[kind])
        _hand_on(filling, fits, allotted, short, room)
    blocks = tuple(
        Block(
            kind,
            ranks.index(kind) + 1,
            fits[kind].text,
            fits[kind].tokens,
            needs[kind],
            shares[kind],
            allotted[kind],
            fits[kind].losses,
        )
        for kind in KINDS
    )
    talk = fits[BlockKind.HISTORY]
    taken = fits[BlockKind.KNOWLEDGE].taken
    return Assembled(blocks, room, talk.turns, talk.summary, taken, talk.thread)


def task_text(task: Task) -> str:
    """A task as the model reads it."""
    by = {"set_by": task.set_by} if task.set_by else None
    return tagged(BlockKind.TASK, escaped(task.text), by)


def _hand_on(
    filling: "_Filling",
    fits: dict[BlockKind, _Fit],
    allotted: dict[BlockKind, int],
    short: Sequence[BlockKind],
    room: int,
) -> None:
    """Distribute the tokens that remain because only complete sentences and items are taken, to the
    lowest ranks first."""
    free = room - sum(fit.tokens for fit in fits.values())
    for kind in reversed(short):
        before = fits[kind]
        if all(loss.why == "left_out" and loss.tokens > free for loss in before.losses):
            continue
        more = filling.within(kind, before.tokens + free)
        if more.tokens > before.tokens:
            free -= more.tokens - before.tokens
            fits[kind] = more
        allotted[kind] = max(allotted[kind], fits[kind].tokens)
    over = sum(allotted.values()) - room
    for kind in short:  # passed-on room belongs to another block now
        back = max(0, min(over, allotted[kind] - fits[kind].tokens))
        allotted[kind] -= back
        over -= back


class _Filling:
    """Fills the blocks one by one and caches shared results."""

    def __init__(self, parts: ContextParts, count: Count) -> None:
        self._parts = parts
        self._count = count
        self._talk = HistoryFitter(parts.summary, parts.turns, count)
        self._thread = ThreadFitter(parts.thread, count)
        self._entries = [knowledge.item_text(item) for item in parts.knowledge]

    def all_of(self, kind: BlockKind) -> _Fit:
        """Return the complete block."""
        parts = self._parts
        match kind:
            case BlockKind.SYSTEM:
                return self._text(system_text(parts))
            case BlockKind.PROJECT:
                return self._text(project_text(parts.project))
            case BlockKind.TASK:
                return self._text(task_text(parts.task) if parts.task else "")
            case BlockKind.HISTORY:
                return self._history(self._talk.whole.tokens, self._thread.tokens)
            case BlockKind.KNOWLEDGE:
                fit_text = self._text(knowledge.block_text(self._entries))
                ids = tuple(item.id for item in parts.knowledge)
                return _Fit(fit_text.text, fit_text.tokens, taken=ids)

    def within(self, kind: BlockKind, limit: int) -> _Fit:
        """Return as much of the block as fits into `limit` tokens."""
        parts, count = self._parts, self._count
        match kind:
            case BlockKind.SYSTEM:
                text, losses = fit_system(parts, limit, count)
                return self._text(text, losses)
            case BlockKind.PROJECT:
                text, losses = fit_project(parts.project, limit, count)
                return self._text(text, losses)
            case BlockKind.TASK:
                return self._task(limit)
            case BlockKind.HISTORY:
                needs = (self._talk.whole.tokens, self._thread.tokens)
                return self._history(*allot(needs, (limit // 2, limit // 2), limit))
            case BlockKind.KNOWLEDGE:
                text, taken, losses = knowledge.fit_items(
                    parts.knowledge, self._entries, limit, count
                )
                return _Fit(text, count(text), losses, taken=taken)

    def _history(self, talk: int, thread: int) -> _Fit:
        """Return the conversation and the messages of the thread, each within so many tokens."""
        fit, (text, tokens, losses) = self._talk.within(talk), self._thread.within(thread)
        return _Fit(
            fit.text,
            fit.tokens + tokens,
            (*fit.losses, *losses),
            fit.turns,
            fit.summary,
            thread=text,
        )

    def _text(self, text: str, losses: tuple[LeftOut, ...] = ()) -> _Fit:
        return _Fit(text, self._count(text) if text else 0, losses)

    def _task(self, limit: int) -> _Fit:
        task, count = self._parts.task, self._count
        if task is None:
            return _Fit("", 0)
        needed = count(task_text(task))

        def written(text: str) -> str:
            return task_text(Task(text, task.set_by))

        text = shortened(task.text, limit, lambda shorter: count(written(shorter)))
        if not text:
            return _Fit("", 0, (LeftOut("task", "left_out", needed),))
        cut = written(text)
        tokens = count(cut)
        losses = (LeftOut("task", "cut", needed - tokens),) if text != task.text else ()
        return _Fit(cut, tokens, losses)


KIND: Final = "earlier messages of this thread"
NEWEST_MISSING: Final = "(Later messages could not be read.)"


def thread_text(thread: ThreadText, first: str, latest: Sequence[str]) -> str:
    """Return these messages in their tag, with a line for those that are missing."""
    missing = thread.between + len(thread.latest) - len(latest)
    missing += bool(thread.first and not first)
    lines = [
        thread.title,
        first,
        _gap(missing, or_more=thread.or_more, between=bool(first)),
        *latest,
    ]
    lines.append(NEWEST_MISSING if thread.newest_missing else "")
    return tagged(TAG, "\n".join(line for line in lines if line), {"kind": KIND})


def _gap(missing: int, *, or_more: bool, between: bool) -> str:
    if not missing:
        return ""
    number = f"{missing} or more" if or_more else str(missing)
    noun, verb = ("message", "is") if number == "1" else ("messages", "are")
    named = f"{noun} between" if between else f"earlier {noun}"
    return f"({number} {named} {verb} left out.)"


class ThreadFitter:
    """Shortens the messages of a thread to a limit. `tokens` is the size of all."""

    def __init__(self, thread: ThreadText | None, count: Count) -> None:
        self._thread = thread
        self._count = count
        self._whole = thread_text(thread, thread.first, thread.latest) if thread else ""
        self.tokens = count(self._whole) if thread else 0

    def within(self, limit: int) -> tuple[str, int, tuple[LeftOut, ...]]:
        """Return the text within `limit` tokens, its tokens, and the losses: the first message,
        which names the subject, and as many of the latest as fit."""
        if self._thread is None or self.tokens <= limit:
            return self._whole, self.tokens, ()
        text = self._cut(self._thread, limit)
        tokens = self._count(text) if text else 0
        loss = LeftOut("thread", "cut" if text else "left_out", self.tokens - tokens)
        return text, tokens, (loss,)

    def _cut(self, thread: ThreadText, limit: int) -> str:
        count, latest = self._count, thread.latest
        first = shortened(thread.first, limit // 3, count)
        room = limit - count(thread_text(thread, first, ()))
        start = len(latest)
        while start and (size := count(f"{latest[start - 1]}\n")) <= room:
            start -= 1
            room -= size
        kept = list(latest[start:])
        if not kept and latest and room > 0:
            kept = [part] if (part := shortened(latest[-1], room - 1, count)) else []
        while True:  # counts are not exactly additive
            text = thread_text(thread, first, kept)
            if count(text) <= limit:
                return text
            if kept:
                kept.pop(0)
            elif first:
                first = ""
            elif thread.title:
                thread = thread._replace(title="")
            else:
                return ""
