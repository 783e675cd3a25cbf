"""Who asks, and who listens: the two facts every later decision rests on."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Role(StrEnum):
    """What a person may do, from most to least; compare with `Role.at_least`."""

    OWNER = "owner"
    OPERATOR = "operator"
    MEMBER = "member"
    GUEST = "guest"

    def at_least(self, other: "Role") -> bool:
        """True when this role includes everything `other` may do."""
        return _RANK[self] >= _RANK[other]


_RANK: Final = {Role.GUEST: 0, Role.MEMBER: 1, Role.OPERATOR: 2, Role.OWNER: 3}


class Audience(StrEnum):
    """Who reads what is said in a place."""

    DIRECT = "direct"
    PRIVATE_ROOM = "private_room"
    PUBLIC_ROOM = "public_room"


@dataclass(frozen=True, slots=True)
class PersonId:
    """An immutable platform identity; display names never decide anything.

    `platform` and `account` name the connected bot through which `id` is known, because ids of
    two platforms, or of two workspaces behind two accounts, may coincide.
    """

    platform: str
    account: str
    id: str

    def __str__(self) -> str:
        return f"{self.platform}:{self.account}:{self.id}"


@dataclass(frozen=True, slots=True)
class Principal:
    """The one person on whose behalf a turn runs."""

    tenant: str
    person: PersonId
    role: Role
