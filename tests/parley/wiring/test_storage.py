"""The stores of a configuration: who may open the same files at the same time."""

from pathlib import Path

import pytest

from db.errors import StoreUnavailable
from gateway.ports.clock import SystemClock
from parley.config import Settings, from_mapping
from parley.wiring.storage import Storage


def settings_of(**urls: str) -> Settings:
    return from_mapping({section: {"url": url} for section, url in urls.items()})


async def test_a_second_gateway_on_the_same_file_is_refused(tmp_path: Path) -> None:
    settings = settings_of(database=f"sqlite:///{tmp_path}/parley.db")
    first, second = Storage(settings, SystemClock()), Storage(settings, SystemClock())
    await first.start()
    with pytest.raises(StoreUnavailable, match="stop that one first"):
        await second.start()
    await second.stop()
    await first.stop()
    await second.start()
    await second.stop()


async def test_a_reader_can_open_the_file_of_a_running_gateway(tmp_path: Path) -> None:
    settings = settings_of(database=f"sqlite:///{tmp_path}/parley.db")
    gateway, reader = Storage(settings, SystemClock()), Storage(settings, SystemClock())
    await gateway.start()
    await reader.start(exclusive=False)
    assert await reader.stores.traces.recent() == []
    await reader.stop()
    await gateway.stop()


async def test_one_file_under_two_addresses_does_not_lock_out_its_own_gateway(
    tmp_path: Path,
) -> None:
    url = f"sqlite:///{tmp_path}/parley.db"
    storage = Storage(settings_of(database=url, storage=f"{url}?synchronous=full"), SystemClock())
    await storage.start()
    await storage.stop()
