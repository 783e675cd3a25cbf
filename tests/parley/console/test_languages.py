"""Pages of the console in other languages, in Chromium.

Catalogues for the tests have every sentence in marks, with other letters and longer: one is in
place of the German one and one of the Arabic one, whose pages run from right to left.
"""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest_asyncio
from babel.messages.catalog import Catalog
from playwright.async_api import Page, expect

from parley.console.views.configuration.forms import PAGES
from tests.parley.console.kit import OWNER, Console, console_in, console_settings
from tests.parley.demo.browser import IN_CHROMIUM, Window, check_views, speak, window
from tests.support.for_each import for_each
from translation.catalogues import written
from translation.extraction import template

pytestmark = IN_CHROMIUM
DIRECTIONS: Final = {"de": "ltr", "ar": "rtl"}
CONVERTED: Final = (
    *("/access", "/access/question", "/account", "/audit", "/usage"),
    *(f"/configuration?page={page}" for page in PAGES),
    "/configuration?show=all",
)
"""Pages whose sentences are all in the catalogues."""
_KEPT: Final = re.compile(r"(\{[a-z_]+\}|`[^`]*`|\*\*)")
_OTHER: Final = str.maketrans("aeiounc", "àéïöüñç")
HEARD: Final = (
    "h1, h2, thead th, label, button, summary, nav.menu a, a.button, .note, legend,"
    " option:not([lang], [translate])"
)
UNSAID: Final = f"""() => [...document.querySelectorAll("{HEARD}")]
  .filter((one) => !one.closest("[hidden], dialog, .choices"))
  .map((one) => {{ const copy = one.cloneNode(true);
    const own = copy.querySelectorAll("bdi, code, time, select, kbd, .id, [lang]");
    for (const each of own) each.remove();
    return copy.textContent.replace(/⟦[^⟦⟧]*(⟦[^⟦⟧]*⟧[^⟦⟧]*)*⟧/g, ""); }})
  .filter((text) => /[a-z]{{3,}}/i.test(text))"""


def pseudo(name: str) -> str:
    """Return a catalogue with every sentence in marks."""
    made = Catalog(locale=name, charset="utf-8", fuzzy=False)
    for one in template():
        if not one.id:
            continue
        forms = (one.id,) if isinstance(one.id, str) else tuple(one.id)
        shown = [_other(form, short=bool(one.context)) for form in forms]
        string = [shown[-1]] * made.num_plurals if len(shown) > 1 else shown[0]
        made.add(one.id, tuple(string) if len(shown) > 1 else string, context=one.context)
    return written(made)


def _other(sentence: str, *, short: bool) -> str:
    pieces = _KEPT.split(sentence)
    shown = "".join(
        piece if place % 2 else piece.translate(_OTHER) for place, piece in enumerate(pieces)
    )
    body = shown.strip("\n")
    return shown if short else shown.replace(body, f"⟦{body}{'~' * (len(body) // 5)}⟧")


@pytest_asyncio.fixture(loop_scope="session")
async def console(tmp_path: Path) -> AsyncIterator[Console]:
    folder = tmp_path / "languages"
    folder.mkdir()
    for name in DIRECTIONS:
        (folder / f"{name}.po").write_text(pseudo(name), "utf-8")
    async with console_in(console_settings(tmp_path, languages={"folder": str(folder)})) as started:
        yield started


async def sign_in(console: Console, opened: Window) -> Page:
    await opened.page.goto(await console.link(OWNER))
    assert await opened.page.evaluate(UNSAID) == []
    await opened.page.locator("form#sign-in button").click()
    await expect(opened.page.locator(".menu")).to_be_visible()
    return opened.page


@for_each("language", sorted(DIRECTIONS))
async def test_pages_are_in_the_language_of_the_browser(console: Console, language: str) -> None:
    async with window(console.app.local.base_url) as opened:
        await speak(opened, language)
        page = await sign_in(console, opened)
        for path in CONVERTED:
            await page.goto(f"{console.app.local.base_url}/console{path}")
            root = page.locator("html")
            await expect(root).to_have_attribute("lang", language)
            await expect(root).to_have_attribute("dir", DIRECTIONS[language])
            unsaid = await page.evaluate(UNSAID)
            assert unsaid == [], (path, unsaid)
            await check_views(page)
        assert opened.complaints == []
