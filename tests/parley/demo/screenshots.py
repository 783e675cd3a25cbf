"""Pictures of the demo and of the web page for the documentation.

`python -m tests.parley.demo.screenshots` makes them.
"""

import asyncio
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Final

from PIL import Image
from playwright.async_api import Page, expect

from parley.demo.player import Player
from parley.demo.run import Demo, running
from parley.demo.story import STORY
from tests.parley.demo.browser import DESKTOP, TELEPHONE, launched, window

FOLDER: Final = Path(__file__).parents[3] / "docs" / "images"
COLOURS: Final = 128


@dataclass(frozen=True, slots=True)
class View:
    """A picture: the address, and the tab of the page that is shown."""

    name: str
    path: str
    size: tuple[int, int] = DESKTOP
    dark: bool = False
    press: str = ""


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
)


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


async def main() -> None:
    """Start the demo, play its story, and take the pictures."""
    async with running(0, {}) as demo, launched():
        async for _ in Player(demo.world, demo.app.decisions).play(STORY):
            pass
        for view in VIEWS:
            await take(demo, view)


if __name__ == "__main__":
    asyncio.run(main())
