"""The overview without a store that can be read, and the links from its figures."""

import re
from datetime import timedelta
from html import unescape

import pytest

from db.errors import StoreUnavailable
from gateway.ports.clock import SystemClock
from parley.console.views import overview
from tests.parley.console.kit import OWNER, PERSON, Console
from tests.parley.console.talk import Talk, direct


async def unreadable(*_: object) -> None:
    raise StoreUnavailable("no space left on device")


async def test_figures_that_cannot_be_read_are_named_and_are_no_zeros(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    for reading in ("today_of", "_budgets", "_active"):
        monkeypatch.setattr(overview, reading, unreadable)
    for name, unread in ((OWNER, ["today", "budgets", "active"]), (PERSON, ["today", "budgets"])):
        page = await (await console.visitor(name)).get("/overview")
        assert page.status == 200
        text = unescape(page.text)
        assert "figures are not known, because the database" in text
        assert "The cost is not known, because the database" in text
        assert "$0.0000" not in text
        assert "No budget limits" not in text
        answer = await console.signed_in(name)("GET", "/console/overview")
        assert (answer.json["today"], answer.json["not_read"]) == (None, unread)


async def test_figures_that_are_read_are_shown(console: Console) -> None:
    page = await (await console.visitor(OWNER)).get("/overview")
    assert "$0.0000" in page.text
    assert "not known" not in page.text


async def test_errors_and_refusals_lead_to_their_conversations(console: Console) -> None:
    talk = Talk(console.app, SystemClock().now() - timedelta(days=2))
    earlier = await talk(direct("eve"), "eve", "w", outcome="failed")
    talk.begin = SystemClock().now()
    await talk(direct(PERSON), PERSON, "x", outcome="failed")
    await talk(direct(PERSON), PERSON, "y", outcome="refused:limits")
    await talk(direct(PERSON), PERSON, "z")
    owner = await console.visitor(OWNER)
    page = await owner.get("/overview")
    links = re.findall(
        r'href="/console(/conversations\?outcome=(\w+)&amp;since=[0-9-]{10})"', page.text
    )
    assert [outcome for _, outcome in links] == ["failed", "refused"]
    for path, _ in links:
        listed = (await owner.get(unescape(path))).text
        assert "/console/conversations/00" in listed, path
        assert f"/console/conversations/{earlier}" not in listed, path
