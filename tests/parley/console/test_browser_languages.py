"""The console's pages in a marked language, from right to left, in Chromium."""

import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from unittest.mock import patch

import pytest
import pytest_asyncio
from playwright.async_api import Page

from gateway.immutable import replace
from gateway.outbound.membership import PlatformMembership
from parley.console.views.configuration.forms import PAGES
from tests.parley.console.kit import OPERATOR, OWNER, Console, console_in, console_settings
from tests.parley.console.screenshots import belongs
from tests.parley.console.team import ANNA, PEOPLE, Team, team_in
from tests.parley.demo.browser import (
    DESKTOP,
    IN_CHROMIUM,
    OPEN_ALL,
    TELEPHONE,
    accessibility_findings,
    window,
)
from tests.support.pseudo_language import UNMARKED, PseudoLanguages

pytestmark = IN_CHROMIUM
OWN = (
    ".said, .brand, .who, td small, .id, .lines .line, textarea, option, .talk, h3, .source, .diff,"
    " time, #kinds ~ table th, th > span[title]"
)
"""Words of people, names and ids."""
NESTED = ("access", "all")
"""Pages of the configuration with a sentence in another one, whose marks say nothing."""
BEYOND = """[...document.querySelectorAll("main *")].filter((one) => {
  const { left, right } = one.getBoundingClientRect();
  return left < 0 || right > innerWidth;
}).map((one) => one.outerHTML.slice(0, 80)).slice(0, 5)"""
"""JavaScript: the first elements that are beyond the edges of the page."""


@pytest_asyncio.fixture(loop_scope="session")
async def console(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Console]:
    folder = tmp_path_factory.mktemp("languages")
    served = [f"web:{name}" for name in (*PEOPLE, OWNER)]
    people = {"owners": [f"web:{OWNER}"], "operators": [f"web:{OPERATOR}"], "allowed_users": served}
    access = {"admission": "approved", **people}
    async with console_in(console_settings(folder, access=access)) as started:
        yield started


def pages(team: Team) -> list[tuple[str, str]]:
    """Return who opens which page."""
    own = ("", "/versions?document=soul", "/entries", f"/entries/{team.memory}", "/reviews")
    others = ("/visibility", "/accounts", "/agents", "/pools", "/tokens", "/data")
    memory = [(ANNA, f"/memory{path}") for path in (*own, *others)]
    turn = f"/conversations/{team.turn}"
    led = ("/overview", "/outbox", "/playground", "/access", "/health", "/audit", "/account")
    read = ("/conversations", "/conversations?q=search", turn, f"{turn}/message")
    more = (f"{turn}/rendering", "/access/question", f"/person?person=web:main:{ANNA}")
    spent = ("/usage", "/usage?by=channel")
    forms = (f"/configuration?page={page}" for page in PAGES if page not in NESTED)
    return [*memory, *((OWNER, path) for path in (*led, *read, *more, *spent, *forms))]


@pytest.mark.parametrize("size", [DESKTOP, TELEPHONE])
async def test_every_sentence_is_in_the_catalogues_and_every_page_fits(
    console: Console, size: tuple[int, int]
) -> None:
    with patch.object(PlatformMembership, "belongs", belongs):
        team = await team_in(console)
    policies = console.app.policies
    found: dict[str, list[str]] = {}
    for who in (ANNA, OWNER):
        async with window(console.app.local.base_url, size) as opened:
            page = opened.page
            await page.goto(await console.link(who))
            await page.locator("main button").first.click()
            await page.locator("nav.menu").wait_for()
            policies.value = replace(policies.value, languages=PseudoLanguages())
            for path in (path for name, path in pages(team) if name == who):
                await page.goto(f"{console.app.local.base_url}/console{path}")
                found[path] = await looked_at(page, path, size)
    wrong = {path: words for path, words in found.items() if words}
    assert not wrong, json.dumps(wrong, indent=1, ensure_ascii=False)


async def looked_at(page: Page, path: str, size: tuple[int, int]) -> list[str]:
    """Return what is wrong with a page."""
    assert await page.evaluate("document.dir") == "rtl"
    await page.evaluate(OPEN_ALL)
    words: list[str] = await page.evaluate(f"({UNMARKED})", f"header, nav, {OWN}")
    width = await page.evaluate("document.documentElement.scrollWidth")
    beyond: list[str] = await page.evaluate(BEYOND) if width > size[0] else []
    wide = [f"{width} pixels wide: {beyond}"] if width > size[0] else []
    if folder := os.environ.get("PARLEY_SCREENSHOTS"):
        name = path.strip("/").replace("/", "-").partition("?")[0]
        await page.screenshot(path=Path(folder) / f"console-{name}-{size[0]}.png")
    return [*words, *wide, *await accessibility_findings(page)]
