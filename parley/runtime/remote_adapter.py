"""A connected account in another process: a worker shows typing and live answers, and fetches
files, through it.

The process that holds the connection serves these calls (`parley/runtime/remote_calls.py`); sends,
the
final answer among them, go through the outbox instead.
"""

import asyncio

from db.errors import StoreUnavailable
from gateway.errors import Permanent, Transient
from gateway.message import Attachment, Outbound, Place, Receipt
from gateway.outbound.live.answer import LAST_WAIT
from gateway.ports import AdapterManifest, Capabilities, EventSink, LiveStyle, LiveView
from gateway.ports.connected import Connected
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
"""How long a live message may take to appear: one that is late is deleted again, and for that its
handle has to be known."""
CHANGE_SECONDS = LAST_WAIT
"""How long a change of it may take: the final answer waits no longer, and must be the last."""


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
        """What the platform can do."""
        return self._manifest.capabilities

    async def connect(self, sink: EventSink) -> None:
        """Nothing: the connection is held elsewhere."""
        self._closed.clear()

    async def wait_closed(self) -> None:
        """Return after `disconnect`. That the connection is lost is the other process's matter."""
        await self._closed.wait()

    async def disconnect(self) -> None:
        """Nothing to close."""
        self._closed.set()

    async def send(self, outbound: Outbound) -> Receipt:
        """Never: a worker's sends go through the outbox."""
        raise Permanent("a worker does not send by itself")

    async def typing(self, place: Place, message_id: str) -> None:
        """Show that an answer is being written."""
        await self._calls.call("typing", SIGN.dump_json(Sign(place, message_id)), SIGN_SECONDS)

    async def mark_read(self, place: Place, message_id: str) -> None:
        """Show that a message was read."""
        await self._calls.call("mark_read", SIGN.dump_json(Sign(place, message_id)), SIGN_SECONDS)

    async def fetch(self, attachment: Attachment, limit: int) -> bytes:
        """The bytes of an attachment."""
        asked = FETCH.dump_json(Fetch(attachment, limit))
        return await self._calls.call("fetch", asked, FETCH_SECONDS)

    async def react(self, place: Place, message_id: str, emoji: str) -> None:
        """Add a reaction. Raises a `DeliveryError`."""
        asked = REACTION.dump_json(Reaction(place, message_id, emoji))
        await self._deliver("react", asked, SIGN_SECONDS)

    async def unreact(self, place: Place, message_id: str, emoji: str) -> None:
        """Take our reaction back. Raises a `DeliveryError`."""
        asked = REACTION.dump_json(Reaction(place, message_id, emoji))
        await self._deliver("unreact", asked, SIGN_SECONDS)

    async def delete(self, place: Place, message_id: str) -> None:
        """Delete a message of ours. Raises a `DeliveryError`."""
        await self._deliver("delete", SIGN.dump_json(Sign(place, message_id)), FIRST_SECONDS)

    async def is_member(self, space: str, person: str) -> bool:
        """True when a person belongs to a workspace or room. Raises a `DeliveryError`."""
        asked = BELONGS.dump_json(Belongs(space, person))
        return await self._deliver("is_member", asked, SIGN_SECONDS) == b"yes"

    def live_style(self, place: Place) -> LiveStyle | None:
        """As the platform's own; None where its manifest does not say it."""
        return self._manifest.live(place) if self._manifest.live is not None else None

    async def show_live(self, view: LiveView) -> str:
        """Show what is written so far, if the chat has room for it. Raises a `DeliveryError`."""
        seconds = CHANGE_SECONDS if view.handle else FIRST_SECONDS
        return (await self._deliver("show_live", VIEW.dump_json(view), seconds)).decode()

    async def end_live(self, outbound: Outbound) -> Receipt:
        """Never: the final answer goes through the outbox."""
        raise Permanent("a worker does not send by itself")

    async def _deliver(self, method: str, payload: bytes, seconds: float) -> bytes:
        try:
            return await self._calls.call(method, payload, seconds)
        except StoreUnavailable as error:
            raise Transient(str(error)) from error
        except RemoteFailure as error:
            raise Permanent(str(error)) from error

    def connected(self) -> Connected:
        """This account with the abilities that its platform has."""
        can = self.capabilities
        return Connected(
            self._manifest,
            self,
            typing=self if can.typing else None,
            read_marks=self if can.read_marks else None,
            files=self if can.files_in else None,
            live=self if can.live else None,
            members=self if can.tells_members else None,
            reactions=self if can.reactions else None,
        )
