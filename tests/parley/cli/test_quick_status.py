"""`parley knowledge status` uses a note of where its configuration leads, while nothing changes."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from parley.cli.knowledge.quick_status import NOTES
from tests.parley.cli.kit import ROOT, Ended, parley
from tests.support.git import TestRepository, new_repository
from tests.support.patience import LAUNCH

LIBRARIES: Final = ("typer", "pydantic", "yaml", "structlog", "asyncio", "rich")
PROGRAM: Final = f"""
import sys
from parley.cli.entry import main
try:
    main()
finally:
    loaded = [name for name in {LIBRARIES} if name in sys.modules]
    sys.stderr.write(f"loaded: {{loaded}}")
"""


class Shop:
    """A home folder, a configuration and a registered repository."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git: TestRepository = new_repository(folder / "shop")
        self.git.commit({"README.md": "# Shop"})
        self.config = folder / "parley.yaml"
        self.write(folder / "data")
        self.env = {"HOME": str(folder / "home"), "PATH": os.environ["PATH"]}
        self.note = folder / "home" / ".local" / "state" / NOTES

    def write(self, data: Path, more: str = "") -> None:
        self.config.write_text(f"database: {{url: 'sqlite:///{data}/parley.db'}}\n{more}")

    async def knowledge(self, *arguments: str) -> Ended:
        env = {"HOME": self.env["HOME"]}
        return await parley(
            "knowledge", *arguments, "-c", str(self.config), cwd=self.folder, env=env
        )

    def status(
        self, *arguments: str, cwd: Path | None = None, program: str = PROGRAM, **env: str
    ) -> Ended:
        """Run the real entry point, which says which libraries it has loaded."""
        done = subprocess.run(
            [sys.executable, "-c", program, "knowledge", "status", *arguments],
            cwd=cwd or self.folder,
            env={**self.env, "PYTHONPATH": str(ROOT), "PARLEY_CONFIG": str(self.config), **env},
            capture_output=True,
            text=True,
            timeout=LAUNCH,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr)


@pytest.fixture
async def shop(tmp_path: Path) -> Shop:
    made = Shop(tmp_path)
    ended = await made.knowledge("init", "shop")
    assert ended.status == 0, ended.err
    return made


def is_quick(ended: Ended) -> bool:
    """True if a command loaded no library."""
    return ended.err.endswith("loaded: []")


async def test_a_second_status_says_the_same_and_loads_no_library(shop: Shop) -> None:
    first, again = shop.status(), shop.status()
    assert (first.status, again.status) == (0, 0), first.err
    assert first.out == again.out
    assert not is_quick(first)
    assert is_quick(again), again.err
    assert shop.note.stat().st_mode & 0o777 == 0o600
    assert shop.status("shop", "--json").out == (await shop.knowledge("status", "--json")).out
    shop.git.commit({"README.md": "# Changed"})
    stale = shop.status("shop")
    assert is_quick(stale)
    assert "stale" in stale.out
    unknown = shop.status("nothing")
    assert (unknown.status, unknown.out) == (1, "")
    assert "nothing is not registered" in unknown.err


def _configuration_changed(shop: Shop) -> None:
    shop.write(shop.folder / "data", "knowledge: {vectors: none}\n")


def _secrets_added(shop: Shop) -> None:
    (shop.folder / ".env").write_text("PARLEY_KNOWLEDGE__VECTORS=none\n")


def _model_installed(shop: Shop) -> None:
    folder = shop.folder / "data" / "models" / "all-MiniLM-L6-v2"
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(b"x")


def _note_damaged(shop: Shop) -> None:
    shop.note.write_text('[{"key": 1}]')


async def test_a_change_of_what_a_note_depends_on_ends_it(shop: Shop) -> None:
    shop.status()
    for changed in (_configuration_changed, _secrets_added, _model_installed, _note_damaged):
        assert is_quick(shop.status()), changed
        changed(shop)
        after = shop.status()
        assert not is_quick(after), changed
        assert after.status == 0, after.err
        assert after.out == (await shop.knowledge("status")).out


async def test_another_environment_or_an_index_that_is_gone_is_no_case_for_the_note(
    shop: Shop,
) -> None:
    shop.status()
    assert not is_quick(shop.status(PARLEY_KNOWLEDGE__VECTORS="none"))
    (shop.folder / "data" / "knowledge.db").unlink()
    gone = shop.status()
    assert (gone.status, gone.out) == (1, "")
    assert "No repository is registered yet" in gone.err


async def test_a_configuration_with_references_to_files_is_read_every_time(shop: Shop) -> None:
    (shop.folder / "name").write_text("Ada")
    shop.write(shop.folder / "data", "assistant: {name: '${file:name}'}\n")
    shop.status()
    second = shop.status()
    assert second.status == 0, second.err
    assert not is_quick(second)


async def test_a_folder_that_was_deleted_is_named(shop: Shop) -> None:
    gone = f"import os; os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone'){PROGRAM}"
    ended = shop.status(program=gone)
    assert (ended.status, ended.out) == (3, "")
    assert "The current folder does not exist any more" in ended.err
    assert "Traceback" not in ended.err


async def test_a_note_is_not_used_for_a_configuration_in_somebodys_repository(shop: Shop) -> None:
    config = shop.git.folder / "config" / "parley.yaml"
    config.parent.mkdir()
    config.write_text(shop.config.read_text())
    ended = shop.status(cwd=shop.git.folder, PARLEY_CONFIG="")
    assert ended.status == 3
    assert "is not read: it is in the git repository" in ended.err
    assert shop.status(cwd=shop.git.folder, PARLEY_CONFIG="").status == 3
