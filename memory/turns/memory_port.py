"""Memory's part in one turn: implements the gateway's seam."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from gateway.authorship import Material
from gateway.message import Button, Place
from gateway.people import Audience, PersonId, Principal
from gateway.ports import ToolProvider, ToolSpec
from gateway.ports.memory import NO_FOOTER, AnswerFooter, Caller, TurnMemory
from gateway.ports.prompt_blocks import KnowledgeItem, PromptParts
from memory.brain.documents import Brain
from memory.commands import texts as words
from memory.model.outcome import Outcome, WriteResult
from memory.model.record import Tier
from memory.model.scope import AccessScope
from memory.ports import Filter, MemoryStore
from memory.ports.recall import Recall
from memory.recall.query import MAX_RESULTS, Query
from memory.recall.repeat_filter import without_repeats
from memory.service.handle import Memory, MemoryHandle
from memory.service.proposals import Proposals
from memory.turns.brain_tool import UPDATE, BrainTool
from memory.turns.brief import Brief, BriefLimits, brief_of
from memory.turns.knowledge import knowledge_item
from memory.turns.memory_off import MemoryOffTurn
from memory.turns.notices import (
    SavedNotice,
    deliver_notices,
    entries_at,
    entry_of_sentence,
    is_waiting_notice,
    saved_notices,
    undelivered_notices,
)
from memory.turns.short_ids import ShownIds
from memory.turns.skill import SKILL
from memory.turns.tools import TOOLS, MemoryTools
from memory.write.consolidation import TurnText, waiting_turn
from memory.write.external_text import ExternalText, shown_before
from memory.write.prepare import Refusal, prepare_turn
from memory.write.trust import InputKind

MAX_BRIEFS: Final = 5_000
MAX_SHOWN: Final = 200
MAX_NAMED: Final = 3
MAX_SUGGESTED: Final = 5
KEEP: Final = "memory:keep:"
BESIDE: Final = "memory:beside:"
DISCARD: Final = "memory:discard:"
OWN_TOOLS: Final = frozenset({UPDATE.name, *(tool.name for tool in TOOLS)})

BriefKey = tuple[str, str, str, bool]


@dataclass(frozen=True, slots=True)
class TurnRules:
    """`episodic`: whether turns are kept as episodic memory. `notes`: whether people who chose
    nothing are shown what was noted."""

    episodic: bool = True
    notes: bool = True
    brief: BriefLimits = field(default_factory=BriefLimits)


class Remembrance:
    """Implements `gateway.ports.memory.MemoryPort` over a `Memory`."""

    def __init__(
        self,
        memory: Memory,
        store: MemoryStore,
        brain: Brain,
        rules: TurnRules | None = None,
        retriever: Recall | None = None,
    ) -> None:
        """Without a `retriever` nothing is recalled by itself; the model can search."""
        self.retriever = retriever
        self._memory = memory
        self._store = store
        self._rules = rules or TurnRules()
        self.brain = brain
        self._briefs: OrderedDict[BriefKey, Brief] = OrderedDict()

    async def turn(self, caller: Caller) -> TurnMemory:
        """Memory for this person, here and now."""
        handle = await self._memory.for_principal(caller)
        return _Turn(caller, handle, self) if handle.chosen.remembered else MemoryOffTurn()

    async def knows(self, tenant: str, place: Place, message_ids: Sequence[str]) -> bool:
        """True when something goes back to one of these messages."""
        return await self._memory.knows_message(tenant, _channel(place), message_ids)

    async def linked(self, who: Principal) -> Sequence[PersonId]:
        """The identities that are linked with this person, without their own."""
        return await self._memory.linked(who)

    async def suggested(self, caller: Caller, typed: str) -> Sequence[str]:
        """What the last word typed may become, as far as something lasting holds all of them."""
        handle = await self._memory.for_principal(caller)
        if self.retriever is None or not handle.chosen.remembered:
            return ()
        wanted = Filter(tiers=(Tier.SEMANTIC,))
        query = Query(typed, caller.at, MAX_SUGGESTED, unfinished=True, wanted=wanted)
        found = await self.retriever.recall(handle.access, query)
        return [one.record.content for one in found.results]

    async def learned(self, caller: Caller, conversation: str) -> int:
        """How much of this person's own was learned in a conversation."""
        handle = await self._memory.for_principal(caller)
        return len(await handle.deleting.learned_in(conversation, caller.at))

    async def forget_learned(self, caller: Caller, conversation: str, until: datetime) -> int:
        """Delete what of this person's own was learned in a conversation by then."""
        handle = await self._memory.for_principal(caller)
        learned = await handle.deleting.learned_in(conversation, until)
        gone = await handle.forget_shown(learned, handle.sealed(conversation))
        return gone.items

    async def edited(self, tenant: str, place: Place, message_id: str, text: str) -> None:
        """The stored turn follows, prepared like any other; what else was derived and never
        confirmed goes."""
        prepared = prepare_turn(text, InputKind.OWN_WORDS)
        if isinstance(prepared, Refusal):
            await self.deleted(tenant, place, (message_id,))
            return
        channel = _channel(place)
        await self._memory.message_edited(tenant, channel, message_id, prepared)

    async def deleted(self, tenant: str, place: Place, message_ids: Sequence[str]) -> None:
        """What was derived from these messages and never confirmed goes."""
        await self._memory.message_deleted(tenant, _channel(place), message_ids)

    async def left(self, tenant: str, place: Place, person: str = "") -> None:
        """A person, or without one everybody, is in the project of a place no longer."""
        await self._memory.left(tenant, place, person)

    async def frozen_brief(self, handle: MemoryHandle) -> Brief:
        """The brief of this session, as of its first prompt: what stays the same is cached by the
        model, whichever process asks it. Made anew only when something in it was deleted, replaced,
        is true no longer, or may not be seen here any more."""
        access, at = handle.access, handle.briefed
        key = (handle.request.session, access.room, access.project, access.private)
        kept = self._briefs.get(key)
        same = kept is not None and kept.made_at == at
        if kept is not None and same and await self._all_visible(access, kept):
            return kept
        if at is None or same:
            at = await handle.refresh_brief()
        made = self._briefs[key] = await brief_of(handle, self._rules.brief, at)
        while len(self._briefs) > MAX_BRIEFS:
            self._briefs.popitem(last=False)
        return made

    async def _all_visible(self, access: AccessScope, brief: Brief) -> bool:
        told = {record.id for record in brief.records}
        return not told or await self._store.visible(access, tuple(told)) == told

    async def fresh_brief(self, handle: MemoryHandle) -> Brief:
        """What `memory_brief` shows: with what was stored since."""
        return await brief_of(handle, self._rules.brief)

    def shows_notes(self, handle: MemoryHandle) -> bool:
        """Whether this person is shown what was noted."""
        chosen = handle.chosen.notes
        return self._rules.notes if chosen is None else chosen

    @property
    def keeps_turns(self) -> bool:
        """Whether turns are kept as episodic memory."""
        return self._rules.episodic


