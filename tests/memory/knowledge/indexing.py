"""Ingests texts as a repository into the index of a configuration."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.immutable import replace
from memory.knowledge.ports import Batch, NewFile
from memory.knowledge.splitting import split_file
from parley.config import Settings
from parley.wiring.knowledge import open_knowledge
from tests.memory.knowledge.values import AT, new_file, repository

COMMIT: Final = "c0ffee" * 6 + "c0ff"


async def index(
    settings: Settings, texts: Mapping[str, str], project: str, *, private: bool = True, **more: Any
) -> None:
    """Ingest texts by path as one repository of a project, "" for the whole tenant."""
    opened = open_knowledge(settings)
    await opened.start()
    remote = "https://github.com/example/shop"
    one = repository(project=project, private=private, remote=remote, **{"rooms": (), **more})
    assert await opened.stores.repositories.add(one)
    files = opened.stores.files
    await files.begin(one.id, "main", followed=True, target=COMMIT, rules="")
    batch = Batch(files=[_file(path, text) for path, text in texts.items()])
    await files.write(one.id, "main", COMMIT, batch, AT)
    await files.finish(one.id, "main", COMMIT, AT)
    await opened.stop()


def _file(path: str, text: str) -> NewFile:
    return replace(new_file(path, text), split=split_file(path, text))
