"""People: identities, roles and audiences, on which every later decision depends."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from msgspec import Struct

DEFAULT_TENANT: Final = "default"
"""The only tenant without a tenant provider."""


class Role(StrEnum):
    """The role of a person, from most to fewest rights; compare with `Role.at_least`."""

    OWNER = "owner"
    OPERATOR = "operator"
    MEMBER = "member"
    GUEST = "guest"

    def at_least(self, other: "Role") -> bool:
        """Return True if this role includes all rights of `other`."""
        return _RANK[self] >= _RANK[other]


_RANK: Final = {Role.GUEST: 0, Role.MEMBER: 1, Role.OPERATOR: 2, Role.OWNER: 3}


class Audience(StrEnum):
    """The readers of a place."""

    DIRECT = "direct"
    PRIVATE_ROOM = "private_room"
    PUBLIC_ROOM = "public_room"


@dataclass(frozen=True, slots=True)
class PersonId:
    """An immutable platform identity; display names never decide anything. Ids of two platforms, or
    of two workspaces behind two accounts, may coincide."""

    platform: str
    """The platform's name, in lower case."""
    account: str
    """The account of the connected bot through which the id is known: "main", or its name in the
    configuration."""
    id: str
    """The platform's immutable id of the person."""

    def __str__(self) -> str:
        return f"{self.platform}:{self.account}:{self.id}"


def identity_of(person: str) -> PersonId:
    """Return the identity of a `str(PersonId)`."""
    platform, _, rest = person.partition(":")
    account, _, own = rest.partition(":")
    return PersonId(platform, account, own)


MAX_FORMER: Final = 8
"""Former ids of a person that are kept, the latest."""


class KnownIds(Struct, frozen=True):
    """Further immutable ids of a person, on platforms with several ids per person."""

    current: tuple[str, ...] = ()
    """The latest ids, one of each kind, empty if unknown."""
    former: tuple[str, ...] = ()
    """Earlier ids, which only count against a person: they can block, but never allow."""

    @property
    def every(self) -> tuple[str, ...]:
        """All ids."""
        return tuple(one for one in (*self.current, *self.former) if one)

    def named(self, ids: tuple[str, ...]) -> "KnownIds":
        """Return the ids after the platform sent these; an empty id stands for a kind that it left
        out."""
        known = self.current + ("",) * (len(ids) - len(self.current))
        now = tuple(new or old for new, old in zip(ids, known, strict=False))
        past = [one for one in (*self.former, *known) if one and one not in now]
        return KnownIds(now, tuple(dict.fromkeys(past))[-MAX_FORMER:])

    def without(self, id_: str) -> "KnownIds":
        """Return the ids after this one was assigned to another person."""
        return KnownIds(
            tuple("" if one == id_ else one for one in self.current),
            tuple(one for one in self.former if one != id_),
        )


@dataclass(frozen=True, slots=True)
class Principal:
    """The person on whose behalf a turn runs."""

    tenant: str
    """The tenant, to which all rows of the turn belong."""
    person: PersonId
    """The person."""
    role: Role
    """The role, which decides about commands and tools."""
    outside: bool = False
    """True if they are not a full member of the workspace where they write, and so without access
    to projects (`MessageAuthor.outside`)."""
