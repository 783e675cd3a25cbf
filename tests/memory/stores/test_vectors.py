"""PostgreSQL without pgvector: everything except vectors works, and the missing extension is
reported."""

import psycopg
import pytest
from structlog.testing import capture_logs

from gateway.stores.postgres_status import standing
from memory.model.record import Embedding
from memory.ports.memories import TextVector
from memory.stores.memories import SqlMemories
from memory.stores.search import searches_on
from parley.wiring.storage import SCHEMAS
from tests.memory.stores.records import access, record, store, texts
from tests.support.clock import FakeClock
from tests.support.databases import PATIENT, new_database, postgres_database
from tests.support.servers import PostgresServer

pytestmark = pytest.mark.xdist_group("postgres")


@pytest.fixture
def plain_url(postgres: PostgresServer) -> str:
    """A database in whose schema a user without rights to extensions may do everything else."""
    url = new_database(postgres)
    plain = f"plain_{url.rpartition('/')[2]}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {plain} LOGIN")
        connection.execute(f"GRANT ALL ON SCHEMA public TO {plain}")
    return url.replace("postgres@", f"{plain}@")


async def test_doctor_can_report_the_extension(postgres: PostgresServer, plain_url: str) -> None:
    assert (await standing(postgres.url, SCHEMAS)).vectors
    assert not (await standing(plain_url, SCHEMAS)).vectors


async def test_memories_are_stored_and_found_without_the_extension(
    plain_url: str, clock: FakeClock
) -> None:
    pool = postgres_database(plain_url, PATIENT)
    await pool.start()
    memories = SqlMemories(pool, clock, searches_on(pool))
    kept = record("likes tea", embedding=Embedding("m", (1.0,)))
    with capture_logs() as logs:
        assert (await store(memories, kept)).stored
        assert (
            await memories.embed([TextVector(kept.id, kept.content, Embedding("m", (1.0,)))]) == 0
        )
        assert await memories.unembedded("m", 10) == []
    assert [line["event"] for line in logs] == ["vectors_not_stored"]
    assert "permission denied to create extension" in logs[0]["problem"]
    assert "CREATE EXTENSION vector" in logs[0]["advice"]
    assert await texts(memories, text="tea") == ["likes tea"]
    stored = await memories.get(access(), kept.id)
    assert stored is not None
    assert stored.embedding is None
    assert await memories.delete(access(), [kept.id]) == [kept.id]
    await pool.stop()
