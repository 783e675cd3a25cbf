"""Two accounts of different platforms become one person after both confirmed, through the real
client libraries; a code, a stranger and one side alone share nothing."""

import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gateway.people import KnownIds
from gateway.ports import keep_ids
from parley.app import App
from simulators.base import PlatformSimulator, Shown
from simulators.slack import SlackSimulator
from simulators.telegram import TelegramSimulator
from simulators.whatsapp import WhatsAppSimulator
from tests.e2e.conftest import patient_discord
from tests.e2e.harness import Lab, running
from tests.e2e.test_memory import Talk

PAIRS = [("telegram", "discord"), ("slack", "whatsapp"), ("whatsapp", "telegram")]
MAKE: Mapping[str, Callable[[], PlatformSimulator]] = {
    "telegram": TelegramSimulator,
    "discord": patient_discord,
    "slack": lambda: SlackSimulator(mode="http"),
    "whatsapp": WhatsAppSimulator,
}


@asynccontextmanager
async def two(
    first: str, second: str, folder: Path, overrides: Mapping[str, object] | None = None
) -> AsyncIterator[tuple[App, Talk, Talk]]:
    """Ada on one platform and Bob on another, both in private."""
    platforms: dict[str, PlatformSimulator] = {name: MAKE[name]() for name in (first, second)}
    async with running(platforms, folder, overrides) as app:
        yield app, talk(app, platforms[first], "Ada"), talk(app, platforms[second], "Bob")


def talk(app: App, platform: PlatformSimulator, name: str) -> Talk:
    person = platform.person(name)
    return Talk(Lab(app, platform), person, platform.direct(person))


async def latest(talk: Talk) -> Shown:
    """The last message that the person got."""
    return (await talk.lab.quiet(talk.room))[-1]


async def code_of(talk: Talk) -> str:
    text = (await talk.command("link")).text
    return text.rsplit("/link ", 1)[1].split()[0].strip("`’'.")


async def knows(talk: Talk, word: str) -> bool:
    return word in (await talk.command("memories")).text


@pytest.mark.parametrize(("first", "second"), PAIRS)
async def test_both_accounts_confirm_by_button_and_are_linked_until_one_leaves(
    first: str, second: str, tmp_path: Path
) -> None:
    async with two(first, second, tmp_path) as (_, ada, bob):
        await ada.command("remember", "I prefer tabs")
        reply = await bob.command("link", await code_of(ada))
        assert "Ada" in reply.text
        assert ada.person.id in reply.text
        assert [button.label for button in reply.buttons] == ["Yes, link both", "No"]
        assert not await knows(bob, "tabs")
        assert "You have confirmed" in (await bob.press(reply, "Yes, link both")).text
        question = await latest(ada)
        assert "Bob" in question.text
        assert bob.person.id in question.text
        assert not await knows(bob, "tabs")
        done = await ada.press(question, "Yes, link both")
        for answer in (done, await latest(bob)):
            assert "Linked since" in answer.text
            assert "/link off" in answer.text
        assert await knows(bob, "tabs")
        await bob.command("remember", "I live in Rome")
        assert await knows(ada, "Rome")
        await bob.command("link", "off")
        assert "no longer linked" in (await latest(ada)).text
        assert (await knows(ada, "tabs"), await knows(ada, "Rome")) == (True, False)
        assert (await knows(bob, "tabs"), await knows(bob, "Rome")) == (False, True)


@pytest.mark.parametrize(("first", "second"), PAIRS[:2])
async def test_both_accounts_confirm_by_typed_answers(
    first: str, second: str, tmp_path: Path
) -> None:
    async with two(first, second, tmp_path) as (_, ada, bob):
        await ada.command("remember", "I prefer tabs")
        reply = await bob.command("link", await code_of(ada))
        typed = reply.text.split("/link confirm ")[1].split()[0].strip("`")
        await bob.command("link", f"confirm {typed}")
        assert not await knows(bob, "tabs")
        assert "Linked since" in (await ada.command("link", f"confirm {typed}")).text
        assert await knows(bob, "tabs")


async def test_the_account_that_created_the_code_refuses_and_the_other_is_told(
    tmp_path: Path,
) -> None:
    async with two("telegram", "discord", tmp_path) as (_, ada, bob):
        reply = await bob.command("link", await code_of(ada))
        typed = reply.text.split("/link confirm ")[1].split()[0].strip("`")
        await bob.press(reply, "Yes, link both")
        assert "Nothing new is linked" in (await ada.press(await latest(ada), "No")).text
        assert "was not completed" in (await latest(bob)).text
        assert "No link waits" in (await bob.command("link", f"confirm {typed}")).text


