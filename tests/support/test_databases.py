"""Tests get a database without rows, and none that another test changed."""

import psycopg
import pytest

from tests.support.databases import end_of_test, migrated_database
from tests.support.servers import PostgresServer

pytestmark = pytest.mark.xdist_group("postgres")
AUDITED = "INSERT INTO memory_audit VALUES (1, 1, 'read', 't', 'ada', '', '', '')"
"""A row that a trigger keeps."""
COUNTED = "SELECT nextval(oid) FROM pg_class WHERE relkind = 'S' ORDER BY relname LIMIT 1"


def run(url: str, statement: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        result = connection.execute(statement.encode())
        return result.fetchall() if result.description else []


def test_the_database_of_an_earlier_test_has_no_rows(postgres: PostgresServer) -> None:
    first = migrated_database(postgres)
    assert migrated_database(postgres) != first, "a test has as many as it asks for"
    run(first, AUDITED)
    number = run(first, COUNTED)
    end_of_test()
    again = {migrated_database(postgres) for _ in range(2)}
    assert first in again
    assert run(first, "SELECT * FROM memory_audit") == []
    assert run(first, COUNTED) == number


@pytest.mark.parametrize(
    "change",
    [
        "CREATE TABLE more (id bigint)",
        "ALTER TABLE memories RENAME TO away",
        "ALTER TABLE memories ADD COLUMN more bigint",
        "DROP TRIGGER memory_audit_kept ON memory_audit",
    ],
)
def test_a_database_that_a_test_changed_is_not_used_again(
    postgres: PostgresServer, change: str
) -> None:
    changed = migrated_database(postgres)
    run(changed, change)
    end_of_test()
    assert changed not in {migrated_database(postgres) for _ in range(5)}


def test_a_connection_that_a_test_left_open_ends(postgres: PostgresServer) -> None:
    url = migrated_database(postgres)
    with psycopg.connect(url) as left:
        left.execute("LOCK TABLE memories")
        end_of_test()
        assert url in {migrated_database(postgres) for _ in range(5)}
        with pytest.raises(psycopg.OperationalError):
            left.execute("SELECT 1")
