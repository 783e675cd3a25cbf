"""Builds and stores turns of conversations as episodic memories."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct

from gateway.immutable import replace
from gateway.ports import Clock
from memory.model.outcome import STORED, Outcome, WriteResult
from memory.model.record import ID_PREFIX, Draft, InputKind, Kind, Record, Tier
from memory.model.scope import AccessScope, RequestScope
from memory.ports.memories import MemoryStore
from memory.stores.audit import Audit
from memory.write.imports import ImportedHistory, is_proven, with_imported_history
from memory.write.prepare import DraftRefusal, Prepared, WriteRules, new_record, prepare_turn

TURNS: Final = uuid.UUID("5d1bd6a5-6f7b-4f0b-9d0c-3f6f0d5d3c51")
"""The namespace of turn ids, so that the same turn always has the same id."""

Speaker = Literal["user", "assistant", "tool", "other"]
INPUT_KINDS: Final[Mapping[Speaker, InputKind]] = {
    "user": InputKind.OWN_WORDS,
    "assistant": InputKind.ASSISTANT,
    "tool": InputKind.TOOL,
    "other": InputKind.OTHERS_WORDS,
}
"""The input kinds of the sides of a turn."""


class TurnRecords(Struct, frozen=True):
    """The records of a turn, and the findings in each of its sides."""

    kept: tuple[Record, ...]
    findings: tuple[Prepared, ...]


class EpisodicWriter(Struct, frozen=True):
    """Stores sides of turns. Every method raises `StoreUnavailable`."""

    memories: MemoryStore
    audit: Audit
    rules: WriteRules
    clock: Clock

    def turn_records(
        self,
        request: RequestScope,
        access: AccessScope,
        turn_id: str,
        message: str,
        answer: str,
        *,
        external: bool,
        shown: str = "",
    ) -> TurnRecords:
        """Return the records of both sides of a turn, and of what the person showed. The same turn
        has the same ids."""
        sides: tuple[tuple[Speaker, str], ...] = (
            ("other", shown),
            ("user", message),
            ("assistant", answer),
        )
        records, findings = [], []
        for role, text in sides:
            prepared = prepare_turn(text, INPUT_KINDS[role])
            if isinstance(prepared, DraftRefusal):
                continue
            outside = role == "other" or (external and role == "assistant")
            record = self._turn(request, access, role, prepared, external=outside)
            turn = f"{ID_PREFIX}{uuid.uuid5(TURNS, f'{turn_id}:{role}')}"
            records.append(replace(record, id=turn))
            findings.append(prepared)
        return TurnRecords(tuple(records), tuple(findings))

    async def note_turn(self, request: RequestScope, turn: TurnRecords) -> None:
        """Record a stored turn in the audit log."""
        for prepared in turn.findings:
            await note_findings(self.audit, request, prepared)
            await note_kept_secrets(self.audit, request, prepared)
        if turn.kept:
            await self._note_kept(request, turn.kept)

    async def keep_past_turn(
        self,
        request: RequestScope,
        access: AccessScope,
        role: Speaker,
        text: str,
        past: ImportedHistory,
        kind: InputKind,
    ) -> WriteResult:
        """Store one side of an imported turn; `kind` is the input kind of a turn without a valid
        signature."""
        proven = is_proven(past)
        prepared = prepare_turn(text, INPUT_KINDS[role] if proven else kind)
        if isinstance(prepared, DraftRefusal):
            return WriteResult(Outcome.REFUSED, prepared.code, prepared.reason)
        await note_findings(self.audit, request, prepared)
        record = self._turn(request, access, role, prepared, external=not proven)
        record = with_imported_history(
            record, past, self.clock.now(), self.rules.lives, suspicious=bool(prepared.injections)
        )
        await self.memories.keep_turns(access, [record])
        await self._note_kept(request, [record])
        await note_kept_secrets(self.audit, request, prepared)
        return WriteResult(Outcome.STORED, "stored", STORED, record.content, record.id)

    def _turn(
        self,
        request: RequestScope,
        access: AccessScope,
        role: Speaker,
        prepared: Prepared,
        *,
        external: bool,
    ) -> Record:
        draft = Draft(prepared.content, Kind.CONTEXT)
        record = new_record(
            *(request, access, draft, prepared),
            external=external,
            at=request.at,
            lives=self.rules.lives,
        )
        return replace(record, role=role)

    async def _note_kept(self, request: RequestScope, records: Sequence[Record]) -> None:
        await self.audit.note(
            "memory_write",
            request,
            tier=Tier.EPISODIC.value,
            source=" ".join(record.provenance.source.value for record in records),
            count=len(records),
            size=sum(len(record.content) for record in records),
        )


async def note_findings(audit: Audit, request: RequestScope, prepared: Prepared) -> None:
    """Record removed secrets and injection findings in the audit log."""
    if prepared.secrets:
        await audit.note("secret_redacted", request, **prepared.redacted)
    if prepared.injections:
        findings = " ".join(prepared.injections)
        await audit.note("poisoning_attempt_blocked", request, findings=findings)


async def note_kept_secrets(
    audit: Audit, request: RequestScope, prepared: Prepared, review: str = ""
) -> None:
    """Record the possible secrets in a stored text; `review` is the id of the question to the
    person whether they may stay, empty if nobody is asked."""
    if prepared.possible:
        await audit.note("secret_kept", request, **prepared.kept, review=review or "none")
