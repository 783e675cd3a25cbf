"""The tutorial of the web page is followed as it stands, at a terminal and in a browser."""

import asyncio
import re
from pathlib import Path

from playwright.async_api import Page, expect

from tests.docs.blocks import ROOT
from tests.docs.test_tutorials import ROW, follow, missing
from tests.parley.cli.init.kit import at_terminal
from tests.parley.demo.browser import IN_CHROMIUM, window
from tests.support.patience import PATIENCE

pytestmark = IN_CHROMIUM

PAGE = ROOT / "docs" / "tutorials" / "web.md"
INIT = ("init", "--platform", "web", "--provider", "offline")
PORTS = ("--set", "server.port=0", "--set", "webhooks.port=0")


async def say(page: Page, text: str) -> str:
    """Write on the page; return the text of the answer."""
    answers = page.locator(".theirs .bubble")
    before = await answers.count()
    await page.fill("#text", text)
    await page.press("#text", "Enter")
    await expect(answers).to_have_count(before + 1, timeout=PATIENCE * 1_000)
    return (await answers.nth(before).inner_text()).strip()


async def test_the_tutorial_leads_to_an_answer_and_a_memory(tmp_path: Path) -> None:
    assert " ".join(("parley", *INIT)) in PAGE.read_text("utf-8")
    with at_terminal(*INIT, *PORTS, cwd=tmp_path) as terminal:
        code = await asyncio.to_thread(follow, terminal, PAGE, [])
        (url,) = re.findall(r"the web page: (http://127\.0\.0\.1:\d+)/chat/", terminal.said)
        async with window(url) as opened:
            await opened.page.goto(f"{url}/chat/")
            await expect(opened.page.locator("#state")).to_have_text("Connected")
            assert "You are now the owner of Ada" in await say(opened.page, code)
            await asyncio.to_thread(terminal.until, "starts it again.")
            for written, answer in ROW.findall(PAGE.read_text("utf-8")):
                answered = await say(opened.page, written)
                assert answer == "…" or answer in answered, written
        terminal.press(b"\x03")
        assert await asyncio.to_thread(terminal.end) == 0
        assert missing(PAGE, terminal.said) == []
