"""Installations whose indexes are compared row by row."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from db import Statement
from parley.config import load
from parley.wiring.knowledge import KnowledgeIndex, open_knowledge
from tests.parley.cli.kit import parley
from tests.support.git import TestRepository
from tests.support.waiting import eventually

FILES: Final = 420
"""Files of the repository, in some transactions of an ingest."""
INDEX: Final = Statement("""
    SELECT b.name, b.followed, b.at_commit, b.target, b.rules, f.path, f.blob, f.kind, f.title,
        f.status, f.supersedes, f.services, f.topics, o.sha256, o.language, o.size, c.first_line,
        c.last_line, c.symbol, c.heading, c.text, w.length, w.words
    FROM knowledge_branches b
    LEFT JOIN knowledge_files f ON f.branch = b.number
    LEFT JOIN knowledge_contents o ON o.number = f.content
    LEFT JOIN knowledge_chunks c ON c.content = o.number
    LEFT JOIN knowledge_words w ON w.number = c.number
    ORDER BY b.name, f.path, c.first_line, c.number
""")
ROWS: Final = Statement("""
    SELECT (SELECT count(*) FROM knowledge_files), (SELECT count(*) FROM knowledge_contents),
        (SELECT count(*) FROM knowledge_chunks), (SELECT count(*) FROM knowledge_words),
        (SELECT sum(chunks) FROM knowledge_word_totals),
        (SELECT sum(words) FROM knowledge_word_totals),
        (SELECT count(*) FROM knowledge_skipped)
""")
PATHS: Final = Statement("SELECT path, blob FROM knowledge_files")


def source(number: int, version: int) -> str:
    """A file with some definitions."""
    return "\n".join(
        f"def order_{number}_{part}(price):\n    return price + {version}\n" for part in range(12)
    )


class Installation:
    """A configuration with an index of its own, in which one repository is registered."""

    def __init__(self, folder: Path, url: str, git: TestRepository) -> None:
        folder.mkdir()
        self.folder = folder
        self.config = folder / "parley.yaml"
        self.config.write_text(f"database: {{url: '{url}'}}\n")
        self.git = git

    @property
    def arguments(self) -> tuple[str, ...]:
        """An ingest on the command line."""
        return ("knowledge", "ingest", str(self.git.folder), "--json", "-c", str(self.config))

    async def register(self) -> None:
        """Register the repository without reading it."""
        command = ("knowledge", "init", str(self.git.folder), "--later", "-c", str(self.config))
        ended = await parley(*command, cwd=self.folder)
        assert ended.status == 0, ended.err

    async def ingest(self) -> dict[str, Any]:
        """The result of an ingest that nothing interrupts."""
        ended = await parley(*self.arguments, cwd=self.folder)
        assert ended.status == 0, ended.err
        outcome: dict[str, Any] = json.loads(ended.out)
        assert not outcome["busy"], "a lock was left"
        return outcome

    async def found(self) -> list[str]:
        """Files that a search finds."""
        command = ("knowledge", "search", "order_17_3 order_20_5 renamed added", "--json")
        ended = await parley(*command, "-c", str(self.config), cwd=self.folder)
        assert ended.status == 0, ended.err
        return [json.loads(line)["path"] for line in ended.out.splitlines()]

    @asynccontextmanager
    async def index(self) -> AsyncIterator[KnowledgeIndex]:
        """The opened index."""
        opened = open_knowledge(load(self.config, {}))
        await opened.start()
        try:
            yield opened
        finally:
            await opened.stop()

    async def contents(self) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
        """All rows of the index, without the numbers that a database gives them."""
        async with self.index() as index:
            rows = await index.database.fetch(INDEX)
            counts = await index.database.fetch(ROWS)
        return [tuple(row) for row in rows], [tuple(map(int, row)) for row in counts]

    async def stored(self) -> set[tuple[str, str]]:
        """The files of the index with their hashes."""
        async with self.index() as index:
            return {(path, blob) for path, blob in await index.database.fetch(PATHS)}

    async def lock_is_free(self) -> None:
        """Return once nobody holds the lock of the repository: a server releases that of a killed
        client when it notices the end of its connection."""
        async with self.index() as index:
            (repository,) = await index.stores.repositories.all()

            async def free() -> bool:
                async with index.stores.lock.hold(repository.id) as held:
                    return held

            await eventually(free)
