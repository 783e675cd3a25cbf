"""Who asks, and who listens: the two facts every later decision rests on."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

DEFAULT_TENANT: Final = "default"
"""Everybody's tenant where nothing tells tenants apart."""


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


MAX_FORMER: Final = 8
"""Former ids of a person that are kept, the latest."""


@dataclass(frozen=True, slots=True)
class KnownIds:
    """Further immutable ids of a person, on platforms that name somebody in several ways.

    `current` are those that the platform named last, one of each kind, empty where it named none;
    `former` are others that it named before. Former ids only count against a person: a block of one
    of them holds, and no right comes from it.
    """

    current: tuple[str, ...] = ()
    former: tuple[str, ...] = ()

    @property
    def every(self) -> tuple[str, ...]:
        """All of them."""
        return tuple(one for one in (*self.current, *self.former) if one)

    def named(self, ids: tuple[str, ...]) -> "KnownIds":
        """After the platform named the person in these ways, an empty id standing for a kind that
        it left out."""
        known = self.current + ("",) * (len(ids) - len(self.current))
        now = tuple(new or old for new, old in zip(ids, known, strict=False))
        past = [one for one in (*self.former, *known) if one and one not in now]
        return KnownIds(now, tuple(dict.fromkeys(past))[-MAX_FORMER:])

    def without(self, id_: str) -> "KnownIds":
        """After an id became somebody else's."""
        return KnownIds(
            tuple("" if one == id_ else one for one in self.current),
            tuple(one for one in self.former if one != id_),
        )


class IdentityResolver(Protocol):
    """Tells which identities are one human's."""

    async def human(self, tenant: str, person: PersonId) -> str:
        """The same text for all linked identities. Raises `StoreUnavailable`."""
        ...


class NoLinkedIdentities:
    """Implements `IdentityResolver` where identities cannot be linked."""

    async def human(self, tenant: str, person: PersonId) -> str:
        """The identity itself."""
        return str(person)


@dataclass(frozen=True, slots=True)
class Principal:
    """The one person on whose behalf a turn runs. `outside`: no full member of the workspace in
    which they write, so that no project is theirs (`MessageAuthor.outside`)."""

    tenant: str
    person: PersonId
    role: Role
    outside: bool = False
