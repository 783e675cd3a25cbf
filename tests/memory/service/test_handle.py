"""A person's operations on their own memory, which no other person can do."""

import asyncio
from typing import Any

import pytest

from gateway.errors import BadInput, NotFound
from gateway.people import Role
from memory.model.outcome import Outcome
from memory.model.plans import Plans
from memory.model.record import Draft, Evidence, Kind, Scope, SourceType, Tier, Trust
from memory.model.scope import AccessScope
from memory.ports.memories import Filter, Match
from memory.service import erasure, read
from memory.write.prepare import WriteRules
from tests.memory.rig import CLOSED, ROOM, forget_topic, memories_about, memory_rig
from tests.memory.stores.records import AT, record, store

TABS = Draft("Prefers tabs over spaces", Kind.PREFERENCE)


async def test_an_explicit_save_is_stored_whatever_it_begins_with() -> None:
    async with memory_rig() as rig:
        ada = await rig.handle("ada")
        result = await ada.write.remember(Draft("I think Redis is what we use", Kind.FACT))
        assert result.outcome is Outcome.STORED
        record = await ada.read.get(result.memory_id)
        assert record is not None
        assert record.provenance.source is SourceType.EXPLICIT_SAVE
        assert record.provenance.trust is Trust.HIGH
        assert rig.noted.actions() == ["memory_write"]


async def test_a_conclusion_of_the_model_waits_for_the_person() -> None:
    async with memory_rig() as rig:
        ada = await rig.handle("ada", says="which editor is best?")
        result = await ada.write.infer(TABS)
        assert (result.outcome, result.code) == (Outcome.REVIEW, "ungrounded")
        assert await ada.read.search(Filter()) == []
        kept = await ada.review.approve(result.review_id)
        assert kept.outcome is Outcome.STORED
        (match,) = await ada.read.search(Filter(text="tabs"))
        assert (match.record.confirmed, match.record.provenance.trust) == (True, Trust.HIGH)


async def test_a_quoted_statement_of_the_person_is_stored_immediately() -> None:
    async with memory_rig() as rig:
        ada = await rig.handle("ada", says="please note I prefer tabs over spaces")
        draft = Draft(TABS.content, Kind.PREFERENCE, quote="I prefer tabs over spaces")
        result = await ada.write.infer(draft)
        assert result.outcome is Outcome.STORED
        record = await ada.read.get(result.memory_id)
        assert record is not None
        assert record.provenance.source is SourceType.USER_MESSAGE


async def test_speculation_is_not_stored() -> None:
    async with memory_rig() as rig:
        ada = await rig.handle("ada", says="I think we should use Redis")
        quote = "I think we should use Redis"
        result = await ada.write.infer(Draft(quote, Kind.DECISION, quote=quote))
        assert (result.outcome, result.code) == (Outcome.BLOCKED, "speculation")


async def test_a_verified_citation_grounds_a_conclusion_of_the_model() -> None:
    async with memory_rig() as rig:
        rig.verifier.known.add("ADR-003")
        ada = await rig.handle("ada")
        stored = await ada.write.infer(Draft("Per ADR-003, we use PostgreSQL", Kind.DECISION))
        made_up = await ada.write.infer(Draft("Per ADR-999, we use magic", Kind.DECISION))
        assert (stored.outcome, made_up.outcome) == (Outcome.STORED, Outcome.REVIEW)
        record = await ada.read.get(stored.memory_id)
        assert record is not None
        assert record.evidence.source_id == "ADR-003"


KEY = "AKIA" + "IOSFODNN7ABCDEFG"


async def test_a_secret_is_redacted_and_the_person_is_told() -> None:
    async with memory_rig() as rig:
        ada = await rig.handle("ada")
        result = await ada.write.remember(Draft(f"The deploy key is {KEY} for staging", Kind.FACT))
        assert "[SECRET_REDACTED]" in result.content
        assert KEY not in result.content
        assert any("secret" in notice.english for notice in result.notices)
        assert "secret_redacted" in rig.noted.actions()


