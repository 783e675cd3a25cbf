"""A stranger asks to write, an owner approves, and the first owner claims the program: through the
real client libraries, in one process and in several."""

import re
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path

import aiohttp
import pytest
import yaml
from structlog.testing import capture_logs

from gateway.pairing.admissions import OwnerCodes
from gateway.ports.clock import SystemClock
from parley.app import App
from parley.config import from_mapping
from simulators.base import PlatformSimulator, SimPerson
from simulators.telegram import TelegramSimulator
from tests.e2e.conftest import ROOMS, only, open_lab
from tests.e2e.harness import Lab, by_bot
from tests.e2e.test_memory import Talk
from tests.e2e.test_several_processes import _config, _parley
from tests.e2e.test_web_conversations import Browser
from tests.parley.cli.kit import parley
from tests.support.gateway import RecordedChanges
from tests.support.program import running_app
from tests.support.servers import PostgresServer, RedisServer
from tests.support.waiting import eventually

CODE = re.compile(r"\b[A-Z0-9]{3}-[A-Z0-9]{3}-[A-Z0-9]{3}\b")
ONCE_EACH = only("discord", "slack-http", "telegram-polling", "whatsapp")
"""The way of connecting makes no difference."""
OWNER_CODE = re.compile(r"OWNER(-[A-Z0-9]{4}){3}")


def approved(platform: PlatformSimulator) -> Mapping[str, object]:
    """Olga is owner; everybody else needs an approval."""
    owner = f"{platform.platform}:{platform.person('Olga').id}"
    return {"access": {"admission": "approved", "owners": [owner]}}


async def say(lab: Lab, person: SimPerson, text: str) -> str:
    """Write in private; the answer."""
    room = lab.platform.direct(person)
    before = len(await lab.quiet(room))
    await lab.platform.say(person, room, text)
    await lab.answer(room, after=before)
    return (await lab.quiet(room))[-1].text


async def owner_code(lab: Lab) -> str:
    """A code as `parley access owner-code` makes it."""
    codes = OwnerCodes(lab.app.storage.admissions, SystemClock(), RecordedChanges())
    return (await codes.create()).code


async def test_a_stranger_gets_a_code_and_after_an_approval_an_answer(
    variant: str, tmp_path: Path
) -> None:
    async with open_lab(variant, tmp_path, approved) as lab:
        olga, eve = lab.platform.person("Olga"), lab.platform.person("Eve")
        await say(lab, olga, "good morning")
        text = await say(lab, eve, "my secret plan")
        (code,) = CODE.findall(text)
        assert await lab.stored() == ["good morning"]
        await lab.app.jobs.access.round()
        note = (await lab.answers(lab.platform.direct(olga), 2))[-1]
        assert "A person asks for permission to write to me" in note.text
        assert "name not verified" in note.text
        assert [button.label for button in note.buttons] == ["Approve", "Reject"]
        assert code not in note.text
        await lab.platform.command(olga, lab.platform.direct(olga), "approve", code)
        welcome = (await lab.answers(lab.platform.direct(eve), 2))[-1]
        assert "You are approved" in welcome.text
        assert "You said" in await say(lab, eve, "and now?")
        assert await lab.stored() == ["good morning", "and now?"]
        talk = Talk(lab, eve, lab.platform.direct(eve))
        asked = await talk.command("privacy", "erase")
        assert "Your approval goes with it" in asked.text
        surely = await talk.press(asked, "Erase everything")
        assert "Your approval is gone too" in (await talk.press(surely, "Yes, all of it")).text
        assert CODE.search(await say(lab, eve, "hello again"))


@ONCE_EACH
async def test_the_button_of_the_note_approves(variant: str, tmp_path: Path) -> None:
    async with open_lab(variant, tmp_path, approved) as lab:
        olga, eve = lab.platform.person("Olga"), lab.platform.person("Eve")
        await say(lab, olga, "good morning")
        await say(lab, eve, "hello")
        await lab.app.jobs.access.round()
        home = lab.platform.direct(olga)
        note = (await lab.answers(home, 2))[-1]
        await lab.platform.press(olga, home, note.id, "Approve")
        welcome = (await lab.answers(lab.platform.direct(eve), 2))[-1]
        assert "You are approved" in welcome.text


@ONCE_EACH
async def test_an_owner_lists_and_revokes_in_a_direct_message(variant: str, tmp_path: Path) -> None:
    async with open_lab(variant, tmp_path, approved) as lab:
        olga, eve = lab.platform.person("Olga"), lab.platform.person("Eve")
        home = lab.platform.direct(olga)
        (code,) = CODE.findall(await say(lab, eve, "hello"))
        await lab.platform.command(olga, home, "approve", code)
        await lab.answers(lab.platform.direct(eve), 2)
        assert "You said" in await say(lab, eve, "may I?")

        async def told(arguments: str) -> str:
            before = len(by_bot(lab.platform.shown(home)))
            await lab.platform.command(olga, home, "approve", arguments)
            await lab.answer(home, after=before)
            return (await lab.quiet(home))[-1].text

        listed = await told("list")
        assert eve.id in listed
        assert "Eve" in listed
        assert "is no longer approved" in await told(f"revoke {eve.id}")
        assert "Nobody is approved" in await told("list")
        seen = len(lab.platform.shown(lab.platform.direct(eve)))
        message_id = await lab.platform.say(eve, lab.platform.direct(eve), "and now?")
        assert (await lab.reasons(message_id))[-1] == "not_approved"
        assert "Nobody is approved" in await told("list")
        left = lab.platform.shown(lab.platform.direct(eve))[seen:]
        assert [one.text for one in left] == ["and now?"], "no code for a day"


