"""Several processes store for one person at once: nothing twice, nothing lost."""

import asyncio
import json
import sys
from collections import Counter

import pytest

from db.sqlite import SqliteDatabase
from memory.model.record import Record
from memory.ports.memories import Filter, MemoryStore
from tests.memory.stores.records import access, record, store
from tests.memory.stores.writing import CHAINS, ROUNDS, head_of
from tests.support.databases import Engine


async def one_writer(engine: str, url: str, seed: int, texts: int) -> tuple[int, list[str]]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.memory.stores.writing", engine, url),
        *(str(seed), str(texts)),
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate()
    assert process.returncode == 0
    stored, won = json.loads(out)
    return stored, won


def url_of(engine: Engine) -> tuple[str, str]:
    if isinstance(engine, SqliteDatabase):
        return "sqlite", engine.path
    return "postgres", engine._conninfo


@pytest.mark.parametrize(
    ("writers", "texts"),
    [(2, 150), pytest.param(8, 500, marks=[pytest.mark.nightly, pytest.mark.timeout(300)])],
)
async def test_writers_in_several_processes_store_every_text_once(
    engine: Engine, memories: MemoryStore, writers: int, texts: int
) -> None:
    for chain in range(CHAINS):
        head = record(f"chain c{chain} head h0", id=head_of(chain, 0))
        assert (await store(memories, head)).stored
    name, url = url_of(engine)
    done = await asyncio.gather(*(one_writer(name, url, seed, texts) for seed in range(writers)))
    assert sum(stored for stored, _ in done) == texts
    matches = await memories.find(access(), Filter(limit=1_000))
    assert len(matches) == texts + CHAINS
    assert max(Counter(match.record.content for match in matches).values()) == 1
    won = Counter(target for _, targets in done for target in targets)
    assert won == {head_of(c, version): 1 for c in range(CHAINS) for version in range(ROUNDS)}
    assert await linear(memories)


async def linear(memories: MemoryStore) -> bool:
    """Return True if every chain has one successor for each version, and one head."""
    everything: dict[str, Record] = {}
    after = ""
    while page := await memories.find(
        access(), Filter(superseded=True, limit=1_000, after_id=after)
    ):
        everything |= {match.record.id: match.record for match in page}
        after = page[-1].record.id
    chained = [one for one in everything.values() if one.content.startswith("chain")]
    successors = Counter(one.supersedes for one in chained if one.supersedes)
    heads = [one for one in chained if one.current]
    return (
        max(successors.values()) == 1
        and len(heads) == CHAINS
        and all(
            everything[one.supersedes].superseded_by == one.id for one in chained if one.supersedes
        )
    )
