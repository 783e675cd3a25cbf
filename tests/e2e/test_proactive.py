"""Messages that the assistant writes first, by the real clients: the window, quiet hours."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gateway.message import Notice, Place
from gateway.people import Audience
from gateway.policy import proactive
from gateway.text import verbatim
from gateway.turn.proactive import WAITED, ProactiveNotices
from simulators.base import SimPerson
from simulators.whatsapp import TEMPLATE, WhatsAppSimulator
from tests.e2e.harness import Lab, by_bot, running
from tests.support.waiting import eventually


@pytest.fixture
async def lab(tmp_path: Path) -> AsyncIterator[Lab]:
    whatsapp = WhatsAppSimulator()
    async with running({"whatsapp": whatsapp}, tmp_path, {"time": {"zone": "UTC"}}) as app:
        yield Lab(app, whatsapp)


def notice_to(lab: Lab, person: SimPerson, words: str) -> Notice:
    assert isinstance(lab.platform, WhatsAppSimulator)
    key = lab.platform.world.of(person).bsuid
    place = Place("whatsapp", "main", key, Audience.DIRECT)
    return Notice(f"whatsapp:main:{key}", place, verbatim(words))


async def test_a_notice_waits_for_a_message_of_its_reader(lab: Lab) -> None:
    """Meta is not asked before, and the answer to the message comes first."""
    ada = lab.platform.person("Ada")
    notices = ProactiveNotices(lab.app.services)
    calls = len(lab.platform.calls)
    await notices.send("task-1", [notice_to(lab, ada, "Your report is due.")])
    assert len(lab.platform.calls) == calls
    store = lab.app.storage.proactive
    assert len(await store.blocked(10)) == 1
    await eventually(lambda: bool(lab.app.services.awaited._awaited))
    room = lab.platform.direct(ada)
    await lab.platform.say(ada, room, "good morning")
    answer, waited = await lab.answers(room, 2, timeout=30)
    head = WAITED[proactive.WINDOW].english
    assert "Your report" not in answer.text
    assert waited.text == f"{head}\n\nYour report is due."
    await lab.idle()
    assert len(by_bot(lab.platform.shown(room))) == 2


class WithTemplate(WhatsAppSimulator):
    """A number with a template for people who have not written."""

    def settings(self) -> dict[str, object]:
        return {**super().settings(), "template": {"name": TEMPLATE, "language": "en_US"}}


async def test_a_template_reaches_a_person_outside_of_the_window(tmp_path: Path) -> None:
    whatsapp = WithTemplate()
    async with running({"whatsapp": whatsapp}, tmp_path) as app:
        lab = Lab(app, whatsapp)
        ada = whatsapp.person("Ada")
        notices = ProactiveNotices(app.services)
        await notices.send("task-1", [notice_to(lab, ada, "Your report is due.")])
        shown = await lab.answer(whatsapp.direct(ada), timeout=30)
    assert shown.text == "We have an update on your question: Your report is due."


async def test_the_command_holds_back_what_is_not_asked_for(lab: Lab) -> None:
    ada = lab.platform.person("Ada")
    room = lab.platform.direct(ada)
    now = datetime.now(UTC)
    hours = f"{now - timedelta(hours=1):%H:%M}-{now + timedelta(hours=2):%H:%M}"
    await lab.platform.say(ada, room, f"/quiet {hours}")
    assert f"{hours} (UTC)" in (await lab.answer(room)).text
    notice = notice_to(lab, ada, "Your report is due.")
    await ProactiveNotices(lab.app.services).send("task-1", [notice])
    await lab.platform.say(ada, room, "are you there?")
    await lab.answers(room, 2)
    await lab.idle()
    assert len(by_bot(lab.platform.shown(room))) == 2, "an answer comes, the notice does not"
    rows = [
        row
        for store in lab.app.storage.personal
        for row in await store.export("default", [notice.person])
    ]
    (waiting,) = [row for row in rows if row["table"] == "proactive_waiting"]
    assert waiting["reason"] == proactive.OWN_HOURS
