"""Conversations and texts that a reader finds, on both databases."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from db import Statement
from db.sqlite import SqliteDatabase
from gateway.conversation import ConversationKey, key_of
from gateway.errors import BadInput
from gateway.immutable import replace
from gateway.message import Place
from gateway.people import Audience
from gateway.policy.decision import Decision
from gateway.ports import Usage
from gateway.ports.conversation_views import MAX_COUNTED, ConversationReader, ShownText, Wanted
from gateway.ports.conversations import StoredTurn, Whose
from gateway.ports.traces import Trace
from gateway.ports.unit_of_work import CompletedTurn
from gateway.ports.usage import UsageRow
from gateway.stores import conversation_views
from gateway.stores.conversation_views import ConversationViews
from gateway.stores.conversations import Conversations
from gateway.stores.history import SqlHistory
from gateway.stores.personal_data import SqlPersonalData
from gateway.stores.turn_index import (
    AT_ONCE,
    FOUND,
    MAX_SEARCHED,
    MAX_WORDS,
    TurnWords,
    plain_words,
)
from gateway.stores.unit_of_work import LongLivedTurns
from tests.support.clock import FakeClock
from tests.support.databases import Engine
from tests.support.messages import AT

ADA, BOB, EVE = "test:main:ada", "test:main:bob", "test:main:eve"
ROOM = Place("test", "main", "C1", Audience.PUBLIC_ROOM, "W1")
ADAS = Place("test", "main", "D-ada", Audience.DIRECT)
BOBS = Place("test", "main", "D-bob", Audience.DIRECT)
OPERATOR = ConversationReader("t", ("test:main:olga",), operator=True)
AS_ADA, AS_BOB, AS_EVE = (ConversationReader("t", (one,)) for one in (ADA, BOB, EVE))
NO_FILTER = Wanted()


@pytest.fixture
def views(engine: Engine) -> ConversationViews:
    return ConversationViews(engine)


class Talk:
    """Writes finished turns, one second after the other."""

    def __init__(self, keeper: LongLivedTurns) -> None:
        self._keeper = keeper
        self.number = 0

    async def __call__(
        self,
        place: Place,
        person: str,
        question: str,
        answer: str = "yes",
        *,
        outcome: str = "answered",
        micros: int = 5,
        tenant: str = "t",
    ) -> str:
        """Store one exchange; return the id of its turn."""
        self.number += 1
        id_, message, at = (
            f"x{self.number}",
            f"m{self.number}",
            AT + timedelta(seconds=self.number),
        )
        key = key_of(tenant, place)
        asked = StoredTurn(message, "user", question, at, person, person.rpartition(":")[2])
        turns = (asked, StoredTurn(message, "assistant", answer, at))
        decisions = (Decision("access", True, "open"),)
        trace = Trace(
            *(id_, message, place.platform, place.account, str(key), "message", at),
            *(decisions, outcome, 2.0),
            audience=place.audience,
        )
        usage = UsageRow(tenant, person, "W1", "model", Usage(10, 5, 3, 2), micros, at)
        stored = turns if outcome == "answered" else ()
        await self._keeper.keep(CompletedTurn(key, stored, (usage,), (), trace, (), ()))
        return id_


@pytest.fixture
def talk(keeper: LongLivedTurns) -> Talk:
    return Talk(keeper)


async def listed(
    views: ConversationViews, reader: ConversationReader, wanted: Wanted = NO_FILTER
) -> list[str]:
    return [row.id for row in (await views.page(reader, wanted, 50)).rows]


async def found(views: ConversationViews, reader: ConversationReader, question: str) -> list[str]:
    page = await views.search(reader, question, NO_FILTER, 50)
    return [hit.text.text for hit in page.rows]


@pytest.fixture
async def world(talk: Talk) -> Talk:
    await talk(ADAS, ADA, "my secret garden", "roses in the garden")
    await talk(BOBS, BOB, "my garden is small", "tulips")
    await talk(ROOM, ADA, "the garden of the office", "is green")
    await talk(ROOM, BOB, "who waters the garden", "nobody")
    await talk(ROOM, EVE, "elsewhere", "a garden there", tenant="u")
    return talk


@pytest.mark.usefixtures("world")
class TestSearch:
    async def test_a_person_finds_their_own_texts_and_the_answers_to_them(
        self, views: ConversationViews
    ) -> None:
        own = ["the garden of the office", "roses in the garden", "my secret garden"]
        assert await found(views, AS_ADA, "garden") == own
        assert await found(views, AS_BOB, "garden") == [
            "who waters the garden",
            "my garden is small",
        ]
        assert await found(views, AS_EVE, "garden") == []

    async def test_an_operator_finds_the_texts_of_rooms_and_their_own(
        self, views: ConversationViews
    ) -> None:
        rooms = ["who waters the garden", "the garden of the office"]
        assert await found(views, OPERATOR, "garden") == rooms
        both = replace(OPERATOR, persons=(ADA,))
        assert await found(views, both, "garden") == [
            *rooms,
            "roses in the garden",
            "my secret garden",
        ]

    async def test_another_tenant_finds_its_own(self, views: ConversationViews) -> None:
        elsewhere = replace(OPERATOR, tenant="u")
        assert await found(views, elsewhere, "garden") == ["a garden there"]
        assert await found(views, replace(AS_ADA, tenant="u"), "garden") == []

    async def test_linked_identities_find_the_texts_of_all_of_them(
        self, views: ConversationViews
    ) -> None:
        assert len(await found(views, ConversationReader("t", (ADA, BOB)), "GARDEN")) == 5

    async def test_all_words_have_to_occur(self, views: ConversationViews) -> None:
        assert await found(views, AS_ADA, "garden secret") == ["my secret garden"]
        assert await found(views, AS_ADA, "garden tulips") == []
        assert await found(views, AS_ADA, '" OR * ( ') == []
        assert await found(views, AS_ADA, "") == []

    async def test_filters_apply_to_hits(self, views: ConversationViews) -> None:
        for wanted, number in (
            (Wanted(person=BOB), 1),
            (Wanted(channel="C2"), 0),
            (Wanted(channel="C1", platform="test"), 2),
            (Wanted(since=AT + timedelta(seconds=4)), 1),
            (Wanted(until=AT + timedelta(seconds=4)), 1),
        ):
            page = await views.search(OPERATOR, "garden", wanted, 50)
            assert len(page.rows) == number, wanted

    async def test_pages_of_hits_follow_each_other(self, views: ConversationViews) -> None:
        texts, after = [], ""
        for _ in range(3):
            page = await views.search(AS_ADA, "garden", NO_FILTER, 1, after)
            texts += [hit.text.text for hit in page.rows]
            after = page.next
        assert texts == ["the garden of the office", "roses in the garden", "my secret garden"]
        assert not after

    async def test_a_page_of_hits_looks_at_a_bounded_number_of_texts(
        self, views: ConversationViews, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The page is empty where none of these texts fits."""
        one, two = conversation_views.FIND_NEWEST, conversation_views.FIND
        steps = {"sqlite": ((two, 1), (two, 2)), "postgres": ((one, 1), (two, 2))}
        monkeypatch.setattr(conversation_views, "FINDING", steps)
        monkeypatch.setattr(conversation_views, "NEWEST_SCANNED", 3)
        everybody, early = (
            ConversationReader("t", (ADA, BOB)),
            Wanted(until=AT + timedelta(seconds=3)),
        )
        pages, after = [], ""
        for _ in range(4):
            page = await views.search(everybody, "garden", early, 2, after)
            pages.append([hit.text.text for hit in page.rows])
            after = page.next
            if not after:
                break
        assert pages == [[], ["my garden is small", "roses in the garden"], ["my secret garden"]]

    async def test_a_hit_names_the_turn_of_its_message(self, views: ConversationViews) -> None:
        (hit, *_) = (await views.search(AS_BOB, "waters", NO_FILTER, 5)).rows
        assert (hit.turn, hit.text.person, hit.text.audience) == ("x4", BOB, "public_room")

    async def test_texts_of_others_are_no_entries_of_the_index_that_a_search_reads(
        self, views: ConversationViews, engine: Engine
    ) -> None:
        words = TurnWords()
        for reader in (AS_EVE, OPERATOR):
            for hidden in ("secret", "roses", "tulips"):
                query = words.query("t", reader.persons, hidden, shared=reader.operator)
                for token in (part.strip('() "') for part in query.split(" OR ")):
                    assert not await engine.fetch(CONTAINS, {"token": token})
        own = words.query("t", (ADA,), "secret", shared=False).strip('()" ')
        assert await engine.fetch(CONTAINS, {"token": own})

    async def test_an_invalid_cursor_is_refused(self, views: ConversationViews) -> None:
        for cursor in ("x", "-1", "9" * 30, "1'"):
            with pytest.raises(BadInput):
                await views.search(AS_ADA, "garden", NO_FILTER, 5, cursor)
            with pytest.raises(BadInput):
                await views.page(AS_ADA, NO_FILTER, 5, f"{cursor}-x")


