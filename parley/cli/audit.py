"""`parley audit verify | show`: the record of changes to memory, which holds no content."""

import sys
from collections import deque
from typing import Annotated

import typer

from memory.ports.audit import Link
from parley.cli.options import AsJson, Config, OfPerson
from parley.cli.stores import settings_with_database, with_storage
from parley.cli.terminal import plain, show
from parley.maintenance.audit_chain import ChainReport, existing_key, pages, walk
from parley.wiring.storage import Storage


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
    key = existing_key(settings)
    report = with_storage(settings, lambda storage: walk(storage.memory.audit_on(key), key, begin))
    show([_as_values(report)], [_as_text(report)], as_json=as_json)
    if not key and not as_json:
        sys.stderr.write("Without memory.audit_key, anyone who knows the format can forge it.\n")
    return int(report.broken > 0)


def show_entries(
    person: OfPerson = "",
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
    lines = [_describe(link) for link in links] or ["No entries."]
    show(map(_link_values, links), lines, as_json=as_json)
    return 0


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
        "since": report.since,
        "until": report.until,
        "broken": report.broken or None,
        "last": report.last,
        "hash": report.hash,
    }


def _link_values(link: Link) -> dict[str, object]:
    entry = link.entry
    return {
        "number": link.number,
        "at": entry.at,
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
