"""Pictures of the console for docs/tutorials/console.md.

`python -m tests.parley.console.screenshots` makes them.

With `--all FOLDER`, every view in both widths and themes, to look at after a change of a style;
with `--languages en,ar` in each of these languages, in a folder of its own.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Final
from unittest.mock import patch

from PIL import Image
from playwright.async_api import Page

from gateway.outbound.membership import PlatformMembership
from gateway.ports import MembershipStatus
from parley.console.views.configuration.forms import PAGES
from tests.parley.console.kit import (
    OPERATOR,
    OWNER,
    Console,
    console_in,
    console_settings,
    person_named,
)
from tests.parley.console.team import ANNA, PEOPLE, Team, team_in
from tests.parley.demo.browser import DESKTOP, TELEPHONE, launched, window

FOLDER: Final = Path(__file__).parents[3] / "docs" / "images" / "console"
NEWCOMER: Final = "frieda"
"""Somebody of whom nothing is stored."""
_COLOURS: Final = 96
_TALLEST: Final = {DESKTOP: 1100, TELEPHONE: 1000}
"""Pixels of a picture in the documentation."""
_LOOKS: Final = tuple(product((TELEPHONE, DESKTOP), (True, False)))
_WIDE: Final = (1440, 900)
"""The desktop of pictures that are only looked at."""


@dataclass(frozen=True, slots=True)
class View:
    """A view: who opens it, its address, and the selector of what to press before its picture."""

    name: str
    who: str
    path: str
    press: str = ""
    looks: tuple[tuple[tuple[int, int], bool], ...] = ((DESKTOP, False),)


def views(team: Team) -> Iterator[View]:
    """The views of a team."""
    dark, phone, phone_dark = ((DESKTOP, True),), ((TELEPHONE, False),), ((TELEPHONE, True),)
    turn, of = f"/conversations/{team.turn}", "/memory/entries"
    yield View("overview", OPERATOR, "/overview", looks=_LOOKS)
    yield View("conversations", OPERATOR, "/conversations")
    yield View("search", OPERATOR, "/conversations?q=search", looks=())
    yield View("conversation", OPERATOR, turn, looks=_LOOKS)
    yield View("message", OPERATOR, f"{turn}/message")
    yield View("renderings", OPERATOR, f"{turn}/rendering", looks=dark)
    yield View("outbox", OPERATOR, "/outbox", looks=phone)
    yield View("playground", OPERATOR, "/playground", looks=phone_dark)
    yield View("memory", ANNA, "/memory")
    yield View("memory-versions", ANNA, "/memory/versions?document=soul", looks=())
    yield View("memory-entries", ANNA, f"{of}?replaced=yes", looks=dark)
    yield View("memory-entry", ANNA, f"{of}/{team.memory}", looks=phone)
    yield View("memory-reviews", ANNA, "/memory/reviews", looks=phone_dark)
    yield View("memory-visibility", ANNA, "/memory/visibility", looks=phone)
    yield View("memory-accounts", ANNA, "/memory/accounts", looks=())
    yield View("memory-agents", ANNA, "/memory/agents", looks=())
    yield View("memory-pools", ANNA, "/memory/pools", looks=())
    yield View(
        "memory-tokens",
        ANNA,
        "/memory/tokens",
        press="main form[action$='/create'] button",
        looks=(),
    )
    yield View("memory-data", ANNA, "/memory/data", looks=phone)
    yield View("usage", OPERATOR, "/usage", looks=dark)
    yield View("usage-channel", OPERATOR, "/usage?by=channel", looks=())
    yield View("access", OPERATOR, "/access", looks=phone_dark)
    anna = f"person=web:main:{ANNA}"
    yield View("access-question", OPERATOR, f"/access/question?{anna}", looks=())
    yield View("person", OPERATOR, f"/person?{anna}", looks=())
    private = f"/private-memory?{anna}&memory={team.memory}"
    yield View("private-memory", OPERATOR, private, looks=())
    yield View("configuration", OWNER, "/configuration?page=limits")
    for page in PAGES:
        yield View(f"configuration-{page}", OWNER, f"/configuration?page={page}", looks=())
    yield View("configuration-versions", OWNER, "/configuration/versions", looks=())
    yield View("audit", OWNER, "/audit", looks=dark)
    yield View(
        "verification", OWNER, "/audit", press="form[action$='/audit/verify'] button", looks=()
    )
    yield View("health", OWNER, "/health", looks=phone)
    yield View("account", ANNA, "/account", looks=phone_dark)
    for name in ("overview", "conversations", "memory", "memory/entries", "memory/reviews"):
        yield View(f"empty-{name.replace('/', '-')}", NEWCOMER, f"/{name}", looks=())


async def take(console: Console, folder: Path, every: bool) -> None:
    """Open the views and write their pictures."""
    await take_views(console, await team_in(console), folder, every)


async def take_in(console: Console, folder: Path, languages: Sequence[str]) -> None:
    """Write the pictures of every view in each language, to a folder with the language's name."""
    team = await team_in(console)
    for language in languages:
        for name in {view.who for view in views(team)}:
            await console.app.services.readers.choose("default", person_named(name), language)
        (folder / language).mkdir(exist_ok=True)
        await take_views(console, team, folder / language, every=True)


