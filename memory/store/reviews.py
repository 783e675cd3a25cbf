"""A pending memory as JSON, and back: what the review queue holds."""

from dataclasses import replace

from pydantic import TypeAdapter

from memory.record import Record, Scope
from memory.store.ports import Pending
from memory.store.rows import columns_of, record_of

_RECORDS: TypeAdapter[Record] = TypeAdapter(Record)


def record_to_json(record: Record) -> str:
    """A record as JSON, without its vector."""
    kept = record_of(columns_of(record).values())
    return _RECORDS.dump_json(kept, exclude={"embedding"}).decode()


def record_from_json(text: str) -> Record:
    """The record again; raises pydantic's ValidationError on anything else."""
    return _RECORDS.validate_json(text)


def settled(record: Record) -> Record:
    """What stays of a record once it is decided: who, where, when, never a word of it."""
    evidence = replace(record.evidence, claim="", source_id="")
    return replace(record, content="", tags=(), evidence=evidence)


def scope_of(pending: Pending) -> Scope:
    """Who decides: the person themselves, or operators. A proposal for a project's document is
    the project's, one for a SOUL its person's."""
    return Scope.PROJECT if pending.target == "bible" else pending.record.scope
