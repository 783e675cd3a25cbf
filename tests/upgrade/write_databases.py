"""`python -m tests.upgrade.write_databases`: writes the databases of this release, once.

The real program writes them, on SQLite and on PostgreSQL, during one conversation on a simulated
Telegram. A release's files never change afterwards: they are what its users have.
"""

import asyncio
import gzip
import json
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Final

from gateway.stores.sqlite.backup import back_up
from parley.python_environment import DISTRIBUTION
from parley.wiring.storage import SCHEMAS
from tests.support.databases import new_database
from tests.support.servers import postgres_binary, postgres_server
from tests.upgrade.conversation import SAID, assistant, talks

FOLDER: Final = Path(__file__).parent / "databases"


async def write(folder: Path, database: str) -> dict[str, object]:
    """Let the program write to a database; returns the ids that its readers need."""
    async with assistant(folder, database) as lab:
        people = talks(lab)
        for name, text in SAID:
            await people[name].say(text)
        await lab.idle()
        question = next(one for one in lab.platform.shown(people["Ada"].room) if not one.by_bot)
        return {
            "people": {name: talk.person.id for name, talk in people.items()},
            "first_message": question.id,
            "steps": {schema.name: len(schema.steps) for schema in SCHEMAS},
        }


def pack(file: Path, content: bytes) -> None:
    """Write a compressed file, the same for the same content."""
    file.write_bytes(gzip.compress(content, mtime=0))
    sys.stdout.write(f"{file.name}: {file.stat().st_size:,} bytes\n")


async def main() -> None:
    """Write `VERSION.json`, `VERSION.sqlite.gz` and `VERSION.postgres.sql.gz`."""
    release = version(DISTRIBUTION)
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, postgres_server() as server:
        folder, url = Path(name), new_database(server)
        for part in ("sqlite", "postgres"):
            (folder / part).mkdir()
        ids = await write(folder / "sqlite", f"sqlite:///{folder}/sqlite/parley.db")
        back_up(folder / "sqlite" / "parley.db", folder / "copy.db", SCHEMAS)
        pack(FOLDER / f"{release}.sqlite.gz", (folder / "copy.db").read_bytes())
        assert await write(folder / "postgres", url) == ids
        dump = (postgres_binary("pg_dump"), "--no-owner", "--no-privileges", url)
        printed = subprocess.run(dump, capture_output=True, check=True).stdout
        pack(FOLDER / f"{release}.postgres.sql.gz", printed)
    (FOLDER / f"{release}.json").write_text(json.dumps(ids, indent=2) + "\n")


if __name__ == "__main__":
    asyncio.run(main())
