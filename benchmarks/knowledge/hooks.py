"""Measures the wait of a commit for installed hooks, and the time until a search finds it."""

import asyncio
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

from benchmarks.knowledge.history import ENVIRONMENT, git
from memory.knowledge.access import KnowledgeAccess
from memory.knowledge.hooks.install import find_hooks, install
from memory.knowledge.hooks.script import HookCommand
from memory.knowledge.model import KnowledgeQuery
from memory.knowledge.search import Searcher
from memory.knowledge.stores.word_index import word_index_on
from parley.config import Settings
from parley.wiring.knowledge import open_knowledge

COMMITS: Final = 5
RUNS: Final = 20
POLL_SECONDS: Final = 0.02
SETTLED: Final = 0.05
"""Seconds after which the started process has ended, so that no run is beside it."""
LONGEST: Final = 300.0
"""Seconds for which one commit is looked for."""
EMPTY: Final = "#!/bin/sh\nexit 0\n"


def foreground(folder: Path, shop: Path) -> dict[str, Any]:
    """The milliseconds of the hook that starts a process, beside those of an empty hook, run in
    turn."""
    empty = folder / "empty-hook"
    empty.write_text(EMPTY)
    empty.chmod(0o755)
    where = find_hooks(shop)
    # A process that ends at once: its time is not that of the hook.
    install(where, HookCommand(("/bin/true",), folder, where.git_dir))
    hook = where.hooks / "post-commit"
    waiting = where.git_dir / "parley" / "waiting"
    times: dict[Path, list[float]] = {hook: [], empty: []}
    for _ in range(RUNS):
        for one in (hook, empty):
            waiting.unlink(missing_ok=True)
            began = time.perf_counter()
            subprocess.run([one], cwd=shop, env=ENVIRONMENT, check=True)
            times[one].append((time.perf_counter() - began) * 1000)
            assert waiting.exists() == (one is hook)  # it started a process
            time.sleep(SETTLED)
    ours, theirs = (statistics.median(times[one]) for one in (hook, empty))
    return {"ms": round(ours, 1), "empty_ms": round(theirs, 1), "times": round(ours / theirs, 1)}


def findable(settings: Settings, folder: Path, shop: Path) -> list[float]:
    """Install the hooks as the command does, and return the seconds between the end of
    `git commit` and the first search of an open index that finds it, in order of size."""
    where = find_hooks(shop)
    program = (sys.executable, "-P", "-m", "parley", "knowledge", "hooks", "run")
    config = ("--config", str(folder / "parley.yaml"))
    install(where, HookCommand((*program, str(where.git_dir), *config), folder, where.git_dir))
    return sorted(asyncio.run(_commits(settings, shop)))


async def _commits(settings: Settings, shop: Path) -> list[float]:
    index = open_knowledge(settings)
    await index.start()
    try:
        (repository,) = await index.stores.repositories.all()
        access = KnowledgeAccess(repository.tenant, public=False, member=True)
        searcher = Searcher(index.database, word_index_on(index.database))
        return [await _found(searcher, access, shop, number) for number in range(COMMITS)]
    finally:
        await index.stop()


async def _found(searcher: Searcher, access: KnowledgeAccess, shop: Path, number: int) -> float:
    name = f"wombat_{number}_{time.time_ns()}"
    (shop / "src" / f"{name}.py").write_text(f"def {name}():\n    pass\n")
    git(shop, "add", "-A")
    git(shop, "commit", "--quiet", "-m", name)
    began = time.perf_counter()
    async with asyncio.timeout(LONGEST):
        while True:
            hits = await searcher.search(access, KnowledgeQuery(name, limit=1))
            if hits and hits[0].path.endswith(f"{name}.py"):
                return round(time.perf_counter() - began, 2)
            await asyncio.sleep(POLL_SECONDS)