async def test_two_people_with_the_same_bot_are_never_linked(tmp_path: Path) -> None:
    async with two("telegram", "discord", tmp_path) as (app, ada, _):
        eve = talk(app, ada.lab.platform, "Eve")
        await ada.command("remember", "I prefer tabs")
        assert "different platforms only" in (await eve.command("link", await code_of(ada))).text
        assert not await knows(eve, "tabs")


async def test_an_expired_question_ends_the_request_and_both_are_told(tmp_path: Path) -> None:
    async with two("telegram", "discord", tmp_path) as (app, ada, bob):
        reply = await bob.command("link", await code_of(ada))
        await bob.press(reply, "Yes, link both")
        question = await latest(ada)

        def age(db: sqlite3.Connection) -> None:
            db.execute("UPDATE link_requests SET until = until - 601000000")

        await app.storage.long_lived.run_job(age)
        assert "No link waits" in (await ada.press(question, "Yes, link both")).text
        assert app.jobs.link_expiry is not None
        await app.jobs.link_expiry.round()
        for person in (ada, bob):
            assert "was not completed" in (await latest(person)).text


@pytest.mark.parametrize(("first", "second"), [PAIRS[0], PAIRS[2]])
async def test_erasing_asks_the_other_account_in_its_own_conversation(
    first: str, second: str, tmp_path: Path
) -> None:
    async with two(first, second, tmp_path) as (_, ada, bob):
        await bob.command("remember", "I live in Rome")
        reply = await bob.command("link", await code_of(ada))
        await bob.press(reply, "Yes, link both")
        await ada.press(await latest(ada), "Yes, link both")
        erase = await ada.command("privacy", "erase")
        assert "keep their own data" in erase.text
        surely = await ada.press(erase, "Erase everything")
        assert "Everything is erased" in (await ada.press(surely, "Yes, all of it")).text
        notice = await latest(bob)
        assert "has erased everything" in notice.text
        assert not await knows(ada, "Rome")
        assert await knows(bob, "Rome")
        surely = await bob.press(notice, "Erase everything")
        await bob.press(surely, "Yes, all of it")
        assert not await knows(bob, "Rome")


async def test_a_blocked_person_cannot_create_enter_or_confirm_a_code(tmp_path: Path) -> None:
    overrides = {"access": {"blocked_users": ["telegram:5000002"]}}
    async with two("telegram", "discord", tmp_path, overrides) as (app, ada, bob):
        eve = talk(app, ada.lab.platform, "Eve")
        assert eve.person.id == "5000002"
        code = await code_of(bob)
        for line in ("", code, "off"):
            await eve.lab.platform.command(eve.person, eve.room, "link", line)
        assert await eve.lab.quiet(eve.room) == []
        assert "Bob" in (await ada.command("link", code)).text


async def test_a_block_by_a_hidden_number_applies_in_chats_and_to_linked_accounts(
    tmp_path: Path,
) -> None:
    overrides = {"access": {"blocked_users": ["4915550001"]}}
    async with two("telegram", "whatsapp", tmp_path, overrides) as (app, ada, bob):
        reply = await bob.command("link", await code_of(ada))
        await bob.press(reply, "Yes, link both")
        await ada.press(await latest(ada), "Yes, link both")
        state = app.storage.stores.states.of("whatsapp", "main")
        await keep_ids(state, bob.person.id, KnownIds((bob.person.id, ""), ("4915550001",)))
        for person in (ada, bob):
            before = len(await person.lab.quiet(person.room))
            await person.lab.platform.command(person.person, person.room, "memories")
            await person.lab.idle()
            assert len(await person.lab.quiet(person.room)) == before


async def test_wrong_codes_of_many_accounts_do_not_prevent_others_from_linking(
    tmp_path: Path,
) -> None:
    async with two("telegram", "discord", tmp_path) as (_, ada, bob):
        sim = bob.lab.platform
        for number in range(100):
            eve = sim.person(f"Eve {number}")
            for _ in range(5):
                await sim.command(eve, sim.direct(eve), "link", "AAAA-BBBB-CCCC")
            await bob.lab.answers(sim.direct(eve), 5)
        assert "Ada" in (await bob.command("link", await code_of(ada))).text
