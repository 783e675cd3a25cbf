"""The gateway's port to memory."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from gateway.message import Place
from gateway.people import PersonId, Principal
from gateway.ports.memory import Caller, TurnMemory
from memory.model.record import Tier
from memory.model.trust import InputKind
from memory.ports.audit import AuditAction
from memory.ports.memories import ChangedMemory, Filter
from memory.ports.recall import Query
from memory.service.dependencies import MemoryDependencies
from memory.service.handle import Memory
from memory.turns.brief import BackendBriefs, Briefs
from memory.turns.turn import MemoryOffTurn, MemoryTurn, TurnRules
from memory.write.prepare import DraftRefusal, Prepared, prepare_turn

MAX_SUGGESTED: Final = 5


class GatewayMemory:
    """Implements `gateway.ports.memory.MemoryPort`."""

    def __init__(
        self,
        parts: MemoryDependencies,
        rules: TurnRules | None = None,
        briefs: BackendBriefs | None = None,
    ) -> None:
        """`briefs` replaces the brief that is made of the stored memories."""
        self._memory = Memory(parts)
        self._parts = parts
        self._rules = rules or TurnRules()
        self.briefs = briefs or Briefs(
            parts.memories, self._rules.brief, edited=self._rules.has_backends
        )

    async def turn(self, caller: Caller) -> TurnMemory:
        """Return the memory of this caller for one turn."""
        handle = await self._memory.for_principal(caller)
        if not handle.choices.remembered:
            return MemoryOffTurn()
        return MemoryTurn(caller, handle, self._parts, self.briefs, self._rules)

    async def knows(self, tenant: str, place: Place, message_ids: Sequence[str]) -> bool:
        """True if a memory or a waiting turn is derived from one of these messages."""
        channel = _channel(place)
        await self._parts.consolidation.of_messages(tenant, channel, message_ids)
        return await self._parts.memories.knows_message(tenant, channel, message_ids)

    async def linked(self, who: Principal) -> Sequence[PersonId]:
        """Return the other identities that are linked with this person."""
        return await self._memory.linked(who)

    async def suggested(self, caller: Caller, typed: str) -> Sequence[str]:
        """Return lasting memories that contain the typed words, the last one as a beginning."""
        handle = await self._memory.for_principal(caller)
        if not handle.choices.remembered:
            return ()
        filters = Filter(tiers=(Tier.SEMANTIC,))
        query = Query(typed, caller.at, MAX_SUGGESTED, unfinished=True, filters=filters)
        recalled = await self._parts.retriever.recall(handle.access, query)
        return [one.record.content for one in recalled.results]

    async def learned(self, caller: Caller, conversation: str) -> int:
        """Return the number of the person's own memories from a conversation."""
        handle = await self._memory.for_principal(caller)
        return len(await handle.erasure.learned_in(conversation, caller.at))

    async def forget_learned(self, caller: Caller, conversation: str, until: datetime) -> int:
        """Delete the person's own memories from a conversation until a time."""
        erasure = (await self._memory.for_principal(caller)).erasure
        learned = await erasure.learned_in(conversation, until)
        return (await erasure.forget(learned, erasure.hashed(conversation))).items

    async def edited(self, tenant: str, place: Place, message_id: str, text: str) -> None:
        """Give the stored turn of an edited message its new text."""
        prepared = prepare_turn(text, InputKind.OWN_WORDS)
        if isinstance(prepared, DraftRefusal):
            await self.deleted(tenant, place, (message_id,))
            return
        channel = _channel(place)
        await self._parts.consolidation.of_messages(tenant, channel, (message_id,), changed=True)
        changed = await self._parts.memories.revise_message(
            *(tenant, channel, message_id, prepared.content), suspicious=bool(prepared.injections)
        )
        await self._note_message("memory_write", tenant, "message_edited", changed, (message_id,))
        for person in sorted({one.person for one in changed}):
            await self._note_findings(tenant, person, message_id, prepared)

    async def deleted(self, tenant: str, place: Place, message_ids: Sequence[str]) -> None:
        """Delete what is derived from these messages and was never confirmed."""
        channel = _channel(place)
        await self._parts.consolidation.of_messages(tenant, channel, message_ids, changed=True)
        gone = await self._parts.memories.forget_message(tenant, channel, message_ids)
        await self._note_message("memory_delete", tenant, "message_deleted", gone, message_ids)

    async def left(self, tenant: str, place: Place, person: str = "") -> None:
        """Record that a person, or everybody if empty, left the project of a place."""
        await self._parts.people.left(tenant, place, person)

    async def _note_message(
        self,
        action: AuditAction,
        tenant: str,
        reason: str,
        changed: Sequence[ChangedMemory],
        message_ids: Sequence[str],
    ) -> None:
        """Add one audit entry for each person whose memories changed."""
        for person in sorted({one.person for one in changed}):
            ids = [one.id for one in changed if one.person == person]
            await self._parts.audit.append(
                *(action, tenant, person),
                reason=reason,
                count=len(ids),
                ids=",".join(ids),
                messages=",".join(message_ids),
            )

    async def _note_findings(self, tenant: str, person: str, message: str, text: Prepared) -> None:
        """Record what the check of an edited message found."""
        audit = self._parts.audit
        if text.secrets:
            await audit.append("secret_redacted", tenant, person, messages=message, **text.redacted)
        if text.possible:
            await audit.append(
                "secret_kept", tenant, person, messages=message, review="none", **text.kept
            )
        if text.injections:
            await audit.append(
                *("poisoning_attempt_blocked", tenant, person),
                messages=message,
                findings=" ".join(text.injections),
            )


def _channel(place: Place) -> tuple[str, str, str]:
    return place.platform, place.account, place.channel_id
