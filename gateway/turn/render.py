"""Applies the response filter, and converts Markdown to sends for the platform.

A stored answer is what people saw: it may end with a sentence of the program, such as that it was
cut. The model does not get these sentences back as its own words, because it would imitate them.
"""

import re
from collections.abc import Sequence
from typing import Final, get_args

from gateway.immutable import replace
from gateway.message import (
    NOTHING_SHOWN,
    Button,
    Choice,
    Outbound,
    OutboundFile,
    ShownReply,
    button_in,
    image_mime,
)
from gateway.outbound.live.answer import BROKEN, HELD, STOPPED
from gateway.people import Audience
from gateway.policy.decision import Decision
from gateway.policy.persona import FIRST_CONTACT
from gateway.policy.response_filter import REPLACEMENT, FilterDecision, filter_response
from gateway.render import address, render_off_loop, with_commands
from gateway.text import Language, Text, label, text, verbatim
from gateway.turn import confirmations
from gateway.turn.audit import audit
from gateway.turn.confirmations import PendingConfirmation
from gateway.turn.context.task import ProposedTask
from gateway.turn.disclosure import A_PROGRAM
from gateway.turn.memory import says_forgetful
from gateway.turn.model_turn import NO_ANSWER, Outcome, closing
from gateway.turn.one_line import in_one_line
from gateway.turn.services import Services
from gateway.turn.turn_context import TurnContext
from gateway.turn.typed_answers import typed_under_answer
from gateway.turn.voice import lead_of, voice_problems

MAX_PARTS = 60
"""Maximum parts of one answer: the longest answer of a model on the platform with the smallest
messages."""
WITHOUT_MEMORY: Final = text(
    "_(I could not read my memory for this answer. If it depends on that, ask again in a minute.)_"
)
OUTDATED: Final = text(
    "_(This answer is to your message before you edited it. Ask me again if you want an answer to "
    "the new text.)_"
)
LEFT_OUT: Final = text(
    "_(The rest of this answer is too long to be sent. Ask me for it in smaller parts.)_"
)


async def render_answer(turn: TurnContext, services: Services) -> Decision:
    """Render the answer and its footer for the platform, split them, and address every part."""
    renderer = turn.connected.renderer
    await typed_under_answer(turn, services)
    # An answer of markup only renders to nothing; a missing answer would look like a failure.
    shown, led = turn.language_of().shown, lead_of(turn)
    lead = f"{led}\n\n" if led else ""
    no_answer = shown(NO_ANSWER)
    parts = await render_off_loop(turn.answer.text or no_answer, renderer)
    if lead or not parts:
        answer = turn.answer.text if parts else no_answer
        parts = await render_off_loop(f"{lead}{answer or no_answer}", renderer)
    if await says_forgetful(turn):
        turn.answer.beneath = with_line(turn.answer.beneath, shown(WITHOUT_MEMORY))
    for problem in voice_problems(turn, services.speech):
        turn.answer.beneath = with_line(turn.answer.beneath, shown(problem))
    if turn.answer.unspoken is not None:
        turn.answer.beneath = with_line(turn.answer.beneath, shown(turn.answer.unspoken))
    if turn.attempt.outdated:
        turn.answer.beneath = with_line(turn.answer.beneath, shown(OUTDATED))
    if await is_first_contact(turn, services):
        turn.answer.beneath = with_line(turn.answer.beneath, shown(A_PROGRAM))
    beneath = await screened_beneath(turn, turn.answer.text, beneath_answer(turn), services)
    if beneath.markdown:
        noted = f"{lead}{turn.answer.text or no_answer}\n\n{beneath.markdown}"
        parts = await render_off_loop(noted, renderer)
    detail = f"{len(parts)} part{'s' * (len(parts) != 1)}"
    if len(parts) > MAX_PARTS:
        parts = [*parts[: MAX_PARTS - 1], *await render_off_loop(shown(LEFT_OUT), renderer)]
        detail = f"the first {MAX_PARTS - 1} of {detail}"
    spoken = () if turn.answer.spoken is None else (turn.answer.spoken,)
    turn.outbound = address(
        turn.id,
        turn.place,
        parts,
        ShownReply(turn.answer.text, beneath.buttons, (*spoken, *turn.answer.files)),
        reply_to_id=turn.asked.reply_to_id,
        reply_handle=turn.asked.reply_handle,
        person=turn.asker.person,
    )
    turn.outbound += await ephemeral_footer(turn, services)
    return Decision("render", True, turn.connected.manifest.platform, detail)


