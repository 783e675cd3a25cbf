"""An account that another process is connected to. Through it a worker shows typing and live
answers, fetches files and reads threads.

The process with the connection serves these calls (`parley/runtime/remote_adapter.py`). Sends,
including the final answer, go through the outbox instead.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import TypeVar

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from db.errors import StoreUnavailable
from gateway.errors import Busy, Permanent, Transient
from gateway.message import Attachment, Outbound, Place, Receipt
from gateway.outbound.deliverer import Deliverer
from gateway.outbound.live.answer import LAST_WAIT, has_ended, store_handle
from gateway.outbound.live.final import take_away
from gateway.platforms import ConnectedAccount, renderer_of
from gateway.ports import (
    AdapterManifest,
    AdapterState,
    CanCheckMembership,
    CanClearButtons,
    CanDelete,
    CanFetchFiles,
    CanMarkRead,
    CanReact,
    CanReadThread,
    CanShowEnd,
    CanTellReach,
    CanType,
    Capabilities,
    EventSink,
    LiveStyle,
    LiveView,
    PlatformAdapter,
    PlatformReach,
    ThreadMessages,
)
from gateway.stores.redis.rpc import RemoteFailure, RpcClient

Handler = Callable[[bytes], Awaitable[bytes]]
T = TypeVar("T")


@dataclass(frozen=True)
class Sign:
    """A message in a place."""

    place: Place
    message_id: str


@dataclass(frozen=True)
class Ended:
    """Messages of a place for which nobody waits any more."""

    place: Place
    message_ids: tuple[str, ...]


@dataclass(frozen=True)
class FetchCall:
    """A file, and the maximum of bytes."""

    attachment: Attachment
    limit: int


@dataclass(frozen=True)
class ReactionCall:
    """An emoji under a message of a place."""

    place: Place
    message_id: str
    emoji: str


@dataclass(frozen=True)
class Belongs:
    """A person, and the workspace or room that they may be a member of."""

    space: str
    person: str


@dataclass(frozen=True)
class ReachedAt:
    """The direct conversation of a person who did not write just now."""

    place: Place


@dataclass(frozen=True)
class ThreadBefore:
    """The thread of a place before a message, for a person; at most so many messages."""

    place: Place
    person: str
    before: str
    most: int


SIGN: TypeAdapter[Sign] = TypeAdapter(Sign)
ENDED_CALL: TypeAdapter[Ended] = TypeAdapter(Ended)
FETCH: TypeAdapter[FetchCall] = TypeAdapter(FetchCall)
REACTION: TypeAdapter[ReactionCall] = TypeAdapter(ReactionCall)
BELONGS: TypeAdapter[Belongs] = TypeAdapter(Belongs)
REACHED_AT: TypeAdapter[ReachedAt] = TypeAdapter(ReachedAt)
REACH: TypeAdapter[PlatformReach] = TypeAdapter(PlatformReach)
THREAD_BEFORE: TypeAdapter[ThreadBefore] = TypeAdapter(ThreadBefore)
THREAD: TypeAdapter[ThreadMessages] = TypeAdapter(ThreadMessages)
VIEW: TypeAdapter[LiveView] = TypeAdapter(LiveView)


def handlers_of(
    connected: ConnectedAccount, deliverer: Deliverer, state: AdapterState
) -> dict[str, Handler]:
    """The handlers of one account with its `state`, by method."""
    adapter = connected.adapter

    async def delete(call: Sign) -> None:
        deletes = adapter if isinstance(adapter, CanDelete) else None
        await _required(deletes, "deletion").delete(call.place, call.message_id)

    async def react(call: ReactionCall) -> None:
        reactions = _required(connected.reactions, "reactions")
        await reactions.react(call.place, call.message_id, call.emoji)

    async def unreact(call: ReactionCall) -> None:
        reactions = _required(connected.reactions, "reactions")
        await reactions.unreact(call.place, call.message_id, call.emoji)

    async def fetch(call: FetchCall) -> bytes:
        return await _required(connected.files, "files").fetch(call.attachment, call.limit)

    async def is_member(call: Belongs) -> bytes:
        members = _required(connected.members, "list of members")
        return b"yes" if await members.is_member(call.space, call.person) else b"no"

    async def reach(call: ReachedAt) -> bytes:
        reaches = _required(connected.reaches, "limit of what it takes")
        return REACH.dump_json(await reaches.reach(call.place))

    async def read_thread(call: ThreadBefore) -> bytes:
        threads = _required(connected.threads, "threads that can be read")
        read = await threads.read_thread(call.place, call.person, call.before, call.most)
        return THREAD.dump_json(read)

    async def show_live(view: LiveView) -> bytes:
        return (await shown(view, connected, deliverer, state)).encode()

    return _signs(connected, deliverer) | {
        "delete": _handler(SIGN, delete),
        "react": _handler(REACTION, react),
        "unreact": _handler(REACTION, unreact),
        "fetch": _handler(FETCH, fetch),
        "is_member": _handler(BELONGS, is_member),
        "reach": _handler(REACHED_AT, reach),
        "read_thread": _handler(THREAD_BEFORE, read_thread),
        "show_live": _handler(VIEW, show_live),
    }


def _signs(connected: ConnectedAccount, deliverer: Deliverer) -> dict[str, Handler]:
    async def typing(call: Sign) -> None:
        sender = deliverer.sender_for(call.place)
        refused = sender is not None and sender.pacer.penalised(call.place)
        if connected.typing is not None and not refused:
            await connected.typing.typing(call.place, call.message_id)

    async def ended(call: Ended) -> None:
        if connected.ends is not None:
            await connected.ends.ended(call.place, call.message_ids)

    async def mark_read(call: Sign) -> None:
        if connected.read_marks is not None:
            await connected.read_marks.mark_read(call.place, call.message_id)

    return {
        "typing": _handler(SIGN, typing),
        "ended": _handler(ENDED_CALL, ended),
        "mark_read": _handler(SIGN, mark_read),
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


async def shown(
    view: LiveView, connected: ConnectedAccount, deliverer: Deliverer, state: AdapterState
) -> str:
    """Show a live answer within the send budget, which this process keeps for all workers; returns
    its handle. A new handle is stored here already: if the worker is killed before it receives the
    handle, the next worker edits the same message.

    Raises a `DeliveryError`, `Busy` while the budget is used up."""
    sender, shower = deliverer.sender_for(view.place), connected.live
    style = shower.live_style(view.place) if shower is not None else None
    if sender is None or shower is None or style is None:
        raise Permanent("this chat cannot show live answers")
    pacer, posts = sender.pacer, not (view.handle or style.fades)
    if posts and await has_ended(state, view.key):
        raise Permanent(SENT_ALREADY)  # the worker that asked for this was killed
    if not (sender.connected.is_set() and deliverer.quiet(view.place)):
        raise Busy("another message is being sent to this chat")
    if pacer.penalised(view.place) or (style.costs and not pacer.spare(view.place)):
        raise Busy("the chat's send budget is used up")
    try:
        handle = await shower.show_live(view)
    except Transient as error:
        if error.retry_after is not None:
            pacer.penalise(view.place, error.retry_after, whole_account=error.whole_account)
        raise
    if handle and posts:
        await _keep(handle, view, adapter=connected.adapter, state=state)
    return handle


async def _keep(
    handle: str, view: LiveView, *, adapter: PlatformAdapter, state: AdapterState
) -> None:
    """Store the handle of a first live message. If the answer was sent while the platform took the
    message, delete it, because its worker may be gone."""
    with contextlib.suppress(StoreUnavailable):
        if await has_ended(state, view.key):
            await take_away(adapter, view.place, handle)
            raise Permanent(SENT_ALREADY)
    await store_handle(state, view.key, handle)


SENT_ALREADY = "this answer was sent already"
SIGN_SECONDS = 5.0
FETCH_SECONDS = 30.0
FIRST_SECONDS = 30.0
"""Time limit for a live message to appear. A late message is deleted again, and that needs its
handle."""
CHANGE_SECONDS = LAST_WAIT
"""Time limit for a change of a live message: the final answer waits no longer, and must come
last."""


class RemoteAdapter:
    """Implements `PlatformAdapter` in a worker, as far as workers need it."""

    def __init__(self, manifest: AdapterManifest, account: str, calls: RpcClient) -> None:
        self._manifest = manifest
        self._account = account
        self._calls = calls
        self._closed = asyncio.Event()

    @property
    def platform(self) -> str:
        """The platform's name."""
        return self._manifest.platform

    @property
    def account(self) -> str:
        """The account's name."""
        return self._account

    @property
    def capabilities(self) -> Capabilities:
        """The platform's capabilities."""
        return self._manifest.capabilities

    async def connect(self, sink: EventSink) -> None:
        """Do nothing: another process holds the connection."""
        self._closed.clear()

    async def wait_closed(self) -> None:
        """Return after `disconnect`. The other process handles a lost connection."""
        await self._closed.wait()

    async def disconnect(self) -> None:
        """Let `wait_closed` return: there is no connection to close."""
        self._closed.set()

    async def send(self, outbound: Outbound) -> Receipt:
        """Always raises `Permanent`: a worker's sends go through the outbox."""
        raise Permanent("a worker does not send messages itself")

    async def typing(self, place: Place, message_id: str) -> None:
        """Show that an answer is being written."""
        await self._calls.call("typing", SIGN.dump_json(Sign(place, message_id)), SIGN_SECONDS)

    async def ended(self, place: Place, message_ids: tuple[str, ...]) -> None:
        """Show that nobody waits for these messages any more."""
        await self._calls.call(
            "ended", ENDED_CALL.dump_json(Ended(place, message_ids)), SIGN_SECONDS
        )

    async def mark_read(self, place: Place, message_id: str) -> None:
        """Show that a message was read."""
        await self._calls.call("mark_read", SIGN.dump_json(Sign(place, message_id)), SIGN_SECONDS)

    async def fetch(self, attachment: Attachment, limit: int) -> bytes:
        """The bytes of an attachment."""
        payload = FETCH.dump_json(FetchCall(attachment, limit))
        return await self._calls.call("fetch", payload, FETCH_SECONDS)

    async def react(self, place: Place, message_id: str, emoji: str) -> None:
        """Add a reaction. Raises a `DeliveryError`."""
        payload = REACTION.dump_json(ReactionCall(place, message_id, emoji))
        await self._deliver("react", payload, SIGN_SECONDS)

    async def unreact(self, place: Place, message_id: str, emoji: str) -> None:
        """Remove the assistant's reaction. Raises a `DeliveryError`."""
        payload = REACTION.dump_json(ReactionCall(place, message_id, emoji))
        await self._deliver("unreact", payload, SIGN_SECONDS)

    async def delete(self, place: Place, message_id: str) -> None:
        """Delete a message of the assistant. Raises a `DeliveryError`."""
        await self._deliver("delete", SIGN.dump_json(Sign(place, message_id)), FIRST_SECONDS)

    async def is_member(self, space: str, person: str) -> bool:
        """True when a person belongs to a workspace or room. Raises a `DeliveryError`."""
        payload = BELONGS.dump_json(Belongs(space, person))
        return await self._deliver("is_member", payload, SIGN_SECONDS) == b"yes"

    async def reach(self, place: Place) -> PlatformReach:
        """The messages that the platform takes now. Raises a `DeliveryError`."""
        payload = REACHED_AT.dump_json(ReachedAt(place))
        return REACH.validate_json(await self._deliver("reach", payload, SIGN_SECONDS))

    async def read_thread(
        self, place: Place, person: str, before: str, most: int
    ) -> ThreadMessages:
        """The messages of a thread before a message. Raises a `DeliveryError`."""
        payload = THREAD_BEFORE.dump_json(ThreadBefore(place, person, before, most))
        return THREAD.validate_json(await self._deliver("read_thread", payload, SIGN_SECONDS))

    def live_style(self, place: Place) -> LiveStyle | None:
        """The platform's style; None when its manifest has none."""
        return self._manifest.live(place) if self._manifest.live is not None else None

    async def show_live(self, view: LiveView) -> str:
        """Show the answer so far, if the chat's send budget allows it. Raises a `DeliveryError`."""
        seconds = CHANGE_SECONDS if view.handle else FIRST_SECONDS
        return (await self._deliver("show_live", VIEW.dump_json(view), seconds)).decode()

    async def end_live(self, outbound: Outbound) -> Receipt:
        """Always raises `Permanent`: the final answer goes through the outbox."""
        raise Permanent("a worker does not send messages itself")

    async def _deliver(self, method: str, payload: bytes, seconds: float) -> bytes:
        try:
            return await self._calls.call(method, payload, seconds)
        except StoreUnavailable as error:
            raise Transient(str(error)) from error
        except RemoteFailure as error:
            raise Permanent(str(error)) from error

    def connected(self) -> ConnectedAccount:
        """This account with the abilities of its platform."""
        has = frozenset(self._manifest.abilities)
        return ConnectedAccount(
            self._manifest,
            self,
            renderer=renderer_of(self._manifest),
            typing=self if CanType in has else None,
            ends=self if CanShowEnd in has else None,
            read_marks=self if CanMarkRead in has else None,
            files=self if CanFetchFiles in has else None,
            live=self if self._manifest.live is not None else None,
            members=self if CanCheckMembership in has else None,
            reaches=self if CanTellReach in has else None,
            reactions=self if CanReact in has else None,
            threads=self if CanReadThread in has else None,
            clears_buttons=CanClearButtons in has,
        )
