"""Answers ten questions of an operator from the console alone, in a browser, and counts.

    python -m benchmarks.console_questions

Each question begins on the overview. A line of JSON for each: clicks, pages, the seconds of their
loading, the words of the parts that are read on the way and for the answer, and the seconds with
one for every 40 words. The program ends with 1 if an answer is not where it is looked for.
"""

import asyncio
import json
import re
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Final
from unittest.mock import patch

from msgspec import Struct
from playwright.async_api import Error as BrowserError
from playwright.async_api import Locator, Page

from gateway.message import Outbound, Part, Place
from gateway.outbound.membership import PlatformMembership
from gateway.people import Audience
from gateway.policy.decision import Decision
from gateway.ports.clock import SystemClock
from memory.model.record import Draft, Kind, Scope
from tests.parley.console.kit import OPERATOR, OWNER, Console, console_in, console_settings
from tests.parley.console.screenshots import belongs
from tests.parley.console.talk import ROOM, Talk, direct
from tests.parley.console.views.configuration.kit import change
from tests.parley.console.views.memory.kit import in_project, shared
from tests.parley.demo.browser import launched, window
from tests.parley.http.api.kit import PROJECT

WORDS_A_SECOND: Final = 40
PATIENCE_MS: Final = 5_000
NOWHERE: Final = "http://127.0.0.1:9"
PART: Final = "xpath=ancestor-or-self::*[self::section or self::nav or self::form or self::main][1]"
"""The part of a page in which something stands."""
CHOICE: Final = re.compile(r"(#\w+)=(\w+)")
MENU: Final = "nav.menu a"


class Question(Struct, frozen=True):
    """A question: the selectors that are pressed one after the other, from the overview on, the
    part of the last page that answers, and what must stand there. "#of=project" chooses a value of
    a list and sends its form, which are two clicks."""

    asked: str
    presses: tuple[str, ...]
    part: str
    answer: str


def menu(name: str) -> str:
    """The selector of an entry of the menu."""
    return f"{MENU}:text-is('{name}')"


QUESTIONS: Final = (
    Question(
        "Who spent most yesterday?",
        (menu("Usage"), "main a.button:text-is('Yesterday')"),
        "section:has(#rows)",
        r"(?s)By person.*?Ben.*?\$0\.9",
    ),
    Question(
        "Why did Ben get no answer?",
        ("ul.sum a:has-text('may not write')", "ul.inbox p.top a"),
        "main",
        r"(?i)refused",
    ),
    Question(
        "Is the model slow?", (), "section:has(#today)", r"Half of the answers within\s+[\d.]+ s"
    ),
    Question(
        "Whom does the bot trust?",
        (menu("Access"),),
        "section:has(#lists)",
        r"(?s)web:oona.*web:olga",
    ),
    Question(
        "What happened to the message that failed?",
        ("section:has(#needs) a:has-text('See why')",),
        "main",
        r"the person blocked the bot",
    ),
    Question("Which room costs most this week?", (), "section:has(#rooms)", r"(?s)Cost\s+general"),
    Question(
        "What does the bot remember about the project, and who approved it?",
        (
            f"{MENU}:has-text('emory')",
            "main nav a:has-text('Memories')",
            "#of=project",
            "main a:has-text('We sell green tea.')",
        ),
        "section:has(#origin)",
        r"Approved by\s+Olga",
    ),
    Question(
        "Which platform is down, and what next?",
        (),
        "section:has(#needs)",
        r"(?s)telegram\S* is \w+: Telegram cannot be reached.*Check",
    ),
    Question(
        "How do I lower somebody's budget?",
        (menu("Configuration"), "main nav a:text-is('Budgets and limits')"),
        "form.page-form section >> nth=0",
        r"(?i)budget",
    ),
    Question(
        "Who changed the configuration last, and what?",
        (menu("Configuration"), "section:has(#state) a:has-text('all versions')"),
        "main section >> nth=0",
        r"(?s)by\s+Oona.*assistant\.name",
    ),
)


