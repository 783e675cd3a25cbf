"""Every state of the web page and of the demo's page, for axe and for what is wider than the page.

In English by day; each night also in languages with long words, from right to left, and without
spaces.
"""

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from parley.demo.run import Demo, running
from tests.parley.demo.browser import (
    DESKTOP,
    IN_CHROMIUM,
    TELEPHONE,
    VIEWS,
    Window,
    accessibility_findings,
    speak,
    window,
)
from tests.parley.demo.states import PLATFORMS, chat_states, demo_states

pytestmark = IN_CHROMIUM
LANGUAGES = ("en", *(pytest.param(name, marks=pytest.mark.nightly) for name in ("de", "ar", "ja")))
WIDER = """[...document.querySelectorAll("body *")].filter((one) => {
  const { left, right, width } = one.getBoundingClientRect();
  const scrolled = one.closest("pre, table, #log, #suggestions, #side, .visually-hidden, .skip");
  return width && !scrolled && (left < -1 || right > innerWidth + 1);
}).map((one) => one.outerHTML.slice(0, 80)).slice(0, 5)"""
"""JavaScript: the first elements beyond the edges of the page that do not scroll."""

BACKWARDS = """[...document.querySelectorAll("code, pre, .said, .content")].filter((one) => {
  const latin = /^[^\\p{L}]*[a-z]/iu.test(one.textContent);
  return latin && getComputedStyle(one).direction !== "ltr";
}).map((one) => one.outerHTML.slice(0, 80)).slice(0, 5)"""
"""JavaScript: the first elements with code or Latin text that run from right to left."""


@pytest_asyncio.fixture(loop_scope="session")
async def demo() -> AsyncIterator[Demo]:
    async with running(0, {}) as started:
        yield started


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("size", [TELEPHONE, DESKTOP])
async def test_the_web_page_in_every_state(
    demo: Demo, language: str, size: tuple[int, int]
) -> None:
    found: dict[str, list[str]] = {}
    async with window(demo.url, size) as opened:
        await speak(opened, language)
        async for state in chat_states(opened.page, demo.url):
            found[state] = await looked_at(opened, language)
    assert len(found) >= 8
    assert_right(found)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("size", [TELEPHONE, DESKTOP])
async def test_the_page_of_the_demo_in_every_state(
    demo: Demo, language: str, size: tuple[int, int]
) -> None:
    found: dict[str, list[str]] = {}
    for platform in PLATFORMS:
        async with window(demo.url, size) as opened:
            await speak(opened, language)
            async for state in demo_states(opened.page, demo.url, platform, "Ben"):
                found[f"{platform} {state}"] = await looked_at(opened, language)
    assert len(found) == 8 * len(PLATFORMS)
    assert_right(found)


def assert_right(found: dict[str, list[str]]) -> None:
    """Name every state in which something is wrong."""
    wrong = {state: findings for state, findings in found.items() if findings}
    assert not wrong, json.dumps(wrong, indent=1)


async def looked_at(opened: Window, language: str) -> list[str]:
    """Return what is wrong with a page, in both themes."""
    page, found = opened.page, list[str]()
    assert await page.evaluate("document.documentElement.lang") == language
    for _, scheme in VIEWS:
        await page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found += [f"{scheme}: {one}" for one in await accessibility_findings(page)]
    wider: list[str] = await page.evaluate(WIDER)
    backwards: list[str] = await page.evaluate(BACKWARDS)
    found += [f"beyond the edge: {one}" for one in wider]
    return [*found, *(f"from right to left: {one}" for one in backwards)]
