"""Opens the record of the current work of this process."""

import hashlib
from pathlib import Path

import structlog

from gateway.inbound.work_record import Death, WorkRecord, open_record
from parley.config import Settings
from parley.config.sections import sqlite_file

log = structlog.get_logger(__name__)


def work_record(settings: Settings) -> tuple[WorkRecord, list[Death]]:
    """Open the record, with the crashes that processes before this one left. Where its folder
    cannot be written, the record stays in memory: a hang is logged, but does not count at the next
    start."""
    folder, name = record_location(settings)
    try:
        return open_record(folder, name)
    except OSError as error:
        log.warning(
            "no_work_record",
            folder=str(folder),
            error=str(error),
            hint="set watchdog.folder to a folder that this user can write",
        )
        return WorkRecord(), []


def record_location(settings: Settings) -> tuple[Path, str]:
    """The folder and the prefix of the file's name, which programs share only with their stores."""
    storage, database = settings.storage_url, settings.database.url
    file = sqlite_file(storage) or sqlite_file(database)
    configured = settings.watchdog.folder
    if file:
        path = Path(file).resolve()
        return Path(configured) if configured else path.parent, path.name
    digest = hashlib.blake2b(f"{storage}\0{database}".encode(), digest_size=4).hexdigest()
    return Path(configured or "."), f"parley-{digest}"
