"""Imports: the history of an imported memory, and the limit of imported files.

The time of writing, lifetime and replacements are kept. Source, trust and evidence are kept if a
signature proves that this program exported them; otherwise they are those of an import.
"""

from collections import OrderedDict, deque
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from gateway.errors import BadInput
from gateway.immutable import replace
from gateway.text import text
from memory.grounding.decision import ImportState
from memory.model.record import Evidence, InputKind, Provenance, Record, Tier, Trust


class ProvenHistory(Struct, frozen=True):
    """The part that a signature proves: the provenance and the evidence."""

    provenance: Provenance
    evidence: Evidence
    confirmed: bool = False
    derived_from: tuple[str, ...] = ()
    agent_private: bool = False


class ImportedHistory(Struct, frozen=True):
    """`id` is the memory's own, so it is imported once. `proven` is None without a valid
    signature."""

    id: str
    at: datetime
    expires_at: datetime | None = None
    superseded_by: str = ""
    superseded_at: datetime | None = None
    proven: ProvenHistory | None = None


def import_state(history: ImportedHistory | None) -> ImportState:
    """Return the import state of a claim."""
    if history is None:
        return ""
    return "imported" if history.proven is None else "restored"


def is_proven(history: ImportedHistory | None) -> bool:
    """True if a signature proves that it was stored here."""
    return history is not None and history.proven is not None


def imported_kind(history: ImportedHistory, *, others: bool) -> InputKind:
    """Return the input kind of an import. Markers of low-trust text are escaped in all of it,
    except in what is proven to have had more trust."""
    if history.proven is not None and history.proven.provenance.trust is not Trust.LOW:
        return InputKind.EXPLICIT
    return InputKind.OTHERS_WORDS if others else InputKind.IMPORT


def with_imported_history(
    record: Record,
    history: ImportedHistory,
    now: datetime,
    lives: timedelta,
    *,
    suspicious: bool = False,
) -> Record:
    """Return the record with its history. No date is in the future, and no lifetime is longer than
    that of a memory written at that date. A `suspicious` text regains no trust. The record is not
    derived from the message that asks for the import."""
    at = min(history.at, now)
    expires = None
    if record.tier is Tier.EPISODIC:
        expires = min(at + lives, history.expires_at or at + lives)
    replaced_at = min(history.superseded_at or now, now) if history.superseded_by else None
    dated = replace(
        record,
        id=history.id,
        provenance=replace(record.provenance, at=at, message_id=""),
        evidence=replace(record.evidence, captured_at=at),
        expires_at=expires,
        superseded_by=history.superseded_by,
        superseded_at=replaced_at,
        derived_from=(),
    )
    return (
        dated if history.proven is None else _proven(dated, history.proven, suspicious=suspicious)
    )


def _proven(record: Record, proven: ProvenHistory, *, suspicious: bool) -> Record:
    """Return the record with its proven part; the importing person and the audience are those of
    today."""
    proven_provenance = proven.provenance
    own = record.provenance
    provenance = replace(
        own,
        source=proven_provenance.source,
        trust=Trust.LOW if suspicious else proven_provenance.trust,
        message_id=proven_provenance.message_id,
        channel=proven_provenance.channel,
        tool=proven_provenance.tool,
        external=proven_provenance.external,
        agent=proven_provenance.agent,
        from_repository=own.from_repository or proven_provenance.from_repository,
    )
    return replace(
        record,
        provenance=provenance,
        evidence=replace(proven.evidence, claim=record.content),
        confirmed=proven.confirmed and not suspicious,
        derived_from=proven.derived_from,
        agent_private=proven.agent_private,
    )


IMPORTS: Final = 10
WITHIN: Final = timedelta(hours=1)
"""The period in which a person may import `IMPORTS` files, in each process."""
MAX_PEOPLE: Final = 10_000
TOO_OFTEN: Final = text(
    "you imported {count} files within an hour; try again later, or ask the operator to import it "
    "at the terminal"
).of(count=IMPORTS)


class ImportRateLimit:
    """Keeps the times of each person's imports."""

    def __init__(self) -> None:
        self._began: OrderedDict[str, deque[datetime]] = OrderedDict()

    def take(self, person: str, now: datetime) -> None:
        """Count an import of this person. Raises `BadInput` where there were too many."""
        began = self._began.setdefault(person, deque(maxlen=IMPORTS))
        self._began.move_to_end(person)
        while began and now - began[0] >= WITHIN:
            began.popleft()
        if len(began) == IMPORTS:
            raise BadInput(TOO_OFTEN, code="too_soon")
        began.append(now)
        while len(self._began) > MAX_PEOPLE:
            self._began.popitem(last=False)
