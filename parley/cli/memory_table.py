"""Memories as a table on a terminal, as plain lines elsewhere, as JSON for scripts."""

import sys
from collections.abc import Mapping, Sequence
from typing import Final

from memory.model.record import Record, short_id
from memory.ports.people import PersonCount
from memory.stores.reviews import ReviewItem
from memory.transfer.line_format import line_of
from parley.cli.terminal import print_json, printable

WIDTH: Final = 160
"""Characters of a memory on a plain line."""


def show_records(records: Sequence[Record], *, as_json: bool, nothing: str) -> None:
    """Print memories, or `nothing` where there are none."""
    rows = [_row(record) for record in records]
    values = [line_of(record) for record in records] if as_json else None
    show_rows(("id", "since", "kind", "from", "memory"), rows, values, nothing)


def show_waiting(waiting: Sequence[ReviewItem], *, as_json: bool) -> None:
    """Print the memories that wait for a decision."""
    rows = [
        (one.id, str(one.submitted_at.date()), plain(one.reason), _text(one.record))
        for one in waiting
    ]
    values = [_pending_values(one) for one in waiting] if as_json else None
    show_rows(("id", "since", "why", "memory"), rows, values, "No memory waits for a decision.")


def show_decided(decided: Sequence[ReviewItem], *, as_json: bool) -> None:
    """Print decisions with their reasons; the text was deleted with the decision."""
    rows = [
        (
            one.id,
            str(one.decided_at.date()) if one.decided_at else "",
            one.state,
            ("share" if one.share else one.target) or one.record.kind.value,
            plain(one.note or one.reason),
        )
        for one in decided
    ]
    values = [_decided_values(one) for one in decided] if as_json else None
    show_rows(("id", "decided", "how", "what", "why"), rows, values, "No decisions yet.")


def show_people(people: Sequence[PersonCount], *, as_json: bool) -> None:
    """Print people with counts of their memories."""
    names = ("person", "episodic", "semantic", "waiting")
    rows = [
        (plain(one.person), str(one.episodic), str(one.semantic), str(one.waiting))
        for one in people
    ]
    values = [{name: getattr(one, name) for name in names} for one in people] if as_json else None
    show_rows(names, rows, values, "No person has memories yet.")


def _decided_values(pending: ReviewItem) -> dict[str, object]:
    decided = pending.decided_at
    return {
        "id": pending.id,
        "decision": pending.state,
        "decided_at": decided.isoformat() if decided else None,
        "reason": pending.reason,
        "note": pending.note,
        "submitted_at": pending.submitted_at.isoformat(),
        "target": pending.target,
        "kind": pending.record.kind.value,
        "memory": pending.record.id,
    }


def _pending_values(pending: ReviewItem) -> dict[str, object]:
    return {
        "id": pending.id,
        "reason": pending.reason,
        "submitted_at": pending.submitted_at.isoformat(),
        "target": pending.target,
        "memory": line_of(pending.record),
    }


def plain(text: str, most: int = WIDTH) -> str:
    """A text in one line of about `most` characters, without control characters. A longer one says
    how many follow."""
    line = " ".join(printable(text).split())
    return line if len(line) <= most else f"{line[:most]}… ({len(line) - most:,} more)"


def _row(record: Record) -> tuple[str, ...]:
    provenance = record.provenance
    kind = f"{record.kind.value}{' (replaced)' * (not record.current)}"
    author = record.role or f"{provenance.source.value}, {provenance.trust.value}"
    return short_id(record.id), str(provenance.at.date()), kind, author, _text(record)


def _text(record: Record) -> str:
    tags = " ".join(f"#{plain(tag)}" for tag in record.tags)
    return f"{plain(record.content)} {tags}".rstrip()


def show_rows(
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    values: Sequence[Mapping[str, object]] | None,
    nothing: str,
) -> None:
    """Print `values` as JSON where they are given; otherwise the rows, or `nothing`."""
    if values is not None:
        print_json(values)
        return
    if not rows:
        sys.stdout.write(f"{nothing}\n")
        return
    if not sys.stdout.isatty():
        sys.stdout.writelines("  ".join(row) + "\n" for row in rows)
        return
    from rich.console import Console  # noqa: PLC0415 - only where there is a terminal
    from rich.table import Table  # noqa: PLC0415 - loaded only where it is needed
    from rich.text import Text  # noqa: PLC0415 - loaded only where it is needed

    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in names:
        table.add_column(name, overflow="fold", no_wrap=name == "since")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))  # as text: markup in a memory is no markup
    Console().print(table)
