"""A connected account in another process: a worker shows typing and fetches files through it.

The process that holds the connection serves these calls; sends go through the outbox instead.
"""

from collections.abc import Awaitable, Callable

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from gateway.errors import Permanent
from gateway.message import Attachment, Outbound, Place, Receipt
from gateway.ports import AdapterManifest, Capabilities, EventSink
from gateway.services import Connected
from gateway.storage.redis.rpc import RpcClient

SIGN_SECONDS = 5.0
FETCH_SECONDS = 30.0

Handler = Callable[[bytes], Awaitable[bytes]]


@dataclass(frozen=True)
class _Sign:
    place: Place
    message_id: str


@dataclass(frozen=True)
class _Fetch:
    attachment: Attachment
    limit: int


_SIGN: TypeAdapter[_Sign] = TypeAdapter(_Sign)
_FETCH: TypeAdapter[_Fetch] = TypeAdapter(_Fetch)


class RemoteAdapter:
    """Implements `PlatformAdapter` in a worker, as far as workers need it."""

    def __init__(self, manifest: AdapterManifest, account: str, calls: RpcClient) -> None:
        self._manifest = manifest
        self._account = account
        self._calls = calls

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

    async def wait_closed(self) -> None:
        """Nothing to wait for."""

    async def disconnect(self) -> None:
        """Nothing to close."""

    async def send(self, outbound: Outbound) -> Receipt:
        """Never: a worker's sends go through the outbox."""
        raise Permanent("a worker does not send by itself")

    async def typing(self, place: Place, message_id: str) -> None:
        """Show that an answer is being written."""
        await self._calls.call("typing", _SIGN.dump_json(_Sign(place, message_id)), SIGN_SECONDS)

    async def mark_read(self, place: Place, message_id: str) -> None:
        """Show that a message was read."""
        await self._calls.call("mark_read", _SIGN.dump_json(_Sign(place, message_id)), SIGN_SECONDS)

    async def fetch(self, attachment: Attachment, limit: int) -> bytes:
        """The bytes of an attachment."""
        asked = _FETCH.dump_json(_Fetch(attachment, limit))
        return await self._calls.call("fetch", asked, FETCH_SECONDS)

    def connected(self) -> Connected:
        """This account with the abilities that its platform has."""
        can = self.capabilities
        return Connected(
            self._manifest,
            self,
            typing=self if can.typing else None,
            read_marks=self if can.read_marks else None,
            files=self if can.files_in else None,
        )


def handlers_of(connected: Connected) -> dict[str, Handler]:
    """What the process that holds the connection answers, by method."""

    async def typing(payload: bytes) -> bytes:
        asked = _SIGN.validate_json(payload)
        if connected.typing is not None:
            await connected.typing.typing(asked.place, asked.message_id)
        return b""

    async def mark_read(payload: bytes) -> bytes:
        asked = _SIGN.validate_json(payload)
        if connected.read_marks is not None:
            await connected.read_marks.mark_read(asked.place, asked.message_id)
        return b""

    async def fetch(payload: bytes) -> bytes:
        asked = _FETCH.validate_json(payload)
        if connected.files is None:
            raise Permanent("this platform gives no files")
        return await connected.files.fetch(asked.attachment, asked.limit)

    return {"typing": typing, "mark_read": mark_read, "fetch": fetch}
