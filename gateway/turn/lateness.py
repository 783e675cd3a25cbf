"""Questions that are answered late, are too old to be answered, or may have been answered before
the stores returned to an earlier state."""

from typing import Final

from gateway.message import NOTHING_SAID, Reply
from gateway.people import Audience
from gateway.policy.decision import Decision
from gateway.policy.history_redaction import redact_for_history, redact_name
from gateway.policy.question_age import (
    LATE,
    LISTED,
    STAGE,
    TOO_LATE_TO_WRITE,
    TOO_OLD,
    clock_time,
    duration,
    expired_text,
    late,
)
from gateway.text import Text, text, verbatim
from gateway.turn.one_line import in_one_line
from gateway.turn.prompt import clean_name, readable
from gateway.turn.services import Services
from gateway.turn.turn_context import TurnContext

EXCERPT: Final = 80
"""Characters of a message that is named."""
OWN: Final = text("{time}: “{words}”")
OF_SOMEBODY: Final = text("{time}, {name}: “{words}”")
WITHOUT_TEXT: Final = text("(without text)")
SOMEBODY: Final = text("somebody")
UNWRITABLE: Final = "the platform takes no message {hours:.0f} hours after the person wrote"


def note_lateness(turn: TurnContext, services: Services) -> None:
    """Set `late` of a turn whose oldest message was written long ago."""
    if turn.attempt.late is not None:
        return
    asked = [
        one.asked.asked_at for one in (turn, *turn.collected) if one.asked.asked_at is not None
    ]
    if not asked:
        return
    limits, now = services.policies.ages, services.clock.now()
    turn.attempt.late = late(min(asked), now, limits, several=len(asked) > 1)
    if turn.attempt.late is not None:
        services.count("answered_late", turn.place.platform)
        turn.note(Decision(STAGE, True, LATE, f"written {duration(turn.attempt.late.age)} before"))


def with_age(turn: TurnContext, markdown: str) -> str:
    """Return a text below the line that says how late it comes."""
    line = turn.age_line()
    return f"{line}\n\n{markdown}" if line and markdown else markdown


def expired_reply(turn: TurnContext, services: Services) -> Reply:
    """Return the notice about the messages of a turn that are too old, and note that in the traces.
    It is empty if the platform takes no message any more."""
    turns = (*turn.collected, turn)
    limits, now = services.policies.ages, services.clock.now()
    for one in turns:
        services.count("expired", one.place.platform)
        asked = one.asked.asked_at or now
        detail = f"written {duration(now - asked)} before"
        one.note(Decision(STAGE, False, TOO_OLD, detail))
    within = turn.connected.manifest.writes_within
    newest = max(
        (one.asked.asked_at for one in turns if one.asked.asked_at is not None), default=now
    )
    if within is not None and now - newest >= within:
        detail = UNWRITABLE.format(hours=within.total_seconds() / 3600)
        turn.note(Decision(STAGE, False, TOO_LATE_TO_WRITE, detail))
        return NOTHING_SAID
    lines = [_line(one, services) for one in turns[:LISTED]]
    return Reply(expired_text(lines, len(turns), limits.answer_within))


def _line(turn: TurnContext, services: Services) -> Text:
    """Return one message as a notice names it: its time, in a room its author, its beginning."""
    now, zone = services.clock.now(), turn.language_of().zone
    asked, written = turn.asked, clock_time(turn.asked.asked_at or now, now, zone)
    said = f"/{asked.command} {asked.content}".strip() if asked.command else asked.content
    words = " ".join(readable(redact_for_history(said[: 4 * EXCERPT])).split())
    excerpt = words if len(words) <= EXCERPT else f"{words[:EXCERPT].rstrip()}…"
    named: Text = verbatim(in_one_line(excerpt)) if excerpt else WITHOUT_TEXT
    if turn.place.audience is Audience.DIRECT:
        return OWN.of(time=written, words=named)
    name = in_one_line(clean_name(redact_name(asked.last.author.name)))
    writer: Text = verbatim(name) if name else SOMEBODY
    return OF_SOMEBODY.of(time=written, name=writer, words=named)


MAY_REPEAT: Final = "may_repeat"


async def doubt_first(turn: TurnContext, services: Services) -> None:
    """Set `may_repeat` of a turn whose answer may have been sent before. Its answer then stands
    below a repeat note, and is not shown while it grows. Raises `StoreUnavailable`."""
    if turn.asked.received_at is None or turn.attempt.may_repeat:
        return
    asked = services.stores.unit_of_work.may_repeat
    for one in (turn, *turn.collected):
        if one.asked.received_at is not None and await asked(one.id, one.asked.received_at):
            turn.attempt.may_repeat = True
            detail = "it may have been sent before data was lost or restored"
            turn.note(Decision("repetition", True, MAY_REPEAT, detail))
            return
