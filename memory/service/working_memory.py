"""Working memory as records: the open conversations, which the gateway stores for
`context.ttl_hours`."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, Literal

from gateway.people import Audience
from memory.model.record import Evidence, Kind, Provenance, Record, Scope, Tier
from memory.model.scope import AccessScope
from memory.model.trust import CONFIDENCE, Derived, InputKind, derive_trust

WORKING_PREFIX: Final = "wrk-"
NAMES: Final = uuid.UUID("7c1e2c39-7f39-4c55-93d4-0c6f4a7f0f0b")
MAX_WORKING: Final = 1_000
Role = Literal["", "user", "assistant"]


def working_records(rows: Sequence[Mapping[str, object]], access: AccessScope) -> list[Record]:
    """Return exported rows as records, newest first: tasks, summaries and sides of turns."""
    records: list[Record] = []
    for row in rows:
        if row.get("table") == "turns":
            if row["role"] == "assistant":
                records.append(
                    _record(access, row, "text", "assistant", derive_trust(InputKind.ASSISTANT))
                )
            else:
                records.append(
                    _record(access, row, "text", "user", derive_trust(InputKind.OWN_WORDS))
                )
        elif row.get("table") == "conversation_notes":
            records.append(_record(access, row, "task", "", derive_trust(InputKind.OWN_WORDS)))
            records.append(_record(access, row, "summary", "", derive_trust(InputKind.ASSISTANT)))
    nonempty = [record for record in records if record.content]
    nonempty.sort(key=lambda record: (record.provenance.at, record.id), reverse=True)
    return nonempty[:MAX_WORKING]


def _record(
    access: AccessScope, row: Mapping[str, object], name: str, role: Role, derived: Derived
) -> Record:
    conversation, text = str(row["conversation"]), str(row[name])
    message = str(row.get("message_id", ""))
    at = datetime.fromtimestamp(float(str(row["at"])), UTC)
    made = uuid.uuid5(NAMES, "\x1f".join((conversation, name, role, message)))
    provenance = Provenance(
        derived.source,
        derived.trust,
        access.person,
        at,
        message_id=message,
        group=conversation,
        audience=Audience.DIRECT,
        external=bool(row.get("material")),
    )
    tags = () if role else (name,)
    evidence = Evidence(text, at, CONFIDENCE[derived.trust])
    return Record(
        *(f"{WORKING_PREFIX}{made}", access.tenant, Scope.USER, Tier.WORKING, Kind.CONTEXT, text),
        *(provenance, evidence),
        tags=tags,
        role=role,
    )
