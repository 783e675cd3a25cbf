"""`parley knowledge ingest` is killed at any moment: the index that a later run completes is the
index of a run that nothing interrupted."""

import asyncio
import random
import signal
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from tests.memory.knowledge.ingest.installation import FILES, PATHS, Installation, source
from tests.parley.cli.kit import started
from tests.support.databases import migrated_database
from tests.support.git import new_repository
from tests.support.patience import LAUNCH
from tests.support.servers import PostgresServer
from tests.support.waiting import eventually


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
            url = migrated_database(server)
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
