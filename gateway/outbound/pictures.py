"""Fetches pictures from the platforms, for people who look at conversations: those of messages, and
those that people show of themselves. Nothing is stored: a bounded cache in memory keeps the latest.
"""

import asyncio
from collections import OrderedDict, defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import Final, Literal, TypeAlias

import structlog
from msgspec import Struct

from gateway.errors import BadInput, DeliveryError, Permanent
from gateway.message import Attachment, image_mime
from gateway.people import identity_of
from gateway.platforms import ConnectedAccount
from gateway.ports import Clock

MAX_PICTURE: Final = 5 * 1024 * 1024
"""Bytes of a picture of a message."""
MAX_PORTRAIT: Final = 256 * 1024
"""Bytes of a picture of a person."""
SECONDS: Final = 10.0
"""The time limit of one picture, and of the wait for its turn."""
AT_ONCE: Final = 4
"""Pictures that are fetched from one account at once."""
MAX_WAITING: Final = 400
"""Requests that wait for their turn; further ones are refused."""
MAX_KEPT: Final = 1_000
"""Results of each kind in memory, with and without a picture."""
MAX_BYTES: Final = 32 * 1024 * 1024
MAX_PORTRAIT_BYTES: Final = 8 * 1024 * 1024
"""Bytes of all pictures of each kind in memory."""
KEPT_FOR: Final = timedelta(minutes=10)
GONE_FOR: Final = timedelta(hours=1)
LATE_FOR: Final = timedelta(seconds=30)
PORTRAIT_KEPT_FOR: Final = timedelta(days=1)
PORTRAIT_MISSING_FOR: Final = timedelta(hours=1)
log = structlog.get_logger(__name__)


class Picture(Struct, frozen=True):
    """A picture. `mime` is its type as the first bytes tell it: PNG, JPEG, GIF or WebP."""

    mime: str
    data: bytes


Missing: TypeAlias = Literal["gone", "unfit", "late"]
"""The reason for which there is no picture: the platform does not give it any more, it is too large
or of another type, or the platform did not answer in time."""
Found: TypeAlias = Picture | Missing


class _Kept(Struct, frozen=True):
    found: Found
    until: float
    person: str

    @property
    def size(self) -> int:
        return len(self.found.data) if isinstance(self.found, Picture) else 0


class _Cache:
    """The latest results by key, within a number of entries and of bytes."""

    def __init__(self, most_bytes: int) -> None:
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._most, self._bytes = most_bytes, 0

    def get(self, key: str, now: float) -> Found | None:
        kept = self._kept.get(key)
        if kept is not None and kept.until <= now:
            self._drop(key)
            return None
        return None if kept is None else kept.found

    def put(self, key: str, kept: _Kept) -> None:
        self._drop(key)
        self._kept[key] = kept
        self._bytes += kept.size
        while self._bytes > self._most or len(self._kept) > MAX_KEPT:
            self._drop(next(iter(self._kept)))

    def forget(self, persons: Sequence[str]) -> None:
        for key in [key for key, kept in self._kept.items() if kept.person in persons]:
            self._drop(key)

    def _drop(self, key: str) -> None:
        kept = self._kept.pop(key, None)
        self._bytes -= 0 if kept is None else kept.size


