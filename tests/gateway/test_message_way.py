"""The message's way through the whole gateway, with model and platform in the test's hand."""

import asyncio
from pathlib import Path

import pytest

from db.errors import StoreUnavailable
from gateway.conversation import ContextLimits, key_of
from gateway.immutable import replace
from gateway.inbound.conversation_queues import CHANGE_PAUSE
from gateway.message import (
    CommandInvoked,
    InboundEvent,
    MembershipChanged,
    MessageAuthor,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    Place,
    Quote,
    ReactionChanged,
)
from gateway.policy.invocation import InvocationPolicy, Trigger
from gateway.policy.persona import Assistant, ChannelPersona
from gateway.policy.rate_limits import RateLimits
from gateway.ports import Capabilities
from gateway.ports.conversations import NO_NOTES, ConversationTask
from gateway.ports.queues import InboxEntry
from gateway.stores.conversations import Conversations
from gateway.stores.personal_data import HotPersonalData
from gateway.stores.sqlite.queues import SqliteOutbox
from gateway.turn.pipeline import Pipeline
from gateway.turn.services import Policies
from tests.support.databases import sqlite_database
from tests.support.failing_store import fail_first
from tests.support.gateway import gateway
from tests.support.messages import direct, message, place, received
from tests.support.patience import PATIENCE

LIFTED = RateLimits(user_per_minute=0, channel_per_minute=0, workspace_per_minute=0)
ADA = MessageAuthor("ada", "Ada")


def command(name: str, arguments: str = "", at: Place | None = None) -> CommandInvoked:
    return CommandInvoked(f"cmd-{name}-{arguments}", at or direct(), ADA, name, arguments)


async def test_a_question_is_answered_and_stored() -> None:
    async with gateway() as g:
        await g.take(received("why?"))
        assert g.texts == ["answer"]
        assert g.outcomes() == ["answered"]
        assert await g.rows("turns") == 2
        assert await g.services.stores.inbox.unfinished(10) == []


async def test_the_answer_replies_to_the_question() -> None:
    async with gateway() as g:
        await g.take(received("why?", message_id="m7"))
        assert g.adapter.sent[0].reply_to_id == "m7"


async def test_a_message_to_others_stores_nothing() -> None:
    async with gateway() as g:
        before = {t: await g.rows(t) for t in ("inbox", "turns", "traces", "outbox")}
        await g.take(received("just talking", at=place()))
        after = {t: await g.rows(t) for t in ("inbox", "turns", "traces", "outbox")}
        assert before == after == dict.fromkeys(before, 0)
        assert g.texts == []
        assert [d.reason for d in g.traces[0].decisions] == ["not_addressed"]


async def test_a_duplicate_is_recognised_before_any_work() -> None:
    async with gateway() as g:
        await g.take(received("once"), received("once"))
        assert len(g.model.requests) == 1
        assert g.counts["duplicate", "test"] == 1


async def test_messages_during_a_turn_become_one_turn() -> None:
    async with gateway(policies=Policies(limits=LIFTED)) as g:
        g.model.open.clear()
        await g.take(*(received(f"line {n}", message_id=f"m{n}") for n in range(3)))
        g.model.open.set()
        await g.rest()
        assert len(g.model.requests) == 2
        assert g.model.last_words() == "line 1\nline 2"
        assert g.outcomes() == ["answered", "collected", "answered"]
        assert await g.services.stores.inbox.unfinished(10) == []
        assert await g.rows("turns") == 5


async def test_the_earlier_conversation_reaches_the_model() -> None:
    async with gateway() as g:
        await g.take(received("first", message_id="m1"))
        await g.take(received("second", message_id="m2"))
        roles = [m.role for m in g.model.requests[-1].messages]
        assert roles == ["user", "assistant", "user"]


async def test_after_a_day_the_conversation_is_deleted() -> None:
    async with gateway() as g:
        await g.take(received("first", message_id="m1"))
        await g.clock.advance(24 * 3600 + 60)
        await g.take(received("second", message_id="m2"))
        assert len(g.model.requests[-1].messages) == 1