async def test_a_secret_stored_before_its_pattern_was_known_is_not_returned() -> None:
    async with memory_rig() as rig:
        ada = await rig.handle("ada")
        sentence = f"the deploy key for staging is {KEY}"
        person = ada.access.person
        old = record(
            sentence, person, tenant=rig.tenant, tags=(KEY,), evidence=Evidence(sentence, AT, 0.9)
        )
        await store(rig.stores.memories, old, ada.access)

        turn = await rig.remembrance.turn(rig.caller("ada"))
        shown = [
            await turn.tools.call("memory_search", {}),
            await turn.tools.call("memory_search", {"query": "deploy key staging"}),
            await turn.tools.call("memory_brief", {"include_provenance": True}),
            repr(await turn.prompt_parts()),
            repr(await ada.read.search(Filter())),
            repr(await ada.read.get(old.id)),
            repr(await memories_about(ada, "deploy key staging")),
            repr(await memories_about(ada, old.id)),
            repr([one async for one in ada.read.everything()]),
        ]
        assert [text for text in shown if KEY in text] == []
        assert [text for text in shown if "[SECRET_REDACTED]" not in text] == []


async def test_with_fail_on_secret_the_memory_is_refused() -> None:
    async with memory_rig(rules=WriteRules(fail_on_secret=True)) as rig:
        ada = await rig.handle("ada")
        result = await ada.write.remember(Draft(f"The deploy key is {KEY}", Kind.FACT))
        assert (result.outcome, result.code) == (Outcome.REFUSED, "secret")


async def test_a_repetition_creates_no_second_memory() -> None:
    async with memory_rig() as rig:
        ada = await rig.handle("ada")
        first = await ada.write.remember(TABS)
        again = await ada.write.remember(Draft("prefers  tabs over spaces.", Kind.PREFERENCE))
        assert (again.outcome, again.code) == (Outcome.BLOCKED, "duplicate")
        assert again.validation is not None
        assert again.validation.conflicting_id == first.memory_id


async def test_a_replacement_of_a_memory_is_not_its_duplicate() -> None:
    async with memory_rig() as rig:
        ada = await rig.handle("ada")
        first = await ada.write.remember(TABS)
        new = Draft("Prefers tabs over spaces", Kind.PREFERENCE, supersedes=first.memory_id)
        second = await ada.write.remember(new)
        assert second.outcome is Outcome.STORED
        assert [m.record.id for m in await ada.read.search(Filter())] == [second.memory_id]


async def test_a_long_memory_is_shortened_with_a_note() -> None:
    async with memory_rig() as rig:
        ada = await rig.handle("ada")
        result = await ada.write.remember(Draft("The garden has roses. " * 80, Kind.FACT))
        assert result.outcome is Outcome.STORED
        assert len(result.content) <= 1_000
        assert any("1000" in notice.english for notice in result.notices)


async def test_the_refusal_of_a_plan_is_the_specified_one() -> None:
    async with memory_rig(plans=Plans(default="free")) as rig:
        ada = await rig.handle("ada")
        for text in ("Has a dog", "Lives in Berlin", "Plays the violin"):
            assert (await ada.write.remember(Draft(text, Kind.FACT))).outcome is Outcome.STORED
        result = await ada.write.remember(Draft("Collects stamps", Kind.FACT))
        assert result.outcome is Outcome.REFUSED
        assert result.reason.english == (
            "Memory limit reached (3/3). Upgrade to Pro for up to 15 memories."
        )
        (oldest, *_) = await ada.read.search(Filter(text="dog"))
        assert await ada.erasure.delete([oldest.record.id])
        assert (
            await ada.write.remember(Draft("Collects stamps", Kind.FACT))
        ).outcome is Outcome.STORED


async def test_the_model_can_store_twenty_times_a_session_and_the_person_without_limit() -> None:
    async with memory_rig() as rig:
        for number in range(20):
            ada = await rig.handle("ada", says="hello")
            assert (
                await ada.write.infer(Draft(f"Owns boat {number}", Kind.FACT))
            ).code != "session_limit"
        ada = await rig.handle("ada", says="hello")
        assert (await ada.write.infer(Draft("Owns a kite", Kind.FACT))).code == "session_limit"
        assert (await ada.write.remember(Draft("Owns a kite", Kind.FACT))).outcome is Outcome.STORED
        await rig.clock.advance(31 * 60)
        ada = await rig.handle("ada", says="hello")
        assert (await ada.write.infer(Draft("Owns a tent", Kind.FACT))).code != "session_limit"


