"""Linked identities of one person, and membership of projects."""

import json
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

from gateway.people import KnownIds, PersonId
from gateway.ports.adapter import AdapterState

REMEMBERED: Final = timedelta(days=3650)
CONFLICTS: Final = "conflicts"
CONFLICTS_SHOWN: Final = timedelta(days=7)
"""The time after the latest conflict for which operators see it."""
MAX_CONFLICTS: Final = 999


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


class IdentityConflicts(NamedTuple):
    """Changes of ids that a platform reported and that would have mixed two people: their number
    in the last `CONFLICTS_SHOWN`, and the time of the latest."""

    number: int
    latest: datetime


async def note_conflict(state: AdapterState, at: datetime) -> None:
    """Count a change that was not made. Raises `StoreUnavailable`."""
    known = await noted_conflicts(state)
    number = min(known.number + 1, MAX_CONFLICTS) if known else 1
    await state.put(CONFLICTS, f"{number} {at.isoformat()}", CONFLICTS_SHOWN)


async def noted_conflicts(state: AdapterState) -> IdentityConflicts | None:
    """Return the changes of an account that were not made, None without one. Raises
    `StoreUnavailable`."""
    number, _, latest = (await state.get(CONFLICTS) or "").partition(" ")
    return IdentityConflicts(int(number), datetime.fromisoformat(latest)) if latest else None


def _key(person_id: str) -> str:
    return f"aliases:{person_id}"


class MembershipStatus(StrEnum):
    """The membership of a project; unknown if the platform did not answer."""

    MEMBER = "member"
    GONE = "gone"
    UNKNOWN = "unknown"


class MembershipCheck(Protocol):
    """Checks membership of a project. Never raises."""

    async def belongs(self, person: str, project: str) -> MembershipStatus:
        """`person` is a `str(PersonId)`, `project` "platform:account:workspace or room"."""
