"""From the model's Markdown to sends that the platform takes."""

from dataclasses import replace

from gateway.commands.typed_answers import typed_under_answer
from gateway.exchange import Exchange
from gateway.message import NOTHING_SAID, Button, Outbound, OutboundFile, Part, Place, Reply
from gateway.people import Audience
from gateway.policy.decision import Decision
from gateway.policy.response_filter import filter_response
from gateway.render import render_off_loop
from gateway.services import Services
from gateway.stages.screening import screened_beneath
from gateway.stages.tasking import settle_task
from gateway.turn.audit import audit
from gateway.turn.sentences import NO_ANSWER

MAX_PARTS = 60
"""Parts of one answer: what the longest answer of a model needs on the narrowest platform."""
LEFT_OUT = "_(The rest of this answer is too long to be sent. Ask me for it in smaller parts.)_"


async def filter_answer(exchange: Exchange, services: Services) -> Decision:
    """Nothing that looks like a secret goes into a public room."""
    filtered = filter_response(exchange.answer, exchange.place.audience)
    decision = Decision("response_filter", True, filtered.reason)
    if filtered.blocked:
        await audit("answer_withheld", exchange, services, decision)
    exchange.answer = filtered.text
    return decision


async def render_answer(exchange: Exchange, services: Services) -> Decision:
    """Settle the task that stands beneath the answer, render for the platform, split there, and
    address every part."""
    await settle_task(exchange, services)
    renderer = exchange.connected.renderer
    await typed_under_answer(exchange, services)
    # An answer of nothing but markup renders to nothing; silence would be taken for a failure.
    parts = await render_off_loop(exchange.answer or NO_ANSWER, renderer)
    parts = parts or await render_off_loop(NO_ANSWER, renderer)
    beneath = await screened_beneath(exchange, exchange.answer, beneath_answer(exchange), services)
    if beneath.markdown:
        noted = f"{exchange.answer or NO_ANSWER}\n\n{beneath.markdown}"
        parts = await render_off_loop(noted, renderer)
    detail = f"{len(parts)} part{'s' * (len(parts) != 1)}"
    if len(parts) > MAX_PARTS:
        parts = [*parts[: MAX_PARTS - 1], *await render_off_loop(LEFT_OUT, renderer)]
        detail = f"the first {MAX_PARTS - 1} of {detail}"
    exchange.outbound = address(
        exchange.id,
        exchange.place,
        parts,
        Reply(exchange.answer, beneath.buttons),
        reply_to_id=exchange.last.id if exchange.kind == "message" else "",
        reply_handle=exchange.reply_handle,
        person=str(exchange.who.person),
    )
    exchange.outbound += await said_alone(exchange, services)
    return Decision("render", True, exchange.connected.manifest.platform, detail)


def beneath_answer(exchange: Exchange) -> Reply:
    """What stands under the answer: in private all there is, elsewhere what everybody may read."""
    if exchange.place.audience is not Audience.DIRECT:
        return exchange.beneath
    note, beneath = aftermath_shown(exchange), exchange.beneath
    if note is NOTHING_SAID:
        return beneath
    text = "\n".join(filter(None, (note.markdown, beneath.markdown)))
    return Reply(text, (*note.buttons, *beneath.buttons))


async def said_alone(exchange: Exchange, services: Services) -> tuple[Outbound, ...]:
    """What memory says of the author in a channel, as sends that the author alone reads; nothing
    where the platform can show nothing to one person."""
    room = exchange.place.audience is not Audience.DIRECT
    if not (room and exchange.connected.manifest.capabilities.ephemeral):
        return ()
    note = await screened_beneath(exchange, "", aftermath_shown(exchange), services)
    if not note.markdown:
        return ()
    return address(
        f"{exchange.id}:note",
        exchange.place,
        await render_off_loop(note.markdown, exchange.connected.renderer),
        replace(note, private_to=exchange.last.author.id),
        reply_handle=exchange.reply_handle,
        person=str(exchange.who.person),
    )


def aftermath_shown(exchange: Exchange) -> Reply:
    """What memory says under the answer."""
    after = exchange.aftermath
    return Reply(after.note, after.buttons) if after.note or after.buttons else NOTHING_SAID


def address(
    reply_id: str,
    place: Place,
    parts: list[Part],
    reply: Reply,
    *,
    reply_to_id: str = "",
    reply_handle: str = "",
    person: str = "",
) -> tuple[Outbound, ...]:
    """The sends of one reply, in order: the parts, the last one with the buttons, then the files.

    Keys are "<reply>:<index>", the same whenever the same reply is addressed again.
    """
    pieces: list[tuple[Part | None, OutboundFile | None]] = [(part, None) for part in parts]
    pieces += [(None, file) for file in reply.files]
    buttons: tuple[Button, ...] = reply.buttons
    return tuple(
        Outbound(
            key=f"{reply_id}:{index}",
            place=place,
            part=part,
            file=file,
            buttons=buttons if index == len(parts) - 1 else (),
            buttons_until=reply.buttons_until if index == len(parts) - 1 else None,
            reply_to_id=reply_to_id if index == 0 else "",
            private_to=reply.private_to,
            reply_handle=reply_handle,
            person=person,
        )
        for index, (part, file) in enumerate(pieces)
    )