async def test_the_model_can_delete_five_times_a_session() -> None:
    async with memory_rig() as rig:
        ada = await rig.handle("ada")
        for number in range(6):
            await ada.write.remember(Draft(f"Owns boat number {number}", Kind.FACT))
        boats = [match.record.id for match in await ada.read.search(Filter())]
        for memory_id in boats[:5]:
            assert await ada.erasure.delete_for_model(memory_id)
        with pytest.raises(BadInput, match="5 memories"):
            await ada.erasure.delete_for_model(boats[5])


async def test_other_people_cannot_see_approve_or_delete_a_memory() -> None:
    async with memory_rig() as rig:
        ada, bob = await rig.handle("ada"), await rig.handle("bob")
        stored = await ada.write.remember(TABS)
        waiting = await ada.write.infer(Draft("Lives in Rome", Kind.FACT))
        assert await bob.read.search(Filter(text="tabs")) == []
        assert await bob.read.get(stored.memory_id) is None
        assert await bob.erasure.delete([stored.memory_id]) == []
        assert await bob.review.waiting() == []
        with pytest.raises(BadInput):
            await bob.review.approve(waiting.review_id)
        assert await forget_topic(bob, "tabs") == 0
        assert await ada.read.get(stored.memory_id) is not None


async def test_private_memory_is_excluded_from_rooms_until_the_person_allows_it() -> None:
    async with memory_rig() as rig:
        private = await rig.handle("ada", at=CLOSED)
        assert private.access.room
        ada = await rig.handle("ada")
        await ada.write.remember(TABS)
        answer = rig.caller("ada", at=ROOM)
        # the same human on two platforms: only a link makes them one person
        await rig.link(rig.caller("ada"), answer)
        here = await rig.memory.for_principal(answer)
        assert await here.read.search(Filter(text="tabs")) == []
        await rig.people.show_private(answer.principal, True)
        here = await rig.memory.for_principal(answer)
        assert len(await here.read.search(Filter(text="tabs"))) == 1


async def test_global_memory_is_written_by_operators_only() -> None:
    async with memory_rig() as rig:
        draft = Draft("We deploy on Tuesdays", Kind.INSTRUCTION, scope=Scope.PROJECT)
        member = await rig.handle("bob", at=ROOM)
        proposed = await member.write.remember(draft)
        assert proposed.outcome is Outcome.REVIEW
        with pytest.raises(BadInput):
            await member.review.approve(proposed.review_id)
        operator = await rig.handle("ada", at=ROOM, role=Role.OPERATOR)
        (waiting,) = await operator.review.waiting()
        assert (await operator.review.approve(waiting.id)).outcome is Outcome.STORED
        (result,) = await member.read.search(Filter(text="deploy"))
        assert result.record.scope is Scope.PROJECT


async def test_a_pending_memory_is_decided_once() -> None:
    async with memory_rig() as rig:
        ada = await rig.handle("ada")
        waiting = await ada.write.infer(TABS)
        outcomes = await asyncio.gather(
            *(ada.review.approve(waiting.review_id) for _ in range(5)), return_exceptions=True
        )
        assert sum(not isinstance(outcome, BaseException) for outcome in outcomes) == 1
        assert len(await ada.read.search(Filter())) == 1


async def test_forgetting_a_topic_keeps_the_rest_and_the_audit_has_no_word_of_it() -> None:
    async with memory_rig() as rig:
        ada = await rig.handle("ada")
        await ada.write.remember(Draft("Has a dog named Luna", Kind.FACT))
        await ada.write.remember(TABS)
        assert await forget_topic(ada, "dog Luna") == 1
        assert [m.record.content for m in await ada.read.search(Filter())] == [TABS.content]
        assert "Luna" not in repr(rig.noted.entries)


