"""Applies the response filter to answers, the text under them, replies of commands, and buttons."""

from collections.abc import Sequence
from dataclasses import replace

from gateway.message import NOTHING_SAID, Button, Reply
from gateway.people import Audience
from gateway.policy.decision import Decision
from gateway.policy.response_filter import filter_response
from gateway.turn.audit import audit
from gateway.turn.services import Services
from gateway.turn.turn_context import TurnContext


async def filter_answer(turn: TurnContext, services: Services) -> Decision:
    """Remove possible secrets from answers in public rooms."""
    filtered = filter_response(turn.answer, turn.place.audience)
    decision = Decision("response_filter", True, filtered.reason)
    if filtered.blocked:
        await audit("answer_withheld", turn, services, decision)
    turn.answer = filtered.text
    return decision


def screened(reply: Reply, audience: Audience) -> tuple[Reply, str]:
    """Return the reply as this audience may read it, and the reason for the first withheld part,
    empty if there is none. A reply without text has no buttons."""
    filtered = filter_response(reply.markdown, audience)
    if filtered.blocked:
        return replace(reply, markdown=filtered.text, buttons=()), filtered.reason
    buttons, reason = screened_buttons(reply.buttons, audience)
    return (replace(reply, buttons=buttons) if reason else reply), reason


def screened_buttons(
    buttons: Sequence[Button], audience: Audience
) -> tuple[tuple[Button, ...], str]:
    """Return the buttons with texts that this audience may read, and the reason for a withheld one,
    empty if there is none."""
    reason, kept = "", []
    for button in buttons:
        filtered = filter_response(f"{button.label}\n{button.description}", audience)
        reason = reason or (filtered.reason if filtered.blocked else "")
        if not filtered.blocked:
            kept.append(button)
    return tuple(kept), reason


async def screened_reply(turn: TurnContext, reply: Reply, services: Services) -> Reply:
    """Return the reply of a command for its audience; a withheld part is audited."""
    shown, reason = screened(reply, turn.place.audience)
    await note_withheld(turn, reason, services)
    return shown


async def screened_beneath(
    turn: TurnContext, answer: str, beneath: Reply, services: Services
) -> Reply:
    """Return the text under an answer for its audience: it holds no secret, also together with the
    answer. The answer does not mention what is withheld."""
    if beneath is NOTHING_SAID:
        return beneath
    audience = turn.place.audience
    shown, reason = screened(beneath, audience)
    if not reason:
        reason = _blocked(f"{answer}\n\n{shown.markdown}" if shown.markdown else "", audience)
    await note_withheld(turn, reason, services)
    return NOTHING_SAID if reason else shown


async def note_withheld(turn: TurnContext, reason: str, services: Services) -> None:
    """Audit a withheld text, if there is a reason."""
    if not reason:
        return
    decision = Decision("response_filter", True, reason, "beside the answer")
    turn.note(decision)
    if turn.principal is not None:
        await audit("answer_withheld", turn, services, decision)


def _blocked(text: str, audience: Audience) -> str:
    filtered = filter_response(text, audience)
    return filtered.reason if filtered.blocked else ""
