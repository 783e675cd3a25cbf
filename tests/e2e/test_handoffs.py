"""Agents hand tasks to people, who answer in their own direct message."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from db.values import micros
from gateway.errors import BadInput
from gateway.message import Place
from gateway.people import Audience, PersonId, Principal, Role
from memory.agents.handoffs import HandoffManager
from memory.agents.model import AgentType, Handoff, HandoffStatus, RegistryCapacityError
from memory.model.scope import RequestScope
from parley.app import App
from parley.wiring.agents import WiredAgents
from tests.e2e.conftest import only, open_lab
from tests.e2e.harness import Lab
from tests.e2e.test_memory import Talk, direct
from tests.e2e.test_web_conversations import Deployment, deployment
from tests.support.databases import migrated_database
from tests.support.servers import PostgresServer, RedisServer
from tests.support.waiting import eventually

__all__ = ["deployment"]

TASK = {
    "task_description": "Review the **login** form, [see](http://evil.example)\n# and more",
    "current_state": {"completed": ["backend"], "blocked_on": "review"},
    "relevant_files": ["src/Login.tsx"],
}
ONCE_EACH = only("discord", "slack-http", "telegram-polling", "whatsapp")


def agents_of(app: App) -> WiredAgents:
    assert app.memory.agents is not None
    return app.memory.agents


def request_of(app: App, person: str) -> RequestScope:
    """The person whom a token authenticates."""
    platform, account, id_ = person.split(":", 2)
    principal = Principal("default", PersonId(platform, account, id_), Role.MEMBER)
    place = Place("api", account, person, Audience.DIRECT)
    return RequestScope(principal, (person,), place, app._clock.now())


class Source:
    """An agent of another person, that hands tasks over."""

    def __init__(self, app: App, owner: str = "api:main:olga") -> None:
        self.app, self.request = app, request_of(app, owner)
        self.id = ""

    @property
    def handoffs(self) -> HandoffManager:
        return agents_of(self.app).handoffs

    async def hand(self, person: str, part: int = 0) -> Handoff:
        if not self.id:
            registry = agents_of(self.app).registry
            made = await registry.register_agent(self.request, AgentType.CLAUDE_CODE, name="F *1*")
            self.id = made.id
        task = TASK | {"relevant_files": [f"src/Login{part or ''}.tsx"]}
        handoff = await self.handoffs.initiate_handoff(self.request, self.id, person, task)
        assert handoff is not None
        return handoff

    async def state(self, handoff: Handoff) -> Handoff:
        """Return a handoff as its source reads it."""
        result = await self.handoffs.get_handoff(self.request, handoff.id)
        assert result is not None
        return result


async def offered(app: App) -> None:
    """Send the offers that are due."""
    assert app.jobs.handoffs is not None
    await app.jobs.handoffs.round()
    await eventually(app.settled)


def id_of(talk: Talk) -> str:
    return f"{talk.lab.platform.platform}:main:{talk.person.id}"


async def person_of(lab: Lab, name: str) -> str:
    """Return the `str(PersonId)` of the person who wrote last in private."""
    noted = await lab.app.storage.long_lived.run_job(
        lambda db: db.execute("SELECT person FROM people_direct_places ORDER BY at DESC").fetchone()
    )
    return str(noted[0])


@asynccontextmanager
async def offered_task(variant: str, folder: Path) -> AsyncIterator[tuple[Talk, Source, Handoff]]:
    """A person, the agent that hands her a task, and the task once it is offered."""
    async with open_lab(variant, folder) as lab:
        ada = direct(lab)
        await ada.say("say: hello")
        source = Source(lab.app)
        handoff = await source.hand(await person_of(lab, "Ada"))
        await offered(lab.app)
        yield ada, source, handoff


@ONCE_EACH
async def test_an_offer_names_the_person_behind_the_agent(variant: str, tmp_path: Path) -> None:
    async with open_lab(variant, tmp_path) as lab:
        ada = direct(lab)
        await ada.say("say: hello")
        source = Source(lab.app)
        sql = "INSERT INTO people_names (tenant, person, name, at) VALUES ('default', ?, 'Olga', 1)"
        await lab.app.storage.long_lived.run_job(lambda db: db.execute(sql, ("api:main:olga",)))
        await source.hand(await person_of(lab, "Ada"))
        await offered(lab.app)
        named = "which acts for Olga (name not verified, id olga)"
        assert named in (await ada.shown())[-1].text
        assert named in (await ada.command("handoffs")).text


@ONCE_EACH
async def test_a_person_accepts_and_completes_a_task_by_button_and_command(
    variant: str, tmp_path: Path
) -> None:
    async with offered_task(variant, tmp_path) as (ada, source, made):
        offer = (await ada.shown())[-1]
        assert "An agent hands you a task" in offer.text
        assert "F *1*" in offer.text
        assert "which acts for olga" in offer.text
        assert "[see](http://evil.example)" in offer.text, "its markup is shown and has no effect"
        assert "# and more" in offer.text
        assert "src/Login.tsx" in offer.text
        assert "This text comes from an agent" in offer.text
        assert [button.label for button in offer.buttons] == ["Accept", "Reject"]
        assert "You have accepted" in (await ada.press(offer, "Accept")).text
        assert (await source.state(made)).status is HandoffStatus.ACCEPTED
        again = next(shown for shown in await ada.shown() if shown.id == offer.id)
        if variant != "whatsapp":
            assert not again.buttons, "pressed buttons disappear"
        listed = (await ada.command("handoffs")).text
        assert made.id[:8] in listed
        assert "accepted" in listed
        done = await ada.command("handoff", "done Looks good, two typos fixed")
        assert "completed" in done.text
        ended = await source.state(made)
        assert ended.status is HandoffStatus.COMPLETED
        assert ended.result == {"text": "Looks good, two typos fixed"}
        assert "no open tasks" in (await ada.command("handoffs")).text
        await offered(ada.lab.app)
        assert "no open tasks" in (await ada.shown())[-1].text, "it is offered once"


@ONCE_EACH
async def test_a_person_rejects_a_task_by_a_typed_command_and_the_source_reads_why(
    variant: str, tmp_path: Path
) -> None:
    async with offered_task(variant, tmp_path) as (ada, source, made):
        rejected = await ada.command("handoff", f"reject {made.id[:8]} not my area")
        assert "You have rejected" in rejected.text
        ended = await source.state(made)
        assert (ended.status, ended.reason) == (HandoffStatus.REJECTED, "not my area")
        offer = (await ada.shown())[1]
        if offer.buttons:
            assert "no longer open" in (await ada.press(offer, "Accept")).text
        assert (await source.state(made)).status is HandoffStatus.REJECTED


async def test_only_the_target_presses_and_an_expired_task_says_so(tmp_path: Path) -> None:
    async with open_lab("telegram-polling", tmp_path) as lab:
        ada, eve = direct(lab), direct(lab, "Eve")
        await eve.say("say: hello")
        await ada.say("say: hello")
        source = Source(lab.app)
        made = await source.hand(await person_of(lab, "Ada"))
        await offered(lab.app)
        assert len(await eve.shown()) == 1, "nobody else is told"
        for attempt in (f"accept {made.id[:8]}", f"accept {made.id}", f"done {made.id[:8]} x"):
            assert "have" in (await eve.command("handoff", attempt)).text
            assert (await source.state(made)).status is HandoffStatus.PENDING
        offer = (await ada.shown())[-1]
        await lab.app.storage.long_lived.run_job(
            lambda db: db.execute("UPDATE agent_handoffs SET until = 1").rowcount
        )
        assert "The time for this task is over" in (await ada.press(offer, "Accept")).text
        await offered(lab.app)
        assert (await source.state(made)).status is HandoffStatus.EXPIRED


async def test_the_buttons_of_an_expired_task_are_removed(tmp_path: Path) -> None:
    async with open_lab("telegram-polling", tmp_path) as lab:
        ada = direct(lab)
        await ada.say("say: hello")
        source, person = Source(lab.app), await person_of(lab, "Ada")
        await source.hand(person)
        soon = micros(lab.app._clock.now()) + 2_000_000
        await lab.app.storage.long_lived.run_job(
            lambda db: db.execute("UPDATE agent_handoffs SET until = ?", (soon,)).rowcount
        )
        await offered(lab.app)
        offer = (await ada.shown())[-1]
        assert offer.buttons

        async def removed() -> bool:
            await lab.app.jobs.button_expiry.round()
            return not next(one for one in await ada.shown() if one.id == offer.id).buttons

        await eventually(removed)


async def test_a_person_with_memory_off_or_without_access_is_not_written_to(
    tmp_path: Path,
) -> None:
    async with open_lab("telegram-polling", tmp_path) as lab:
        ada = direct(lab)
        source = Source(lab.app)
        with pytest.raises(BadInput, match="no direct conversation"):
            await source.hand(f"telegram:main:{ada.person.id}")
        await ada.say("say: hello")
        person = await person_of(lab, "Ada")
        made = await source.hand(person)
        await ada.command("privacy", "memory off")
        before = len(await ada.shown())
        await offered(lab.app)
        assert len(await ada.shown()) == before, "what was not yet offered is withdrawn"
        assert (await source.state(made)).status is HandoffStatus.REJECTED
        with pytest.raises(BadInput, match="turned memory off"):
            await source.hand(person)
        await ada.command("privacy", "memory on")
        await source.hand(person)
        with pytest.raises(BadInput, match="no direct conversation"):
            await source.hand("telegram:main:0")
    blocked = {"access": {"blocked_users": [person.replace(":main:", ":")]}}
    async with open_lab("telegram-polling", tmp_path, blocked) as lab:
        again = Source(lab.app)
        with pytest.raises(BadInput, match="may not use the assistant"):
            await again.hand(person)


async def test_an_agent_cannot_flood_a_person(tmp_path: Path) -> None:
    async with open_lab("telegram-polling", tmp_path) as lab:
        ada = direct(lab)
        await ada.say("say: hello")
        source, person = Source(lab.app), await person_of(lab, "Ada")
        for part in range(10):
            await source.hand(person, part)
        with pytest.raises(RegistryCapacityError, match="10 handoffs an hour"):
            await source.hand(person, 10)
        await offered(lab.app)
        assert len(await ada.shown()) == 11
        several = await ada.command("handoff", "accept")
        assert "several tasks" in several.text


async def test_handoffs_to_people_work_on_redis_and_postgresql(
    tmp_path: Path, redis: RedisServer, postgres: PostgresServer
) -> None:
    stores = {"storage": {"url": redis.url}, "database": {"url": migrated_database(postgres)}}
    async with open_lab("telegram-polling", tmp_path, stores) as lab:
        ada = direct(lab)
        await ada.say("say: hello")
        source = Source(lab.app)
        made = await source.hand(id_of(ada))
        await offered(lab.app)
        await eventually(lambda: lab.platform.shown(ada.room)[-1].buttons)
        offer = (await ada.shown())[-1]
        assert "You have accepted" in (await ada.press(offer, "Accept")).text
        await ada.command("handoff", f"done {made.id[:8]} all fine")
        assert (await source.state(made)).result == {"text": "all fine"}


async def test_a_task_is_offered_on_the_web_page(deployment: Deployment) -> None:
    async with deployment.running() as browser:
        await browser.say("say: hello")
        noted = await browser.app.storage.long_lived.run_job(
            lambda db: db.execute("SELECT person FROM people_direct_places").fetchone()
        )
        source = Source(browser.app)
        made = await source.hand(str(noted[0]))
        await offered(browser.app)
        assert "An agent hands you a task" in (await browser.texts())[-1]
        await browser.press("Reject")
        assert "You have rejected" in (await browser.texts())[-1]
        assert (await source.state(made)).status is HandoffStatus.REJECTED