async def test_people_in_a_room_are_distinguished() -> None:
    async with gateway() as g:
        await g.take(received("hi", at=place(), mentions_bot=True))
        assert g.model.last_words() == "[Ada] hi"


async def test_the_replied_message_is_shown_as_material() -> None:
    async with gateway() as g:
        quoting = replace(message("and this?"), quote=Quote("m0", "buy now!", author_name="Eve"))
        await g.take(MessageReceived("e1", quoting))
        assert '<material kind="quoted" from="Eve">\nbuy now!\n</material>' in g.model.last_words()
        assert "Eve" in g.model.last_words()


async def test_the_prefix_does_not_reach_the_model() -> None:
    policies = Policies(invocation=InvocationPolicy(prefix="!ask"))
    async with gateway(policies=policies) as g:
        await g.take(received("!ask why?", at=place()))
        assert g.model.last_words() == "[Ada] why?"


async def test_a_channel_has_its_own_persona_and_model() -> None:
    assistant = Assistant(
        channels={"test:C1": ChannelPersona("You are a pirate.", "claude-haiku-4-5")}
    )
    async with gateway(assistant=assistant) as g:
        await g.take(received("hi", at=place("C1"), mentions_bot=True))
        assert "pirate" in g.model.requests[-1].system
        assert g.model.requests[-1].model == "claude-haiku-4-5"


async def test_in_a_thread_messages_without_a_mention_are_answered_if_configured() -> None:
    policies = Policies(
        invocation=InvocationPolicy(
            triggers=(
                Trigger.MENTION,
                Trigger.THREAD,
            )
        )
    )
    async with gateway(policies=policies) as g:
        thread = place(thread="T1")
        await g.take(received("no", message_id="m1", at=thread))
        await g.take(received("yes", message_id="m2", at=thread, mentions_bot=True))
        await g.take(received("and now", message_id="m3", at=thread))
        await g.take(received("elsewhere", message_id="m4", at=place(thread="T2")))
        assert len(g.texts) == 2


async def test_on_slack_an_answer_opens_a_thread_that_is_the_conversation() -> None:
    capabilities = Capabilities(answers_open_threads=True, joins_threads=True)
    async with gateway(capabilities=capabilities) as g:
        await g.take(received("root", message_id="m1", at=place(), mentions_bot=True))
        assert g.adapter.sent[0].place.thread_id == "m1"
        await g.take(received("next", message_id="m2", at=place(thread="m1"), mentions_bot=True))
        assert len(g.model.requests[-1].messages) == 3


async def test_an_edit_and_a_deletion_change_the_stored_messages() -> None:
    async with gateway() as g:
        await g.take(received("apple", message_id="m1"))
        await g.take(MessageEdited("e2", message("pear", message_id="m1")))
        await g.take(received("what?", message_id="m2"))
        texts = [b.text for m in g.model.requests[-1].messages for b in m.content]  # type: ignore[union-attr]
        assert [*texts[:2], texts[-1]] == ["pear", "answer", "what?"]
        await g.take(MessageDeleted("e3", direct(), ("m1",)))
        assert await g.rows("turns") == 2


