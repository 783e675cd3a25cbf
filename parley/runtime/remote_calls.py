"""What workers ask of the process that holds an account's connection, and how it is answered."""

from collections.abc import Awaitable, Callable

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from gateway.errors import Busy, Permanent, Transient
from gateway.message import Attachment, Place
from gateway.outbound.deliverer import Deliverer
from gateway.ports import CanDelete, LiveView
from gateway.ports.connected import Connected

Handler = Callable[[bytes], Awaitable[bytes]]


@dataclass(frozen=True)
class Sign:
    """A message of a place."""

    place: Place
    message_id: str


@dataclass(frozen=True)
class Fetch:
    """A file, and how many bytes of it are wanted at most."""

    attachment: Attachment
    limit: int


@dataclass(frozen=True)
class Reaction:
    """An emoji under a message of a place."""

    place: Place
    message_id: str
    emoji: str


@dataclass(frozen=True)
class Belongs:
    """A person, and the workspace or room that they may be a member of."""

    space: str
    person: str


SIGN: TypeAdapter[Sign] = TypeAdapter(Sign)
FETCH: TypeAdapter[Fetch] = TypeAdapter(Fetch)
REACTION: TypeAdapter[Reaction] = TypeAdapter(Reaction)
BELONGS: TypeAdapter[Belongs] = TypeAdapter(Belongs)
VIEW: TypeAdapter[LiveView] = TypeAdapter(LiveView)


def handlers_of(connected: Connected, deliverer: Deliverer) -> dict[str, Handler]:
    """What is answered for one account, by method."""

    async def fetch(payload: bytes) -> bytes:
        asked = FETCH.validate_json(payload)
        if connected.files is None:
            raise Permanent("this platform gives no files")
        return await connected.files.fetch(asked.attachment, asked.limit)

    async def show_live(payload: bytes) -> bytes:
        return (await shown(VIEW.validate_json(payload), connected, deliverer)).encode()

    async def delete(payload: bytes) -> bytes:
        asked = SIGN.validate_json(payload)
        if not isinstance(connected.adapter, CanDelete):
            raise Permanent("this platform deletes nothing")
        await connected.adapter.delete(asked.place, asked.message_id)
        return b""

    async def is_member(payload: bytes) -> bytes:
        asked = BELONGS.validate_json(payload)
        if connected.members is None:
            raise Permanent("this platform does not tell its members")
        there = await connected.members.is_member(asked.space, asked.person)
        return b"yes" if there else b"no"

    return {
        "fetch": fetch,
        "show_live": show_live,
        "delete": delete,
        "is_member": is_member,
        **sign_handlers(connected, deliverer),
    }


def sign_handlers(connected: Connected, deliverer: Deliverer) -> dict[str, Handler]:
    """Those that show people that something is done."""

    async def typing(payload: bytes) -> bytes:
        asked = SIGN.validate_json(payload)
        line = deliverer.sender_for(asked.place)
        refused = line is not None and line.pacer.penalised(asked.place)
        if connected.typing is not None and not refused:
            await connected.typing.typing(asked.place, asked.message_id)
        return b""

    async def mark_read(payload: bytes) -> bytes:
        asked = SIGN.validate_json(payload)
        if connected.read_marks is not None:
            await connected.read_marks.mark_read(asked.place, asked.message_id)
        return b""

    async def react(payload: bytes) -> bytes:
        asked = REACTION.validate_json(payload)
        if connected.reactions is None:
            raise Permanent("this platform knows no reactions")
        await connected.reactions.react(asked.place, asked.message_id, asked.emoji)
        return b""

    async def unreact(payload: bytes) -> bytes:
        asked = REACTION.validate_json(payload)
        if connected.reactions is None:
            raise Permanent("this platform knows no reactions")
        await connected.reactions.unreact(asked.place, asked.message_id, asked.emoji)
        return b""

    return {"typing": typing, "mark_read": mark_read, "react": react, "unreact": unreact}


async def shown(view: LiveView, connected: Connected, deliverer: Deliverer) -> str:
    """Show a live answer within the send budget, which is kept here for all workers together; the
    handle of what stands there. Raises a `DeliveryError`, `Busy` while there is no room."""
    line, shower = deliverer.sender_for(view.place), connected.live
    style = shower.live_style(view.place) if shower is not None else None
    if line is None or shower is None or style is None:
        raise Permanent("nothing can be shown live there")
    pacer = line.pacer
    if not (line.connected.is_set() and deliverer.quiet(view.place)):
        raise Busy("something else is on its way to this chat")
    if pacer.penalised(view.place) or (style.costs and not pacer.spare(view.place)):
        raise Busy("the chat's send budget is used up")
    try:
        return await shower.show_live(view)
    except Transient as error:
        if error.retry_after is not None:
            pacer.penalise(view.place, error.retry_after, whole_account=error.whole_account)
        raise
