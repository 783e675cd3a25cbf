"""Signatures of exported memories: an import believes what a signature proves."""

import hmac
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from gateway.people import Audience
from memory.model.record import Evidence, Provenance, SourceType, Trust
from memory.service.handle import MemoryHandle
from memory.stores.rows import SHAPES
from memory.transfer.line_format import CREATED
from memory.write.imports import ProvenHistory

PROOF: Final = "proof"
LENGTH: Final = 64
FIELDS: Final = tuple(sorted(CREATED if name == "at" else name for name in SHAPES))


def proof_of(handle: MemoryHandle, values: Mapping[str, object]) -> str:
    """The signature of a line; empty where this program has no key."""
    return handle.read.signature(_signed(values))


def is_proven(handle: MemoryHandle, values: Mapping[str, object]) -> bool:
    """True when this program gave this line out, in this tenant, exactly as it stands."""
    fields, made = values.get(PROOF), proof_of(handle, values)
    if not (isinstance(fields, str) and len(fields) == LENGTH and fields.isascii() and made):
        return False
    return hmac.compare_digest(fields, made) and values.get("tenant") == handle.access.tenant


def proven_of(values: Mapping[str, object]) -> ProvenHistory:
    """Return what a line states about itself, to be believed only if it is proven."""
    provenance = Provenance(
        source=SourceType(str(values["source"])),
        trust=Trust(str(values["trust"])),
        person=str(values["person"]),
        at=_time(values[CREATED]),
        message_id=str(values["message_id"]),
        tool=str(values["tool"]),
        channel=str(values["channel"]),
        audience=Audience.DIRECT,
        external=bool(values["external"]),
    )
    until = values.get("valid_until")
    evidence = Evidence(
        claim=str(values["claim"]),
        captured_at=_time(values["captured_at"]),
        confidence=float(str(values["confidence"])),
        source_id=str(values["source_id"]),
        valid_until=None if until is None else _time(until),
    )
    origins = values["derived_from"]
    derived = tuple(map(str, origins)) if isinstance(origins, list) else ()
    return ProvenHistory(provenance, evidence, bool(values["confirmed"]), derived)


def _signed(values: Mapping[str, object]) -> str:
    """Return the signed text: the documented fields in one order, without nulls."""
    kept = {name: values[name] for name in FIELDS if values.get(name) is not None}
    return json.dumps(kept, ensure_ascii=True, sort_keys=True, separators=(",", ":"))


def _time(value: object) -> datetime:
    return datetime.fromisoformat(str(value))