class _Turn:
    keeps: bool = True

    def __init__(self, caller: Caller, handle: MemoryHandle, remembrance: Remembrance) -> None:
        self._asker = caller
        self._handle = handle
        self._remembrance = remembrance
        self._lines: Mapping[str, str] = {}
        self._begins_session = handle.briefed is None
        self._proposed: Sequence[str] = ()
        self._outside = outside = ExternalText(caller.material)
        self._shown = shown = ShownIds()
        self._documents = BrainTool(handle, remembrance.brain, outside, shown)
        self._tools = TurnTools(
            MemoryTools(handle, lambda: remembrance.fresh_brief(handle), outside, shown),
            self._documents,
        )

    @property
    def tools(self) -> ToolProvider:
        """The four memory tools, and the one for the brain's documents."""
        return self._tools

    def reads(self, material: Sequence[Material]) -> None:
        """Note what the model reads that the person did not write."""
        for piece in material:
            self._outside.add(piece)

    async def prompt_parts(self) -> PromptParts:
        """The skill, the person's SOUL and brief, the project's BIBLE, HEARTBEAT and memories."""
        if self._begins_session:
            self._proposed = proposals_told(await self._handle.proposed())
        brief = await self._remembrance.frozen_brief(self._handle)
        parts = await self._handle.brain_parts()
        self._documents.has_read(parts)
        self._lines = brief.lines
        self._shown.add(brief.ids)
        personal, shared = brief.by_block
        return PromptParts(SKILL, parts.soul, personal, parts.bible, parts.heartbeat, shared)

    @property
    def recalls(self) -> bool:
        """False where nothing can be looked up, or nothing is there."""
        return self._remembrance.retriever is not None and self._handle.remembers

    async def knowledge(self, question: str) -> Sequence[KnowledgeItem]:
        """What recall brings up, with how the brief tells it."""
        retriever = self._remembrance.retriever
        if retriever is None or not question.strip():
            return ()
        query = Query(question, self._handle.request.at, MAX_RESULTS)  # the rules give fewer
        found = await retriever.recall(self._handle.access, query)
        here, lines, persons = self._asker.conversation, self._lines, self._handle.access.persons
        kept = without_repeats(question, found.results)
        self._shown.add(one.id for one in kept if not one.record.role)
        self.reads([piece for one in kept for piece in shown_before(one.record, persons)])
        return [
            replace(knowledge_item(one, here, persons), line=lines.get(one.id, "")) for one in kept
        ]

    async def tell_later(self, sentence: str) -> None:
        """Say this with the person's next direct message, once where it waits already."""
        handle = self._handle
        if not is_waiting_notice(handle, sentence):
            at = handle.request.at
            await handle.tell_later(entries_at(at, [entry_of_sentence(sentence)]))

    async def finish(
        self, answer: str, tools_used: Sequence[str], without: Sequence[str] = ()
    ) -> AnswerFooter:
        """What is to be kept of the turn; what was redacted; what waits for an answer."""
        after = await self._after(without)
        if not self._remembrance.keeps_turns:
            return after
        external = self._outside.any or bool(set(tools_used) - OWN_TOOLS)
        own = self._asker.said or "\n".join(self._asker.words)
        shown = shown_text(self._asker.material)
        said = TurnText(self._handle.request, own, answer, external, shown)
        turn = waiting_turn(self._asker.id, said, self._handle.access)
        return AnswerFooter(after.note, after.buttons, turn, after.typed)

    async def _after(self, without: Sequence[str]) -> AnswerFooter:
        """What the person is told now, or where others would read it, in their next direct
        message."""
        handle, tools = self._handle, self._tools
        notes = self._remembrance.shows_notes(handle)
        if not self._asker.alone:
            untold = undelivered_notices(tools.results, tools.notices, notes=notes, without=without)
            if untold:
                await handle.tell_later(entries_at(handle.request.at, untold))
            return NO_FOOTER
        direct = self._asker.place.audience is Audience.DIRECT
        waited = await deliver_notices(handle) if direct else ()
        further = (*tools.notices, *notice_of(handle), *waited, *self._proposed)
        noted = saved_notices(tools.results, tools.written) if notes else ()
        return footer_of(tools.results, further, noted, without)


