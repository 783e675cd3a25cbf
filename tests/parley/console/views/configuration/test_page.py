"""The page of the configuration."""

import inspect
import threading
from pathlib import Path

import pytest

from parley.config.reference_page import documented, texts_in
from tests.parley.console.kit import OWNER, console_in, console_settings


async def test_the_meaning_of_each_key_is_read_once_and_not_on_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []
    read = inspect.getsource

    def noted(section: object) -> str:
        threads.append(threading.current_thread())
        return read(section)  # type: ignore[arg-type]  # passed through

    monkeypatch.setattr(inspect, "getsource", noted)
    async with console_in(console_settings(tmp_path)) as console:
        owner = await console.visitor(OWNER)
        documented.cache_clear()
        texts_in.cache_clear()
        await owner.get("/configuration")
        first = len(threads)
        assert first
        assert threading.main_thread() not in threads
        await owner.get("/configuration?show=all")
        assert len(threads) == first
