"""Measures recall in a PostgreSQL with 1,000,000 memories of 10,000 people.

    python -m benchmarks.million                       both rounds, some six minutes
    python -m benchmarks.million --round people        1,000,000 memories, 100 of each person's
    python -m benchmarks.million --round project       30,000 memories of one project among 80,000

Made words and made vectors of 384 numbers (32 dimensions and noise), loaded past the program and
then asked through the same store that the gateway uses. `recall` is the share of the ten nearest by
an exact scan of the same person's vectors, made with numpy, that are among the first ten. In the
second round the owner has so many that pgvector's HNSW index is made and followed.

Held to: 60 ms at 95 of 100 questions, a recall of .95.
"""

import argparse
import asyncio
import json
import random
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import psutil
import psycopg

from benchmarks.machine import Machine
from db.postgres import PoolLimits, PostgresDatabase
from gateway.ports.clock import SystemClock
from memory.model.record import Embedding
from memory.model.scope import AccessScope
from memory.ports.memories import Filter
from memory.stores.partitions import owners_within
from memory.stores.rows import partition_lexeme
from parley.wiring.storage import MemoryStores
from tests.support.databases import postgres_database
from tests.support.servers import PostgresServer, postgres_server

QUESTIONS: Final = 300
DIMENSION: Final = 384
LATENT: Final = 32
NOISE: Final = 1.0
"""Vectors of texts lie near a space of some dozen dimensions; wholly random ones are all equally
far from each other, and the nearest of them are nobody's neighbours."""
WORDS: Final = 8_000
CHUNK: Final = 20_000
MAX_MS: Final = 60.0
MIN_RECALL: Final = 0.95
TOP: Final = 10
ASKED_FOR: Final = 50
MODEL: Final = "made"

NOW: Final = "CAST(extract(epoch FROM now()) * 1000000 AS bigint)"
FIXED: Final = {
    "id": "'mem-' || n", "tenant": "'t'", "scope": "o.scope", "tier": "'semantic'",
    "kind": "'fact'", "behavioral": "false", "content": "array_to_string(words, ' ')",
    "project": "o.project", "tags": "'[]'", "role": "''", "person": "o.person",
    "source": "'user_message'", "trust": "'high'", "at": f"{NOW} - CAST(n AS bigint) * 1000000",
    "session": "''", "message_id": "''", "tool": "''", "conversation": "''", "room": "''",
    "channel": "''", "audience": "'direct'", "external": "false", "claim": "''",
    "captured_at": NOW, "confidence": "0.9", "source_id": "''", "supersedes": "''",
    "superseded_by": "''", "confirmed": "false", "derived_from": "'[]'", "agent": "''",
    "agent_private": "false", "from_repository": "false", "owner": "o.owner",
    "partitions": "o.owner", "words": "array_to_string(words, ' ')", "length": "cardinality(words)",
    "lexemes": "array_to_tsvector(words || o.partition_name)",
}  # fmt: skip
FILL: Final = f"""
    INSERT INTO memories ({", ".join(FIXED)})
    SELECT {", ".join(FIXED.values())} FROM (
        SELECT n, (SELECT array_agg('w' || floor(exp(random() * ln({WORDS})))::integer)
            FROM generate_series(1, 8 + n %% 16)) AS words
        FROM generate_series(0, %(count)s - 1) AS n
    ) AS made JOIN owners o ON o.number =
        CASE WHEN n < %(of_people)s THEN n %% %(owners)s ELSE %(owners)s END
    ORDER BY n
"""
INDEXES: Final = """
    SELECT i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid) FROM pg_index i
    WHERE i.indrelid = 'memories'::regclass AND NOT i.indisunique
"""
OWN: Final = """
    SELECT m.id, v.vector::real[] FROM memories m JOIN memory_vectors v ON v.memory = m.seq
    WHERE m.owner = ANY (%s)
"""
SIZE: Final = "SELECT pg_database_size(current_database())"

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Round:
    """The number of people, of memories of each, and of memories of one project."""

    name: str
    people: int
    each: int
    project: int

    @property
    def of_people(self) -> int:
        """Memories that are a person's."""
        return self.people * self.each

    @property
    def count(self) -> int:
        """All of them."""
        return self.of_people + self.project

    def access(self, number: int) -> AccessScope:
        """The access scope of the asking person, who is also in the project if there is one."""
        person = f"test:main:{number}"
        project = "p" if self.project else ""
        return AccessScope("t", person, (person,), "", project, private=True, operates=False)


