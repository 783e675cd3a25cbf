"""Databases of their own for tests that share one PostgreSQL server."""

import itertools
import os

import psycopg

from gateway.storage.postgres.pool import PoolLimits
from tests.support.patience import PATIENCE
from tests.support.servers import PostgresServer

PATIENT = PoolLimits(checkout=PATIENCE, statement=PATIENCE)
"""For tests in which the server is there and only the machine is busy."""
_NUMBERS = itertools.count()


def new_database(server: PostgresServer) -> str:
    """The URL of a database that nobody else uses and nothing is in."""
    name = f"test_{os.getpid()}_{next(_NUMBERS)}"
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return server.url.removesuffix("/postgres") + f"/{name}"
