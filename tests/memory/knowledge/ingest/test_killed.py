"""`parley knowledge ingest` is killed, or has no disk, at any moment: the index that a later run
completes is the index of a run that nothing interrupted."""

import asyncio
import json
import random
import resource
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psutil
import pytest

from db import Statement
from parley.config import load
from parley.wiring.knowledge import KnowledgeIndex, open_knowledge
from tests.parley.cli.kit import PROGRAM, environment, parley, started
from tests.support.databases import new_database
from tests.support.git import TestRepository, new_repository
from tests.support.patience import LAUNCH
from tests.support.servers import PostgresServer
from tests.support.waiting import eventually

FILES: Final = 420
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


@dataclass
class Killer:
    """Kills ingests of an installation at random moments, and checks what each one left."""

    installation: Installation
    chance: random.Random
    seconds: float
    """The time that an ingest takes, from its first process for git on."""

    async def kill_one(self, *, once_stored: bool = False) -> None:
        """Begin an ingest and kill it: at any moment, or as soon as it has stored more files."""
        before = await self.installation.stored()
        async with started(*self.installation.arguments, cwd=self.installation.folder) as process:
            ingest = psutil.Process(process.pid)
            await eventually(lambda: _children(ingest) or process.returncode is not None, LAUNCH)
            if once_stored:
                await self._more_than(before, process)
            else:
                await asyncio.sleep(self.chance.uniform(0, self.seconds))
            others = _children(ingest)
            if process.returncode is None:
                process.kill()
            assert await process.wait() in {0, -signal.SIGKILL}
        await eventually(lambda: not any(map(_runs, others)))
        await self.installation.lock_is_free()
        committed = set(self.installation.git.git("ls-files").splitlines())
        lost = _paths(before) & committed - _paths(await self.installation.stored())
        assert lost == set()

    async def _more_than(
        self, before: set[tuple[str, str]], process: asyncio.subprocess.Process
    ) -> None:
        async with self.installation.index() as index:

            async def more() -> bool:
                rows = await index.database.fetch(PATHS)
                return {tuple(row) for row in rows} != before or process.returncode is not None

            await eventually(more, LAUNCH)


def _paths(files: set[tuple[str, str]]) -> set[str]:
    return {path for path, _ in files}


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def _timed(installation: Installation) -> float:
    """Ingest to the end; the seconds from the first process for git on."""
    loop = asyncio.get_running_loop()
    async with started(*installation.arguments, cwd=installation.folder) as process:
        ingest = psutil.Process(process.pid)
        await eventually(lambda: _children(ingest), LAUNCH)
        begun = loop.time()
        async with asyncio.timeout(LAUNCH):
            assert await process.wait() == 0
    return loop.time() - begun


@pytest.fixture(
    params=["sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))]
)
async def installations(
    request: pytest.FixtureRequest, tmp_path: Path
) -> tuple[Installation, Installation]:
    """One for ingests that nothing interrupts, and one for ingests that are killed."""
    git = new_repository(tmp_path / "shop")
    git.commit({f"src/part{number:03}.py": source(number, 0) for number in range(FILES)})
    made = []
    for name in ("whole", "killed"):
        url = f"sqlite:///{tmp_path}/{name}/parley.db"
        if request.param == "postgres":
            server: PostgresServer = request.getfixturevalue("postgres")
            url = new_database(server)
        made.append(Installation(tmp_path / name, url, git))
        await made[-1].register()
    return made[0], made[1]


async def _kill_and_complete(
    whole: Installation, killed: Installation, rounds: int, chance: random.Random
) -> None:
    """Kill a first ingest and one of many changes; complete both, and compare with one go."""
    killer = Killer(killed, chance, await _timed(whole))
    await killer.kill_one(once_stored=True)
    for _ in range(rounds):
        await killer.kill_one()
    stored = len(await killed.stored())
    (branch,) = (await killed.ingest())["branches"]
    expected = (0, 0) if branch["mode"] == "unchanged" else (FILES - stored, stored)
    assert (branch["read"], branch["kept"]) == expected, "files were read twice"
    assert await killed.contents() == await whole.contents()

    change = {f"src/part{number:03}.py": source(number, 1) for number in range(0, FILES, 2)}
    killed.git.git("mv", "src/part001.py", "src/renamed.py")
    killed.git.git("rm", "--quiet", "src/part003.py")
    killed.git.commit({**change, "src/added.py": source(FILES, 1)})
    killer.seconds = await _timed(whole)
    await killer.kill_one(once_stored=True)
    for _ in range(rounds):
        await killer.kill_one()
    await killed.ingest()
    assert await killed.contents() == await whole.contents()
    found = await killed.found()
    assert found == await whole.found()
    assert {"src/part017.py", "src/part020.py", "src/renamed.py", "src/added.py"} <= set(found)


async def test_ingests_that_are_killed_leave_an_index_that_the_next_one_completes(
    installations: tuple[Installation, Installation],
) -> None:
    await _kill_and_complete(*installations, rounds=1, chance=random.Random())


@pytest.mark.nightly
async def test_ingests_that_are_killed_many_times_leave_an_index_that_the_next_one_completes(
    installations: tuple[Installation, Installation],
) -> None:
    await _kill_and_complete(*installations, rounds=25, chance=random.Random())


async def test_an_ingest_without_disk_says_so_and_the_next_one_completes_the_index(
    tmp_path: Path,
) -> None:
    git = new_repository(tmp_path / "shop")
    git.commit({f"src/part{number:03}.py": source(number, 0) for number in range(FILES)})
    whole, full = (
        Installation(tmp_path / name, f"sqlite:///{tmp_path}/{name}/parley.db", git)
        for name in ("whole", "full")
    )
    for one in (whole, full):
        await one.register()
    await whole.ingest()
    limit = (whole.folder / "knowledge.db").stat().st_size // 2

    process = await asyncio.create_subprocess_exec(
        *PROGRAM,
        *full.arguments,
        cwd=full.folder,
        env=environment(None),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    async with asyncio.timeout(LAUNCH):
        out, err = await process.communicate()
    assert (process.returncode, out) == (1, b"")
    said = err.decode()
    assert "shop was not read to the end" in said
    assert str(full.folder / "knowledge.db") in said
    assert "What was read is kept" in said
    assert "Traceback" not in said

    stored = len(await full.stored())
    assert 0 < stored < FILES
    (branch,) = (await full.ingest())["branches"]
    assert (branch["read"], branch["kept"]) == (FILES - stored, stored)
    assert await full.contents() == await whole.contents()