ROUNDS: Final = (Round("people", 10_000, 100, 0), Round("project", 500, 100, 30_000))


def fill(server: PostgresServer, some: Round) -> float:
    """Load everything; seconds."""
    began = time.monotonic()
    with psycopg.connect(server.url, autocommit=True) as db:
        db.execute("SET maintenance_work_mem = '1GB'")
        db.execute("SET synchronous_commit = off")
        db.execute(
            "CREATE TEMP TABLE owners (number integer, person text, project text, scope text,"
            " owner text, partition_name text)"
        )
        with db.cursor().copy("COPY owners FROM STDIN") as copy:
            for row in _owners(some):
                copy.write_row(row)
        indexes = db.execute(INDEXES).fetchall()
        for name, _ in indexes:
            db.execute(f"DROP INDEX {name}".encode())
        values = {"count": some.count, "owners": some.people, "of_people": some.of_people}
        db.execute(FILL.encode(), values)
        with db.cursor().copy("COPY memory_vectors FROM STDIN (FORMAT binary)") as copy:
            for data in _vectors(some.count):
                copy.write(data)
        for _, definition in indexes:
            db.execute(definition.encode())
        db.execute("VACUUM (ANALYZE) memories")
        db.execute("VACUUM (ANALYZE) memory_vectors")
    return time.monotonic() - began


def _owners(some: Round) -> Iterator[tuple[object, ...]]:
    for number in range(some.people):
        owner = owners_within(some.access(number))[-1]
        yield number, f"test:main:{number}", "", "user", owner, partition_lexeme(owner)
    if some.project:
        owner = owners_within(some.access(0))[1]
        yield some.people, "test:main:0", "p", "project", owner, partition_lexeme(owner)


def _vectors(count: int) -> Iterator[bytes]:
    """PostgreSQL's binary format, in which a vector is its length, two zero bytes and float32."""
    row = np.dtype(
        [("fields", ">i2"), ("l1", ">i4"), ("memory", ">i8"), ("l2", ">i4"),
         ("model", f"S{len(MODEL)}"), ("l3", ">i4"), ("dimension", ">i2"), ("unused", ">i2"),
         ("vector", ">f4", (DIMENSION,))]
    )  # fmt: skip
    numbers = np.random.default_rng(7)
    axes = numbers.standard_normal((LATENT, DIMENSION), np.float32)
    yield b"PGCOPY\n\xff\r\n\0" + bytes(8)
    for begin in range(0, count, CHUNK):
        size = min(CHUNK, count - begin)
        rows = np.zeros(size, row)
        rows["fields"], rows["l1"], rows["l2"] = 3, 8, len(MODEL)
        rows["l3"], rows["dimension"] = 4 + 4 * DIMENSION, DIMENSION
        rows["memory"] = np.arange(begin + 1, begin + 1 + size)
        rows["model"] = MODEL.encode()
        vectors = numbers.standard_normal((size, LATENT), np.float32) @ axes
        vectors += numbers.normal(0, NOISE, vectors.shape)
        rows["vector"] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        yield rows.tobytes()
    yield b"\xff\xff"


