"""`/forget` over a whole memory on either database: exactly the shown items are deleted, also after
changes in between and by the asked person alone."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from db.errors import StoreUnavailable
from gateway.conversation import ConversationKey
from gateway.immutable import replace
from gateway.message import Place
from gateway.ports.conversations import StoredTurn
from gateway.ports.memory import Caller, WaitingTurn
from gateway.stores.conversations import Conversations
from gateway.stores.history import SqlHistory
from gateway.stores.unit_of_work import put_waiting_turn
from memory.commands import texts
from memory.commands.forget import page_of
from memory.model.record import Draft, Kind
from memory.ports.memories import Filter
from memory.service.erasure import MAX_MATCHES as MAX_FOUND
from memory.stores.memories import SqlMemories
from memory.stores.personal_data import SqlMemoryPersonalData
from parley.wiring.storage import MemoryStores
from tests.memory.commands.test_command_set import press, say
from tests.memory.rig import CLOSED, DIRECT, ROOM, Rig, memories_about, rig_on
from tests.support.clock import FakeClock
from tests.support.databases import PATIENT, migrated_database, postgres_database, sqlite_database
from tests.support.failing_store import fail_first
from tests.support.servers import PostgresServer

ADA = "telegram:main:ada"
KEY = ConversationKey("default", "telegram", "main", "", "ada-dm")


@pytest.fixture(
    params=["sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))]
)
async def kept(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[tuple[Rig, Conversations]]:
    clock, database = FakeClock(), sqlite_database(tmp_path / "test.db")
    await database.start()
    if request.param == "sqlite":
        yield rig_on(MemoryStores(database, clock), database, clock), Conversations(database)
    else:
        server: PostgresServer = request.getfixturevalue("postgres")
        pool = postgres_database(migrated_database(server), PATIENT)
        await pool.start()

        async def keep(turn: WaitingTurn) -> None:
            await pool.run(lambda: put_waiting_turn(turn))

        rig = rig_on(
            MemoryStores(pool, clock), database, clock, keep=keep, history=SqlHistory(pool)
        )
        yield rig, Conversations(pool)
        await pool.stop()
    await database.stop()


@pytest.fixture
def rig(kept: tuple[Rig, Conversations]) -> Rig:
    return kept[0]


async def talk(kept: tuple[Rig, Conversations], id_: str, text: str, answer: str) -> None:
    """Ada said something and was answered: it is in the history, and waits for memory."""
    rig, conversations = kept
    caller = rig.caller("ada", says=text, message=id_)
    turns = (
        StoredTurn(id_, "user", text, caller.at, ADA, "Ada"),
        StoredTurn(id_, "assistant", answer, caller.at),
    )
    await conversations.append(KEY, turns)
    handle = await rig.memory.for_principal(caller)
    await rig.said(handle, f"turn-{id_}", text, answer)
    await rig.clock.advance(2)


async def history(kept: tuple[Rig, Conversations]) -> list[str]:
    return [turn.text for turn in await kept[1].latest(KEY, 100)]


async def remembered(rig: Rig) -> set[str]:
    handle = await rig.handle("ada")
    result = await handle.read.search(Filter(superseded=True, limit=1_000))
    return {match.record.content for match in result}


async def test_all_words_of_a_topic_are_required(rig: Rig) -> None:
    for line in ("my dog is called Luna", "my dog likes snow", "Luna is a moon too"):
        await say(rig, f"/remember {line}")
    question = await say(rig, "/forget dog luna")
    assert "my dog is called Luna" in question.markdown
    assert "snow" not in question.markdown
    assert "moon" not in question.markdown
    assert (await press(rig, question, "Forget")).markdown == "I deleted 1 item."
    assert await remembered(rig) == {"my dog likes snow", "Luna is a moon too"}
    assert texts.NOTHING_WITH_ALL.english in (await say(rig, "/forget dog moon")).markdown


async def test_conversations_and_waiting_turns_are_forgotten_too(
    kept: tuple[Rig, Conversations],
) -> None:
    rig, _ = kept
    await talk(kept, "m1", "My dog is called Luna", "What a name")
    await talk(kept, "m2", "I live in Rome", "Luna lives there as well, then")
    question = await say(rig, "/forget Luna")
    for line in ("My dog is called Luna", "What a name", "Luna lives there"):
        assert line in question.markdown
    assert "I live in Rome" not in question.markdown
    assert (await press(rig, question, "Forget 3")).markdown == "I deleted 3 items."
    assert await history(kept) == ["I live in Rome"]
    assert not any("Luna" in text for text in await remembered(rig))
    assert "I live in Rome" in await remembered(rig)


async def test_forgetting_an_id_deletes_texts_that_contain_it_word_for_word(
    kept: tuple[Rig, Conversations],
) -> None:
    rig, _ = kept
    await say(rig, "/remember I like tea")
    await say(rig, "/remember I like green tea with milk")
    await talk(kept, "m1", "You know that I like tea", "I do")
    await talk(kept, "m2", "I like green tea, too", "Noted")
    (tea,) = await memories_about(await rig.handle("ada"), "like tea know")
    assert tea.role == "user"
    result = await (await rig.handle("ada")).read.search(Filter(text="I like tea"))
    (one,) = [match.record for match in result if match.record.content == "I like tea"]
    question = await say(rig, f"/forget {one.id[:12]}")
    await press(rig, question, "Forget")
    assert await history(kept) == ["I like green tea, too", "Noted"]
    left = await remembered(rig)
    assert "I like green tea with milk" in left
    assert not left & {"I like tea", "You know that I like tea"}


async def test_texts_stored_after_the_question_stay(
    kept: tuple[Rig, Conversations],
) -> None:
    rig, _ = kept
    await say(rig, "/remember Luna is my dog")
    question = await say(rig, "/forget Luna")
    await say(rig, "/remember Luna barks at night")
    await talk(kept, "m1", "Luna again", "Yes")
    assert (await press(rig, question, "Forget")).markdown == "I deleted 1 item."
    assert "Luna barks at night" in await remembered(rig)
    assert await history(kept) == ["Luna again", "Yes"]


async def test_texts_edited_after_the_question_stay(
    kept: tuple[Rig, Conversations],
) -> None:
    rig, conversations = kept
    await talk(kept, "m1", "Luna is my dog", "Nice")
    question = await say(rig, "/forget Luna")
    place = replace(DIRECT, channel_id="ada-dm")
    await conversations.edit("default", place, "m1", "Rex is my dog")
    await rig.remembrance.edited("default", place, "m1", "Rex is my dog")
    reply = await press(rig, question, "Forget")
    assert "Rex is my dog" in await remembered(rig)
    assert "Rex is my dog" in await history(kept)
    assert "had changed or were already deleted" in reply.markdown


@pytest.mark.both_engines
async def test_a_question_is_valid_once_for_its_person_in_its_place(rig: Rig) -> None:
    await say(rig, "/remember Luna is my dog")
    question = await say(rig, "/forget Luna")
    value = question.buttons[0].value
    for name, at in (("bob", DIRECT), ("ada", ROOM)):
        refused = await rig.commands.press(value, rig.caller(name, at=at))
        assert (refused.markdown, refused.leaves_buttons) == (texts.NOT_ASKED.english, True)
    assert await remembered(rig) == {"Luna is my dog"}
    both = await asyncio.gather(*(rig.commands.press(value, rig.caller("ada")) for _ in range(2)))
    assert sorted(one.markdown for one in both) == sorted(
        ["I deleted 1 item.", texts.CLOSED.english]
    )


async def test_a_forged_question_or_page_shows_and_deletes_nothing(rig: Rig) -> None:
    await say(rig, "/remember Luna is my dog")
    question = await say(rig, "/forget Luna")
    request = question.buttons[0].value.rpartition(":")[2]
    for value in (
        "memory:yes:turn-99",
        "memory:shown:turn-99:1",
        f"memory:shown:{request}:x",
        f"memory:shown:{request}:{'9' * 30}",
        f"memory:yes:{request}:0",
        "memory:shown:",
    ):
        assert "I deleted" not in (await rig.commands.press(value, rig.caller("ada"))).markdown
    page = await rig.commands.press(f"memory:shown:{request}:1", rig.caller("bob"))
    assert page.markdown == texts.NOT_ASKED.english
    assert await remembered(rig) == {"Luna is my dog"}


async def test_all_pages_are_shown_and_deleted_together(rig: Rig) -> None:
    for number in range(23):
        await say(rig, f"/remember Luna did trick number {number:02}x")
        await rig.clock.advance(1)
    page = await say(rig, "/forget Luna")
    seen = {n for n in range(23) if f"{n:02}x" in page.markdown}
    assert "1-10 of 23" in page.markdown
    assert [one.label for one in page.buttons] == ["Forget 23", "Next 11-20", "Cancel"]
    page = await press(rig, page, "Next 11-20")
    seen |= {n for n in range(23) if f"{n:02}x" in page.markdown}
    page = await press(rig, page, "Next 21-23")
    seen |= {n for n in range(23) if f"{n:02}x" in page.markdown}
    assert seen == set(range(23))
    assert [one.label for one in page.buttons] == ["Forget 23", "First 1-10", "Cancel"]
    assert (await press(rig, page, "Forget 23")).markdown == "I deleted 23 items."
    assert not any("Luna" in text for text in await remembered(rig))
    assert (await press(rig, page, "First")).markdown == texts.CLOSED.english


async def test_a_page_shows_existing_items_only(rig: Rig) -> None:
    for number in range(11):
        await say(rig, f"/remember Luna did trick number {number:02}x")
        await rig.clock.advance(1)
    page = await say(rig, "/forget Luna")
    handle = await rig.handle("ada")
    (oldest,) = await memories_about(handle, "trick 00x")
    await handle.erasure.delete([oldest.id])
    page = await press(rig, page, "Next")
    assert "00x" not in page.markdown
    assert texts.CHANGED_ITEM.english in page.markdown
    text = (await press(rig, page, "Forget 11")).markdown
    assert text.startswith("I deleted 10 items.")


async def test_items_beyond_the_limit_are_reported_and_stay(rig: Rig) -> None:
    handle = await rig.handle("ada")
    for number in range(MAX_FOUND + 3):
        await rig.said(handle, f"turn-{number}", f"Luna number {number}", "yes")
    question = await say(rig, "/forget Luna number")
    assert f"I show and delete {MAX_FOUND} at a time; 3 more match." in question.markdown
    text = (await press(rig, question, f"Forget {MAX_FOUND}")).markdown
    assert text.startswith(f"I deleted {MAX_FOUND} items.")
    assert "write the command again" in text
    assert "Forget 3" in [one.label for one in (await say(rig, "/forget Luna number")).buttons]


async def test_memories_of_linked_accounts_are_deleted_and_those_of_separated_ones_stay(
    rig: Rig,
) -> None:
    elsewhere = replace(DIRECT, platform="discord")
    ada, bea = rig.caller("ada"), rig.caller("bea", at=elsewhere)
    await rig.link(ada, bea)
    await rig.commands.run("remember", "Luna is my dog", rig.caller("bea", at=elsewhere))
    question = await say(rig, "/forget Luna")
    assert "Luna is my dog" in question.markdown
    await rig.links.unlink("default", str(ada.principal.person))
    assert "I deleted" not in (await press(rig, question, "Forget")).markdown
    handle = await rig.handle("bea", at=elsewhere)
    assert await handle.read.count() == 1
    await rig.link(rig.caller("ada"), rig.caller("bea", at=elsewhere))
    question = await say(rig, "/forget Luna")
    assert (await press(rig, question, "Forget")).markdown == "I deleted 1 item."
    assert await handle.read.count() == 0


async def test_in_a_room_only_texts_of_that_room_are_shown(rig: Rig) -> None:
    await say(rig, "/remember Luna is my dog", at=DIRECT)
    handle = await rig.handle("ada", at=ROOM)
    await handle.write.remember(Draft("Luna guards the server", Kind.FACT))
    private = await rig.commands.run("forget", "Luna", rig.caller("ada", at=ROOM))
    assert "guards" in private.markdown
    assert "my dog" not in private.markdown
    assert texts.FORGET_IN_ROOM.english in private.markdown


async def test_in_a_room_without_private_messages_no_other_text_is_shown(rig: Rig) -> None:
    direct = replace(DIRECT, platform=ROOM.platform)
    await say(rig, "/remember Luna is my dog", at=direct)
    await (await rig.handle("ada", at=ROOM)).write.remember(
        Draft("Luna guards the server", Kind.FACT)
    )
    await say(rig, "/privacy rooms on", at=direct)

    async def forget(*, alone: bool) -> str:
        caller = replace(rig.caller("ada", at=ROOM), alone=alone)
        return str((await rig.commands.run("forget", "Luna", caller)).markdown)

    before_others = await forget(alone=False)
    assert ("guards" in before_others, "my dog" in before_others) == (True, False)
    assert texts.FORGET_IN_ROOM.english in before_others
    everything = await forget(alone=True)
    assert ("guards" in everything, "my dog" in everything) == (True, True)
    assert texts.FORGET_IN_ROOM.english not in everything


async def test_the_audit_records_the_deletion_without_content(rig: Rig) -> None:
    await say(rig, "/remember Luna is my dog")
    await press(rig, await say(rig, "/forget Luna"), "Forget")
    (entry,) = [one for one in rig.noted.entries if one.action == "memory_bulk_delete"]
    assert dict(entry.details)["deleted"] == 1
    assert "luna" not in repr(entry).casefold()


async def test_the_history_of_other_people_is_never_searched(
    kept: tuple[Rig, Conversations],
) -> None:
    rig, conversations = kept
    at = rig.clock.now()
    await conversations.append(
        KEY, [StoredTurn("b1", "user", "Luna of Bob", at, "telegram:main:bob")]
    )
    assert texts.NOTHING_TO_FORGET.english in (await say(rig, "/forget Luna")).markdown
    result = await rig.memory.for_principal(rig.caller("bob"))
    assert len((await result.erasure.matches("Luna")).items) == 1


async def test_a_soul_that_contains_the_topic_is_reported_and_not_changed(rig: Rig) -> None:
    await say(rig, "/soul Call my dog Luna by her name.")
    assert texts.IN_SOUL.english in (await say(rig, "/forget Luna")).markdown
    await say(rig, "/remember Luna is my dog")
    assert texts.IN_SOUL.english in (await say(rig, "/forget dog Luna")).markdown
    assert texts.IN_SOUL.english not in (await say(rig, "/forget tabs")).markdown


@pytest.mark.parametrize("alone", [False, True])
async def test_in_a_room_without_private_messages_nothing_private_is_listed_or_deleted(
    kept: tuple[Rig, Conversations], alone: bool
) -> None:
    rig, _ = kept
    direct = replace(DIRECT, platform=ROOM.platform)
    await say(rig, "/remember my boat is called Secret", at=direct)
    await say(rig, "/privacy rooms on", at=direct)
    await say(rig, "/remember my boat is blue", at=ROOM)
    words_of_dm = StoredTurn("d1", "user", "my boat leaks", rig.clock.now(), "discord:main:ada")
    await kept[1].append(ConversationKey("default", "discord", "main", "", "ada-dm"), [words_of_dm])

    def caller() -> Caller:
        return replace(rig.caller("ada", at=ROOM), alone=alone)

    question = await rig.commands.run("forget", "boat", caller())
    assert "my boat is blue" in question.markdown
    assert ("Secret" in question.markdown) is alone
    assert ("leaks" in question.markdown) is alone
    (page,) = {b.value.replace(":yes:", ":shown:") for b in question.buttons if ":yes:" in b.value}
    turned = (await rig.commands.press(f"{page}:1", caller())).markdown
    assert "my boat is blue" in turned
    assert ("Secret" in turned) is alone
    yes = next(b.value for b in question.buttons if ":yes:" in b.value)
    text = (await rig.commands.press(yes, caller())).markdown
    assert text.startswith("I deleted 3 items." if alone else "I deleted 1 item.")


@pytest.mark.parametrize("tenant", ["default", "two"])
async def test_in_every_tenant_a_message_is_one_item_deleted_with_its_memories(
    kept: tuple[Rig, Conversations], tenant: str
) -> None:
    rig, conversations = kept
    rig.tenant = tenant
    key, at = KEY._replace(tenant=tenant), rig.clock.now()
    for id_, text in (("m1", "Luna swims in the lake"), ("m2", "please keep that about my pet")):
        turns = (
            StoredTurn(id_, "user", text, at, ADA, "Ada"),
            StoredTurn(id_, "assistant", "Ok", at),
        )
        await conversations.append(key, turns)
    handle = await rig.memory.for_principal(rig.caller("ada", message="m1"))
    await rig.said(handle, "turn-m1", "Luna swims in the lake", "Ok")
    await say(rig, "/remember my dog is called Luna", message="m2")
    question = await say(rig, "/forget Luna")
    assert question.markdown.count("Luna swims in the lake") == 1
    assert "please keep that about my pet" in question.markdown
    yes = question.buttons[0].label
    assert (await press(rig, question, yes)).markdown == f"I deleted {yes.split()[1]} items."
    assert [turn.text for turn in await conversations.latest(key, 100)] == []
    assert not any("Luna" in text for text in await remembered(rig))


@pytest.mark.parametrize("asked_at", [ROOM, DIRECT])
async def test_a_question_sent_in_private_is_answered_there(rig: Rig, asked_at: Place) -> None:
    direct = replace(DIRECT, platform=ROOM.platform)
    await say(rig, "/remember Luna is my dog", at=replace(asked_at, platform=ROOM.platform))
    question = await say(rig, "/forget Luna", at=replace(asked_at, platform=ROOM.platform))
    yes = next(b.value for b in question.buttons if ":yes:" in b.value)
    page = f"{yes.replace(':yes:', ':shown:')}:1"
    for name, at in (("bob", direct), ("ada", CLOSED)):
        for value in (page, yes):
            refused = await rig.commands.press(value, rig.caller(name, at=at))
            assert refused.markdown == texts.NOT_ASKED.english
    turned = await rig.commands.press(page, rig.caller("ada", at=direct))
    assert "Luna is my dog" in turned.markdown
    reply = await rig.commands.press(yes, rig.caller("ada", at=direct))
    assert reply.markdown.startswith("I deleted 1 item.")


LIST = tuple(range(1, 24))


def labels(number: int, room: int, size: int = 10) -> tuple[str, ...]:
    return tuple(one.label.english for one in page_of(LIST, number, size).turnings(room))


def test_every_item_is_on_exactly_one_page() -> None:
    pages = [page_of(LIST, number) for number in (1, 2, 3)]
    assert [one for page in pages for one in page.items] == list(LIST)
    assert [page.heading.english for page in pages] == [
        "Forget this? (1-10 of 23)",
        "Forget this? (11-20 of 23)",
        "Forget this? (21-23 of 23)",
    ]
    assert page_of(LIST[:21], 3).heading.english == "Forget this? (21 of 21)"
    assert page_of((), 1).heading.english == "Forget this?"


@pytest.mark.parametrize(("wanted", "got"), [(0, 1), (-5, 1), (4, 3), (10**9, 3)])
def test_an_invalid_page_number_gives_the_nearest_page(wanted: int, got: int) -> None:
    assert page_of(LIST, wanted).number == got


def test_with_one_button_the_pages_form_a_cycle() -> None:
    assert [labels(n, 1) for n in (1, 2, 3)] == [("Next 11-20",), ("Next 21-23",), ("First 1-10",)]


def test_with_more_buttons_there_is_a_previous_page() -> None:
    assert [labels(n, 2) for n in (1, 2, 3)] == [
        ("Next 11-20",),
        ("Back 1-10", "Next 21-23"),
        ("Back 11-20",),
    ]


def test_one_page_or_no_buttons_give_no_paging() -> None:
    assert page_of(LIST[:10], 1).turnings(2) == ()
    assert page_of(LIST, 1).turnings(0) == ()


def test_labels_fit_the_narrowest_platform() -> None:
    many = page_of(range(10**9), 10**7)
    assert all(len(one.label.english) <= 20 for one in many.turnings(2))


async def test_a_failure_of_the_store_leaves_the_question_open(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    await say(rig, "/remember my dog is called Luna")
    question = await say(rig, "/forget Luna")
    fail_first(monkeypatch, SqlMemories, "delete")
    pressed = rig.caller("ada")
    value = next(one.value for one in question.buttons if one.label.startswith("Forget"))
    with pytest.raises(StoreUnavailable):
        await rig.commands.press(value, pressed)
    assert (await press(rig, question, "Forget")).markdown == texts.CLOSED.english
    assert (await rig.commands.press(value, pressed)).markdown == "I deleted 1 item."
    assert await remembered(rig) == set()


async def test_after_a_failure_of_the_store_an_erasure_can_be_repeated(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    await say(rig, "/remember my dog is called Luna")
    surely = await press(rig, await say(rig, "/privacy erase"), "Erase")
    fail_first(monkeypatch, SqlMemoryPersonalData, "erase")
    pressed = rig.caller("ada")
    value = next(one.value for one in surely.buttons if one.label.startswith("Yes"))
    with pytest.raises(StoreUnavailable):
        await rig.commands.press(value, pressed)
    assert "erased" in (await rig.commands.press(value, pressed)).markdown
    assert await remembered(rig) == set()
