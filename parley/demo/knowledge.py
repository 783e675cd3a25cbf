"""Two small repositories, which the program of the demo reads: `shop` belongs to the project of the
Slack workspace, `handbook` to everybody."""

import asyncio
import os
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from gateway.people import DEFAULT_TENANT
from gateway.ports.clock import SystemClock
from memory.git.process import require_git
from memory.git.repository import opened_repository
from memory.knowledge.model import IngestProgress, Repository
from parley.config import Settings
from parley.demo.story import DECISION, PROJECT
from parley.wiring.ingest import ingester_of
from parley.wiring.knowledge import KnowledgeIndex, open_knowledge

GIT_SECONDS: Final = 10.0
WHO: Final = b"Ada <ada@example.com> 1790000000 +0000"
REPOSITORIES: Final[Mapping[str, Mapping[str, str]]] = {
    "shop": {
        DECISION: """\
# 1. Orders go through a queue

## Status

Accepted

## Decision

We choose a queue for orders, because the payment service is slow on sale days.
""",
        "src/orders.py": """\
\"\"\"Orders of the shop.\"\"\"


def accept_order(order, queue):
    \"\"\"Put an order into the queue, and answer at once.\"\"\"
    queue.put(order)
""",
    },
    "handbook": {
        "docs/adr/0001-holidays.md": """\
# 1. Holidays are written in the calendar

## Status

Accepted

## Decision

Everybody writes their holidays in the common calendar.
""",
    },
}
"""The files of each repository by path."""


class DemoKnowledge:
    """Makes the repositories in a folder, registers and reads them, as `parley knowledge init` does
    beside a running program."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self._settings = settings
        self._folder = folder

    async def ready(self) -> None:
        """Make, register and read the repositories. Raises `GitMissing` without git, and
        `StoreUnavailable`."""
        index = open_knowledge(self._settings)
        await index.start()
        try:
            for name, files in REPOSITORIES.items():
                folder = self._folder / name
                await _make(folder, files)
                await _read(self._settings, index, folder, PROJECT if name == "shop" else "")
        finally:
            await index.stop()


async def _make(folder: Path, files: Mapping[str, str]) -> None:
    """Make a repository with one commit, which is the same every time."""
    await asyncio.to_thread(folder.mkdir, parents=True)
    await _git(folder, b"", "init", "--quiet", "--initial-branch=main")
    await _git(folder, b"".join(_commit(files)), "fast-import", "--quiet")


def _commit(files: Mapping[str, str]) -> Iterator[bytes]:
    """One commit for `git fast-import`."""
    message = b"Begin"
    yield b"commit refs/heads/main\ncommitter %s\n" % WHO
    yield b"data %d\n%s\n" % (len(message), message)
    for path, text in files.items():
        content = text.encode()
        yield b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(content), content)


async def _git(folder: Path, given: bytes, *arguments: str) -> None:
    """Run git in a folder, without the configuration of this machine."""
    process = await asyncio.create_subprocess_exec(
        require_git(),
        *arguments,
        cwd=folder,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        env={
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(folder),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
        },
    )
    async with asyncio.timeout(GIT_SECONDS):
        await process.communicate(given)


async def _read(settings: Settings, index: KnowledgeIndex, folder: Path, project: str) -> None:
    """Register a repository and read it. It is private if it belongs to a project."""
    clock = SystemClock()
    async with opened_repository(folder) as git:
        location = git.location
    repository = Repository(
        id=uuid.uuid4().hex,
        tenant=DEFAULT_TENANT,
        project=project,
        name=folder.name,
        folder=str(location.folder),
        git_dir=str(location.common_dir),
        remote="",
        private=bool(project),
        rooms=(),
        branches=(),
        created_at=clock.now(),
    )
    await index.stores.repositories.add(repository)
    await ingester_of(settings, index, clock).ingest(repository, _nothing)


def _nothing(_: IngestProgress) -> None:
    """Show nothing."""
