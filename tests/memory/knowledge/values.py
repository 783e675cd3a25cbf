"""Values for tests of knowledge."""

import hashlib
from datetime import UTC, datetime
from typing import Any

from memory.knowledge.model import Chunk, FileKind, Repository, SplitFile
from memory.knowledge.ports import NewFile
from memory.knowledge.words import filed_words

AT = datetime(2026, 11, 23, 8, tzinfo=UTC)


def repository(**changes: Any) -> Repository:
    values: dict[str, Any] = {
        "id": "r1",
        "tenant": "default",
        "project": "slack:main:T1",
        "name": "shop",
        "folder": "/code/shop",
        "git_dir": "/code/shop/.git",
        "remote": "https://git.example/shop",
        "private": True,
        "rooms": ("slack:main:C1",),
        "branches": (),
        "created_at": AT,
    }
    return Repository(**(values | changes))


def new_file(path: str, *texts: str, **split: Any) -> NewFile:
    """A file with one chunk for each text."""
    content = "\n".join(texts).encode("utf-8", "replace")
    chunks = tuple(
        Chunk(number, number, "", "", text) for number, text in enumerate(texts, start=1)
    )
    return NewFile(
        path,
        hashlib.sha1(content).hexdigest(),
        hashlib.sha256(content).hexdigest(),
        len(content),
        SplitFile(**{"kind": FileKind.CODE, "language": "python", "chunks": chunks, **split}),
        tuple(map(filed_words, chunks)),
    )
