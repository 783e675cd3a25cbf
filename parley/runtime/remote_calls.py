"""The calls from workers to the process with an account's connection, and their handlers."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from gateway.connected_account import ConnectedAccount
from gateway.errors import Busy, Permanent, Transient
from gateway.message import Attachment, Place
from gateway.outbound.deliverer import Deliverer
from gateway.ports import CanDelete, LiveView

Handler = Callable[[bytes], Awaitable[bytes]]
T = TypeVar("T")


@dataclass(frozen=True)
class Sign:
    """A message in a place."""

    place: Place
    message_id: str


@dataclass(frozen=True)
class Fetch:
    """A file, and the maximum of bytes."""

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


def handlers_of(connected: ConnectedAccount, deliverer: Deliverer) -> dict[str, Handler]:
    """The handlers of one account, by method."""
    adapter = connected.adapter

    async def typing(call: Sign) -> None:
        sender = deliverer.sender_for(call.place)
        refused = sender is not None and sender.pacer.penalised(call.place)
        if connected.typing is not None and not refused:
            await connected.typing.typing(call.place, call.message_id)

    async def mark_read(call: Sign) -> None:
        if connected.read_marks is not None:
            await connected.read_marks.mark_read(call.place, call.message_id)

    async def delete(call: Sign) -> None:
        deletes = adapter if isinstance(adapter, CanDelete) else None
        await _required(deletes, "deletion").delete(call.place, call.message_id)

    async def react(call: Reaction) -> None:
        reactions = _required(connected.reactions, "reactions")
        await reactions.react(call.place, call.message_id, call.emoji)

    async def unreact(call: Reaction) -> None:
        reactions = _required(connected.reactions, "reactions")
        await reactions.unreact(call.place, call.message_id, call.emoji)

    async def fetch(call: Fetch) -> bytes:
        return await _required(connected.files, "files").fetch(call.attachment, call.limit)

    async def is_member(call: Belongs) -> bytes:
        members = _required(connected.members, "list of members")
        return b"yes" if await members.is_member(call.space, call.person) else b"no"

    async def show_live(view: LiveView) -> bytes:
        return (await shown(view, connected, deliverer)).encode()

    return {
        "typing": _handler(SIGN, typing),
        "mark_read": _handler(SIGN, mark_read),
        "delete": _handler(SIGN, delete),
        "react": _handler(REACTION, react),
        "unreact": _handler(REACTION, unreact),
        "fetch": _handler(FETCH, fetch),
        "is_member": _handler(BELONGS, is_member),
        "show_live": _handler(VIEW, show_live),
    }


def _handler(
    payload_type: TypeAdapter[T], perform: Callable[[T], Awaitable[bytes | None]]
) -> Handler:
    async def handle(payload: bytes) -> bytes:
        return await perform(payload_type.validate_json(payload)) or b""

    return handle


def _required(ability: T | None, name: str) -> T:
    if ability is None:
        raise Permanent(f"this platform has no {name}")
    return ability


async def shown(view: LiveView, connected: ConnectedAccount, deliverer: Deliverer) -> str:
    """Show a live answer within the send budget, which this process keeps for all workers; returns
    its handle. Raises a `DeliveryError`, `Busy` while the budget is used up."""
    sender, shower = deliverer.sender_for(view.place), connected.live
    style = shower.live_style(view.place) if shower is not None else None
    if sender is None or shower is None or style is None:
        raise Permanent("this chat cannot show live answers")
    pacer = sender.pacer
    if not (sender.connected.is_set() and deliverer.quiet(view.place)):
        raise Busy("another message is being sent to this chat")
    if pacer.penalised(view.place) or (style.costs and not pacer.spare(view.place)):
        raise Busy("the chat's send budget is used up")
    try:
        return await shower.show_live(view)
    except Transient as error:
        if error.retry_after is not None:
            pacer.penalise(view.place, error.retry_after, whole_account=error.whole_account)
        raise