class Pictures:
    """Pictures over the connected accounts. Implements `memory.ports.people.PersonalDataStore`:
    what is erased is no longer in memory either."""

    def __init__(self, connected: Mapping[tuple[str, str], ConnectedAccount], clock: Clock) -> None:
        self._connected = connected
        self._clock = clock
        self._messages, self._portraits = _Cache(MAX_BYTES), _Cache(MAX_PORTRAIT_BYTES)
        self._turns: defaultdict[tuple[str, str], asyncio.Semaphore] = defaultdict(
            lambda: asyncio.Semaphore(AT_ONCE)
        )
        self._waiting = 0
        self._erased = 0
        """The number of erasures: what was being fetched at one is not kept."""

    async def of_message(self, account: tuple[str, str], file: Attachment, person: str) -> Found:
        """Return a picture of a message of a person; `account` is platform and account. Never
        raises."""
        connected, key = self._connected.get(account), _key(account, file)
        known = self.known(account, file)
        if known is not None:
            return known
        if connected is None or connected.files is None:
            return "gone"
        files, erased = connected.files, self._erased
        found = await self._fetched(
            account, lambda: files.fetch(file, MAX_PICTURE), lambda: self.known(account, file)
        )
        lasts = GONE_FOR if found in ("gone", "unfit") else LATE_FOR
        if erased == self._erased:
            self._keep(self._messages, key, found, person, KEPT_FOR, lasts)
        return found

    def known(self, account: tuple[str, str], file: Attachment) -> Found | None:
        """Return what is known of a picture of a message without a request; None for nothing."""
        if not file.ref:
            return "gone"
        if (file.size or 0) > MAX_PICTURE or file.mime.startswith("image/svg"):
            return "unfit"
        return self._messages.get(_key(account, file), self._clock.monotonic())

    async def of_person(self, person: str) -> Found:
        """Return the picture of a person (`str(PersonId)`). Never raises."""
        known = self._portraits.get(person, self._clock.monotonic())
        if known is not None:
            return known
        identity = identity_of(person)
        account = (identity.platform, identity.account)
        connected = self._connected.get(account)
        if connected is None or connected.portraits is None:
            return "gone"
        portraits, erased = connected.portraits, self._erased
        found = await self._fetched(
            account,
            lambda: portraits.portrait(identity.id, MAX_PORTRAIT),
            lambda: self._portraits.get(person, self._clock.monotonic()),
        )
        lasts = PORTRAIT_KEPT_FOR, PORTRAIT_MISSING_FOR
        if erased == self._erased:
            self._keep(self._portraits, person, found, person, *lasts)
        return found

    def may_have_portrait(self, person: str) -> bool:
        """Return True if the account of a person (`str(PersonId)`) gives pictures of people."""
        platform, _, rest = person.partition(":")
        connected = self._connected.get((platform, rest.partition(":")[0]))
        return connected is not None and connected.portraits is not None

    async def _fetched(
        self,
        account: tuple[str, str],
        fetch: Callable[[], Awaitable[bytes]],
        known: Callable[[], Found | None],
    ) -> Found:
        """Fetch a picture in its turn, unless somebody else did meanwhile."""
        if self._waiting >= MAX_WAITING:
            return "late"
        self._waiting += 1
        try:
            async with asyncio.timeout(SECONDS):
                await self._turns[account].acquire()
        except TimeoutError:
            return "late"
        finally:
            self._waiting -= 1
        try:
            found = known()
            return await _read(account[0], fetch) if found is None else found
        finally:
            self._turns[account].release()

    def _keep(
        self,
        cache: _Cache,
        key: str,
        found: Found,
        person: str,
        shown: timedelta,
        missing: timedelta,
    ) -> None:
        lasts = shown if isinstance(found, Picture) else missing
        until = self._clock.monotonic() + lasts.total_seconds()
        cache.put(key, _Kept(found, until, person))

    async def export(self, tenant: str, persons: Sequence[str]) -> list[dict[str, object]]:
        """Return an empty list: the pictures belong to the platform."""
        del tenant, persons
        return []

    async def count(self, tenant: str, persons: Sequence[str]) -> list[tuple[str, int]]:
        """Return an empty list, as `export` does."""
        del tenant, persons
        return []

    async def erase(self, tenant: str, persons: Sequence[str], turn_id: str = "") -> int:
        """Forget the pictures of these people; returns 0, because no row is deleted."""
        del tenant, turn_id
        self._erased += 1
        self._messages.forget(persons)
        self._portraits.forget(persons)
        return 0


async def _read(platform: str, fetch: Callable[[], Awaitable[bytes]]) -> Found:
    try:
        async with asyncio.timeout(SECONDS):
            data = await fetch()
    except BadInput:
        return "unfit"
    except Permanent as error:
        log.info("picture_gone", platform=platform, error=str(error))
        return "gone"
    except (DeliveryError, TimeoutError) as error:
        log.info("picture_late", platform=platform, error=str(error))
        return "late"
    except Exception:
        log.exception("picture_failed", platform=platform)
        return "late"
    if not data:
        return "gone"
    mime = image_mime(data)
    return Picture(mime, data) if mime else "unfit"


def _key(account: tuple[str, str], file: Attachment) -> str:
    return "\n".join((*account, file.ref))