async def prepare(console: Console) -> None:
    """Write what the questions ask about: costs of yesterday, a refused member, a failed send, a
    decided review, a change of the configuration."""
    talk, now = Talk(console.app), SystemClock().now()
    talk.begin = now - timedelta(days=1)
    for who, micros in (("ben", 900_000), ("ada", 400_000)):
        await talk(ROOM, who, "What is new?", micros=micros)
    talk.begin = now - timedelta(seconds=30)
    for who in (OWNER, OPERATOR):
        await talk(direct(who), who, "Hello?")
    refused = (Decision("access", False, "not_a_member"),)
    await talk(direct("ben"), "ben", "Hello?", outcome="refused:access", decisions=refused)
    elsewhere = Place("telegram", "main", "42", Audience.DIRECT)
    sends = [Outbound("", elsewhere, Part("text", "text"))]
    turn = await talk(direct("ada"), "ada", "Hello?", outbound=sends)
    await console.app.storage.hot.outbox.dead([f"{turn}:0"], "the person blocked the bot")
    ada = await in_project(console, "ada")
    result = await ada.write.remember(
        Draft("We sell green tea.", Kind.DECISION, scope=Scope.PROJECT)
    )
    await shared(console, "We open on Monday.")
    olga, oona = await console.visitor(OPERATOR), await console.visitor(OWNER)
    path = f"/memory/reviews/{result.review_id}/approve"
    decided = await olga.post(path, {"project": PROJECT})
    changed = await change(oona, "assistant.name", "Ada", 0)
    if decided.status != 200 or changed.status != 200:
        raise RuntimeError("the decision or the change was not stored")
    await in_project(console, OWNER)


async def words_of(part: Locator) -> int:
    """The number of visible words."""
    return len((await part.inner_text()).split())


async def ask(page: Page, address: str, question: Question) -> dict[str, object]:
    """Find an answer, and count what it takes. Raises Playwright's `Error` for a missing link."""
    words, loading, clicks = 0, 0.0, 0
    began = time.perf_counter()
    await page.goto(f"{address}/console/overview")
    loading += time.perf_counter() - began
    for press in question.presses:
        chosen = CHOICE.fullmatch(press)
        if chosen:
            await page.locator(chosen[1]).select_option(chosen[2])
            clicks += 1
            link = page.locator(f"form:has({chosen[1]}) .whose button").first
        else:
            link = page.locator(press).first
        words += await words_of(link.locator(PART))
        clicks += 1
        began = time.perf_counter()
        await link.click()
        await page.wait_for_load_state("load")
        loading += time.perf_counter() - began
    part = page.locator(question.part).first
    shown = await part.inner_text()
    words += len(shown.split())
    return {
        "question": question.asked,
        "answered": re.search(question.answer, shown) is not None,
        "clicks": clicks,
        "pages": len(question.presses) + 1,
        "loading": round(loading, 2),
        "words": words,
        "seconds": round(loading + words / WORDS_A_SECOND, 1),
    }


@asynccontextmanager
async def signed_in() -> AsyncIterator[tuple[Page, str]]:
    """The window of an owner in the prepared program, and the address of the program."""
    telegram = {"bot_token": "123456:" + "a" * 35, "base_url": NOWHERE}
    platforms = {"web": {"enabled": True}, "telegram": telegram}
    with tempfile.TemporaryDirectory() as folder:
        settings = console_settings(Path(folder), platforms=platforms)
        membership = patch.object(PlatformMembership, "belongs", belongs)
        with membership:
            async with console_in(settings) as console, launched():
                await prepare(console)
                address = console.app.local.base_url
                async with window(address) as opened:
                    opened.page.set_default_timeout(PATIENCE_MS)
                    await opened.page.goto(await console.link(OWNER))
                    await opened.page.locator("main button").first.click()
                    await opened.page.locator("nav.menu").wait_for()
                    yield opened.page, address


async def ask_all() -> int:
    """Ask every question; return the number of those without an answer."""
    missing = 0
    async with signed_in() as (page, address):
        for question in QUESTIONS:
            try:
                found = await ask(page, address, question)
            except BrowserError as error:
                problem = str(error).splitlines()[0]
                found = {"question": question.asked, "answered": False, "problem": problem}
            missing += not found["answered"]
            print(json.dumps(found), flush=True)
    return missing


if __name__ == "__main__":
    sys.exit(1 if asyncio.run(ask_all()) else 0)
