"""The contract of the versions of the configuration, on both engines."""

import asyncio
from datetime import UTC, datetime

from gateway.stores.config_versions import KEPT, ConfigVersion, ConfigVersions
from gateway.stores.personal_data import SqlPersonalData
from tests.support.clock import FakeClock
from tests.support.databases import Engine

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def version(number: int, text: str = "{}") -> ConfigVersion:
    """A version."""
    return ConfigVersion(number, number, "web:main:oona", NOW, ("access.owners",), text)


async def test_versions_are_added_one_after_the_other(engine: Engine) -> None:
    store = ConfigVersions(engine)
    assert await store.newest() is None
    assert not await store.add(version(2))
    tries = [store.add(version(1, f'{{"by":{n}}}')) for n in range(5)]
    assert sorted(await asyncio.gather(*tries)) == [False] * 4 + [True]
    assert await store.add(version(2, '{"x":"ä"}'))
    assert not await store.add(version(2))
    assert await store.newest() == version(2, '{"x":"ä"}')
    assert await store.newest(after=2) is None
    assert await store.newest(after=1) == version(2, '{"x":"ä"}')
    assert await store.find(3) is None
    assert [one.number for one in await store.listed(10)] == [2, 1]
    assert [one.number for one in await store.listed(10, before=2)] == [1]
    for number in range(3, KEPT + 3):
        await store.add(version(number))
    kept = await store.listed(1_000)
    assert (len(kept), kept[0].number, kept[-1].number) == (KEPT, KEPT + 2, 3)


async def test_an_erased_person_is_no_author_any_more(engine: Engine) -> None:
    store = ConfigVersions(engine)
    await store.add(version(1))
    await SqlPersonalData(engine, FakeClock()).erase("default", ["web:main:oona"])
    newest = await store.newest()
    assert newest is not None
    assert (newest.author, newest.overrides) == ("", "{}")
