"""The engines of the stores, for the stores of knowledge."""

from tests.memory.stores.conftest import clock, database, engine, pool, url

__all__ = ["clock", "database", "engine", "pool", "url"]
