"""The pages about the audit and about health in Chromium: progress, keyboard, accessible."""

import asyncio

import pytest
import pytest_asyncio
from playwright.async_api import expect

from parley.console.views import health as view
from parley.doctor.machine import Finding
from tests.parley.console.kit import OWNER, PERSON, Console
from tests.parley.console.talk import World, world_in
from tests.parley.console.test_browser import at, console, sign_in
from tests.parley.demo.browser import (
    IN_CHROMIUM,
    accessibility_findings,
    check_views,
    window,
)

__all__ = ["console"]  # a fixture of the tests here

pytestmark = IN_CHROMIUM
PATHS = ("/audit", "/audit?person=nobody", "/health?message=m1")


@pytest_asyncio.fixture(loop_scope="session")
async def world(console: Console, monkeypatch: pytest.MonkeyPatch) -> World:
    async def contact(*_: object) -> list[Finding]:
        await asyncio.sleep(1.5)
        return [Finding("broken", "platform", "w" * 300, "Do this next.")]

    monkeypatch.setattr(view, "contact", contact)
    return await world_in(console.app)


async def test_the_owner_verifies_checks_and_backs_up(console: Console, world: World) -> None:
    assert world.talk.number == 4
    async with window(console.app.local.base_url) as opened:
        page = await sign_in(console, opened, OWNER)
        await page.goto(at(console, "/audit"))
        await page.get_by_role("button", name="Verify now").focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_text("none of them was changed")).to_be_visible()
        await page.goto(at(console, "/health"))
        await page.get_by_role("button", name="Run the checks").click()
        await expect(page.locator("#checks progress")).to_be_visible()
        assert await accessibility_findings(page) == []
        await expect(page.get_by_text("Do this next.")).to_be_visible()
        await page.get_by_role("button", name="Back up now").click()
        await expect(page.get_by_text("Copied and checked")).to_be_visible()
        await check_views(page)
        for path in PATHS:
            await page.goto(at(console, path))
            await check_views(page)
        assert opened.complaints == []


async def test_everybody_sees_their_own_entries(console: Console, world: World) -> None:
    assert world.talk.number == 4
    async with window(console.app.local.base_url) as opened:
        page = await sign_in(console, opened, PERSON)
        await page.goto(at(console, "/audit"))
        await expect(page.locator("tbody tr")).to_have_count(1)
        await expect(page.locator("tbody tr")).to_contain_text("signed in")
        await expect(page.get_by_role("button", name="Verify now")).to_have_count(0)
        assert opened.complaints == []
