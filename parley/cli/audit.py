"""`parley audit verify | show`: the record of changes to memory, which holds no content."""

import sys
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

import typer

from gateway.errors import BadInput
from memory.audit import FIRST, first_broken
from memory.ports.audit import AuditTrail, Link
from parley.cli.memory_table import plain
from parley.cli.options import AsJson, Config
from parley.cli.stores import settings_with_database, with_storage
from parley.cli.terminal import print_json
from parley.security.keys import audit_key, audit_key_file
from parley.wiring.storage import Storage

PAGE: Final = 1_000
NO_KEY: Final = (
    "The audit's key {path} is missing. Restore it from a backup: a new key matches no entry."
)


@dataclass(frozen=True, slots=True)
class ChainReport:
    """The result of a check: the number of correct entries, the time of the first and the last of
    them, the number of the first wrong entry (0 for none), the number and hash of the last correct
    one."""

    entries: int
    since: datetime | None
    until: datetime | None
    broken: int
    last: int
    hash: str


def verify(
    begin: Annotated[
        int,
        typer.Option("--from", min=1, help="Start at this entry and trust the entries before it."),
    ] = 1,
    config: Config = None,
    as_json: AsJson = False,
) -> int:
    """Check the chain from an entry on; 1 when it is broken."""
    settings = settings_with_database(config)
    path = audit_key_file(settings)
    if path is not None and not path.exists():
        raise BadInput(NO_KEY.format(path=path))
    key = audit_key(settings)
    report = with_storage(settings, lambda storage: walk(storage.memory.audit_on(key), key, begin))
    if as_json:
        print_json([_as_values(report)])
    else:
        sys.stdout.write(f"{_as_text(report)}\n")
        if not key:
            sys.stderr.write(
                "Without memory.audit_key, anyone who knows the format can forge it.\n"
            )
    return int(report.broken > 0)


def show(
    person: Annotated[
        str,
        typer.Option(
            "--person", metavar="PLATFORM:ACCOUNT:ID", help="Only entries of this person."
        ),
    ] = "",
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="Number of entries.")] = 50,
    config: Config = None,
    as_json: AsJson = False,
) -> int:
    """Print the latest entries, of one person or of everybody."""

    async def job(storage: Storage) -> list[Link]:
        latest: deque[Link] = deque(maxlen=limit)
        async for links in pages(storage.memory.audit_on(b""), 0):
            latest.extend(link for link in links if person in ("", link.entry.person))
        return list(latest)

    links = with_storage(settings_with_database(config), job)
    if as_json:
        print_json([_link_values(link) for link in links])
    else:
        sys.stdout.write("\n".join([_describe(link) for link in links] or ["No entries."]) + "\n")
    return 0


async def walk(trail: AuditTrail, key: bytes, begin: int = 1, page: int = PAGE) -> ChainReport:
    """Check every entry from `begin` on. Raises `BadInput` when there is no such entry."""
    previous, after = FIRST, begin - 1
    if after:
        before = await trail.links(after - 1, 1)
        if not before or before[0].number != after:
            raise BadInput(f"The audit has no entry {after} to start from.")
        previous = before[0].hash
    count, first, last = 0, None, None
    async for links in pages(trail, after, page):
        broken = first_broken(key, links, previous, after)
        correct = links[: broken - after - 1] if broken else links
        count += len(correct)
        first = first or links[0].entry.at
        if correct:
            last, previous, after = correct[-1].entry.at, correct[-1].hash, correct[-1].number
        if broken:
            return ChainReport(count, first, last, broken, after, previous)
    return ChainReport(count, first, last, 0, after, previous)


async def pages(trail: AuditTrail, after: int, page: int = PAGE) -> AsyncIterator[list[Link]]:
    """All entries after a number, in order, including those that are added meanwhile."""
    while links := await trail.links(after, page):
        yield links
        after = links[-1].number


def _as_text(report: ChainReport) -> str:
    if report.broken:
        return (
            f"Entry {report.broken} was changed, or an entry before it is missing."
            f" {report.entries:,} entries before it are correct."
        )
    if report.since is None or report.until is None:
        return "The audit log is empty."
    since, until = (f"{at:%Y-%m-%d %H:%M} UTC" for at in (report.since, report.until))
    return (
        f"{report.entries:,} entries, {since} to {until}: none of them was changed.\n"
        f"The last is number {report.last}, {report.hash}.\n"
        "Store this line in another place: only it can prove that entries at the end were removed."
    )


def _as_values(report: ChainReport) -> dict[str, object]:
    return {
        "entries": report.entries,
        "since": report.since.isoformat() if report.since else None,
        "until": report.until.isoformat() if report.until else None,
        "broken": report.broken or None,
        "last": report.last,
        "hash": report.hash,
    }


def _link_values(link: Link) -> dict[str, object]:
    entry = link.entry
    return {
        "number": link.number,
        "at": entry.at.isoformat(),
        "action": entry.action,
        "tenant": entry.tenant,
        "person": entry.person,
        "details": dict(entry.details),
        "hash": link.hash,
    }


def _describe(link: Link) -> str:
    entry = link.entry
    details = " ".join(f"{name}={value}" for name, value in entry.details)
    person = entry.person or "-"
    return plain(
        f"{link.number}  {entry.at:%Y-%m-%d %H:%M:%S}  {person}  {entry.action}  {details}", 400
    )