CONTAINS = Statement(
    "SELECT 1 FROM turns WHERE substr(words, 1, 0) = '' AND replace(words, :token, '') <> words"
)


@pytest.mark.usefixtures("world")
class TestErasure:
    async def test_an_edited_text_is_found_by_its_new_words(
        self, views: ConversationViews, conversations: Conversations
    ) -> None:
        assert await conversations.edit("t", ADAS, "m1", "a quiet lake")
        assert await found(views, AS_ADA, "secret") == []
        assert await found(views, AS_ADA, "lake") == ["a quiet lake"]
        assert await found(views, OPERATOR, "lake") == []
        assert await conversations.edit("t", ROOM, "m3", "a loud street")
        assert await found(views, OPERATOR, "street") == ["a loud street"]

    async def test_deleted_and_expired_texts_are_not_found(
        self, views: ConversationViews, conversations: Conversations
    ) -> None:
        await conversations.delete("t", ROOM, ("m3",))
        assert await found(views, OPERATOR, "garden") == ["who waters the garden"]
        while await conversations.prune(AT + timedelta(hours=1)):
            pass
        assert await found(views, OPERATOR, "garden") == []

    async def test_erasure_removes_texts_words_and_the_archive(
        self, views: ConversationViews, engine: Engine, clock: FakeClock
    ) -> None:
        assert await views.archive(OPERATOR, ["x1", "x2", "x3"], AT + timedelta(hours=1)) == 3
        assert await views.archive(AS_ADA, ["x3"], AT + timedelta(hours=1)) == 1
        personal = SqlPersonalData(engine, clock)
        kinds = [row["table"] for row in await personal.export("t", (ADA,))]
        assert kinds.count("archived_conversations") == 1
        await personal.erase("t", (ADA,))
        assert await found(views, AS_ADA, "garden") == []
        assert await found(views, OPERATOR, "garden") == ["who waters the garden"]
        rows = await engine.fetch(
            Statement("SELECT owner, conversation FROM archived_conversations")
        )
        assert sorted(rows) == [("", str(key_of("t", one))) for one in (BOBS, ROOM)]
        assert await listed(views, AS_ADA) == []

    async def test_what_a_person_forgets_is_not_found(
        self, views: ConversationViews, engine: Engine
    ) -> None:
        history, whose = SqlHistory(engine), Whose("t", (ADA,))
        spoken = await history.spoken(whose, 100)
        await history.forget(whose, [one.ref for one in spoken])
        assert await found(views, AS_ADA, "garden") == []