async def test_an_export_is_complete_although_the_end_of_a_page_is_deleted_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (read, erasure):
        monkeypatch.setattr(module, "MAX_LISTED", 2)
    async with memory_rig() as rig:
        ada = await rig.handle("ada")
        for number in range(7):
            await ada.write.remember(Draft(f"Likes number {number}", Kind.FACT))
            await rig.clock.advance(1)
        memories, find = rig.stores.memories, rig.stores.memories.find

        async def find_and_delete(access: AccessScope, filters: Filter) -> list[Match]:
            matches = await find(access, filters)
            if len(matches) == 2:
                monkeypatch.setattr(memories, "find", find)
                await memories.delete(access, [matches[-1].record.id])
            return matches

        monkeypatch.setattr(memories, "find", find_and_delete)
        everything = [record.content async for record in ada.read.everything()]
        assert everything == [f"Likes number {number}" for number in (0, 1, 2, 3, 4, 6)]
        monkeypatch.setattr(memories, "find", find_and_delete)
        learned = await ada.erasure.learned_in(ada.request.conversation, rig.clock.now())
        assert len(learned) == 6, "the deleted one was listed before"


async def test_clear_deletes_a_tier_of_one_person_only() -> None:
    async with memory_rig() as rig:
        ada, bob = await rig.handle("ada"), await rig.handle("bob")
        await ada.write.remember(TABS)
        await ada.write.remember(Draft("Working on the Parley website", Kind.CONTEXT))
        await bob.write.remember(TABS)
        assert await ada.erasure.clear([Tier.EPISODIC]) == 1
        assert await ada.erasure.clear([Tier.SEMANTIC]) == 1
        assert len(await bob.read.search(Filter())) == 1


async def test_clear_deletes_pending_memories_of_the_tier_too() -> None:
    async with memory_rig() as rig:
        ada, bob = await rig.handle("ada"), await rig.handle("bob")
        fact, passing = Draft("Lives in Rome", Kind.FACT), Draft("Packs today", Kind.CONTEXT)
        for one in (fact, passing):
            assert (await ada.write.infer(one)).review_id
        assert (await bob.write.infer(fact)).review_id
        assert await ada.erasure.clear([Tier.SEMANTIC]) == 1
        assert [one.record.content for one in await ada.review.waiting()] == [passing.content]
        assert len(await bob.review.waiting()) == 1


async def test_erase_deletes_all_data_of_one_person() -> None:
    async with memory_rig() as rig:
        ada, bob = await rig.handle("ada"), await rig.handle("bob")
        await ada.write.remember(TABS)
        await ada.write.infer(Draft("Lives in Rome", Kind.FACT))
        await bob.write.remember(TABS)
        assert any(row["table"] == "memories" for row in await ada.privacy.export_all())
        assert (await ada.erasure.erase_all())[0] > 0
        assert await ada.privacy.export_all() == []
        assert len(await bob.read.search(Filter())) == 1


@pytest.mark.parametrize("decision", ["approve", "reject"])
async def test_an_approval_interrupted_by_a_crash_is_pending_again(
    decision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with memory_rig() as rig:
        ada = await rig.handle()
        waiting = await ada.write.infer(Draft("Lives in Rome", Kind.FACT))

        async def killed(*_: object) -> None:
            raise asyncio.CancelledError

        with monkeypatch.context() as patched:
            patched.setattr(rig.stores.reviews, "take", killed)
            with pytest.raises(asyncio.CancelledError):
                await ada.review.approve(waiting.review_id)
        (pending,) = await ada.review.waiting()
        assert pending.record.content == "Lives in Rome"
        await getattr(ada.review, decision)(waiting.review_id)
        kept = [match.record.content for match in await ada.read.search(Filter())]
        assert kept == (["Lives in Rome"] if decision == "approve" else [])


async def test_a_memory_rejected_during_its_approval_is_not_stored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with memory_rig() as rig:
        ada = await rig.handle()
        waiting = await ada.write.infer(Draft("Lives in Rome", Kind.FACT))
        approve = rig.path.approve

        async def overtaken(_: object, *rest: Any, keep_both: bool) -> object:
            await (await rig.handle()).review.reject(waiting.review_id)
            return await approve(*rest, keep_both=keep_both)

        with monkeypatch.context() as patched:
            patched.setattr(type(rig.path), "approve", overtaken)
            with pytest.raises(NotFound):
                await ada.review.approve(waiting.review_id)
        assert await ada.read.search(Filter()) == []
