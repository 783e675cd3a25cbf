"""A process that stores memories beside others: `ENGINE URL SEED TEXTS`.

It stores each of so many texts twice, then tries to replace the heads of chains, and prints how
many it stored and which replacements it won.
"""

import asyncio
import json
import random
import sys
from pathlib import Path
from typing import Final

from db.postgres import PoolLimits, PostgresDatabase
from db.sqlite import SqliteDatabase
from gateway.immutable import replace
from gateway.ports.clock import SystemClock
from gateway.stores import schema as gateway_schema
from memory import schema as memory_schema
from memory.knowledge import schema as knowledge_schema
from memory.ports.memories import MemoryStore
from memory.stores.memories import SqlMemories
from memory.stores.search import searches_on
from tests.memory.stores.records import access, record, store

CHAINS = 5
ROUNDS = 4
# Those of `parley.wiring.storage`, which takes three times as long to load as all the rest.
SCHEMAS: Final = (gateway_schema.SCHEMA, memory_schema.SCHEMA, knowledge_schema.SCHEMA)
WRITER: Final = PoolLimits(connections=1, checkout=60.0, statement=60.0)
"""Seconds, for a busy machine."""
ADJECTIVES = ("quiet", "amber", "hollow", "distant", "brittle", "northern", "patient", "velvet")
NOUNS = ("harbour", "lantern", "orchard", "compass", "meadow", "engine", "ribbon", "glacier")


def text_of(number: int) -> str:
    """One of at least 500 texts of which no two are alike enough."""
    a, n = ADJECTIVES[number % 8], NOUNS[number // 8 % 8]
    return (
        f"remember that the {a} {n} in room {number} opens at {number % 24} for team t{number * 7}"
    )


def head_of(chain: int, version: int) -> str:
    """The id of a version of a chain, the same for everybody."""
    return f"mem-chain-{chain}-{version}"


async def write(memories: MemoryStore, seed: int, texts: int) -> tuple[int, list[str]]:
    """Store and replace; how many were stored, and the replacements that won."""
    numbers = [number for number in range(texts) for _ in range(2)]
    random.Random(1).shuffle(numbers)  # all in the same order, so that they meet
    stored = 0
    for start in range(0, len(numbers), 50):
        some = [record(text_of(number)) for number in numbers[start : start + 50]]
        results = await asyncio.gather(*(store(memories, one) for one in some))
        stored += sum(result.stored for result in results)
    won = []
    for version in range(ROUNDS):
        for chain in range(CHAINS):
            new = record(f"chain c{chain} version v{version + 1} by w{seed}")
            new = replace(new, id=f"{new.id}-{seed}", supersedes=head_of(chain, version))
            new = replace(new, provenance=replace(new.provenance, person=access().person))
            if (await store(memories, new)).stored:
                won.append(new.supersedes)
                follow = replace(
                    record(f"chain c{chain} head h{version + 1}"),
                    id=head_of(chain, version + 1),
                    supersedes=new.id,
                )
                assert (await store(memories, follow)).stored
    return stored, won


async def main(engine: str, url: str, seed: int, texts: int) -> None:
    """Run as a process."""
    opened: SqliteDatabase | PostgresDatabase
    if engine == "sqlite":
        opened = SqliteDatabase(Path(url), SCHEMAS)
    else:
        opened = PostgresDatabase(url, SCHEMAS, WRITER)
    await opened.start()
    memories = SqlMemories(opened, SystemClock(), searches_on(opened))
    stored, won = await write(memories, seed, texts)
    await opened.stop()
    sys.stdout.write(json.dumps([stored, won]))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
