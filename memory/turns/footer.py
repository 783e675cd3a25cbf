"""The footer of an answer: notices, and the question whether to keep a memory."""

from collections.abc import Sequence
from typing import Final

from gateway.message import Button
from gateway.ports.memory import NO_FOOTER, AnswerFooter
from memory.model.outcome import Outcome, WriteResult
from memory.service.handle import MemoryHandle
from memory.service.review import Proposals
from memory.text.display import one_line
from memory.turns.notices import SavedNotice

MAX_SHOWN: Final = 200
MAX_NAMED: Final = 3
KEEP: Final = "memory:keep:"
BESIDE: Final = "memory:beside:"
DISCARD: Final = "memory:discard:"
PROPOSALS: Final = (
    "Proposals wait for an operator's decision: {places}. Choose the project with `/project`, then "
    "write `/memories review`."
)


def places_of(proposals: Sequence[Proposals]) -> str:
    """Return the projects with open proposals, and their numbers."""
    return ", ".join(
        f"“{one_line(one.title)}” ({one.count})" if one.project else f"for everybody ({one.count})"
        for one in proposals
    )


def request_notice(handle: MemoryHandle) -> tuple[str, ...]:
    """Return the notice about the chosen project, escaped for italics."""
    notice = handle.request.notice
    return (notice.replace("_", "\\_"),) if notice else ()


def proposals_line(proposed: Sequence[Proposals]) -> tuple[str, ...]:
    """Return the line about open proposals for an operator, escaped for italics."""
    return (PROPOSALS.format(places=places_of(proposed)),) if proposed else ()


def footer_of(
    results: Sequence[WriteResult],
    further: Sequence[str] = (),
    noted: Sequence[SavedNotice] = (),
    without: Sequence[str] = (),
) -> AnswerFooter:
    """Return what the person is told and asked after the model stored something. The sentences
    `without` are left out."""
    if not (results or further or noted):
        return NO_FOOTER
    notices = [n for result in results for n in result.notices if n != result.replacement_notice]
    left_out = set(map(unformatted, without))
    lines = [n for n in dict.fromkeys((*map(unformatted, notices), *further)) if n not in left_out]
    reviewed = [result for result in results if result.outcome is Outcome.REVIEW]
    waiting = [result for result in reviewed if not result.for_operators]
    buttons: tuple[Button, ...] = ()
    if waiting:
        first, more = waiting[0], len(waiting) - 1
        buttons = keep_buttons(first.review_id, replaces=first.replaces)
        lines.append(f"Keep this? “{shortened(first.content)}”")
        if first.replaces:
            lines.append(unformatted(first.reason))
        if more:
            lines.append(f"After that I ask about: {_told(waiting[1:])}")
    passed_on = (unformatted(one.reason) for one in reviewed if one.for_operators)
    lines += dict.fromkeys(passed_on)
    buttons += tuple(one.button for one in noted)
    note = _in_italics([*(one.text for one in noted), *lines])
    typed = _in_italics([*(one.typed for one in noted), *lines])
    return AnswerFooter(note, buttons, typed=typed if noted else "")


def _in_italics(lines: Sequence[str]) -> str:
    return "\n".join(f"_{line}_" for line in lines)


def _told(waiting: Sequence[WriteResult]) -> str:
    """Return the first waiting memories, and the number of others."""
    named = [f"“{shortened(one.content)}”" for one in waiting[:MAX_NAMED]]
    more = len(waiting) - len(named)
    return ", ".join(named) + (f", and {more} more" if more else "")


def keep_buttons(review_id: str, *, replaces: bool = False) -> tuple[Button, ...]:
    """Return the answers to "Keep this?"; with `replaces` a third one."""
    if not replaces:
        discard = Button("Forget it", f"{DISCARD}{review_id}")
        return Button("Keep", f"{KEEP}{review_id}"), discard
    return (
        Button("Replace", f"{KEEP}{review_id}"),
        Button("Keep both", f"{BESIDE}{review_id}"),
        Button("Keep the old one", f"{DISCARD}{review_id}"),
    )


def shortened(text: str) -> str:
    """Return one short line of a memory, without markup."""
    line = unformatted(" ".join(text.split()))
    return line if len(line) <= MAX_SHOWN else f"{line[:MAX_SHOWN]}…"


def unformatted(text: str) -> str:
    """Return a sentence escaped for italics."""
    return text.replace("_", "\\_").replace("*", "\\*")
