"""`parley knowledge ingest` has no disk: it says so, nothing is lost, and a later run completes the
index."""

import asyncio
import os
import resource
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from tests.memory.knowledge.ingest.installation import FILES, Installation, source
from tests.parley.cli.kit import PROGRAM, environment, parley
from tests.support.git import new_repository
from tests.support.patience import LAUNCH
from tests.support.servers import PostgresServer
from tests.support.small_disk import Disk, small_disk

pytestmark = pytest.mark.nightly
EARLIER = 30
"""Files that are in the index before the disk is full."""
ENOUGH = 1_000_000_000


@dataclass(frozen=True)
class Pair:
    """Two installations on one disk: one that always has space, and one that has too little."""

    disk: Disk
    whole: Installation
    full: Installation


@contextmanager
def tablespace(server: PostgresServer, disk: Disk) -> Iterator[tuple[str, str]]:
    """The URLs of two databases on a disk."""
    folder = disk.folder / "space"
    folder.mkdir()
    if os.geteuid() == 0:
        shutil.chown(folder, "nobody")
    names = ("on_disk_whole", "on_disk_full")
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f"CREATE TABLESPACE on_disk LOCATION '{folder}'")
        for name in names:
            connection.execute(f"CREATE DATABASE {name} TABLESPACE on_disk")
        base = server.url.removesuffix("/postgres")
        try:
            yield f"{base}/{names[0]}", f"{base}/{names[1]}"
        finally:
            for name in names:
                connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
            connection.execute("DROP TABLESPACE on_disk")


@pytest.fixture(
    params=["sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))]
)
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Pair]:
    git = new_repository(tmp_path / "shop")
    git.commit({f"src/part{number:03}.py": source(number, 0) for number in range(EARLIER)})
    with small_disk(ENOUGH) as disk:
        if request.param == "sqlite":
            urls = [f"sqlite:///{disk.folder}/{name}/parley.db" for name in ("whole", "full")]
            made = [Installation(disk.folder / Path(url).parent.name, url, git) for url in urls]
            yield Pair(disk, *made)
        else:
            with tablespace(request.getfixturevalue("postgres"), disk) as both:
                folders = (tmp_path / "whole", tmp_path / "full")
                made = [
                    Installation(folder, url, git)
                    for folder, url in zip(folders, both, strict=True)
                ]
                yield Pair(disk, *made)


async def test_an_ingest_on_a_full_disk_says_so_loses_nothing_and_is_completed_later(
    pair: Pair,
) -> None:
    whole, full, disk = pair.whole, pair.full, pair.disk
    for one in (whole, full):
        await one.register()
        await one.ingest()
    earlier = await full.stored()
    assert len(earlier) == EARLIER
    found = await full.found()
    changes = {f"src/part{number:03}.py": source(number, 0) for number in range(EARLIER, FILES)}
    full.git.commit(changes)
    before = disk.used
    await whole.ingest()
    disk.limit(disk.used + (disk.used - before) // 2)

    for _ in range(2):
        ended = await parley(*full.arguments, cwd=full.folder)
        assert (ended.status, ended.out) == (1, "")
        assert "shop was not read to the end" in ended.err
        assert "full" in ended.err or "No space left" in ended.err
        assert "What was read is kept" in ended.err
        assert "Traceback" not in ended.err
        await full.lock_is_free()
        assert earlier <= await full.stored()
        assert await full.found() == found

    disk.limit(ENOUGH)
    stored = len(await full.stored())
    assert stored < FILES
    (branch,) = (await full.ingest())["branches"]
    assert branch["read"] == FILES - stored, "files were read twice"
    assert await full.contents() == await whole.contents()


async def test_an_ingest_whose_file_may_not_grow_says_so_and_the_next_one_completes_the_index(
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
