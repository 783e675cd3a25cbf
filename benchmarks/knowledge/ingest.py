"""`python -m benchmarks.knowledge.ingest [COMMITS] [FILES]`: reading a repository with a long
history, through the command line as people and hooks run it.

Prints one JSON object a line: the first ingest with its time, memory and the size of the index; one
commit more, until it is in the index; a rebase of 100 commits; `status`; a hook in the foreground,
and the time until a search finds a commit; and the same without the start of the program. `others`
are the processors that other programs used meanwhile.
"""

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psutil

from benchmarks.knowledge.history import git, make_history
from benchmarks.knowledge.hooks import findable, foreground
from benchmarks.machine import Machine
from db import Statement
from gateway.ports.clock import SystemClock
from memory.knowledge.model import IngestProgress
from parley.config import Settings, load
from parley.wiring.ingest import ingester_of
from parley.wiring.knowledge import open_knowledge

COMMITS: Final = 10_000
FILES: Final = 5_000
PROGRAM: Final = (sys.executable, "-m", "parley")
FIND: Final = Statement("SELECT count(*) FROM knowledge_chunks WHERE text LIKE :text")


def main() -> int:
    """Measure everything in a temporary folder."""
    commits = int(sys.argv[1]) if len(sys.argv) > 1 else COMMITS
    files = int(sys.argv[2]) if len(sys.argv) > 2 else FILES
    with tempfile.TemporaryDirectory(prefix="parley-knowledge-") as name:
        folder = Path(name)
        (folder / "parley.yaml").write_text("database: {url: sqlite:///data/parley.db}\n")
        shop = folder / "shop"
        make_history(shop, commits, files)
        _measure_first(folder, shop)
        _measure_commit(folder, shop)
        _measure_rebase(folder, shop)
        _measure_status(folder)
        _measure_hooks(folder, shop)
        _measure_inside(folder, shop)
    return 0


def _measure_first(folder: Path, shop: Path) -> None:
    machine = Machine()
    first = _run(folder, "init", str(shop))
    index = folder / "data" / "knowledge.db"
    status = json.loads(_run(folder, "status", "--json").output)
    _say(
        "first ingest",
        commits=int(git(shop, "rev-list", "--count", "HEAD")),
        seconds=round(first.seconds, 1),
        cpu_seconds=round(first.cpu, 1),
        most_mb=round(first.most / 1e6),
        files=status["files"],
        chunks=status["chunks"],
        text_mb=round(_text_bytes(shop) / 1e6, 1),
        index_mb=round(
            sum(file.stat().st_size for file in folder.glob("data/knowledge.db*")) / 1e6, 1
        ),
        packed_mb=round(sum(f.stat().st_size for f in (shop / ".git").rglob("*.pack")) / 1e6, 1),
        others=machine.others(),
    )
    assert index.exists()


def _measure_commit(folder: Path, shop: Path) -> None:
    machine, runs = Machine(), []
    for number in range(5):
        (shop / "src" / f"added_{number}.py").write_text(f"def added_{number}():\n    pass\n")
        git(shop, "add", "-A")
        git(shop, "commit", "--quiet", "-m", "One more")
        runs.append(_run(folder, "ingest", str(shop)))
    _say("one commit more", **_of(runs), others=machine.others())


def _measure_rebase(folder: Path, shop: Path) -> None:
    git(shop, "checkout", "--quiet", "-b", "topic", "HEAD~5")
    for number in range(100):
        (shop / "docs" / f"topic_{number}.md").write_text(f"# Topic {number}\n")
        git(shop, "add", "-A")
        git(shop, "commit", "--quiet", "-m", f"Topic {number}")
    _run(folder, "ingest", str(shop))
    git(shop, "rebase", "--quiet", "main")
    machine = Machine()
    run = _run(folder, "ingest", str(shop))
    _say(
        "rebase of 100 commits",
        seconds=round(run.seconds, 2),
        cpu_seconds=round(run.cpu, 2),
        result=run.output.splitlines()[0].partition(", ")[2],
        others=machine.others(),
    )


def _measure_status(folder: Path) -> None:
    machine = Machine()
    runs = [_run(folder, "status") for _ in range(5)]
    _say("status", **_of(runs), others=machine.others())


