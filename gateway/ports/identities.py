"""Where an adapter keeps the further ids of its people, so that the gateway can look them up for a
person who does not write a message just now (the HTTP interface, a linked identity)."""

import json
from datetime import timedelta
from typing import Final

from gateway.people import KnownIds
from gateway.ports.adapter import AdapterState

REMEMBERED: Final = timedelta(days=3650)


async def keep_ids(state: AdapterState, person_id: str, known: KnownIds) -> None:
    """Keep these under the person's id. Raises `StoreUnavailable`."""
    await state.put(_key(person_id), json.dumps([known.current, known.former]), REMEMBERED)


async def kept_ids(state: AdapterState, person_id: str) -> KnownIds | None:
    """The ids kept for this person, None where none ever were. Raises `StoreUnavailable`."""
    kept = await state.get(_key(person_id))
    if not kept:
        return None
    current, former = json.loads(kept)
    return KnownIds(tuple(current), tuple(former))


def _key(person_id: str) -> str:
    return f"aliases:{person_id}"