@pytest.mark.usefixtures("world")
class TestList:
    async def test_operators_see_all_conversations_of_their_tenant(
        self, views: ConversationViews
    ) -> None:
        page = await views.page(OPERATOR, NO_FILTER, 50)
        assert [(row.id, row.messages, row.person) for row in page.rows] == [
            ("x4", 2, BOB),
            ("x2", 1, BOB),
            ("x1", 1, ADA),
        ]
        assert page.rows[0].speaker == "bob"
        assert await listed(views, replace(OPERATOR, tenant="u")) == ["x5"]

    async def test_other_people_see_those_with_messages_of_theirs(
        self, views: ConversationViews
    ) -> None:
        assert await listed(views, AS_ADA) == ["x3", "x1"]
        assert await listed(views, AS_EVE) == []
        assert await listed(views, replace(AS_ADA, tenant="u")) == []
        assert await listed(views, AS_ADA, Wanted(person=BOB)) == []
        assert await listed(views, ConversationReader("t", ())) == []

    @pytest.mark.parametrize(
        ("wanted", "ids"),
        [
            (Wanted(platform="test"), ["x4", "x2", "x1"]),
            (Wanted(platform="other"), []),
            (Wanted(channel="C1"), ["x4"]),
            (Wanted(person=ADA), ["x3", "x1"]),
            (Wanted(outcome="answered"), ["x4", "x2", "x1"]),
            (Wanted(outcome="failed"), []),
            (Wanted(micros=6), []),
            (Wanted(micros=5), ["x4", "x2", "x1"]),
            (Wanted(since=AT + timedelta(seconds=4)), ["x4"]),
            (Wanted(until=AT + timedelta(seconds=4)), ["x3", "x2", "x1"]),
        ],
    )
    async def test_filters_choose_conversations_by_their_messages(
        self, views: ConversationViews, wanted: Wanted, ids: Sequence[str]
    ) -> None:
        assert await listed(views, OPERATOR, wanted) == ids

    async def test_outcomes_are_grouped(self, views: ConversationViews, world: Talk) -> None:
        failed = await world(ROOM, BOB, "again", outcome="unavailable", micros=100)
        refused = await world(BOBS, BOB, "again", outcome="refused:limits")
        assert await listed(views, OPERATOR, Wanted(outcome="failed")) == [failed]
        assert await listed(views, OPERATOR, Wanted(outcome="refused")) == [refused]
        assert await listed(views, OPERATOR, Wanted(micros=50)) == [failed]
        assert await listed(views, AS_BOB, Wanted(outcome="failed")) == [failed]

    async def test_pages_follow_each_other_and_name_each_conversation_once(
        self, views: ConversationViews, world: Talk
    ) -> None:
        for reader in (OPERATOR, ConversationReader("t", (ADA, BOB))):
            ids, after = [], ""
            for _ in range(4):
                page = await views.page(reader, NO_FILTER, 1, after)
                ids += [row.id for row in page.rows]
                after = page.next
                if not after:
                    break
            assert ids == ["x4", "x2", "x1"]

    async def test_a_page_looks_at_a_bounded_number_of_messages(
        self, views: ConversationViews, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(conversation_views, "SCANNED", (1, 2))
        ids, after = [], ""
        for _ in range(5):
            page = await views.page(OPERATOR, Wanted(person=""), 10, after)
            ids += [row.id for row in page.rows]
            after = page.next
            if not after:
                break
        assert ids == ["x4", "x2", "x1"]

    async def test_the_number_of_messages_is_bounded(
        self, views: ConversationViews, talk: Talk
    ) -> None:
        for _ in range(MAX_COUNTED):
            await talk(ROOM, BOB, "more")
        (first, *_) = (await views.page(OPERATOR, NO_FILTER, 1)).rows
        assert first.messages == MAX_COUNTED

    async def test_an_archived_conversation_is_hidden_until_its_next_message(
        self, views: ConversationViews, world: Talk
    ) -> None:
        at = AT + timedelta(seconds=30)
        assert await views.archive(OPERATOR, ["x3", "x4", "x5", "unknown"], at) == 1
        assert await listed(views, OPERATOR) == ["x2", "x1"]
        assert await listed(views, OPERATOR, Wanted(archived=True)) == ["x4"]
        assert await listed(views, AS_ADA) == ["x3", "x1"]
        assert await views.archive(OPERATOR, ["x4"], at, back=True) == 1
        assert await listed(views, OPERATOR) == ["x4", "x2", "x1"]
        await views.archive(OPERATOR, ["x4"], AT + timedelta(seconds=4))
        again = await world(ROOM, BOB, "more")
        assert await listed(views, OPERATOR) == [again, "x2", "x1"]

    async def test_a_person_archives_only_their_own(self, views: ConversationViews) -> None:
        at = AT + timedelta(seconds=30)
        assert await views.archive(AS_ADA, ["x1", "x2", "x4"], at) == 1
        assert await listed(views, AS_ADA) == ["x3"]
        assert await listed(views, AS_BOB) == ["x4", "x2"]
        assert await listed(views, OPERATOR) == ["x4", "x2", "x1"]

    async def test_old_marks_of_the_archive_are_deleted(self, views: ConversationViews) -> None:
        await views.archive(OPERATOR, ["x1"], AT)
        assert [await views.prune(AT + timedelta(days=1)) for _ in range(2)] == [1, 0]


@pytest.mark.usefixtures("world")
class TestMessages:
    async def test_a_message_is_seen_by_its_person_and_operators(
        self, views: ConversationViews
    ) -> None:
        seen = {
            name: [await views.one(reader, id_) is not None for id_ in ("x1", "x2", "x3", "x4")]
            for name, reader in {
                "operator": OPERATOR,
                "ada": AS_ADA,
                "eve": AS_EVE,
                "elsewhere": replace(OPERATOR, tenant="u"),
            }.items()
        }
        assert seen == {
            "operator": [True] * 4,
            "ada": [True, False, True, False],
            "eve": [False] * 4,
            "elsewhere": [False] * 4,
        }

    async def test_all_messages_of_an_own_direct_conversation_are_seen(
        self, views: ConversationViews, world: Talk
    ) -> None:
        command = await world(ADAS, "", "/help", outcome="refused:limits")
        first = await views.one(AS_ADA, "x1")
        assert first is not None
        page = await views.messages(AS_ADA, first, 10)
        assert [one.trace.id for one in page.rows] == ["x1", command]
        assert await views.one(AS_ADA, command) is not None
        assert await views.one(AS_BOB, command) is None

    async def test_a_person_sees_their_own_messages_of_a_room(
        self, views: ConversationViews
    ) -> None:
        third = await views.one(AS_ADA, "x3")
        assert third is not None
        for reader, ids in ((AS_ADA, ["x3"]), (OPERATOR, ["x3", "x4"]), (AS_EVE, [])):
            page = await views.messages(reader, third, 10)
            assert [one.trace.id for one in page.rows] == ids

    async def test_the_latest_messages_come_first_and_earlier_ones_follow(
        self, views: ConversationViews
    ) -> None:
        third = await views.one(OPERATOR, "x3")
        assert third is not None
        page = await views.messages(OPERATOR, third, 1)
        assert [one.trace.id for one in page.rows] == ["x4"]
        earlier = await views.messages(OPERATOR, third, 1, page.before)
        assert ([one.trace.id for one in earlier.rows], earlier.before) == (["x3"], "")

    async def test_cost_and_tokens_are_those_of_the_message(self, views: ConversationViews) -> None:
        one = await views.one(AS_ADA, "x1")
        assert one is not None
        assert (one.person, one.model, one.micros, one.tokens) == (ADA, "model", 5, (10, 5, 3, 2))

    async def test_texts_are_given_to_those_who_may_read_them(
        self, views: ConversationViews
    ) -> None:
        async def texts(reader: ConversationReader, place: Place, *ids: str) -> list[ShownText]:
            return await views.texts(reader, str(key_of(reader.tenant, place)), ids)

        assert [one.text for one in await texts(AS_ADA, ADAS, "m1")] == [
            "my secret garden",
            "roses in the garden",
        ]
        assert await texts(OPERATOR, ADAS, "m1") == []
        assert await texts(AS_BOB, ADAS, "m1") == []
        assert len(await texts(OPERATOR, ROOM, "m3", "m4")) == 4
        assert [one.message_id for one in await texts(AS_ADA, ROOM, "m3", "m4")] == ["m3", "m3"]
        assert await texts(replace(OPERATOR, tenant="u"), ADAS, "m1") == []

    async def test_the_latest_turn_of_a_conversation_is_found(
        self, views: ConversationViews
    ) -> None:
        room = str(key_of("t", ROOM))
        assert await views.newest([room, "unknown"]) == {room: "x4"}


async def test_no_deleted_word_stays_in_the_pages_of_the_index(sqlite: SqliteDatabase) -> None:
    views, store, key = ConversationViews(sqlite), Conversations(sqlite), key_of("t", ADAS)
    turn = StoredTurn("m1", "user", "one unusual word", AT, ADA)
    await store.append(key, [turn, turn._replace(message_id="m2", text="other")])
    token = TurnWords().query("t", (ADA,), "unusual", shared=False).strip('()"')
    # The index leaves out the beginning that two neighbouring words share.
    params = {"end": token[-10:]}
    pages = Statement(
        "SELECT count(*) FROM turns_text_data WHERE instr(block, CAST(:end AS blob)) > 0"
    )
    assert await sqlite.fetch(pages, params) == [(0,)]
    await views.index()
    assert await sqlite.fetch(pages, params) == [(1,)]
    await store.delete("t", ADAS, ("m1",))
    for _ in range(50):
        if not await views.merge():
            break
    assert await sqlite.fetch(pages, params) == [(0,)]
    assert await views.merge() == 0


class TestNewTurns:
    """SQLite indexes new turns later, several at once. A search finds them before and after."""

    NUMBER = 2 * AT_ONCE + 1
    CHECK = Statement("INSERT INTO turns_text (turns_text) VALUES ('integrity-check')")

    async def write(self, database: Engine) -> None:
        turns = [StoredTurn(f"m{n}", "user", f"garden w{n}", AT, ADA) for n in range(self.NUMBER)]
        await Conversations(database).append(key_of("t", ADAS), turns)

    async def indexed(self, sqlite: SqliteDatabase) -> int:
        query = TurnWords().query("t", (ADA,), "garden", shared=False)
        params = {"query": query, "before": conversation_views.MAX_AT, "most": 10_000}
        return len(await sqlite.fetch(Statement(FOUND), params))

    async def test_they_are_indexed_in_bounded_steps(self, sqlite: SqliteDatabase) -> None:
        await self.write(sqlite)
        views, numbers = ConversationViews(sqlite), [await self.indexed(sqlite)]
        while await views.index():
            numbers.append(await self.indexed(sqlite))
        numbers.append(await self.indexed(sqlite))
        assert numbers == [0, AT_ONCE, 2 * AT_ONCE, self.NUMBER]

    async def test_a_search_finds_all_of_them(
        self, engine: Engine, views: ConversationViews
    ) -> None:
        await self.write(engine)
        for number in (0, self.NUMBER - 1):
            assert await found(views, AS_ADA, f"w{number} garden") == [f"garden w{number}"]

    @pytest.mark.parametrize("is_indexed", [False, True])
    async def test_no_word_of_a_deleted_or_edited_one_is_found(
        self, engine: Engine, views: ConversationViews, is_indexed: bool
    ) -> None:
        await self.write(engine)
        while is_indexed and await views.index():
            pass
        store = Conversations(engine)
        await store.delete("t", ADAS, ("m1",))
        assert await store.edit("t", ADAS, "m2", "tulips")
        assert await found(views, AS_ADA, "w1") == []
        assert await found(views, AS_ADA, "w2") == []
        assert await found(views, AS_ADA, "tulips") == ["tulips"]

    async def test_changes_before_and_after_a_step_leave_the_index_sound(
        self, sqlite: SqliteDatabase
    ) -> None:
        store, views = Conversations(sqlite), ConversationViews(sqlite)
        for first in range(0, 60, 3):
            turns = [StoredTurn(f"m{first + n}", "user", "garden", AT, ADA) for n in range(3)]
            await store.append(key_of("t", ADAS), turns)
            await store.delete("t", ADAS, (f"m{first}", f"m{first - 1}"))
            await store.edit("t", ADAS, f"m{first + 1}", "the garden again")
            await store.edit("t", ADAS, f"m{first - 2}", "the garden, and again")
            if first % 2:
                await views.index()
        await views.index()
        await sqlite.change(self.CHECK)
        assert await self.indexed(sqlite) == len(await found(views, AS_ADA, "garden")) == 21


async def test_a_turn_without_a_known_audience_is_private(
    views: ConversationViews, conversations: Conversations
) -> None:
    turn = StoredTurn("m1", "user", "garden", AT, ADA)
    await conversations.append(ConversationKey("t", "test", "main", "W1", "C1"), [turn])
    assert await found(views, OPERATOR, "garden") == []
    assert await found(views, AS_ADA, "garden") == ["garden"]


def test_the_words_of_a_turn_and_of_a_question_are_bounded() -> None:
    words = TurnWords()
    long = StoredTurn("m", "user", " ".join(f"w{n}" for n in range(5_000)), AT, ADA)
    assert len(words.of_turn("t", "public_room", ADA, long).split()) == 2 * MAX_WORDS
    asked = words.query("t", (ADA,), " ".join(f"w{n}" for n in range(50)), shared=False)
    assert asked.count(" AND ") == MAX_SEARCHED - 1
    assert len(plain_words("x" * 1_000_000)[0]) <= 10_000
    assert words.of_turn("t", "direct", "", long) == ""
