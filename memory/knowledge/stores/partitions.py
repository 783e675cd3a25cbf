"""The partitions of the indexes of words and of vectors."""

from functools import lru_cache
from hashlib import blake2b
from typing import Final

from memory.knowledge.model import FileKind

LETTERS: Final = 10
"""Letters of a partition's name."""


@lru_cache(10_000)
def partition_of(repository: str, kind: FileKind) -> str:
    """Return the name of the partition of one kind of file in one repository."""
    name = f"{kind}\x1f{repository}".encode("utf-8", "replace")
    return blake2b(name, digest_size=LETTERS // 2).hexdigest()