@ONCE_EACH
async def test_who_sends_the_owner_code_is_owner(variant: str, tmp_path: Path) -> None:
    async with open_lab(variant, tmp_path, {"access": {"admission": "owners"}}) as lab:
        ada, eve = lab.platform.person("Ada"), lab.platform.person("Eve")
        code = await owner_code(lab)
        assert "You are now the owner" in await say(lab, ada, code)
        assert "You said" in await say(lab, ada, "I like tea")
        assert "not valid" in await say(lab, eve, code)
        await lab.platform.say(eve, lab.platform.direct(eve), "hello?")
        await say(lab, ada, "somebody else was here")
        assert len(by_bot(lab.platform.shown(lab.platform.direct(eve)))) == 1
        assert code not in str(await lab.stored())


@ROOMS
async def test_in_a_room_a_stranger_is_not_answered_in_public(variant: str, tmp_path: Path) -> None:
    async with open_lab(variant, tmp_path, approved) as lab:
        olga, eve = lab.platform.person("Olga"), lab.platform.person("Eve")
        room = lab.platform.room("general")
        message_id = await lab.platform.say(eve, room, "who is there?", mention=True)
        assert (await lab.reasons(message_id))[-1] == "not_approved"
        await say(lab, olga, "good morning")
        shown = by_bot(lab.platform.shown(room))
        assert [message for message in shown if message.only_for != eve.id] == []
        assert not CODE.search(str(shown))
        assert await lab.stored() == ["good morning"]


@only("telegram-polling")
async def test_a_link_to_the_bot_carries_the_owner_code(variant: str, tmp_path: Path) -> None:
    async with open_lab(variant, tmp_path) as lab:
        ada = lab.platform.person("Ada")
        room = lab.platform.direct(ada)
        await lab.platform.command(ada, room, "start", await owner_code(lab))
        assert "You are now the owner" in (await lab.answer(room)).text


async def test_on_the_web_page_a_browser_is_a_stranger_until_it_is_approved(tmp_path: Path) -> None:
    settings = from_mapping(
        {
            "model": {"provider": "offline"},
            "platforms": {"web": {"enabled": True}},
            "database": {"url": f"sqlite:///{tmp_path}/parley.db"},
            "server": {"port": 0},
            "webhooks": {"port": 0},
            "access": {"admission": "approved", "owners": ["web:boss"]},
        }
    )
    jar = aiohttp.CookieJar(unsafe=True)
    async with running_app(App(settings)) as app, aiohttp.ClientSession(cookie_jar=jar) as http:
        browser = Browser(http, app)
        async with http.get(f"{browser.url}/") as page:
            assert page.status == 200
        await browser.say("my secret plan")
        (code,) = CODE.findall((await browser.texts())[-1])
        assert "secret plan" not in str(await Lab(app, TelegramSimulator()).stored())
        pairing = app.services.pairing
        assert pairing is not None
        request = await pairing.find(None, code, "test")
        assert await pairing.approve(request, "test") is not None
        await app.jobs.access.round()
        await eventually(app.settled)
        assert "You are approved" in (await browser.texts())[-1]
        await browser.say("I like tea")
        assert "You said" in (await browser.texts())[-1]


async def test_without_an_owner_the_start_warns(
    tmp_path: Path,
) -> None:
    """Nobody could approve anybody."""
    for access, warned in (
        ({"admission": "approved"}, True),
        ({"admission": "owners", "owners": ["telegram:1"]}, False),
        ({"admission": "everybody"}, False),
    ):
        with capture_logs() as logs:
            async with open_lab("telegram-polling", tmp_path, {"access": access}):
                pass
        assert ("no_owner" in [entry["event"] for entry in logs]) is warned


@pytest.mark.xdist_group("databases")
async def test_adapter_and_worker_share_requests_approvals_and_owners(
    tmp_path: Path, redis: RedisServer, postgres: PostgresServer
) -> None:
    async with AsyncExitStack() as stack:
        telegram = TelegramSimulator()
        await telegram.start()
        stack.push_async_callback(telegram.stop)
        config = _config(tmp_path, telegram, redis, postgres)
        whole = yaml.safe_load(config.read_text())
        config.write_text(yaml.safe_dump(whole | {"access": {"admission": "approved"}}))
        made = await parley("access", "owner-code", "-c", "parley.yaml", cwd=tmp_path)
        code = OWNER_CODE.search(made.out)
        assert code is not None, made.err
        for role in ("adapter", "worker"):
            await stack.enter_async_context(_parley(config, "--role", role))
        olga, eve = telegram.person("Olga"), telegram.person("Eve")
        home, hers = telegram.direct(olga), telegram.direct(eve)
        await telegram.say(olga, home, code[0])
        await telegram.wait_for(home, lambda shown: "the owner" in str(by_bot(shown)), 20)
        await telegram.say(eve, hers, "hello")
        question = await telegram.wait_for(hers, lambda shown: bool(by_bot(shown)), 20)
        (pairing,) = CODE.findall(by_bot(question)[0].text)
        await telegram.wait_for(home, lambda shown: "A person asks" in str(by_bot(shown)), 20)
        await telegram.say(olga, home, f"/approve {pairing}")
        await telegram.wait_for(hers, lambda shown: "You are approved" in str(by_bot(shown)), 20)
        again = 0

        async def answered() -> bool:
            nonlocal again
            again += 1
            await telegram.say(eve, hers, f"and now? {again}")
            return "You said" in str(by_bot(telegram.shown(hers)))

        await eventually(answered, 20)
