"""This version opens the database of every release, and finds everything that is in it."""

import gzip
import json
import re
import sqlite3
import subprocess
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml

from db.errors import SchemaTooNew
from gateway.conversation import ConversationKey
from parley.wiring.storage import SCHEMAS
from tests.parley.cli.kit import ROOT, Ended, parley
from tests.support.databases import new_database
from tests.support.servers import PostgresServer, postgres_binary
from tests.upgrade.conversation import (
    COLOUR,
    PREFERENCE,
    SAID,
    assistant,
    pass_events,
    settings,
    talks,
)

DATABASES = Path(__file__).parent / "databases"
RELEASES = sorted(path.stem for path in DATABASES.glob("*.json"))


@dataclass(frozen=True, slots=True)
class Old:
    """A database of an earlier release, and a folder with a configuration for it."""

    release: str
    url: str
    folder: Path

    @property
    def ids(self) -> Any:
        return json.loads((DATABASES / f"{self.release}.json").read_text())

    def person(self, name: str) -> str:
        return f"telegram:main:{self.ids['people'][name]}"

    async def parley(self, *arguments: str) -> Ended:
        """Run a command on it."""
        return await parley(*arguments, "--config", "parley.yaml", cwd=self.folder)


@pytest.fixture(params=["sqlite", "postgres"])
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=RELEASES)
def old(
    request: pytest.FixtureRequest, engine: str, tmp_path: Path, postgres: PostgresServer
) -> Old:
    release = str(request.param)
    if engine == "sqlite":
        (tmp_path / "parley.db").write_bytes(unpacked(f"{release}.sqlite.gz"))
        url = f"sqlite:///{tmp_path}/parley.db"
    else:
        url = new_database(postgres)
        command = (postgres_binary("psql"), "--quiet", "--set", "ON_ERROR_STOP=1", url)
        dump = unpacked(f"{release}.postgres.sql.gz")
        subprocess.run(command, input=dump, check=True, capture_output=True)
    (tmp_path / "parley.yaml").write_text(yaml.safe_dump(settings(tmp_path, url)))
    return Old(release, url, tmp_path)


def unpacked(name: str) -> bytes:
    return gzip.decompress((DATABASES / name).read_bytes())


def test_there_is_a_database_of_a_release() -> None:
    assert RELEASES


async def test_people_and_their_memories_are_found(old: Old) -> None:
    people = await old.parley("memory", "people")
    assert people.status == 0, people.err
    assert {"Ada", "Ben"} <= set(old.ids["people"])
    assert all(old.person(name) in people.out for name in ("Ada", "Ben"))
    for name, text, other in (("Ada", PREFERENCE, COLOUR), ("Ben", COLOUR, PREFERENCE)):
        listed = await old.parley("memory", "list", "--person", old.person(name), "--json")
        assert (listed.status, text in listed.out, other in listed.out) == (0, True, False), listed


async def test_the_audit_is_unbroken_and_the_decisions_are_explained(old: Old) -> None:
    audit = await old.parley("audit", "verify")
    assert (audit.status, "none of them was changed" in audit.out) == (0, True), audit
    why = await old.parley("why", old.ids["first_message"])
    assert (why.status, "-> answered" in why.out) == (0, True), why


async def test_the_conversation_continues_with_what_was_said(old: Old) -> None:
    async with assistant(old.folder, old.url) as lab:
        people = talks(lab)
        await pass_events(lab)
        key = ConversationKey("default", "telegram", "main", "", people["Ada"].room.id)
        turns = await lab.app.storage.stores.conversations.latest(key, 20)
        stored = [turn.text for turn in turns if turn.role == "user"]
        assert stored == [text for name, text in SAID if name == "Ada"]
        await people["Ada"].say("hello again")
        listed = await people["Ada"].command("memories")
    assert PREFERENCE in listed.text
    assert COLOUR not in listed.text


def a_newer_program_wrote(old: Old) -> None:
    """Record a step that no version has yet."""
    statement = "INSERT INTO schema_migrations VALUES ('memory', 999)"
    if old.url.startswith("sqlite"):
        with closing(sqlite3.connect(old.folder / "parley.db")) as database, database:
            database.execute(statement)
    else:
        with psycopg.connect(old.url) as connection:
            connection.execute(statement)


async def test_the_database_of_a_newer_version_is_refused_with_the_next_step(old: Old) -> None:
    a_newer_program_wrote(old)
    with pytest.raises(SchemaTooNew, match="install that version or a later one"):
        async with assistant(old.folder, old.url):
            pass
    refused = [
        await old.parley("memory", "list", "--person", old.person("Ada")),
        await old.parley("doctor"),
    ]
    for ended in refused:
        output = ended.out + ended.err
        assert ended.status == 1, output
        assert "a newer version of Parley wrote the database (step 999 of memory)" in output
        assert "install that version or a later one, or restore a backup" in output
        assert "Traceback" not in output


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_the_backup_of_a_newer_version_is_not_restored(old: Old) -> None:
    assert (await old.parley("backup", "copy.db")).status == 0
    before = (old.folder / "parley.db").read_bytes()
    with closing(sqlite3.connect(old.folder / "copy.db")) as copy, copy:
        copy.execute("INSERT INTO schema_migrations VALUES ('memory', 999)")
    refused = await old.parley("restore", "copy.db", "--force")
    assert refused.status == 1
    assert "install that version or a later one, or restore a backup" in refused.err
    assert (old.folder / "parley.db").read_bytes() == before


@pytest.mark.parametrize("release", RELEASES)
def test_the_page_on_upgrades_names_the_steps_of_a_release(release: str) -> None:
    steps = json.loads((DATABASES / f"{release}.json").read_text())["steps"]
    current = {schema.name: len(schema.steps) for schema in SCHEMAS}
    assert all(steps[name] <= current[name] for name in steps), "a step was taken away"
    page = (ROOT / "docs" / "how-to" / "upgrade.md").read_text("utf-8")
    row = re.search(rf"^\| {re.escape(release)} \| (\d+) \| (\d+) \| (\d+) \|$", page, re.MULTILINE)
    assert row is not None
    named = dict(zip(("gateway", "memory", "knowledge"), map(int, row.groups()), strict=True))
    assert steps == named
