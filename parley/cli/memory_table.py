"""Memories, decisions about them and people, as rows and as values for scripts."""

from collections.abc import Sequence

from memory.model.record import Record, short_id
from memory.ports.people import PersonCount
from memory.stores.reviews import ReviewItem
from memory.transfer.line_format import line_of
from parley.cli.terminal import plain, show_rows


def show_records(records: Sequence[Record], *, as_json: bool, nothing: str) -> None:
    """Print memories, or `nothing` where there are none."""
    names = ("id", "since", "kind", "from", "memory")
    show_rows(map(line_of, records), names, map(_row, records), nothing, as_json=as_json)


def show_waiting(waiting: Sequence[ReviewItem], *, as_json: bool) -> None:
    """Print the memories that wait for a decision."""
    rows = (
        (one.id, str(one.submitted_at.date()), plain(one.reason.english), _text(one.record))
        for one in waiting
    )
    names, nothing = ("id", "since", "why", "memory"), "No memory waits for a decision."
    show_rows(map(_pending_values, waiting), names, rows, nothing, as_json=as_json)


def show_decided(decided: Sequence[ReviewItem], *, as_json: bool) -> None:
    """Print decisions with their reasons; the text was deleted with the decision."""
    names = ("id", "decided", "how", "what", "why")
    rows = map(_decided_row, decided)
    show_rows(map(_decided_values, decided), names, rows, "No decisions yet.", as_json=as_json)


def show_people(people: Sequence[PersonCount], *, as_json: bool) -> None:
    """Print people with counts of their memories."""
    names = ("person", "episodic", "semantic", "waiting")
    values = [{name: getattr(one, name) for name in names} for one in people]
    rows = ([plain(str(cell)) for cell in one.values()] for one in values)
    show_rows(values, names, rows, "No person has memories yet.", as_json=as_json)


def _decided_row(one: ReviewItem) -> tuple[str, ...]:
    at = str(one.decided_at.date()) if one.decided_at else ""
    what = ("share" if one.share else one.target) or one.record.kind.value
    return one.id, at, one.state, what, plain(one.note or one.reason.english)


def _decided_values(pending: ReviewItem) -> dict[str, object]:
    return {
        "id": pending.id,
        "decision": pending.state,
        "decided_at": pending.decided_at,
        "reason": pending.reason.english,
        "note": pending.note,
        "submitted_at": pending.submitted_at,
        "target": pending.target,
        "kind": pending.record.kind.value,
        "memory": pending.record.id,
    }


def _pending_values(pending: ReviewItem) -> dict[str, object]:
    return {
        "id": pending.id,
        "reason": pending.reason.english,
        "submitted_at": pending.submitted_at,
        "target": pending.target,
        "memory": line_of(pending.record),
    }


def _row(record: Record) -> tuple[str, ...]:
    provenance = record.provenance
    kind = f"{record.kind.value}{' (replaced)' * (not record.current)}"
    author = record.role or f"{provenance.source.value}, {provenance.trust.value}"
    return short_id(record.id), str(provenance.at.date()), kind, author, _text(record)


def _text(record: Record) -> str:
    tags = " ".join(f"#{plain(tag)}" for tag in record.tags)
    return f"{plain(record.content)} {tags}".rstrip()