class TurnTools:
    """Everything the model can do with memory in one turn."""

    def __init__(self, memory: MemoryTools, brain: BrainTool) -> None:
        self._memory = memory
        self._brain = brain

    @property
    def results(self) -> tuple[WriteResult, ...]:
        """What was written so far."""
        return (*self._memory.results, *self._brain.results)

    @property
    def notices(self) -> tuple[str, ...]:
        """What the person has to know of documents that were written."""
        return tuple(self._brain.notices)

    @property
    def written(self) -> tuple[str, ...]:
        """The versions of documents that were written, each named as `/undo` takes it."""
        return tuple(self._brain.written)

    async def tools(self) -> tuple[ToolSpec, ...]:
        """All of them."""
        return (*TOOLS, UPDATE)

    async def call(self, name: str, arguments: Mapping[str, object]) -> str:
        """The answer as JSON. Raises `ToolError` for arguments that cannot be used."""
        owner = self._brain if name == UPDATE.name else self._memory
        return await owner.call(name, arguments)

    async def close(self) -> None:
        """Nothing to close."""


def shown_text(material: Sequence[Material]) -> str:
    """What a person showed, as it is kept of a turn: each text under its authorship and writer."""
    return "\n".join(
        f"{piece.authorship} from {' '.join(piece.by.split())}:\n{piece.text}"
        if piece.by.strip()
        else f"{piece.authorship}:\n{piece.text}"
        for piece in material
    )