async def is_first_contact(turn: TurnContext, services: Services) -> bool:
    """Return True if the answer of a turn has to say that a program writes. Raises
    `StoreUnavailable`."""
    if turn.policies.assistant.disclosure != FIRST_CONTACT:
        return False
    author, who = turn.asked.last.author, turn.asker.principal
    if who is None or author.is_bot or author.is_chat or turn.refused or turn.forgets:
        return False
    room = str(turn.key.room)
    return await services.disclosure.is_due(who.tenant, turn.asker.person, room, turn.id)


def with_line(reply: ShownReply, line: str) -> ShownReply:
    """Return the text under an answer with one more line."""
    if line in reply.markdown:  # the stage is repeated after an outage
        return reply
    return replace(reply, markdown=f"{reply.markdown}\n{line}" if reply.markdown else line)


def beneath_answer(turn: TurnContext) -> ShownReply:
    """Return the text under the answer: in private all of it, in a room the part for everybody."""
    if turn.place.audience is not Audience.DIRECT:
        return turn.answer.beneath
    note, beneath = footer_shown(turn), turn.answer.beneath
    if note is NOTHING_SHOWN:
        return beneath
    text = "\n".join(filter(None, (note.markdown, beneath.markdown)))
    return ShownReply(text, (*note.buttons, *beneath.buttons))


async def ephemeral_footer(turn: TurnContext, services: Services) -> tuple[Outbound, ...]:
    """Return the footer in a channel, as sends that the author alone reads; empty if the platform
    cannot show a message to one person."""
    room = turn.place.audience is not Audience.DIRECT
    if not (room and turn.connected.manifest.capabilities.ephemeral):
        return ()
    note = await screened_beneath(turn, "", footer_shown(turn), services)
    if not note.markdown:
        return ()
    return address(
        f"{turn.id}:note",
        turn.place,
        await render_off_loop(note.markdown, turn.connected.renderer),
        replace(note, private_to=turn.asked.last.author.id),
        reply_handle=turn.asked.reply_handle,
        person=turn.asker.person,
    )


def footer_shown(turn: TurnContext) -> ShownReply:
    """Return the footer as a reply."""
    after = turn.answer.footer
    if not (after.note or after.buttons):
        return NOTHING_SHOWN
    return ShownReply(after.note, after.buttons)


SET: Final = text("Task set: “{task}” · `/task end` ends it")
ENDED: Final = text("Task ended · `/task …` sets a new one")
ASKED: Final = text(
    "Set this task? “{task}” I would see it with every question in this conversation, until "
    "`/task end`."
)
TYPED: Final = text("No task is set yet. To set this task, write `/task` and the text: “{task}”")
SET_TASK: Final = label("Set task")
NO_TASK: Final = label("No task")


async def settle_task(turn: TurnContext, services: Services) -> Decision:
    """Set the task that the model noted in the person's own words, or ask about it."""
    noted = turn.generation.tasks.noted if turn.generation.tasks is not None else None
    if noted is None or not turn.generation.answered:
        return Decision("task", True, "none")
    settled = _set_task if noted.stated else _confirm_task
    return await settled(noted, turn, services)


async def _set_task(noted: ProposedTask, turn: TurnContext, services: Services) -> Decision:
    task = noted.task if noted.task.text else None
    await services.stores.notes.set_task(turn.key, task, services.clock.now())
    said = SET.of(task=verbatim(in_one_line(noted.task.text))) if task else ENDED
    _put_beneath(turn, said)
    return Decision("task", True, "set" if task else "ended")


async def _confirm_task(noted: ProposedTask, turn: TurnContext, services: Services) -> Decision:
    line = verbatim(in_one_line(noted.task.text))
    yes_and_no = confirmations.buttons(turn.id, SET_TASK, NO_TASK)
    direct = turn.place.audience is Audience.DIRECT
    taken = len(yes_and_no) + (len(turn.answer.footer.buttons) if direct else 0)
    if taken > turn.connected.manifest.capabilities.max_buttons:
        _put_beneath(turn, TYPED.of(task=line))
        return Decision("task", True, "left_to_type")
    task = noted.task
    confirmation = PendingConfirmation(
        "task", turn.asker.person, turn.key, task.text, task.name, task.message_id
    )
    await confirmations.remember(services, turn.id, confirmation)
    _put_beneath(turn, ASKED.of(task=line), yes_and_no)
    return Decision("task", True, "asked")


def _put_beneath(turn: TurnContext, line: Text, buttons: tuple[Choice, ...] = ()) -> None:
    language = turn.language_of()
    shown = tuple(button_in(language, one) for one in buttons)
    turn.answer.beneath = ShownReply(f"_{language.shown(line)}_", shown)


