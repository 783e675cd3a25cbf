"""Advisory locks: writers of one owner, one queue or one document take turns."""

from collections.abc import Iterable
from hashlib import blake2b
from typing import Final

LOCK: Final = "SELECT pg_advisory_xact_lock(key) FROM unnest(%s::bigint[]) AS key"
"""Held until the transaction ends. The numbers come sorted, so that nobody waits in a circle."""


def lock_numbers(names: Iterable[str]) -> list[int]:
    """The numbers of these locks, in the order in which they are taken."""
    return sorted({_number(name) for name in names})


def _number(name: str) -> int:
    data = name.encode("utf-8", "surrogatepass")
    return int.from_bytes(
        blake2b(data, digest_size=8, person=b"parley memory").digest(), signed=True
    )
