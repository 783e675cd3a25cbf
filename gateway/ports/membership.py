"""Current membership of a project."""

from enum import StrEnum
from typing import Protocol


class MembershipStatus(StrEnum):
    """The membership of a project; unknown if the platform did not answer."""

    MEMBER = "member"
    GONE = "gone"
    UNKNOWN = "unknown"


class MembershipCheck(Protocol):
    """Checks membership of a project. Never raises."""

    async def belongs(self, person: str, project: str) -> MembershipStatus:
        """`person` is a `str(PersonId)`, `project` "platform:account:workspace or room"."""
