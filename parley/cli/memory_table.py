"""Memories as a table on a terminal, as plain lines elsewhere, as JSON for scripts."""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Final

from memory.model.record import Record, short_id
from memory.ports.personal_data import PersonCount
from memory.ports.reviews import ReviewItem
from memory.transfer.line_format import sender_for

WIDTH: Final = 160
"""Characters of a memory on a plain line."""


def show_records(records: Sequence[Record], *, as_json: bool, nothing: str) -> None:
    """Print memories."""
    if as_json:
        print_json([sender_for(record) for record in records])
    elif not records:
        sys.stdout.write(f"{nothing}\n")
    else:
        _show(("id", "since", "kind", "from", "memory"), [_row(record) for record in records])


def show_waiting(waiting: Sequence[ReviewItem], *, as_json: bool) -> None:
    """Print what waits for its owner's word."""
    if as_json:
        print_json([pending_line(pending) for pending in waiting])
    elif not waiting:
        sys.stdout.write("Nothing waits for a decision.\n")
    else:
        rows = [
            (
                pending.id,
                str(pending.submitted_at.date()),
                plain(pending.reason),
                _text(pending.record),
            )
            for pending in waiting
        ]
        _show(("id", "since", "why", "memory"), rows)


def show_decided(decided: Sequence[ReviewItem], *, as_json: bool) -> None:
    """Print what was decided, and why; its text went with the decision."""
    if as_json:
        print_json([decided_line(pending) for pending in decided])
    elif not decided:
        sys.stdout.write("Nothing was decided yet.\n")
    else:
        rows = [
            (
                pending.id,
                str(pending.decided_at.date()) if pending.decided_at else "",
                pending.state,
                pending.target or pending.record.kind.value,
                plain(pending.note or pending.reason),
            )
            for pending in decided
        ]
        _show(("id", "decided", "how", "what", "why"), rows)


def decided_line(pending: ReviewItem) -> dict[str, object]:
    """What was decided, as a JSON object."""
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


def show_people(people: Sequence[PersonCount], *, as_json: bool) -> None:
    """Print who is known, and how much of them."""
    if as_json:
        print_json(
            [
                {
                    "person": one.person,
                    "episodic": one.episodic,
                    "semantic": one.semantic,
                    "waiting": one.waiting,
                }
                for one in people
            ]
        )
    elif not people:
        sys.stdout.write("Nothing is remembered of anybody.\n")
    else:
        rows = [
            (plain(one.person), str(one.episodic), str(one.semantic), str(one.waiting))
            for one in people
        ]
        _show(("person", "episodic", "semantic", "waiting"), rows)


def pending_line(pending: ReviewItem) -> dict[str, object]:
    """What waits, as a JSON object."""
    return {
        "id": pending.id,
        "reason": pending.reason,
        "submitted_at": pending.submitted_at.isoformat(),
        "target": pending.target,
        "memory": sender_for(pending.record),
    }


def print_json(values: Sequence[Mapping[str, object]]) -> None:
    """One object a line; ASCII, so that no terminal is moved by what people wrote."""
    for value in values:
        sys.stdout.write(json.dumps(value, separators=(",", ":")) + "\n")


def plain(text: str, most: int = WIDTH) -> str:
    """A text in one line, without what would move a terminal."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _row(record: Record) -> tuple[str, ...]:
    told = record.provenance
    kind = f"{record.kind.value}{' (replaced)' * (not record.current)}"
    who = record.role or f"{told.source.value}, {told.trust.value}"
    return short_id(record.id), str(told.at.date()), kind, who, _text(record)


def _text(record: Record) -> str:
    tags = " ".join(f"#{plain(tag)}" for tag in record.tags)
    return f"{plain(record.content)} {tags}".rstrip()


def _show(names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    if not sys.stdout.isatty():
        sys.stdout.writelines("  ".join(row) + "\n" for row in rows)
        return
    from rich.console import Console  # noqa: PLC0415 - only where there is a terminal
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in names:
        table.add_column(name, overflow="fold", no_wrap=name == "since")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))  # as text: markup in a memory is no markup
    Console().print(table)
