"""The commands of the documentation that only read are run, with a small configuration and an empty
database."""

from pathlib import Path

import pytest

from gateway.ports.clock import SystemClock
from parley.config import load
from parley.wiring.storage import Storage
from tests.docs.blocks import runnable
from tests.docs.test_code import lines_of
from tests.parley.cli.kit import parley

READING = {
    *("--version", "docs", "check-config", "manifest", "mcp config", "models list", "config list"),
    *("access list", "outbox list", "quarantine list", "memory people", "usage"),
    *("agents list", "example-config"),
}
"""Commands that change nothing and need no running program, no message and no service."""
CONFIGURATION = "model: {provider: offline}\nplatforms: {web: {enabled: true}}\n"
DATABASE = "database: {{url: 'sqlite:///{folder}/data/parley.db'}}\n"


def reading() -> list[tuple[str, ...]]:
    """Every call of these commands in the shell code of all pages, once."""
    found = set()
    for block in runnable("sh"):
        for line in lines_of(block.code):
            words = line.partition(" #")[0].strip().removeprefix(".venv/bin/").split()
            plain = not {"|", "<", ">", "&&"}.intersection(words) and "…" not in line
            named = {" ".join(words[1:2]), " ".join(words[1:3])}
            if words[:1] == ["parley"] and plain and named & READING:
                found.add(tuple(words[1:]))
    return sorted(found)


CALLS = reading()


def test_the_pages_have_such_commands() -> None:
    assert len(CALLS) > 10


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
async def test_a_command_that_reads_works_as_documented(
    call: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "config").mkdir()
    path = tmp_path / "config" / "parley.yaml"
    path.write_text(CONFIGURATION + DATABASE.format(folder=tmp_path), "utf-8")
    storage = Storage(load(path, {}), SystemClock())
    await storage.start()
    await storage.stop()
    ended = await parley(*call, cwd=tmp_path)
    assert ended.status == 0, ended.out + ended.err
