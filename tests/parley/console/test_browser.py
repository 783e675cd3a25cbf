"""The console in Chromium: every page without a finding of axe, and the frame that pages share."""

from collections.abc import AsyncIterator
from pathlib import Path
from unittest.mock import patch
from urllib.parse import urlencode

import pytest
import pytest_asyncio
from playwright.async_api import Page, Request, expect

from gateway.outbound.membership import PlatformMembership
from parley.console.route import AnyRoute
from parley.console.routes import ROUTES
from tests.parley.console.kit import (
    OPERATOR,
    OWNER,
    Console,
    console_in,
    console_settings,
    person_named,
)
from tests.parley.console.screenshots import belongs
from tests.parley.console.team import ANNA, PEOPLE, Team, team_in
from tests.parley.demo.browser import (
    IN_CHROMIUM,
    Window,
    accessibility_findings,
    check_views,
    window,
)

pytestmark = IN_CHROMIUM
PAGES = [route for route in ROUTES if route.method == "GET" and route.template]
LANGUAGES = ("en", *(pytest.param(code, marks=pytest.mark.nightly) for code in ("de", "ar", "ja")))
WITHOUT_PAGE = {"private_memory"}
"""Views that need an emergency first, and answer with the page of a refusal."""


@pytest_asyncio.fixture(loop_scope="session")
async def console(tmp_path: Path) -> AsyncIterator[Console]:
    async with console_in(console_settings(tmp_path)) as started:
        yield started


async def sign_in(console: Console, opened: Window, name: str) -> Page:
    """Open a login link as a person does."""
    await opened.page.goto(await console.link(name))
    await opened.page.locator("main button").first.click()
    await expect(opened.page.locator("nav.menu")).to_be_visible()
    return opened.page


def at(console: Console, path: str) -> str:
    return f"{console.app.local.base_url}/console{path}"


@pytest.mark.parametrize("language", LANGUAGES)
async def test_every_page_is_accessible_and_fits(tmp_path: Path, language: str) -> None:
    served = [f"web:{name}" for name in PEOPLE]
    roles = {"owners": [f"web:{OWNER}"], "operators": [f"web:{OPERATOR}"]}
    settings = console_settings(tmp_path, access={**roles, "allowed_users": served})
    async with console_in(settings) as console:
        with patch.object(PlatformMembership, "belongs", belongs):
            team = await team_in(console)
        for name in (OWNER, ANNA):
            person = person_named(name)
            await console.app.services.readers.choose("default", person, language)
            async with window(console.app.local.base_url) as opened:
                page = await sign_in(console, opened, name)
                for route in PAGES:
                    if name == (ANNA if route.path.startswith("/memory") else OWNER):
                        await check(page, console, route, team)
                        assert await page.locator("html").get_attribute("lang") == language
                refused = [one for one in opened.complaints if "status of 4" not in one]
                assert refused == []


async def check(page: Page, console: Console, route: AnyRoute, team: Team) -> None:
    query = {**route.example, **({"person": person_named(ANNA)} if route.name == "person" else {})}
    query.pop("id", None)
    id_ = team.memory if route.name == "memory_entry" else team.turn
    path = route.path.replace("{id}", id_) + (f"?{urlencode(query)}" if query else "")
    answer = await page.goto(at(console, path))
    assert answer is not None
    assert answer.ok or route.name in WITHOUT_PAGE, (path, answer.status)
    await check_views(page)


async def test_the_pages_before_the_sign_in_are_accessible(console: Console) -> None:
    async with window(console.app.local.base_url) as opened:
        for path in ("/sign-in", "/sign-in#code"):
            await opened.page.goto(at(console, path))
            assert await accessibility_findings(opened.page) == []
        assert opened.complaints == []
        await opened.page.goto(at(console, "/overview"))
        assert await accessibility_findings(opened.page) == []
        await expect(opened.page.get_by_role("heading", level=1)).to_have_text(
            "You are not signed in"
        )


async def test_the_keyboard_reaches_every_page_and_the_reader_chooses_theme_and_zone(
    console: Console,
) -> None:
    async with window(console.app.local.base_url) as opened:
        page = await sign_in(console, opened, OWNER)
        await page.keyboard.press("Control+k")
        await expect(page.get_by_role("dialog")).to_be_visible()
        await page.keyboard.type("sessions")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Your account")
        await page.keyboard.press("Tab")
        await expect(page.locator(".skip")).to_be_focused()
        await page.keyboard.press("Enter")
        await expect(page.locator("#main")).to_be_focused()
        first = page.locator("time").first
        await expect(first).not_to_contain_text("UTC")
        assert await first.get_attribute("title")
        await page.get_by_role("button", name="Dark").click()
        await expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        page = await opened.context.new_page()
        assert 0 < await loaded(page, at(console, "/overview")) < 150_000
        await expect(page.get_by_role("button", name="Light")).to_be_visible()
        assert opened.complaints == []


async def loaded(page: Page, address: str) -> int:
    """The bytes that an empty page loads, the page at the address included. Requests of an
    earlier page would lose their bodies."""
    finished: list[Request] = []

    def note(request: Request) -> None:
        finished.append(request)

    page.on("requestfinished", note)
    await page.goto(address, wait_until="load")
    answers = [await one.response() for one in finished]
    return sum([len(await one.body()) for one in answers if one is not None])
