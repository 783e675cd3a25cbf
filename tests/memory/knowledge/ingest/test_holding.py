"""Repositories that were made to take long do not hold the event loop: other work of the process
has its turn. The time is that of the loop's own thread, so that a busy machine changes nothing."""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import pytest

from db.errors import StoreUnavailable
from gateway.errors import ConfigurationError
from memory.git.repository import TreeEntry
from memory.knowledge.ingest.branch import plan_of
from memory.knowledge.ports import Batch
from memory.knowledge.reading.globs import Glob
from memory.knowledge.reading.rules import Rules
from memory.knowledge.stores import contents
from memory.knowledge.stores import files as files_module
from tests.memory.knowledge.ingest.conftest import Knowledge
from tests.memory.knowledge.search.conftest import COMMIT, Library, library
from tests.memory.knowledge.values import AT, new_file

__all__ = ["library"]  # a fixture of the tests here

LONGEST = 0.1


@asynccontextmanager
async def never_held() -> AsyncIterator[None]:
    """The event loop works for at most `LONGEST` seconds at once."""
    longest = 0.0

    async def beat() -> None:
        nonlocal longest
        while True:
            before = time.thread_time()
            await asyncio.sleep(0.001)
            longest = max(longest, time.thread_time() - before)

    beating = asyncio.create_task(beat())
    await asyncio.sleep(0.01)
    yield
    await asyncio.sleep(0.01)
    beating.cancel()
    assert longest < LONGEST


def sections(count: int) -> list[str]:
    """Texts of words that are all different."""
    made = random.Random(1)
    return [" ".join(f"h{made.getrandbits(40):x}" for _ in range(100)) for _ in range(count)]


async def test_storing_and_removing_a_file_of_many_words_does_not_hold_the_loop(
    library: Library,
) -> None:
    id_ = await library.add({"a.py": "first = 1"})
    texts = sections(1_000)
    batch = Batch(files=[new_file("large.md", *texts)])
    await library.files.begin(id_, "main", followed=True, target=COMMIT, rules="")
    async with never_held():
        await library.files.write(id_, "main", COMMIT, batch, AT)
    assert (await library.paths(texts[0].split()[0]))[0] == "large.md"
    assert (await library.paths(texts[-1].split()[-1]))[0] == "large.md"
    await library.files.write(id_, "main", COMMIT, Batch(removed=["large.md"]), AT)
    async with never_held():
        while await library.files.sweep(id_):
            pass
    totals = await library.files.totals(id_)
    assert (totals.contents, totals.chunks) == (1, 1)


async def test_a_file_whose_storing_was_interrupted_is_stored_completely_the_next_time(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    id_ = await library.add({"a.py": "first = 1"})
    texts = sections(300)
    batch = Batch(files=[new_file("large.md", *texts)])
    await library.files.begin(id_, "main", followed=True, target=COMMIT, rules="")
    add, calls = contents.add_chunks, 0

    def fails(*arguments: object) -> object:
        nonlocal calls
        calls += 1
        if calls > 2:
            raise StoreUnavailable("gone")
        return add(*arguments)  # type: ignore[arg-type]  # the arguments of `add_chunks`

    with monkeypatch.context() as patched:
        patched.setattr(files_module, "add_chunks", fails)
        with pytest.raises(StoreUnavailable):
            await library.files.write(id_, "main", COMMIT, batch, AT)
    assert "large.md" not in await library.paths(texts[0].split()[0])
    await library.files.write(id_, "main", COMMIT, batch, AT)
    while await library.files.sweep(id_):
        pass
    assert (await library.paths(texts[-1].split()[-1]))[0] == "large.md"
    totals = await library.files.totals(id_)
    assert (totals.contents, totals.chunks) == (2, 301)


async def test_patterns_and_paths_that_were_made_to_take_long_do_not_hold_the_loop() -> None:
    def globs(begin: int) -> tuple[Glob, ...]:
        """Patterns of twenty ranges each, all different."""
        return tuple(
            Glob("".join(f"[{chr(place)}-{chr(place + 5_000)}]*" for place in range(one, one + 20)))
            for one in range(begin, begin + 40 * 20, 20)
        )

    rules = Rules(globs(0x4E00), globs(0x5D8C), globs(0x6D18), globs(0x7CA4))

    async def entries() -> AsyncGenerator[TreeEntry, None]:
        for begin in range(0x5000, 0x5400, 340):
            name = "".join(map(chr, range(begin, begin + 340)))
            yield TreeEntry(name.encode(), "100644", "1" * 40)

    async with never_held():
        await plan_of(entries(), rules, 100)


async def test_the_configuration_of_a_repository_does_not_hold_the_loop(
    knowledge: Knowledge,
) -> None:
    lines = "".join(f"    - '*{number}'\n" for number in range(4_000))
    knowledge.git.commit({".agent/config.yaml": f"ingestion:\n  include:\n{lines}", "a.md": "a"})
    async with never_held():
        with pytest.raises(ConfigurationError):
            await knowledge.ingest()
