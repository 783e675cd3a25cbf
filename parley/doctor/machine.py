"""A finding, and the checks of this machine: versions, files, disks, listeners."""

import os
import sqlite3
import stat
import sys
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from db.errors import StoreUnavailable
from db.migrations import applied_in, missing
from gateway.immutable import replace
from gateway.platforms import Discovery
from gateway.policy.model_failures import FailureKind
from gateway.text import Unconverted, text, verbatim
from parley.config import Problem, Settings
from parley.config.load import DEFAULT_FOLDER
from parley.config.sections import MEMORY, sqlite_file
from parley.python_environment import OWN_ENVIRONMENT, conflicting_distributions
from parley.runtime.disk_space import disks_of, written_folders
from parley.wiring.storage import SCHEMAS
from safety.http.addresses import is_loopback_name

MINIMUM_PYTHON: Final = (3, 11)
MINIMUM_SQLITE: Final = (3, 38)
"""The stores use RETURNING, UPSERT and the JSON functions."""
SPACE: Final = text(
    "Free space there, for example old logs and backups. On a full disk Parley accepts no "
    "messages; it continues by itself when there is room."
)
MODEL_ADVICE: Final = text(
    "The line of the model below says if it answers now. This line ends with its next answer to a "
    "person."
)
SET_IT: Final = text("Set it, and start Parley again.")
CORRECT: Final = text("Correct this setting.")
HAS: Final = text("It has: {tools}.")
IGNORED: Final = text("{problem} It is ignored.")
NO_OTHER: Final = text("no other package replaces a part of Parley in {folder}")
RIGHT: Final = text(
    "Give this user the right to write to {folder}, or choose another database.url."
)
LOCAL: Final = text("{address}, this machine only")
WITH_TOKEN: Final = text("{address}, with a token")
MAX_NAMED: Final = 20
Status = Literal["ok", "note", "broken"]


class Finding(Struct, frozen=True):
    """One line of the doctor's report; `step` says what to do when it is not ok. `cause` is the
    kind of the failed call of a model. Other words than sentences of the catalogues are English."""

    status: Status
    name: str
    said: Unconverted
    step: Unconverted = ""
    cause: FailureKind | Literal[""] = ""

    @property
    def detail(self) -> str:
        """The finding in English."""
        return str(self.said)

    @property
    def advice(self) -> str:
        """The next step in English."""
        return str(self.step)


def named(names: Sequence[str]) -> str:
    """The first `MAX_NAMED` names, and how many more there are."""
    rest = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return ", ".join(names[:MAX_NAMED]) + rest if names else "none"


def of_program(status: Status, part: str, said: Unconverted, advice: Unconverted) -> Finding:
    """A problem that the running program reports. That of a model names the model in its text."""
    if part.startswith("model finding"):
        return Finding(status, "running", said, SET_IT)
    if part.startswith("model: "):
        return Finding(status, "running", said, MODEL_ADVICE)
    return Finding(status, f"running: {part}", said, advice)


def ignored_overrides(problems: Iterable[Problem]) -> list[Finding]:
    """The overrides of the configuration that cannot be used, each with its value."""
    return [
        Finding("note", "override", IGNORED.of(problem=replace(one, step="").whole), one.step)
        for one in problems
    ]


def versions() -> list[Finding]:
    """The versions of Python and SQLite in this process."""
    python = ".".join(str(number) for number in sys.version_info[:3])
    python_status: Status = "ok" if sys.version_info[:2] >= MINIMUM_PYTHON else "broken"
    sqlite_status: Status = "ok" if sqlite3.sqlite_version_info[:2] >= MINIMUM_SQLITE else "broken"
    advice = text("Use a Python with SQLite 3.38 or newer.")
    return [
        Finding(python_status, "Python", python, text("Install Python 3.11 or newer.")),
        Finding(sqlite_status, "SQLite", sqlite3.sqlite_version, advice),
    ]


