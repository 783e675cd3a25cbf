"""An account that another process is connected to. Through it a worker shows typing and live
answers, and fetches files.

The process with the connection serves these calls (`parley/runtime/remote_calls.py`). Sends,
including the final answer, go through the outbox instead.
"""

import asyncio

from db.errors import StoreUnavailable
from gateway.connected_account import ConnectedAccount
from gateway.errors import Permanent, Transient
from gateway.message import Attachment, Outbound, Place, Receipt
from gateway.outbound.live.answer import LAST_WAIT
from gateway.platforms import renderer_of
from gateway.ports import (
    AdapterManifest,
    CanCheckMembership,
    CanClearButtons,
    CanFetchFiles,
    CanMarkRead,
    CanReact,
    CanType,
    Capabilities,
    EventSink,
    LiveStyle,
    LiveView,
)
from gateway.stores.redis.rpc import RemoteFailure, RpcClient
from parley.runtime.remote_calls import (
    BELONGS,
    FETCH,
    REACTION,
    SIGN,
    VIEW,
    Belongs,
    Fetch,
    Reaction,
    Sign,
)

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

    async def mark_read(self, place: Place, message_id: str) -> None:
        """Show that a message was read."""
        await self._calls.call("mark_read", SIGN.dump_json(Sign(place, message_id)), SIGN_SECONDS)

    async def fetch(self, attachment: Attachment, limit: int) -> bytes:
        """The bytes of an attachment."""
        payload = FETCH.dump_json(Fetch(attachment, limit))
        return await self._calls.call("fetch", payload, FETCH_SECONDS)

    async def react(self, place: Place, message_id: str, emoji: str) -> None:
        """Add a reaction. Raises a `DeliveryError`."""
        payload = REACTION.dump_json(Reaction(place, message_id, emoji))
        await self._deliver("react", payload, SIGN_SECONDS)

    async def unreact(self, place: Place, message_id: str, emoji: str) -> None:
        """Remove the assistant's reaction. Raises a `DeliveryError`."""
        payload = REACTION.dump_json(Reaction(place, message_id, emoji))
        await self._deliver("unreact", payload, SIGN_SECONDS)

    async def delete(self, place: Place, message_id: str) -> None:
        """Delete a message of the assistant. Raises a `DeliveryError`."""
        await self._deliver("delete", SIGN.dump_json(Sign(place, message_id)), FIRST_SECONDS)

    async def is_member(self, space: str, person: str) -> bool:
        """True when a person belongs to a workspace or room. Raises a `DeliveryError`."""
        payload = BELONGS.dump_json(Belongs(space, person))
        return await self._deliver("is_member", payload, SIGN_SECONDS) == b"yes"

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
            read_marks=self if CanMarkRead in has else None,
            files=self if CanFetchFiles in has else None,
            live=self if self._manifest.live is not None else None,
            members=self if CanCheckMembership in has else None,
            reactions=self if CanReact in has else None,
            clears_buttons=CanClearButtons in has,
        )