@pytest.mark.parametrize("step", ["deleted", "edited"])
async def test_a_revision_that_waits_for_memory_holds_up_its_own_conversation_only(
    step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with gateway(concurrency=1) as g:
        await g.take(received("apple", message_id="m1"))
        back = asyncio.Event()

        async def waits(*_: object) -> None:
            if not back.is_set():
                raise StoreUnavailable("the memory backend does not answer")

        monkeypatch.setattr(g.services.memory, step, waits)
        event: InboundEvent = MessageDeleted("e3", direct(), ("m1",))
        if step == "edited":
            event = MessageEdited("e3", message("pear", message_id="m1"))
        await g.take(event)
        await g.take(received("and I?", message_id="m2", author="eve", at=direct("eve")))
        assert g.model.last_words() == "and I?"
        back.set()
        await g.clock.advance(10)
        await g.rest()
        assert await g.services.stores.inbox.unfinished(10) == []


async def test_edits_of_messages_to_others_are_discarded() -> None:
    async with gateway() as g:
        await g.take(MessageEdited("e1", message("never said to it", at=place())))
        assert await g.rows("inbox") == 0


async def test_an_edit_during_the_turn_is_stored() -> None:
    async with gateway() as g:
        g.model.open.clear()
        await g.take(received("apple", message_id="m1"))
        await g.take(MessageEdited("e2", message("pear", message_id="m1")))
        g.model.open.set()
        await g.clock.advance(CHANGE_PAUSE)
        await g.rest()
        rows = await g.database.run_job(
            lambda db: db.execute("SELECT text FROM turns WHERE role = 'user'").fetchall()
        )
        assert rows == [("pear",)]


async def test_unknown_commands_are_text_in_private_and_ignored_in_a_room() -> None:
    async with gateway() as g:
        sent_message = message("/weather Rome")
        await g.take(CommandInvoked("c1", direct(), ADA, "weather", "Rome", sent_message))
        assert g.model.last_words() == "/weather Rome"
        in_room = message("/weather Rome", at=place())
        await g.take(CommandInvoked("c2", place(), ADA, "weather", "Rome", in_room))
        assert len(g.model.requests) == 1


@pytest.mark.parametrize(
    "event",
    [
        ReactionChanged("r1", direct(), ADA, "m1", "👍", True),
        MembershipChanged("x1", place(), ADA, True),
    ],
)
async def test_other_events_are_counted_only(event: InboundEvent) -> None:
    async with gateway() as g:
        await g.take(event)
        assert g.texts == []
        assert g.counts["noted", event.kind] == 1


async def test_messages_during_shutdown_are_answered_by_the_next_process(tmp_path: Path) -> None:
    database = sqlite_database(tmp_path / "kept.db")
    await database.start()
    async with gateway(database=database) as g:
        await g.dispatcher.drain(1)
        await g.take(received("too late"))
        await g.take(MessageEdited("e2", message("just in time")))
        await g.take(command("clear"))
        assert (g.texts, g.outcomes()) == ([], [])
    async with gateway(database=database) as g:
        left = await g.services.stores.inbox.unfinished(10)
        for entry in left:
            g.dispatcher.dispatch(entry)
        await g.rest()
        assert [entry.event.kind for entry in left] == ["message", "edit", "command"]
        assert len(g.texts) == 2
    await database.stop()


async def test_messages_that_a_process_did_not_answer_are_answered_by_the_next(
    tmp_path: Path,
) -> None:
    database = sqlite_database(tmp_path / "kept.db")
    await database.start()
    async with gateway(database=database) as g:
        g.model.open.clear()
        await g.take(received("are you there?"))
    async with gateway(database=database) as g:
        for entry in await g.services.stores.inbox.unfinished(10):
            g.dispatcher.dispatch(entry)
        await g.rest()
        assert g.texts == ["answer"]
    await database.stop()


async def test_conversations_run_concurrently() -> None:
    async with gateway(policies=Policies(limits=LIFTED)) as g:
        g.model.open.clear()
        people = [f"p{n}" for n in range(5)]
        await g.take(*(received("hi", message_id=p, author=p) for p in people))
        assert len(g.model.requests) == 5
        g.model.open.set()
        await asyncio.wait_for(g.rest(), PATIENCE)
        assert len(g.texts) == 5


async def test_an_outage_of_the_store_delays_the_answer_and_loses_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with gateway() as g:
        unit, down = g.services.stores.unit_of_work, True
        complete = type(unit).complete

        async def sometimes(self: object, done: object) -> bool:
            if down:
                raise StoreUnavailable("away")
            return await complete(unit, done)  # type: ignore[arg-type]  # the type of `unit`, unbound

        monkeypatch.setattr(type(unit), "complete", sometimes)
        await g.take(received("are you there?"))
        await g.clock.advance(30)
        assert g.texts == []
        down = False
        await g.clock.advance(30)
        await g.rest()
        assert g.texts == ["answer"]
        assert len(g.model.requests) == 1, "the model was paid twice for one answer"
        assert await g.services.stores.inbox.unfinished(10) == []


async def test_only_the_conversation_contains_the_text_of_a_message() -> None:
    async with gateway() as g:
        g.model.reply = lambda request: "a telling answer"
        await g.take(received("a telling question"))
        for table in (
            "inbox",
            "outbox",
            "traces",
            "usage",
            "adapter_state",
            "buckets",
            "claimed_keys",
        ):
            rows = await g.database.run_job(
                lambda db, sql=f"SELECT * FROM {table}": db.execute(sql).fetchall()  # type: ignore[misc]
            )
            assert "telling" not in str(rows), table
        assert await g.rows("inbox") == await g.rows("outbox") == 1


async def test_a_waiting_message_counts_as_started_only_with_shared_work() -> None:
    async with gateway() as g:
        alone, shared = Pipeline(g.services), Pipeline(g.services, shared=True)
        entry = InboxEntry("e1", "lane", received("hello"), g.clock.now())
        assert not alone.may_be_again(entry)
        assert not shared.may_be_again(entry)
        await g.clock.advance(11)
        assert not alone.may_be_again(entry)
        assert shared.may_be_again(entry)
        assert Pipeline(g.services).may_be_again(entry)  # from before the start


async def test_an_unavailable_store_uses_no_tokens_of_the_person(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fail_first(monkeypatch, Conversations, "opened", 12)
    async with gateway() as g:
        await g.take(received("why?"))
        for _ in range(12):
            await g.clock.advance(5)
            await g.rest()
        assert g.texts == ["answer"]
        assert g.outcomes() == ["answered"]


SHORT = Policies(limits=LIFTED, context=ContextLimits(max_messages=4, max_tokens=500))


async def test_a_summary_does_not_restore_history_cleared_meanwhile() -> None:
    key = key_of("default", direct())
    async with gateway(policies=SHORT) as g:
        for number in range(2):
            await g.take(received(f"question {number}", message_id=f"q{number}"))
        g.model.open.clear()
        await g.take(received("question 2", message_id="q2"))
        await g.services.stores.conversations.clear(key)
        g.model.open.set()
        await g.rest()
        turns, notes = await g.services.stores.conversations.opened(key, 10)
        assert [turn.text for turn in turns] == ["question 2", "answer"]
        assert notes.summary is None


async def test_a_turn_of_a_person_erased_meanwhile_stores_no_task() -> None:
    key = key_of("default", direct())
    async with gateway() as g:
        stores = g.services.stores
        personal = HotPersonalData(
            stores.inbox,
            SqliteOutbox(g.database, g.clock),
            stores.states,
        )
        g.model.open.clear()
        await g.take(received("Let us bake bread", message_id="m1"))
        assert await personal.erase("default", ("test:main:ada",)) == 1
        task = ConversationTask("Bake bread", "test:main:ada", "Ada", "m1")
        await stores.notes.set_task(key, task, g.clock.now())
        g.model.open.set()
        await g.rest()
        assert await stores.conversations.opened(key, 10) == ([], NO_NOTES)
        assert g.texts == []


async def test_halves_of_a_secret_are_removed_also_after_a_failure_of_the_store(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    async with gateway() as g:
        await g.take(received(f"look {token[:20]}", message_id="m1"))
        fail_first(monkeypatch, Conversations, "opened", 2)
        await g.take(received(token[20:], message_id="m2"))
        for _ in range(3):
            await g.clock.advance(5)
            await g.rest()
        stored = "".join(await g.stored_words())
        assert token[:20] not in stored
        assert token[20:] not in stored


async def test_waiting_messages_of_an_erased_person_leave_no_trace() -> None:
    async with gateway() as g:
        stores, outbox = g.services.stores, SqliteOutbox(g.database, g.clock)
        personal = HotPersonalData(stores.inbox, outbox, stores.states)
        g.model.open.clear()
        for number in range(3):
            await g.take(received("Let us bake bread", message_id=f"m{number}"))
        assert await personal.erase("default", ("test:main:ada",)) == 3
        g.model.open.set()
        await g.rest()
        assert g.texts == []
        assert {one.message_id for one in await stores.traces.recent()} == {""}
        assert await g.rows("turns") == 0
