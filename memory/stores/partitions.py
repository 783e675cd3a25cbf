"""Partitions: short names for owners and rooms, by which memories are indexed.

They narrow a search before the rule of `memory/model/scope.py` applies, and never replace it.
"""

from functools import lru_cache
from hashlib import blake2b
from typing import Final

from memory.model.record import Record, Scope
from memory.model.scope import AccessScope

MAX_NAMES: Final = 10_000
"""Cached names of partitions."""
ROOM_BEGINS: Final = 39
"""The position of a room's name in `partitions_of`, from 1: the third name of 18 letters."""
PARTITIONED: Final = """(
        SELECT group_concat(part.value || replace({row}.words, ' ', ' ' || part.value), ' ')
        FROM json_each('["' || replace({row}.partitions, ' ', '","') || '"]') part
    )"""
"""The terms of a memory in SQLite's index: each word behind each of its partitions. `row` is the
row of the memory."""


def partitions_of(record: Record) -> str:
    """Return the partitions of a record, separated by spaces."""
    names, provenance = [owner_of(record)], record.provenance
    if provenance.room and record.scope is Scope.USER:
        names.append(_heard(record.tenant, provenance.person, provenance.room))
        if record.role:
            names.append(name_of(record.tenant, "room", provenance.room))
    return " ".join(names)


def owner_of(record: Record) -> str:
    """Return the name of a record's owner: one person, one project, or the whole tenant."""
    match record.scope:
        case Scope.USER:
            return name_of(record.tenant, "user", record.provenance.person)
        case Scope.PROJECT:
            return name_of(record.tenant, "project", record.project)
        case Scope.GLOBAL:
            return owner_of_all(record.tenant)


def owner_of_all(tenant: str) -> str:
    """Return the name of the whole tenant as an owner."""
    return name_of(tenant, "global", "")


def owners_within(access: AccessScope) -> list[str]:
    """Return the owners whose memories may be shown, learned in any place."""
    names = [owner_of_all(access.tenant)]
    if access.project:
        names.append(name_of(access.tenant, "project", access.project))
    if access.private:
        names += own_owners(access)
    return names


def room_key(tenant: str, room: str) -> str:
    """Return the key of a room's vectors; empty in private."""
    return f"{tenant}\x1f{room}" if room else ""


def within(access: AccessScope) -> list[str]:
    """Return all partitions that this access may read."""
    names = owners_within(access)
    if access.room:
        names += [_heard(access.tenant, person, access.room) for person in access.persons]
        names.append(name_of(access.tenant, "room", access.room))
    return names


def own_owners(access: AccessScope) -> list[str]:
    """Return the linked identities of the person as owners."""
    return [name_of(access.tenant, "user", person) for person in access.persons]


def own_within(access: AccessScope) -> list[str]:
    """Return the partitions of the person's own memories that this access may read."""
    names = own_owners(access) if access.private else []
    if access.room:
        names += [_heard(access.tenant, person, access.room) for person in access.persons]
    return names


def duplicate_partitions(access: AccessScope, record: Record) -> list[str]:
    """Return the partitions of possible duplicates: those of all linked identities."""
    if record.scope is not Scope.USER:
        return [owner_of(record)]
    persons = sorted({*access.persons, record.provenance.person})
    return [name_of(record.tenant, "user", person) for person in persons]


def word_key(partition: str, within: str, word: str) -> int:
    """Return the 48-bit key of a word in a partition; the texts decide on chance collisions."""
    text = f"{partition}\x1f{within}\x1f{word}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=6).digest())


def _heard(tenant: str, person: str, room: str) -> str:
    return name_of(tenant, "heard", f"{person}\x1f{room}")


@lru_cache(MAX_NAMES)
def name_of(tenant: str, what: str, who: str) -> str:
    """Return the name of 18 letters for something of a tenant."""
    text = f"{tenant}\x1f{what}\x1f{who}".encode("utf-8", "surrogatepass")
    return f"x{blake2b(text, digest_size=8).hexdigest()}x"


def names_of_share(row: str) -> str:
    """The names of the audiences of a share in SQLite, as a table `name`."""
    return f"""json_each('["' || replace({row}.audiences, ' ', '","') || '"]') name"""