async def take_views(console: Console, team: Team, folder: Path, every: bool) -> None:
    """Open the views of a team and write their pictures."""
    links = {view.who for view in views(team)}
    for (size, dark), who in product(_LOOKS, sorted(links)):
        wanted = [
            view
            for view in views(team)
            if view.who == who and (every or (size, dark) in view.looks)
        ]
        if not wanted:
            continue
        shown = _WIDE if every and size == DESKTOP else size
        async with window(console.app.local.base_url, shown, dark=dark) as opened:
            await opened.page.goto(await console.link(who))
            await opened.page.locator("main button").first.click()
            await opened.page.locator("nav.menu").wait_for()
            for view in wanted:
                name = f"{view.name}-{shown[0]}{'-dark' if dark else ''}.png"
                await _open(opened.page, console, view)
                shot = await opened.page.screenshot(full_page=True, animations="disabled")
                (folder / name).write_bytes(shot if every else small(shot, _TALLEST[size]))
            if opened.complaints:
                raise SystemExit(f"the browser complains: {opened.complaints}")


async def _open(page: Page, console: Console, view: View) -> None:
    await page.goto(f"{console.app.local.base_url}/console{view.path}")
    if view.press:
        await page.locator(view.press).click()
        await page.locator("[aria-busy=true], progress").wait_for(state="detached")
    # Charts are drawn, and times are rewritten, after the page is loaded.
    await page.wait_for_load_state("networkidle")


def small(shot: bytes, height: int) -> bytes:
    """Return the upper part of a picture as a PNG with few colours."""
    image = Image.open(BytesIO(shot)).convert("RGB")
    image = image.crop((0, 0, image.width, min(image.height, height)))
    packed = BytesIO()
    few = image.quantize(_COLOURS, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    few.save(packed, "PNG", optimize=True)
    return packed.getvalue()


async def belongs(_: PlatformMembership, _person: str, _project: str) -> MembershipStatus:
    """Confirm every membership: the web page has no list of members to ask."""
    return MembershipStatus.MEMBER


async def main(folder: Path, every: bool, languages: Sequence[str] = ()) -> None:
    """Start a program with a team in it, and a browser."""
    folder.mkdir(parents=True, exist_ok=True)
    served = [f"web:{name}" for name in (*PEOPLE, NEWCOMER)]
    access = {"owners": ["web:oona"], "operators": ["web:olga"], "allowed_users": served}
    budgets = {"user_per_day": 2, "workspace_per_month": 60}
    async with AsyncExitStack() as stack:
        stack.enter_context(patch.object(PlatformMembership, "belongs", belongs))
        data = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        await stack.enter_async_context(launched())
        settings = console_settings(
            data, access={"admission": "approved", **access}, budgets=budgets
        )
        console = await stack.enter_async_context(console_in(settings))
        if languages:
            await take_in(console, folder, languages)
        else:
            await take(console, folder, every)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", type=Path, metavar="FOLDER", help="every view, in every look")
    parser.add_argument("--languages", default="", metavar="CODES", help="with --all: en,de,ar,ja")
    given = parser.parse_args()
    if given.languages and given.all is None:
        parser.error("--languages needs --all")
    codes = [code for code in given.languages.split(",") if code]
    asyncio.run(main(given.all or FOLDER, given.all is not None, codes))
