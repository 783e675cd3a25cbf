"""Updates by webhook: verified, stored, and only then acknowledged."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final, TypeAlias

import structlog

from adapters.shared.connection import Backoff
from adapters.shared.json_readers import JsonObject, as_mapping, integer, objects, text
from adapters.shared.signatures import verify_telegram
from adapters.telegram.receive import (
    MAX_PARTS,
    QUIET_SECONDS,
    TelegramReceiver,
    album_of,
    ordering_key,
)
from db.errors import StoreUnavailable
from gateway.background_tasks import stop_task
from gateway.message import CommandInvoked, InboundEvent, MessageReceived
from gateway.people import Audience
from gateway.ports import AdapterContext, WebhookRequest, WebhookResponse

log = structlog.get_logger(__name__)

MAX_ALBUMS: Final = 20
MAX_VALUE: Final = 4000
"""Characters of one value in the adapter's state."""
KEEP: Final = timedelta(hours=24)
"""Telegram keeps an update for at most 24 hours."""
ATTEMPTS: Final = 8

StoreAlbum: TypeAlias = Callable[[list[JsonObject]], Awaitable[None]]


class PendingUpdates:
    """The parts of incomplete albums. `store_album` stores those of one album as one event."""

    def __init__(self, context: AdapterContext, store_album: StoreAlbum) -> None:
        self._state = context.state
        self._clock = context.clock
        self._store_album = store_album
        self._prefix = f"telegram:{context.account}:album"
        self._parts: dict[str, list[JsonObject]] = {}
        self._chats: dict[str, str] = {}
        self._lock = asyncio.Lock()
        self._timers: dict[str, asyncio.Task[None]] = {}

    def holds(self, album: str) -> bool:
        """True when parts of this album wait here."""
        return album in self._parts

    async def put(self, album: str, chat: str, update: JsonObject) -> bool:
        """Keep a part. False when it must be stored alone (too large, too many, too late).

        Raises `StoreUnavailable`.
        """
        number = integer(update, "update_id")
        raw = json.dumps(update, separators=(",", ":"))
        async with self._lock:
            if album not in self._parts:
                done = await self._state.get(f"{self._prefix}:done:{album}")
                if done is not None:
                    return number in json.loads(done)
            parts = self._parts.get(album, [])
            if any(part.get("update_id") == number for part in parts):
                return True
            full = len(parts) >= MAX_PARTS or (not parts and len(self._parts) >= MAX_ALBUMS)
            if full or len(raw) > MAX_VALUE:
                return False
            await self._state.put(f"{self._prefix}:{album}:{len(parts)}", raw, KEEP)
            self._parts[album] = [*parts, update]
            self._chats[album] = chat
            await self._write_index()
        if album not in self._timers:
            self._timers[album] = asyncio.create_task(self._flush_when_quiet(album))
        return True

    async def flush_chat(self, chat: str) -> None:
        """Store the albums of this chat, because another update follows them. Raises
        `StoreUnavailable`."""
        for album in [album for album, place in self._chats.items() if place == chat]:
            await self._flush(album)

    async def restore(self) -> None:
        """Store what an earlier process left. Raises `StoreUnavailable`."""
        index = json.loads(await self._state.get(self._prefix) or "[]")
        for entry in objects(index, MAX_ALBUMS):
            album, count = text(entry, "album"), integer(entry, "parts") or 0
            parts = []
            for position in range(min(count, MAX_PARTS)):
                raw = await self._state.get(f"{self._prefix}:{album}:{position}")
                if raw is not None:
                    parts.append(as_mapping(json.loads(raw)))
            if parts and album not in self._parts:
                self._parts[album], self._chats[album] = parts, ""
        for album in list(self._parts):
            await self._flush(album)

    async def close(self) -> None:
        """Stop waiting. The next `restore` stores what is kept here."""
        for timer in list(self._timers.values()):
            await stop_task(timer)
        self._timers.clear()

    async def _flush_when_quiet(self, album: str) -> None:
        try:
            count = 0
            while count < len(self._parts.get(album, ())):
                count = len(self._parts[album])
                await self._clock.sleep(QUIET_SECONDS)
            backoff = Backoff(0.5, 64.0)
            for _ in range(ATTEMPTS):
                try:
                    await self._flush(album)
                except StoreUnavailable:
                    await self._clock.sleep(backoff.pause())
                else:
                    return
            log.error("album_left_for_the_next_start", platform="telegram")
        finally:
            self._timers.pop(album, None)

    async def _flush(self, album: str) -> None:
        async with self._lock:
            parts = self._parts.get(album)
            if not parts:
                return
            await self._store_album(parts)
            ids = json.dumps([part.get("update_id") for part in parts])
            await self._state.put(f"{self._prefix}:done:{album}", ids, KEEP)
            del self._parts[album], self._chats[album]
            await self._write_index()

    async def _write_index(self) -> None:
        index = [{"album": album, "parts": len(parts)} for album, parts in self._parts.items()]
        await self._state.put(self._prefix, json.dumps(index), KEEP)


SECRET_HEADER: Final = "x-telegram-bot-api-secret-token"  # noqa: S105 - the header's name
MAX_BODY: Final = 4 * 1024 * 1024


class WebhookReceiver:
    """Handles Telegram's requests for one account."""

    def __init__(self, receiver: TelegramReceiver, secret: str, context: AdapterContext) -> None:
        self._receiver = receiver
        self._secret = secret
        self.pending = PendingUpdates(context, receiver.store_album)

    async def handle(self, request: WebhookRequest) -> WebhookResponse:
        """200 when stored, 401 without the secret, 503 when not stored: Telegram then repeats."""
        if not verify_telegram(request.headers.get(SECRET_HEADER, ""), self._secret):
            return WebhookResponse(401, "wrong secret token")
        if request.method != "POST":
            return WebhookResponse(405, "updates are sent with POST")
        if len(request.body) > MAX_BODY:
            return WebhookResponse(413, "too large for an update")
        try:
            update = as_mapping(json.loads(request.body))
        except (ValueError, RecursionError):
            return WebhookResponse(400, "not JSON")
        try:
            await self._store(update)
        except StoreUnavailable:
            return WebhookResponse(503, "not stored; send it again")
        except Exception:
            log.exception("update_not_handled", platform="telegram")
            return WebhookResponse(503, "not handled; send it again")
        return WebhookResponse(200)

    async def _store(self, update: JsonObject) -> None:
        update = await self._receiver.translated(update)
        events = self._receiver.read(update)
        album, chat = album_of(update), ordering_key(update)
        if album and (self.pending.holds(album) or any(map(_is_addressed, events))):
            if await self.pending.put(album, chat, update):
                return
        else:
            await self.pending.flush_chat(chat)
        await self._receiver.store(events)


def _is_addressed(event: InboundEvent) -> bool:
    """True when the message is certainly for the bot. Parts of other albums may not be stored, so
    they stay single messages."""
    if isinstance(event, CommandInvoked):
        return True
    if not isinstance(event, MessageReceived):
        return False
    message = event.message
    quoted = message.quote is not None and message.quote.by_this_bot
    return message.place.audience is Audience.DIRECT or message.mentions_bot or quoted
