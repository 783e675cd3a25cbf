"""Which memories lie together: short names for owners and rooms.

They narrow a search to what may come into question before the rule of `memory/model/scope.py` is
asked;
they never replace it.
"""

from functools import lru_cache
from hashlib import blake2b
from typing import Final

from memory.model.record import Record, Scope
from memory.model.scope import AccessScope

MAX_NAMES: Final = 10_000
"""Names that are remembered rather than made again for every turn of a conversation."""
ROOM_BEGINS: Final = 39
"""Where a room's name begins in `partitions_of`, from 1 on: it is the third, and a name has 18
letters."""


def partitions_of(record: Record) -> str:
    """The names under which a record is found, separated by spaces."""
    names, said = [owner_of(record)], record.provenance
    if said.room and record.scope is Scope.USER:
        names.append(_heard(record.tenant, said.person, said.room))
        if record.role:
            names.append(_name(record.tenant, "room", said.room))
    return " ".join(names)


def owner_of(record: Record) -> str:
    """The name for whom it belongs to: one person, one project, everybody of the tenant."""
    match record.scope:
        case Scope.USER:
            return _name(record.tenant, "user", record.provenance.person)
        case Scope.PROJECT:
            return _name(record.tenant, "project", record.project)
        case Scope.GLOBAL:
            return owner_of_all(record.tenant)


def owner_of_all(tenant: str) -> str:
    """The name for everybody of a tenant."""
    return _name(tenant, "global", "")


def owners_within(access: AccessScope) -> list[str]:
    """Whose memories may be shown wherever they were learned."""
    names = [owner_of_all(access.tenant)]
    if access.project:
        names.append(_name(access.tenant, "project", access.project))
    if access.private:
        names += [_name(access.tenant, "user", person) for person in access.persons]
    return names


def room_key(tenant: str, room: str) -> str:
    """Where the vectors of what was said in a room lie together; empty for what was not."""
    return f"{tenant}\x1f{room}" if room else ""


def within(access: AccessScope) -> list[str]:
    """Every shelf on which there is something for this reach."""
    names = owners_within(access)
    if access.room:
        names += [_heard(access.tenant, person, access.room) for person in access.persons]
        names.append(_name(access.tenant, "room", access.room))
    return names


def duplicate_partitions(access: AccessScope, record: Record) -> list[str]:
    """Where a duplicate of a new record would lie: with everybody its owner is linked with."""
    if record.scope is not Scope.USER:
        return [owner_of(record)]
    persons = sorted({*access.persons, record.provenance.person})
    return [_name(record.tenant, "user", person) for person in persons]


def word_key(shelf: str, within: str, word: str) -> int:
    """The number under which a word of a shelf is looked up: 48 bits; what shares one by chance
    is told apart by comparing the texts."""
    text = f"{shelf}\x1f{within}\x1f{word}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=6).digest())


def _heard(tenant: str, person: str, room: str) -> str:
    return _name(tenant, "heard", f"{person}\x1f{room}")


@lru_cache(MAX_NAMES)
def _name(tenant: str, what: str, who: str) -> str:
    text = f"{tenant}\x1f{what}\x1f{who}".encode("utf-8", "surrogatepass")
    return f"x{blake2b(text, digest_size=8).hexdigest()}x"