def notice_of(handle: MemoryHandle) -> tuple[str, ...]:
    """Notes for the person on their project, fit to stand between underscores."""
    notice = handle.request.notice
    return (notice.replace("_", "\\_"),) if notice else ()


def proposals_told(proposed: Sequence[Proposals]) -> tuple[str, ...]:
    """What an operator is told of proposals that wait, fit to stand between underscores."""
    places = words.places_told(proposed)
    return (words.WAITS_FOR_OPERATORS.format(places=places),) if proposed else ()


def footer_of(
    results: Sequence[WriteResult],
    further: Sequence[str] = (),
    noted: Sequence[SavedNotice] = (),
    without: Sequence[str] = (),
) -> AnswerFooter:
    """What the person is told, and asked, after the model stored something."""
    if not (results or further or noted):
        return NO_FOOTER
    said = [n for result in results for n in result.notices if n != result.told_replaced]
    left_out = set(map(unformatted, without))
    lines = [n for n in dict.fromkeys((*map(unformatted, said), *further)) if n not in left_out]
    reviewed = [result for result in results if result.outcome is Outcome.REVIEW]
    waiting = [result for result in reviewed if not result.for_operators]
    buttons: tuple[Button, ...] = ()
    if waiting:
        first, more = waiting[0], len(waiting) - 1
        buttons = keep_buttons(first.review_id, replaces=first.replaces)
        lines.append(f"Keep this? “{shortened(first.content)}”")
        if first.replaces:
            lines.append(unformatted(first.reason))
        if more:
            lines.append(f"After that I ask about: {_told(waiting[1:])}")
    passed_on = (unformatted(one.reason) for one in reviewed if one.for_operators)
    lines += dict.fromkeys(passed_on)
    buttons += tuple(one.button for one in noted)
    note = _in_italics([*(one.text for one in noted), *lines])
    typed = _in_italics([*(one.typed for one in noted), *lines])
    return AnswerFooter(note, buttons, typed=typed if noted else "")


def _in_italics(lines: Sequence[str]) -> str:
    return "\n".join(f"_{line}_" for line in lines)


def _told(waiting: Sequence[WriteResult]) -> str:
    """The first of what waits, and how many there are beside."""
    named = [f"“{shortened(one.content)}”" for one in waiting[:MAX_NAMED]]
    more = len(waiting) - len(named)
    return ", ".join(named) + (f", and {more} more" if more else "")


def keep_buttons(review_id: str, *, replaces: bool = False) -> tuple[Button, ...]:
    """The answers to "Keep this?"; a third one where it would replace another memory."""
    if not replaces:
        discard = Button("Forget it", f"{DISCARD}{review_id}")
        return Button("Keep", f"{KEEP}{review_id}"), discard
    return (
        Button("Replace", f"{KEEP}{review_id}"),
        Button("Keep both", f"{BESIDE}{review_id}"),
        Button("Keep the old one", f"{DISCARD}{review_id}"),
    )


def shortened(text: str) -> str:
    """One line of a memory, without what would be read as markup around it."""
    line = unformatted(" ".join(text.split()))
    return line if len(line) <= MAX_SHOWN else f"{line[:MAX_SHOWN]}…"


def unformatted(text: str) -> str:
    """A sentence that can stand between underscores."""
    return text.replace("_", "\\_").replace("*", "\\*")


def _channel(place: Place) -> tuple[str, str, str]:
    return place.platform, place.account, place.channel_id