async def measure(pool: PostgresDatabase, stores: MemoryStores, some: Round) -> dict[str, Any]:
    """Ask different people's questions."""
    chance, machine = random.Random(3), Machine()
    words: list[float] = []
    meaning: list[float] = []
    shares: list[float] = []
    own: tuple[list[str], Floats] | None = None
    for _ in range(QUESTIONS):
        access = some.access(chance.randrange(some.people))
        if own is None or not some.project:
            own = await _own(pool, access)
        ids, vectors = own
        noise = np.array([chance.gauss(0, 0.02) for _ in range(DIMENSION)], np.float32)
        query = vectors[chance.randrange(len(ids))] + noise
        query /= np.linalg.norm(query)
        embedding = Embedding(MODEL, tuple(query.tolist()))
        began = time.perf_counter()
        near = await stores.recall.nearest(access, embedding, Filter(), ASKED_FOR)
        meaning.append((time.perf_counter() - began) * 1000)
        text = " ".join(f"w{chance.randrange(60, 3000)}" for _ in range(6))
        began = time.perf_counter()
        await stores.recall.lexical(access, text, Filter(), ASKED_FOR)
        words.append((time.perf_counter() - began) * 1000)
        exact = {ids[place] for place in np.argsort(-(vectors @ query))[:TOP]}
        shares.append(len(exact & {hit.id for hit in near[:TOP]}) / TOP)
    recall, slowest = statistics.mean(shares), max(_p95(meaning), _p95(words))
    return {
        "milliseconds": {
            "words": {"p50": round(statistics.median(words), 2), "p95": _p95(words)},
            "meaning": {"p50": round(statistics.median(meaning), 2), "p95": _p95(meaning)},
        },
        "recall": round(recall, 4),
        "others_used": machine.others(),
        "kept_to": slowest <= MAX_MS and recall >= MIN_RECALL,
    }


async def _own(pool: PostgresDatabase, access: AccessScope) -> tuple[list[str], Floats]:
    async def work(connection: Any) -> list[tuple[str, list[float]]]:
        cursor = await connection.execute(OWN, (owners_within(access),))
        rows: list[tuple[str, list[float]]] = await cursor.fetchall()
        return rows

    rows = await pool.without_limit(work)
    return [id_ for id_, _ in rows], np.array([vector for _, vector in rows], np.float32)


def _p95(took: Sequence[float]) -> float:
    return round(statistics.quantiles(took, n=20)[-1], 2)


def _megabytes_of(url: str) -> float:
    """Return the megabytes of all processes of the server, with shared buffers counted once."""
    with psycopg.connect(url) as db:
        row = db.execute("SELECT pg_backend_pid()").fetchone()
        parent = psutil.Process(row[0] if row else 0).parent()
        assert parent is not None
        family = [parent, *parent.children(recursive=True)]
        return round(sum(one.memory_full_info().pss for one in family) / 2**20, 1)


async def run(some: Round) -> bool:
    """One round; whether it kept to the limits."""
    with postgres_server() as server:
        pool = postgres_database(server.url, PoolLimits(statement=60.0))
        await pool.start()
        stores = MemoryStores(pool, SystemClock())
        await stores.memories.unembedded(MODEL, 1)
        seconds = await asyncio.to_thread(fill, server, some)
        line: dict[str, Any] = {"round": some.name, "memories": some.count}
        line["fill_seconds"] = round(seconds, 1)
        if some.project:
            access = some.access(0)
            query = Embedding(MODEL, (1.0,) + (0.0,) * (DIMENSION - 1))
            await stores.recall.nearest(access, query, Filter(), 1)
            began = time.monotonic()
            for chore in stores.chores.values():
                await chore()
            line["index_seconds"] = round(time.monotonic() - began, 1)
        line |= await measure(pool, stores, some)
        line["server_mb"] = await asyncio.to_thread(_megabytes_of, server.url)
        line["program_mb"] = round(psutil.Process().memory_info().rss / 2**20, 1)
        line["database_mb"] = round((await pool.fetch_raw(SIZE))[0][0] / 2**20, 1)
        await pool.stop()
    print(json.dumps(line), flush=True)
    return bool(line["kept_to"])


def main() -> int:
    """Command line; 1 when a limit was not kept."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.million")
    parser.add_argument("--round", choices=[some.name for some in ROUNDS])
    parser.add_argument("--people", type=int, help="Fewer than 10,000, to try it out.")
    arguments = parser.parse_args()
    chosen = [some for some in ROUNDS if arguments.round in (None, some.name)]
    if arguments.people:
        chosen = [Round(s.name, arguments.people, s.each, s.project) for s in chosen]
    fine = [asyncio.run(run(some)) for some in chosen]
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
