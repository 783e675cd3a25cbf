"""Linked identities of people, and the further ids that an adapter stores for a person, so that the
gateway finds them without a message (the HTTP interface)."""

import json
from datetime import timedelta
from typing import Final, Protocol

from gateway.people import KnownIds, PersonId
from gateway.ports.adapter import AdapterState

REMEMBERED: Final = timedelta(days=3650)


class IdentityResolver(Protocol):
    """Finds the identities that belong to one human."""

    async def human(self, tenant: str, person: PersonId) -> str:
        """Return the same text for all linked identities. Raises `StoreUnavailable`."""


class NoLinkedIdentities:
    """Implements `IdentityResolver` where identities cannot be linked."""

    async def human(self, tenant: str, person: PersonId) -> str:
        return str(person)


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