def environment() -> list[Finding]:
    """Other distributions with files in Parley's packages."""
    conflicts = conflicting_distributions()
    if not conflicts:
        return [Finding("ok", "environment", NO_OTHER.of(folder=verbatim(sys.prefix)))]
    return [Finding("broken", "environment", conflict, OWN_ENVIRONMENT) for conflict in conflicts]


def plugins(platforms: Discovery) -> list[Finding]:
    """Packages whose platform could not be loaded."""
    advice = text("Repair or uninstall the package.")
    return [Finding("note", "plugin", problem, advice) for problem in platforms.problems]


def refused(problems: Iterable[Problem]) -> list[Finding]:
    """Every problem of a configuration."""
    return [
        Finding("broken", "configuration", replace(problem, step="").whole, problem.step)
        for problem in problems
    ]


def secrets_file(config: Path | None) -> list[Finding]:
    """The permissions of the file that holds the secrets."""
    path = (DEFAULT_FOLDER if config is None else config.parent) / ".env"
    if not path.exists() or os.name != "posix":
        return []
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        return [
            Finding(
                "note",
                "secrets",
                text("{file} can be read by others", file=verbatim(str(path))),
                verbatim(f"chmod 600 {path}"),
            )
        ]
    return [
        Finding("ok", "secrets", text("{file} is readable by you alone", file=verbatim(str(path))))
    ]


def stores(settings: Settings) -> list[Finding]:
    """The database files: can this version write to them? `doctor.stores` asks the servers."""
    urls = dict.fromkeys((settings.database.url, settings.storage_url))
    return [finding for finding in map(_store, urls) if finding is not None]


def _store(url: str) -> Finding | None:
    if url == MEMORY:
        advice = text("Set database.url to a file, or to PostgreSQL.")
        return Finding(
            "note",
            "database",
            text("{address}: a restart deletes all data", address=verbatim(url)),
            advice,
        )
    file = sqlite_file(url)
    if not file:
        return None
    path = Path(file)
    named = verbatim(str(path))
    advice = RIGHT.of(folder=verbatim(str(path.parent)))
    try:
        if path.exists():
            with closing(sqlite3.connect(path, timeout=1.0, isolation_level=None)) as database:
                database.execute("BEGIN IMMEDIATE")
                database.execute("ROLLBACK")
                missing(SCHEMAS, applied_in(database))
            return Finding("ok", "database", text("{file} can be written", file=named))
    except StoreUnavailable as error:
        return Finding("broken", "database", f"{path}: {error}")
    except sqlite3.Error as error:
        if "locked" in str(error):
            return Finding(
                "ok", "database", text("{file} is in use by a running Parley", file=named)
            )
        return Finding("broken", "database", f"{path}: {error}", advice)
    folder = next(p for p in (path.parent, *path.absolute().parents) if p.exists())
    if not os.access(folder, os.W_OK | os.X_OK):
        return Finding(
            "broken",
            "database",
            text("{folder} cannot be written", folder=verbatim(str(folder))),
            advice,
        )
    return Finding("ok", "database", text("{file} will be created", file=named))


def disks(settings: Settings) -> list[Finding]:
    """The free space on the disks that the program writes to."""
    return [
        Finding(
            "broken" if one.is_full else "note" if one.is_low else "ok",
            f"disk: {one.folder}",
            one.left,
            SPACE,
        )
        for one in disks_of(written_folders(settings))
    ]


def listeners(settings: Settings) -> list[Finding]:
    """The addresses of the two listeners, and their protection."""
    server, webhooks = settings.server, settings.webhooks
    alone = server.token is None and is_loopback_name(server.host)
    protected = LOCAL if alone else WITH_TOKEN
    address = verbatim(f"{server.host}:{server.port}")
    public = verbatim(f"{webhooks.host}:{webhooks.port}")
    return [
        Finding("ok", "local listener", protected.of(address=address)),
        Finding("ok", "public listener", text("{address}, webhooks only", address=public)),
    ]
