"""Further ids of people, which an adapter stores so that the gateway can look them up without a
message of the person (the HTTP interface, linked identities)."""

import json
from datetime import timedelta
from typing import Final

from gateway.people import KnownIds
from gateway.ports.adapter import AdapterState

REMEMBERED: Final = timedelta(days=3650)


async def keep_ids(state: AdapterState, person_id: str, known: KnownIds) -> None:
    """Store the ids of a person. Raises `StoreUnavailable`."""
    await state.put(_key(person_id), json.dumps([known.current, known.former]), REMEMBERED)


async def kept_ids(state: AdapterState, person_id: str) -> KnownIds | None:
    """Return the stored ids of a person, None if there are none. Raises `StoreUnavailable`."""
    kept = await state.get(_key(person_id))
    if not kept:
        return None
    current, former = json.loads(kept)
    return KnownIds(tuple(current), tuple(former))


def _key(person_id: str) -> str:
    return f"aliases:{person_id}"
