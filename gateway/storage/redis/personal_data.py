"""What Redis holds of a person: events and sends that wait, and what adapters know."""

import json
from collections.abc import Sequence
from typing import Final
from urllib.parse import unquote

from gateway.message import Outbound
from gateway.ports import Clock
from gateway.storage.codec import event_to_json, outbound_to_json
from gateway.storage.pending_personal_data import answers, concerns, is_by, is_for
from gateway.storage.redis.client import RedisClient
from gateway.storage.redis.inbox import RedisInbox
from gateway.storage.redis.outbox import RedisOutbox

MAX_WAITING: Final = 10_000
"""Events, and sends, that are looked at."""
SCANNED_AT_ONCE: Final = 500
MAX_SCANS: Final = 10_000
REASON: Final = "erased"


class RedisPersonalData:
    """Implements `memory.ports.PersonalDataStore`; an identity of a platform is the same in every
    tenant."""

    def __init__(self, client: RedisClient, clock: Clock) -> None:
        self._client = client
        self._inbox = RedisInbox(client, clock)
        self._outbox = RedisOutbox(client, clock)

    async def export(self, tenant: str, persons: Sequence[str]) -> list[dict[str, object]]:
        """Everything of these identities, row by row."""
        whose = set(persons)
        rows: list[dict[str, object]] = [
            {"table": "inbox", "id": entry.id, "event": json.loads(event_to_json(entry.event))}
            for entry in await self._inbox.unfinished(MAX_WAITING)
            if is_by(entry.event, whose)
        ]
        rows += [
            {"table": "outbox", "key": one.key, "outbound": json.loads(outbound_to_json(one))}
            for one in await self._sends(whose)
        ]
        rows += [
            {"table": "adapter_state", "platform": p, "account": a, "key": key, "value": value}
            for _, (p, a, key), value in await self._states(whose)
        ]
        return rows

    async def erase(self, tenant: str, persons: Sequence[str], exchange: str = "") -> int:
        """Delete all of it; how many. An event keeps its id, so that it is not taken for a new
        one."""
        whose = set(persons)
        events = [
            entry.id
            for entry in await self._inbox.unfinished(MAX_WAITING)
            if is_by(entry.event, whose) and not answers(exchange, "inbox", entry.id)
        ]
        if events:
            await self._inbox.finish(events, ())
        sends = [one.key for one in await self._sends(whose)]
        if sends:
            await self._outbox.dead(sends, REASON)
            await self._outbox.drop(sends)
        states = [
            name
            for name, (_, _, key), _ in await self._states(whose)
            if not answers(exchange, "adapter_state", key)
        ]
        await self._client.batch([("DEL", name) for name in states])
        return len(events) + len(sends) + len(states)

    async def _sends(self, persons: set[str]) -> list[Outbound]:
        waiting = [entry.outbound for entry in await self._outbox.waiting(MAX_WAITING)]
        dead = [letter.entry.outbound for letter in await self._outbox.dead_letters(MAX_WAITING)]
        return [one for one in (*waiting, *dead) if is_for(one, persons)]

    async def _states(self, persons: set[str]) -> list[tuple[str, tuple[str, str, str], str]]:
        prefix, found, cursor = self._client.key("state", ""), [], 0
        for _ in range(MAX_SCANS):
            cursor, names = await self._client.command(
                "SCAN", cursor, "MATCH", f"{prefix}*", "COUNT", SCANNED_AT_ONCE
            )
            texts = [name.decode() for name in names]
            values = await self._client.batch([("GET", name) for name in texts])
            for name, value in zip(texts, values, strict=True):
                platform, account, key = map(unquote, name.removeprefix(prefix).split(":"))
                text = "" if value is None else bytes(value).decode()
                if concerns(platform, account, key, text, persons):
                    found.append((name, (platform, account, key), text))
            cursor = int(cursor)
            if not cursor:
                break
        return found
