"""The index of repositories in a running program."""

from pathlib import Path

import pytest

from parley.config import Settings, from_mapping
from parley.wiring.knowledge import ProgramIndex, open_knowledge


async def test_a_turn_waits_for_nothing_while_there_is_no_index(tmp_path: Path) -> None:
    """Concurrent turns that wait, even for a thread, no longer share transactions."""
    index = ProgramIndex(open_knowledge(configured(tmp_path)))
    with pytest.raises(StopIteration) as end:
        index.opened().send(None)
    assert end.value.value is False


async def test_an_index_is_read_as_soon_as_it_exists(tmp_path: Path) -> None:
    index = ProgramIndex(open_knowledge(configured(tmp_path)))
    assert not await index.opened()
    made = open_knowledge(configured(tmp_path))
    await made.start()
    await made.stop()
    assert await index.opened()
    with pytest.raises(StopIteration) as end:
        index.opened().send(None)
    assert end.value.value is True
    await index.close()


def configured(folder: Path) -> Settings:
    return from_mapping({"database": {"url": f"sqlite:///{folder}/parley.db"}})