def _measure_hooks(folder: Path, shop: Path) -> None:
    os.chdir(folder)
    settings = load(folder / "parley.yaml", {})
    machine = Machine()
    _say("hook in the foreground", **foreground(folder, shop), others=machine.others())
    machine = Machine()
    seconds = findable(settings, folder, shop)
    _say("found after a commit with the hooks", seconds=seconds, others=machine.others())


def _measure_inside(folder: Path, shop: Path) -> None:
    """The same in one process that is running already."""
    os.chdir(folder)
    settings = load(folder / "parley.yaml", {})
    times, stood = asyncio.run(_inside(settings, shop))
    _say("inside a process", **times)
    _say("the loop of a process that ingests", longest_ms=round(stood * 1000))


async def _inside(settings: Settings, shop: Path) -> tuple[dict[str, Any], float]:
    index = open_knowledge(settings)
    await index.start()
    try:
        (repository,) = await index.stores.repositories.all()
        ingester = ingester_of(settings, index, SystemClock())
        before = time.perf_counter()
        await index.stores.files.totals(repository.id)
        await index.stores.files.branches(repository.id)
        counted = time.perf_counter() - before
        (shop / "inside.py").write_text("def quokka_inside():\n    pass\n")
        git(shop, "add", "-A")
        git(shop, "commit", "--quiet", "-m", "Inside")
        before = time.perf_counter()
        await ingester.ingest(repository, _nothing)
        count = (await index.database.fetch(FIND, {"text": "%quokka_inside%"}))[0][0]
        one = time.perf_counter() - before
        assert count == 1
        watch = asyncio.create_task(_longest_stand())
        await asyncio.sleep(0.1)
        await ingester.ingest(repository, _nothing, force=True)
        watch.cancel()
        stood = await watch
    finally:
        await index.stop()
    return {"status_ms": round(counted * 1000), "one_commit_ms": round(one * 1000)}, stood


async def _longest_stand() -> float:
    longest, last = 0.0, time.perf_counter()
    try:
        while True:
            await asyncio.sleep(0.005)
            now = time.perf_counter()
            longest, last = max(longest, now - last - 0.005), now
    except asyncio.CancelledError:
        return longest


@dataclass(frozen=True)
class _Run:
    """A finished command: seconds, seconds of processors, and the most bytes in memory, of it and
    of the processes that it starts."""

    seconds: float
    cpu: float
    most: int
    output: str


def _run(folder: Path, *arguments: str) -> _Run:
    """Run a command of `parley knowledge`."""
    before, used = time.perf_counter(), _children()
    process = subprocess.Popen(
        (*PROGRAM, "knowledge", *arguments),
        cwd=folder,
        stdout=subprocess.PIPE,
        env={**os.environ, "PARLEY_CONFIG": "parley.yaml"},
    )
    most: list[int] = [0]
    watcher = threading.Thread(target=_watch, args=(process.pid, most), daemon=True)
    watcher.start()
    output, _ = process.communicate()
    seconds = time.perf_counter() - before
    watcher.join()
    assert process.returncode == 0, output.decode()
    return _Run(seconds, _children() - used, most[0], output.decode())


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _watch(process_id: int, most: list[int]) -> None:
    """Sum the memory of a process and its children until it ends."""
    try:
        process = psutil.Process(process_id)
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
            family = [process, *process.children(recursive=True)]
            most[0] = max(most[0], sum(_resident(one) for one in family))
            time.sleep(0.05)
    except psutil.NoSuchProcess:
        return


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.NoSuchProcess:
        return 0


def _text_bytes(shop: Path) -> int:
    return sum(file.stat().st_size for file in shop.rglob("*") if file.suffix in {".py", ".md"})


def _of(runs: list[_Run]) -> dict[str, list[float]]:
    return {
        "seconds": sorted(round(run.seconds, 2) for run in runs),
        "cpu_seconds": sorted(round(run.cpu, 2) for run in runs),
    }


def _nothing(_: IngestProgress) -> None:
    """Show nothing."""


def _say(what: str, **values: Any) -> None:
    sys.stdout.write(json.dumps({"what": what, **values}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
