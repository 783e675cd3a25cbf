"""Two tenants of the example package in one database: with the same ids of the same platform they
share no data."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from gateway.message import Place
from gateway.people import Audience, PersonId
from gateway.policy.budgets import Budgets, accounts_for
from parley.app import App
from parley.config import from_mapping
from parley.security.keys import token_key
from parley.security.tokens import TokenClaims, issue
from parley.wiring.extensions import load_extensions
from simulators.anthropic import Answer, AnthropicSimulator
from simulators.slack import SlackSimulator
from simulators.telegram import TelegramSimulator
from tests.e2e.harness import Lab, configuration, simulated
from tests.examples.installing import install
from tests.parley.cli.kit import ROOT
from tests.support.databases import migrated_database
from tests.support.program import running_app
from tests.support.waiting import eventually

pytestmark = pytest.mark.xdist_group("postgres")

EXAMPLE = ROOT / "examples" / "parley-extension-tenants"
BUDGET = Budgets(user_per_day=100, workspace_per_day=100)


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/parley.db"
    return migrated_database(request.getfixturevalue("postgres"))


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "site").mkdir()
    for folder in install(EXAMPLE, tmp_path / "site"):
        monkeypatch.syspath_prepend(str(folder))


@dataclass
class Setup:
    """One platform, one model and one database, used by one program after the other,
    each with its own tenants."""

    folder: Path
    database: str
    telegram: TelegramSimulator
    model: AnthropicSimulator
    port: int
    bodies: list[Mapping[str, Any]] = field(default_factory=list)

    @asynccontextmanager
    async def program(self, tenants: Mapping[str, str], **sections: object) -> AsyncIterator[Lab]:
        """A program in which these are whose."""
        names = self.folder / "tenants.json"
        names.write_text(json.dumps(tenants))
        model = {"provider": "anthropic", "api_key": self.model.api_key}
        audit = str(self.folder / "audit.jsonl")
        whole = configuration({"telegram": self.telegram}, self.folder, self.port) | {
            "model": {**model, "base_url": self.model.base_url},
            "database": {"url": self.database},
            "storage": {"url": f"sqlite:///{self.folder}/hot.db"},
            "server": {"port": 0, "token_key": "k" * 40},
            "budgets": {"user_per_day": 100, "workspace_per_day": 100},
            "extensions": {"options": {"tenants": {"file": str(names), "audit": audit}}},
            **sections,
        }
        settings = from_mapping(whole)
        async with running_app(App(settings, extensions=load_extensions(settings))) as app:
            await self.telegram.wait_connected()
            yield Lab(app, self.telegram)

    def prompt(self) -> str:
        """The latest request to the model, as text."""
        return json.dumps(self.bodies[-1], ensure_ascii=False)


@pytest.fixture
async def setup(tmp_path: Path, database: str) -> AsyncIterator[Setup]:
    telegram, bodies = TelegramSimulator(), list[Mapping[str, Any]]()

    def reply(body: Mapping[str, Any]) -> Answer:
        bodies.append(body)
        return Answer("Understood.")

    model = AnthropicSimulator(reply=reply)
    await model.start()
    try:
        async with simulated({"telegram": telegram}) as port:
            yield Setup(tmp_path, database, telegram, model, port, bodies)
    finally:
        await model.stop()


async def memories(lab: Lab, person: PersonId, tenant: str) -> tuple[int, str]:
    """Return the response of the HTTP API to a token of this tenant."""
    clock, settings = lab.app.services.clock, lab.app.settings
    holder = TokenClaims(person, tenant, clock.now() + timedelta(hours=1))
    headers = {"Authorization": f"Bearer {issue(token_key(settings).get_or_create(), holder)}"}
    url = f"{lab.app.local.base_url}/api/v1/brain/memories"
    async with aiohttp.ClientSession() as http, http.get(url, headers=headers) as answer:
        return answer.status, await answer.text()


async def test_the_same_ids_of_two_tenants_share_nothing(setup: Setup) -> None:
    ada = setup.telegram.person("Ada")
    room, who = setup.telegram.direct(ada), PersonId("telegram", "main", ada.id)
    limits = {"limits": {"user_per_minute": 2, "reserve_per_minute": 0}}
    async with setup.program({"telegram:main": "acme"}, **limits) as lab:
        await setup.telegram.command(ada, room, "remember", "I collect zebra stamps")
        await lab.answers(room, 1)
        await setup.telegram.say(ada, room, "the code word is marmalade")
        await lab.answers(room, 2)
        for count, text in ((3, "and"), (4, "one more")):
            await setup.telegram.say(ada, room, text)
            await lab.answers(room, count)
        assert "That was too much in a short time" in (await lab.quiet(room))[-1].text
        assert "zebra" in (await memories(lab, who, "acme"))[1]
        assert (await memories(lab, who, "umbrella"))[0] == 401
        before = len(await lab.quiet(room))

    async with setup.program({"telegram:main": "umbrella"}, **limits) as lab:
        await setup.telegram.say(ada, room, "what do you know of zebra stamps and marmalade?")
        assert (await lab.answer(room, after=before)).text == "Understood."
        assert "I collect zebra" not in setup.prompt()
        assert "the code word is" not in setup.prompt()
        await setup.telegram.command(ada, room, "memories")
        assert "I collect" not in (await lab.answer(room, after=before + 1)).text
        status, result = await memories(lab, who, "umbrella")
        assert (status, "I collect zebra" in result) == (200, False)
        assert (await memories(lab, who, "acme"))[0] == 401
        assert await _spent(lab, "umbrella", ada.id) == [1, 1]
        assert await _spent(lab, "acme", ada.id) == [1, 1]
        before = len(await lab.quiet(room))

    lifted = {"limits": {"user_per_minute": 0}}
    async with setup.program({"telegram:main": "acme"}, **lifted) as lab:
        await setup.telegram.say(ada, room, "what do you know of my stamps?")
        await lab.answer(room, after=before)
        assert "I collect zebra stamps" in setup.prompt()
        assert "the code word is marmalade" in setup.prompt()


async def _spent(lab: Lab, tenant: str, person: str) -> list[int]:
    """1 for each sum of this person, and of their workspace, in which there is something."""
    place = Place("telegram", "main", person, Audience.DIRECT)
    now = lab.app.services.clock.now()
    accounts = accounts_for(tenant, f"telegram:main:{person}", place, BUDGET, now)
    return [int(0 < sum_ < 100_000) for sum_ in await lab.app.services.stores.usage.spent(accounts)]


async def test_people_of_two_tenants_in_one_room_share_nothing(setup: Setup) -> None:
    ada, ben = setup.telegram.person("Ada"), setup.telegram.person("Ben")
    eve = setup.telegram.person("Eve")
    room = setup.telegram.room("lounge")
    tenants = {f"telegram:main:{ada.id}": "acme", f"telegram:main:{ben.id}": "umbrella"}
    async with setup.program(tenants) as lab:
        await setup.telegram.say(ada, room, "our launch code is marmalade", mention=True)
        await lab.answers(room, 1)
        await setup.telegram.say(ben, room, "which launch code do you know?", mention=True)
        await lab.answers(room, 2)
        assert "marmalade" not in setup.prompt()
        await setup.telegram.say(ada, room, "which launch code do you know?", mention=True)
        await lab.answers(room, 3)
        assert "marmalade" in setup.prompt()
        count = len(setup.bodies)

        # Nobody can say whose this is: no answer, no row, but an entry in the audit.
        await setup.telegram.say(eve, room, "and me?", mention=True)
        await setup.telegram.say(ada, room, "still there?", mention=True)
        await lab.answers(room, 4)
        assert len(setup.bodies) == count + 1
        assert "and me?" not in setup.prompt()
        assert lab.app.activity.counts["tenant_unknown", "telegram"] == 1


async def test_a_deletion_applies_to_the_tenant_of_its_author(tmp_path: Path) -> None:
    """The platform does not name the author of a deleted message, and the room belongs to no
    tenant."""
    slack = SlackSimulator(mode="socket")
    ada, ben = slack.person("Ada"), slack.person("Ben")
    names = {f"slack:main:{ada.id}": "acme", f"slack:main:{ben.id}": "umbrella"}
    (tmp_path / "tenants.json").write_text(json.dumps(names))
    options = {"tenants": {"file": str(tmp_path / "tenants.json")}}
    async with simulated({"slack": slack}) as port:
        whole = configuration(
            {"slack": slack}, tmp_path, port, {"extensions": {"options": options}}
        )
        settings = from_mapping(whole)
        async with running_app(App(settings, extensions=load_extensions(settings))) as app:
            await slack.wait_connected()
            lab, room = Lab(app, slack), slack.room("lounge")
            first = await slack.say(ada, room, "the code word is marmalade", mention=True)
            second = await slack.say(ben, room, "the code word is parsnip", mention=True)
            await lab.until_stored(["the code word is marmalade", "the code word is parsnip"])
            await slack.delete(ada, room, first)
            await lab.until_stored(["the code word is parsnip"])
            await slack.delete(ben, room, second)
            await lab.until_stored([])


def lines_of(file: Path) -> list[str]:
    """The whole lines of a file that somebody else writes."""
    text = file.read_text("utf-8") if file.exists() else ""
    return text[: text.rfind("\n") + 1].splitlines()


async def test_the_audit_of_each_tenant_contains_its_refusals(setup: Setup) -> None:
    eve = setup.telegram.person("Eve")
    room = setup.telegram.direct(eve)
    access = {"access": {"blocked_users": [f"telegram:{eve.id}"]}}
    async with setup.program({"telegram:main": "acme"}, **access) as lab:
        message = await setup.telegram.say(eve, room, "let me in")
        assert await lab.reasons(message) == ["user_blocked"]
        await lab.app.security.flush()
        audit = lab.app.storage.memory.audit_on(b"")
        entries = [link.entry for link in await audit.links(0, 100)]
        await eventually(lambda: lines_of(setup.folder / "audit.jsonl"))
    written = lines_of(setup.folder / "audit.jsonl")
    (denied,) = [one for one in entries if one.action == "security_event"]
    assert (denied.tenant, denied.person) == ("acme", f"telegram:main:{eve.id}")
    assert dict(denied.details) == {
        "event": "access_denied",
        "reason": "user_blocked",
        "channel": f"telegram:main:{eve.id}",
        "times": 1,
    }
    line = json.loads(written[0])
    assert line["person"] == f"telegram:main:{eve.id}"
    assert line["reason"] == "user_blocked"
