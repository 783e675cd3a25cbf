"""`/catchup`: operators let the messages of a place be kept for people who ask what they missed,
and each person opts out."""

from collections.abc import Sequence
from typing import Final

from gateway.errors import BadInput
from gateway.immutable import replace
from gateway.message import Outbound, Reply
from gateway.people import Audience, Role
from gateway.render import address, render_off_loop, with_commands
from gateway.text import Sentence, Span, Text, joined, text
from gateway.turn.catchup import CatchUp, identities
from gateway.turn.services import Services
from gateway.turn.turn_context import TurnContext

ANNOUNCED: Final = text(
    "From now on I keep the messages of this place for {age}, so that everybody here can ask me "
    "what they missed. Nothing of it is used for anything else. To keep yours out, write "
    "`/catchup out`; `/catchup in` takes that back."
)
ENDED: Final = text("I no longer keep the messages of this place. All that I kept is deleted.")
DONE: Final = text("Done.")
IS_ON: Final = text("I keep the messages of this place for {age}. `/catchup out` keeps yours out.")
IS_OFF: Final = text("I do not keep the messages of this place.")
YOU_ARE_OUT: Final = text("Yours are kept out everywhere, until you write `/catchup in`.")
FOR_OPERATORS: Final = text("Operators write `/catchup on` or `/catchup off`.")
OUT: Final = text(
    "I keep no messages of yours any more, in no place, and I deleted those that I had."
)
IN: Final = text("Your messages may be kept again, in places where I keep messages.")
DEAF: Final = text(
    "Attention: unless I am an administrator of this group, the platform sends me only messages "
    "that are addressed to me, so there is nothing to keep. A setting of my account changes that."
)
NOT_IN_THREAD: Final = text("This works for a whole room, not for a private thread.")
ROOMS_ONLY: Final = text("This works in rooms only. In private I keep our conversation anyway.")
NO_RIGHT: Final = text("Only owners and operators may switch this on or off.")
TOO_MANY: Final = text("Messages are kept in too many places already.")
USAGE: Final = text(
    "Write `/catchup`, `/catchup out` or `/catchup in`; operators also `/catchup on` or "
    "`/catchup off`."
)
UNKNOWN: Final = text("I do not have this command. `/help` shows what I can do.")


async def run_catchup(
    turn: TurnContext, arguments: str, services: Services
) -> tuple[Reply, Sequence[Outbound]]:
    """Run the command; returns the answer, and the announcement to the place. Raises `BadInput`
    with words for the person, and `StoreUnavailable`."""
    catchup = services.catchup
    if catchup is None:
        raise BadInput(UNKNOWN)
    match arguments.strip(" `.").casefold():
        case "":
            return Reply(await _status(turn, catchup)), ()
        case "on":
            return await _switch_on(turn, catchup)
        case "off":
            return await _switch_off(turn, catchup)
        case "out":
            persons = await _human(turn, services)
            await catchup.opt_out(turn.asker.who.tenant, persons)
            return Reply(OUT), ()
        case "in":
            persons = await _human(turn, services)
            await catchup.store.opt_in(turn.asker.who.tenant, persons)
            return Reply(IN), ()
    raise BadInput(USAGE)


async def _human(turn: TurnContext, services: Services) -> tuple[str, ...]:
    """Return every identity of the person who writes, also linked ones."""
    linked = await services.memory.linked(turn.asker.who)
    own = identities(turn.place, turn.asked.last.author)
    return tuple(dict.fromkeys((turn.asker.person, *own, *map(str, linked))))


async def _status(turn: TurnContext, catchup: CatchUp) -> Text:
    lines: list[Text] = []
    if turn.place.audience is not Audience.DIRECT:
        on = await catchup.is_on(str(turn.key.room))
        lines.append(IS_ON.of(age=_age(catchup)) if on else IS_OFF)
    own = identities(turn.place, turn.asked.last.author)
    if await catchup.store.opted_out(turn.asker.who.tenant, (turn.asker.person, *own)):
        lines.append(YOU_ARE_OUT)
    if turn.asker.who.role.at_least(Role.OPERATOR):
        lines.append(FOR_OPERATORS)
    return joined(lines or [USAGE], " ")


async def _switch_on(turn: TurnContext, catchup: CatchUp) -> tuple[Reply, Sequence[Outbound]]:
    _check(turn)
    overhears = turn.connected.overhears
    deaf = overhears is not None and not overhears.overhears()
    done = await catchup.switch_on(turn.key, turn.asker.person)
    if done is None:
        raise BadInput(TOO_MANY)
    if not done:
        return Reply(IS_ON.of(age=_age(catchup))), ()
    said = joined((DONE, DEAF), " ") if deaf else DONE
    return Reply(said), await _announcement(turn, ANNOUNCED.of(age=_age(catchup)))


async def _switch_off(turn: TurnContext, catchup: CatchUp) -> tuple[Reply, Sequence[Outbound]]:
    _check(turn)
    if not await catchup.switch_off(turn.key):
        return Reply(IS_OFF), ()
    return Reply(DONE), await _announcement(turn, ENDED)


def _check(turn: TurnContext) -> None:
    """Raise `BadInput` if this person may not switch here."""
    if turn.place.audience is Audience.DIRECT:
        raise BadInput(ROOMS_ONLY)
    if turn.place.closed_thread:
        raise BadInput(NOT_IN_THREAD)
    if not turn.asker.who.role.at_least(Role.OPERATOR):
        raise BadInput(NO_RIGHT)


def _age(catchup: CatchUp) -> Span:
    return Span(catchup.rules.keep.total_seconds())


async def _announcement(turn: TurnContext, said: Text | Sentence) -> tuple[Outbound, ...]:
    """Return the message to everybody in the room, outside of threads."""
    room = replace(turn.place, thread_id="")
    reply = Reply(said).shown(turn.language_of())
    markdown = with_commands(reply.markdown, turn.connected.manifest.capabilities)
    parts = await render_off_loop(markdown, turn.connected.renderer)
    return address(f"{turn.id}:room", room, parts, reply)
