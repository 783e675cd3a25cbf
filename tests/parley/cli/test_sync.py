"""`parley sync`, and the report of `parley doctor` on sources."""

import sqlite3
from contextlib import closing
from pathlib import Path

import yaml

from tests.parley.cli.kit import parley

TEA = "slack:main:TEA"


def configured(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "shop.db")) as database:
        database.execute("CREATE TABLE members (name TEXT)")
        database.executemany("INSERT INTO members VALUES (?)", [("ada",), ("bob",)])
        database.commit()
    (folder / "config").mkdir()
    expected = {
        TEA: {
            "kind": "sql",
            "database": "sqlite:///shop.db",
            "query": "SELECT count(*) AS active_members FROM members",
        },
        "slack:main:OWN": {"kind": "gateway"},
        "slack:main:GONE": {
            "kind": "sql", "database": "sqlite:///gone.db", "query": "SELECT 1 AS one"
        },
    }  # fmt: skip
    (folder / "config/parley.yaml").write_text(yaml.safe_dump({"heartbeat": {"sources": expected}}))


async def test_sync_prints_the_new_status(tmp_path: Path) -> None:
    configured(tmp_path)
    ended = await parley("sync", TEA, cwd=tmp_path)
    assert (ended.status, ended.out) == (0, "2 active members.\n"), ended.err
    with closing(sqlite3.connect(tmp_path / "data/parley.db")) as database:
        (content,) = database.execute(
            "SELECT content FROM brain_documents WHERE document = 'heartbeat'"
        ).fetchone()
    assert content == "2 active members."
    own = await parley("sync", "slack:main:OWN", cwd=tmp_path)
    assert "0 messages answered" in own.out


async def test_a_failure_is_one_message_and_an_exit_status(tmp_path: Path) -> None:
    configured(tmp_path)
    gone = await parley("sync", "slack:main:GONE", cwd=tmp_path)
    assert (gone.status, gone.out) == (1, "")
    assert gone.err.strip() == "gone.db: unable to open database file"
    unknown = await parley("sync", "slack:main:MILK", cwd=tmp_path)
    assert unknown.status == 1
    assert TEA in unknown.err


async def test_doctor_tests_every_source(tmp_path: Path) -> None:
    configured(tmp_path)
    ended = await parley("doctor", cwd=tmp_path)
    assert f"heartbeat: {TEA}: 1 figure\n" in ended.out
    assert "heartbeat: slack:main:OWN: figures about the use of this assistant" in ended.out
    assert "BROKEN  heartbeat: slack:main:GONE: gone.db: unable to open" in ended.out
    assert ended.status == 1
    assert not (tmp_path / "gone.db").exists()
