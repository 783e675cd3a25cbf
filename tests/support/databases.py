"""Databases of their own for tests that share one PostgreSQL server."""

import itertools
import os

import psycopg

from tests.support.servers import PostgresServer

_NUMBERS = itertools.count()


def new_database(server: PostgresServer) -> str:
    """The URL of a database that nobody else uses and nothing is in."""
    name = f"test_{os.getpid()}_{next(_NUMBERS)}"
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return server.url.removesuffix("/postgres") + f"/{name}"