async def filter_answer(turn: TurnContext, services: Services) -> Decision:
    """Remove possible secrets from answers in public rooms, also those that rendering shows."""
    filtered = await _filtered(turn, turn.answer.text)
    decision = Decision("response_filter", True, filtered.reason)
    if filtered.blocked:
        await audit("answer_withheld", turn, services, decision)
        turn.answer.closing = REPLACEMENT
        turn.answer.text = turn.language_of().shown(REPLACEMENT)
        turn.answer.files = ()
    withheld = [file for file in turn.answer.files if _may_hold_secret(file, turn.place.audience)]
    if withheld:
        turn.answer.files = tuple(each for each in turn.answer.files if each not in withheld)
        await note_withheld(turn, "file", services)
    return decision


def _may_hold_secret(file: OutboundFile, audience: Audience) -> bool:
    """Return True for a text with a possible secret, in front of an audience that may not read
    it."""
    if image_mime(file.data):
        return False
    return filter_response(file.data.decode("utf-8", "replace"), audience).blocked


async def _filtered(turn: TurnContext, markdown: str) -> FilterDecision:
    """Return the decision about a text as it is, and as the platform shows it: rendering can join
    what stands apart in its source."""
    audience = turn.place.audience
    filtered = filter_response(markdown, audience)
    if filtered.blocked or audience is not Audience.PUBLIC_ROOM or not markdown:
        return filtered
    parts = await render_off_loop(markdown, turn.connected.renderer)
    seen = filter_response("".join(part.text for part in parts), audience)
    return seen if seen.blocked else filtered


def screened(reply: ShownReply, audience: Audience, language: Language) -> tuple[ShownReply, str]:
    """Return the reply as this audience may read it in its language, and the reason for the first
    withheld part, empty if there is none. A reply without text has no buttons."""
    filtered = filter_response(reply.markdown, audience)
    if filtered.blocked:
        return replace(reply, markdown=language.shown(REPLACEMENT), buttons=()), filtered.reason
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


async def screened_reply(turn: TurnContext, reply: ShownReply, services: Services) -> ShownReply:
    """Return the reply of a command for its audience; a withheld part is audited."""
    language = turn.language_of(alone=bool(reply.private_to))
    shown, reason = screened(reply, turn.place.audience, language)
    if not reason and (seen := await _filtered(turn, shown.markdown)).blocked:
        shown = replace(reply, markdown=language.shown(REPLACEMENT), buttons=())
        reason = seen.reason
    await note_withheld(turn, reason, services)
    return shown


async def screened_beneath(
    turn: TurnContext, answer: str, beneath: ShownReply, services: Services
) -> ShownReply:
    """Return the text under an answer for its audience: it holds no secret, also together with the
    answer. The answer does not mention what is withheld."""
    if beneath is NOTHING_SHOWN:
        return beneath
    audience = turn.place.audience
    shown, reason = screened(beneath, audience, turn.language_of())
    if not reason:
        whole = f"{answer}\n\n{shown.markdown}" if shown.markdown else ""
        filtered = await _filtered(turn, whole)
        reason = filtered.reason if filtered.blocked else ""
    await note_withheld(turn, reason, services)
    if reason:
        return NOTHING_SHOWN
    markdown = with_commands(shown.markdown, turn.connected.manifest.capabilities)
    return replace(shown, markdown=markdown)


async def note_withheld(turn: TurnContext, reason: str, services: Services) -> None:
    """Audit a withheld text, if there is a reason."""
    if not reason:
        return
    decision = Decision("response_filter", True, reason, "beside the answer")
    turn.note(decision)
    if turn.asker.principal is not None:
        await audit("answer_withheld", turn, services, decision)


MOST_NOTES: Final = 5
"""The sentences of the program at the end of one answer that are removed at most."""
_ALONE: Final = frozenset({"I can't help with that.", "Stopped."})
"""Sentences that the model may use too: they are the program's only if they are the whole answer.
The first one is of earlier versions."""
_REFERENCE: Final = re.compile(r" \(Reference for the operator: [^()]{1,200}\)\Z")
_CLOSINGS: Final = {
    closing(outcome, has_text).english
    for outcome in get_args(Outcome)
    for has_text in (True, False)
}
_NOTICES: Final = (NO_ANSWER, BROKEN, HELD, STOPPED, LEFT_OUT, WITHOUT_MEMORY)
_NOTES: Final = tuple(
    sorted(
        {*_CLOSINGS, *(one.english for one in _NOTICES)} - {"", *_ALONE},
        key=len,
        reverse=True,
    )
)


def words_of_model(answer: str) -> str:
    """Return a stored answer without the program's sentences at its end; "" if it has no other
    words."""
    text = answer.rstrip()
    for _ in range(MOST_NOTES):
        told = _REFERENCE.sub("", text)
        if not told.endswith(_NOTES):
            break
        note = next(each for each in _NOTES if told.endswith(each))
        text = told.removesuffix(note).rstrip()
    return "" if text in _ALONE else text
