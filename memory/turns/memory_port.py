"""The gateway's port to memory."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct, field

from gateway.message import Place
from gateway.people import PersonId, Principal
from gateway.ports.memory import Caller, TurnMemory
from memory.brain.documents import Brain
from memory.knowledge.reader import KnowledgeReader
from memory.model.record import Tier
from memory.model.trust import InputKind
from memory.ports.memories import Filter, MemoryStore
from memory.ports.recall import Query, Recall
from memory.service.handle import Memory
from memory.turns.backend_brief import BackendBriefs
from memory.turns.brief import BriefLimits, Briefs
from memory.turns.turn import MemoryOffTurn, MemoryTurn
from memory.write.prepare import Refusal, prepare_turn

MAX_SUGGESTED: Final = 5


class TurnRules(Struct, frozen=True):
    """`episodic`: turns are stored as episodic memory. `notes`: people who made no choice are shown
    what was noted. `has_backends`: memories may also be outside the database."""

    episodic: bool = True
    notes: bool = True
    brief: BriefLimits = field(default_factory=BriefLimits)
    has_backends: bool = False


class GatewayMemory:
    """Implements `gateway.ports.memory.MemoryPort` over a `Memory`."""

    def __init__(
        self,
        memory: Memory,
        store: MemoryStore,
        brain: Brain,
        rules: TurnRules | None = None,
        retriever: Recall | None = None,
        briefs: BackendBriefs | None = None,
        repositories: KnowledgeReader | None = None,
    ) -> None:
        """Without a `retriever` only the model's search finds memories. `briefs` replaces the brief
        that is made of the stored memories; `repositories` searches repositories in chats."""
        self.retriever = retriever
        self.brain = brain
        self._memory = memory
        self._repositories = repositories
        self._rules = rules or TurnRules()
        self.briefs = briefs or Briefs(store, self._rules.brief, edited=self._rules.has_backends)

    async def turn(self, caller: Caller) -> TurnMemory:
        """Return the memory of this caller for one turn."""
        handle = await self._memory.for_principal(caller)
        if not handle.choices.remembered:
            return MemoryOffTurn()
        notes = handle.choices.notes
        return MemoryTurn(
            *(caller, handle, self.brain, self.briefs, self.retriever),
            shows_notes=self._rules.notes if notes is None else notes,
            stores_turn=self._rules.episodic,
            has_backends=self._rules.has_backends,
            repositories=self._repositories,
        )

    async def knows(self, tenant: str, place: Place, message_ids: Sequence[str]) -> bool:
        """True if something is derived from one of these messages."""
        return await self._memory.knows_message(tenant, _channel(place), message_ids)

    async def linked(self, who: Principal) -> Sequence[PersonId]:
        """Return the other identities that are linked with this person."""
        return await self._memory.linked(who)

    async def suggested(self, caller: Caller, typed: str) -> Sequence[str]:
        """Return lasting memories that contain the typed words, the last one as a beginning."""
        handle = await self._memory.for_principal(caller)
        if self.retriever is None or not handle.choices.remembered:
            return ()
        filters = Filter(tiers=(Tier.SEMANTIC,))
        query = Query(typed, caller.at, MAX_SUGGESTED, unfinished=True, filters=filters)
        recalled = await self.retriever.recall(handle.access, query)
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
        if isinstance(prepared, Refusal):
            await self.deleted(tenant, place, (message_id,))
        else:
            await self._memory.message_edited(tenant, _channel(place), message_id, prepared)

    async def deleted(self, tenant: str, place: Place, message_ids: Sequence[str]) -> None:
        """Delete what is derived from these messages and was never confirmed."""
        await self._memory.message_deleted(tenant, _channel(place), message_ids)

    async def left(self, tenant: str, place: Place, person: str = "") -> None:
        """Record that a person, or everybody if empty, left the project of a place."""
        await self._memory.left(tenant, place, person)


def _channel(place: Place) -> tuple[str, str, str]:
    return place.platform, place.account, place.channel_id
