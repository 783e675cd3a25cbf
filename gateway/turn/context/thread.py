"""The earlier messages of a thread in the prompt: the first one, and the latest that fit."""

from collections.abc import Sequence
from typing import Final

from gateway.ports.prompt_blocks import Count, Loss, ThreadText
from gateway.turn.context.sentence_cut import shortened
from gateway.turn.prompt import TAG, tagged

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

    def within(self, limit: int) -> tuple[str, int, tuple[Loss, ...]]:
        """Return the text within `limit` tokens, its tokens, and the losses: the first message,
        which names the subject, and as many of the latest as fit."""
        if self._thread is None or self.tokens <= limit:
            return self._whole, self.tokens, ()
        text = self._cut(self._thread, limit)
        tokens = self._count(text) if text else 0
        loss = Loss("thread", "cut" if text else "left_out", self.tokens - tokens)
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
