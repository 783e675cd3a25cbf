"""Pictures in Chromium: shown, accessible, and replaced by a sentence where there are none."""

import pytest
from playwright.async_api import expect

from gateway.errors import Permanent
from parley.testing.contract.features import PNG
from tests.parley.console.kit import OPERATOR, PERSON, Console
from tests.parley.console.pictures import gives, picture
from tests.parley.console.talk import ROOM, Talk
from tests.parley.console.test_browser import at, console, sign_in
from tests.parley.demo.browser import IN_CHROMIUM, check_views, window

__all__ = ["console"]  # a fixture of the tests here

pytestmark = IN_CHROMIUM
WIDTH = """path => new Promise(answer => {
    const one = new Image();
    one.onload = () => answer(one.naturalWidth);
    one.onerror = () => answer(0);
    one.src = path;
})"""
"""The width of a picture in pixels; 0 for a broken one."""


async def test_pictures_are_shown_and_never_broken(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    platform = gives(console, monkeypatch)
    platform.people[PERSON] = PNG
    platform.files |= {"gone": Permanent("deleted"), "html": b"<script>alert(1)</script>"}
    files = (picture(), picture("gone", "old.png"), picture("html", "trap.png"))
    turn = await Talk(console.app)(ROOM, PERSON, "look", files=files)
    async with window(console.app.local.base_url) as opened:
        page = await sign_in(console, opened, OPERATOR)
        await page.goto(at(console, f"/conversations/{turn}"))
        paths = [f"/console/conversations/{turn}/pictures/{number}" for number in range(3)]
        assert [await page.evaluate(WIDTH, path) for path in paths] == [1, 320, 320]
        avatar = page.locator(".exchange .avatar img").first
        assert await avatar.evaluate("one => one.decode().then(() => one.naturalWidth)") == 1
        await check_views(page)
        await page.reload()
        await expect(page.locator(".pictures img")).to_have_count(1)
        await expect(page.locator(".pictures")).to_contain_text("old.png · No longer available")
        await expect(page.locator(".pictures")).to_contain_text("trap.png · This picture cannot")
        await check_views(page)
        assert opened.complaints == []
