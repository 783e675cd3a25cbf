"""Pictures of the demo and of the web page for the documentation.

`python -m tests.parley.demo.screenshots` makes them.

With `--all FOLDER`, every state of both pages in both widths and themes, to look at after a change
of a style; with `--languages en,ar` in each of these languages, in a folder of its own.
"""

import argparse
import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import cycle, product
from pathlib import Path
from typing import Final

from PIL import Image
from playwright.async_api import Page, expect

from parley.demo.player import Player
from parley.demo.run import Demo, running
from parley.demo.story import CATCHUP, CHARTS, DOCUMENTS, STORY
from parley.demo.world import PEOPLE
from tests.parley.demo.browser import DESKTOP, TELEPHONE, launched, speak, window
from tests.parley.demo.states import PLATFORMS, chat_states, demo_states

FOLDER: Final = Path(__file__).parents[3] / "docs" / "images"
COLOURS: Final = 128
_WIDE: Final = (1440, 900)
"""The desktop of pictures that are only looked at."""


@dataclass(frozen=True, slots=True)
class View:
    """A picture: the address, and the tab of the page that is shown. The conversation is scrolled
    to its end, or to the last message with the text `at`."""

    name: str
    path: str
    size: tuple[int, int] = DESKTOP
    dark: bool = False
    press: str = ""
    at: str = ""


VIEWS: Final = (
    View("demo-slack", "/#platform=slack&room=general&person=Ada"),
    View("demo-discord-dark", "/#platform=discord&room=general&person=Ada", dark=True),
    View("demo-requests", "/#platform=telegram&room=direct&person=Ada", press="#tab-requests"),
    View("demo-telegram-phone", "/#platform=telegram&room=direct&person=Ada", TELEPHONE),
    View(
        "demo-whatsapp-phone-dark",
        "/#platform=whatsapp&room=direct&person=Ada",
        TELEPHONE,
        dark=True,
    ),
    View(
        "demo-why-phone-dark",
        "/#platform=telegram&room=direct&person=Ada",
        TELEPHONE,
        dark=True,
        press="#tabs [data-tab=why]",
    ),
    View("chat", "/chat/"),
    View("chat-phone-dark", "/chat/", TELEPHONE, dark=True),
    View("demo-voice", "/#platform=telegram&room=direct&person=Ada", at="I heard"),
    View("demo-reminder", "/#platform=whatsapp&room=direct&person=Ben"),
)
LATER_VIEWS: Final = (
    View("demo-document", "/#platform=whatsapp&room=direct&person=Ada"),
    View("demo-chart", "/#platform=slack&room=team&person=Ada"),
    View("demo-catchup", "/#platform=discord&room=team&person=Cleo"),
)
"""Pictures of the parts of the story that follow."""


async def take(demo: Demo, view: View) -> None:
    """Write a picture."""
    async with window(demo.url, view.size, dark=view.dark) as opened:
        page = opened.page
        await page.goto(f"{demo.url}{view.path}")
        if view.path == "/chat/":
            await _talk(page)
        else:
            await page.locator("#log .message").first.wait_for()
            await page.evaluate("document.querySelector('#log').scrollTop = 1e9")
            if view.at:
                await page.locator("#log .message", has_text=view.at).last.evaluate(
                    "message => message.scrollIntoView({block: 'center'})"
                )
        if view.press:
            await page.locator(view.press).click()
        image = Image.open(BytesIO(await page.screenshot(animations="disabled"))).convert("RGB")
        few = image.quantize(COLOURS, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        few.save(FOLDER / f"{view.name}.png", "PNG", optimize=True)
        if opened.complaints:
            raise SystemExit(f"the browser complains: {opened.complaints}")


async def _talk(page: Page) -> None:
    for number, text in enumerate(("Show me a table", "Show me some code"), start=1):
        await page.fill("#text", text)
        await page.press("#text", "Enter")
        await expect(page.locator(".theirs:not(.live)")).to_have_count(number)
        await expect(page.locator("#stop")).to_be_hidden()


async def take_states(demo: Demo, folder: Path, language: str, person: str) -> None:
    """Write the pictures of every state in a language."""
    folder.mkdir(parents=True, exist_ok=True)
    for size, name in product((TELEPHONE, _WIDE), ("chat", *PLATFORMS)):
        async with window(demo.url, size) as opened:
            await speak(opened, language)
            page, states = opened.page, _states(opened.page, demo.url, name, person)
            async for state in states:
                for scheme in ("light", "dark"):
                    await page.emulate_media(color_scheme=scheme)
                    path = folder / f"{name}-{state}-{size[0]}-{scheme}.png"
                    await page.screenshot(path=path, animations="disabled")


def _states(page: Page, url: str, name: str, person: str) -> AsyncIterator[str]:
    return chat_states(page, url) if name == "chat" else demo_states(page, url, name, person)


async def main(folder: Path | None, languages: Sequence[str]) -> None:
    """Start the demo, play its story, and take the pictures."""
    async with running(0, {}) as demo, launched():
        if folder is not None:
            for language, person in zip(languages, cycle(PEOPLE), strict=False):
                await take_states(demo, folder / language, language, person)
            return
        for story, views in ((STORY, VIEWS), ((*DOCUMENTS, *CHARTS, *CATCHUP), LATER_VIEWS)):
            async for _ in Player(demo.world, demo.app.decisions).play(story):
                pass
            for view in views:
                await take(demo, view)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", type=Path, metavar="FOLDER", help="every state, in every look")
    parser.add_argument("--languages", default="en", metavar="CODES", help="with --all: en,de,ar")
    given = parser.parse_args()
    asyncio.run(main(given.all, [code for code in given.languages.split(",") if code]))
