"""One PostgreSQL for all tests of memory."""

from collections.abc import Iterator

import pytest

from tests.support.servers import PostgresServer, postgres_server


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    with postgres_server() as server:
        yield server
