"""Membership of a project at present."""

from enum import StrEnum
from typing import Protocol


class MembershipStatus(StrEnum):
    """Membership of a project; unknown where the platform did not say."""

    MEMBER = "member"
    GONE = "gone"
    UNKNOWN = "unknown"


class MembershipCheck(Protocol):
    """Says whether somebody belongs to a project. Never raises."""

    async def belongs(self, person: str, project: str) -> MembershipStatus:
        """`person` is a `str(PersonId)`, `project` "platform:account:workspace or room"."""
        ...
