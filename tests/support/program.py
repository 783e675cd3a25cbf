"""The whole program in the process of a test."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from parley.app import DRAIN_SECONDS, App


@asynccontextmanager
async def running_app(app: App, drain: float = DRAIN_SECONDS) -> AsyncIterator[App]:
    """A program from its start to its end, which waits up to `drain` seconds for what runs."""
    try:
        await app.start()
        yield app
    finally:
        await app.stop(drain)
