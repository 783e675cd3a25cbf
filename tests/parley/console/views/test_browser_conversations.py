"""The pages about conversations in Chromium: accessible, usable by keyboard, in a narrow window."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.parley.console.kit import OPERATOR, PERSON, Console, console_in, console_settings
from tests.parley.console.talk import ROOM, World, world_in
from tests.parley.console.test_browser import at, sign_in
from tests.parley.demo.browser import (
    ABOVE_MINOR,
    DESKTOP,
    TELEPHONE,
    accessibility_findings,
    needs_chromium,
    window,
)

pytestmark = [pytest.mark.browser, needs_chromium]


@pytest.fixture
async def console(tmp_path: Path) -> AsyncIterator[Console]:
    async with console_in(console_settings(tmp_path)) as started:
        yield started


@pytest.fixture
async def world(console: Console) -> World:
    world = await world_in(console.app)
    await world.talk(ROOM, PERSON, "<b>garden</b> " + "w" * 100_000, "\u202egarden\u202c")
    return world


def paths(world: World) -> list[str]:
    assert world.adas
    return [
        "/conversations",
        "/conversations?archived=yes",
        "/conversations?q=garden",
        "/conversations?q=nothing+at+all",
        "/conversations?platform=web&cost=9",
    ]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, TELEPHONE], ids=["wide", "narrow"])
async def test_pages_with_content_are_accessible_and_fit(
    console: Console, world: World, size: tuple[int, int], dark: bool
) -> None:
    async with window(console.app.local.base_url, size, dark=dark) as opened:
        page = await sign_in(console, opened, OPERATOR)
        for path in paths(world):
            await page.goto(at(console, path))
            assert await accessibility_findings(page, ABOVE_MINOR) == [], path
            overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert overflow <= 0, path
        assert opened.complaints == []


async def test_the_keyboard_archives_a_conversation(console: Console, world: World) -> None:
    assert world.talk.number == 5
    async with window(console.app.local.base_url) as opened:
        page = await sign_in(console, opened, PERSON)
        await page.goto(at(console, "/conversations?platform=web"))
        rows = page.locator("tbody tr")
        await expect(rows).to_have_count(2)
        await page.get_by_role("checkbox").first.focus()
        await page.keyboard.press("Space")
        button = page.get_by_role("button", name="Archive the chosen ones")
        for _ in range(20):
            await page.keyboard.press("Tab")
            if await button.evaluate("one => one === document.activeElement"):
                break
        await page.keyboard.press("Enter")
        await expect(page.locator(".notice")).to_contain_text("in the archive")
        await expect(rows).to_have_count(1)
        await expect(page.locator("#platform")).to_have_value("web")
        assert opened.complaints == []


async def test_all_conversations_are_chosen_at_once(console: Console, world: World) -> None:
    assert world.talk.number == 5
    async with window(console.app.local.base_url, TELEPHONE) as opened:
        page = await sign_in(console, opened, PERSON)
        await page.goto(at(console, "/conversations"))
        await page.get_by_role("button", name="Choose all").click()
        await expect(page.locator("input[name=ids]:checked")).to_have_count(2)
        await page.get_by_role("button", name="Archive the chosen ones").click()
        await expect(page.locator(".empty")).to_be_visible()
        await page.get_by_role("link", name="Archive", exact=True).click()
        await expect(page.locator("tbody tr")).to_have_count(2)
        assert opened.complaints == []


async def test_a_search_is_typed_and_its_address_shared(console: Console, world: World) -> None:
    assert world.talk.number == 5
    async with window(console.app.local.base_url) as opened:
        page = await sign_in(console, opened, OPERATOR)
        await page.goto(at(console, "/conversations"))
        await page.get_by_role("searchbox").first.fill("waters garden")
        await page.keyboard.press("Enter")
        await expect(page.locator(".hits li")).to_have_count(1)
        await expect(page.locator("mark")).to_have_text("waters")
        address = page.url
        await page.goto(at(console, "/overview"))
        await page.goto(address)
        await expect(page.locator(".hits li")).to_have_count(1)
        assert opened.complaints == []
