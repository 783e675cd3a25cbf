"""The playground and reading in an emergency, in Chromium."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import expect

from gateway.ports import (
    ModelEvent,
    ModelFinished,
    ModelMessage,
    ModelRequest,
    TextBlock,
    TextDelta,
)
from parley.console import events
from tests.parley.console.kit import OPERATOR, Console, console_in, console_settings
from tests.parley.console.talk import world_in
from tests.parley.console.test_browser import at, sign_in
from tests.parley.demo.browser import (
    IN_CHROMIUM,
    check_views,
    window,
)
from tests.support.gateway import Model

pytestmark = IN_CHROMIUM


class Slow(Model):
    """Writes the beginning of its answer, and the rest when it is let."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        yield TextDelta("**The begin")
        await self.open.wait()
        yield TextDelta("ning** and the end")
        text = ModelMessage("assistant", (TextBlock("**The beginning** and the end"),))
        yield ModelFinished(text, "end", self.usage, self.name)


@pytest_asyncio.fixture(loop_scope="session")
async def console(tmp_path: Path) -> AsyncIterator[Console]:
    async with console_in(console_settings(tmp_path, console={"break_glass": True})) as started:
        yield started


async def test_an_answer_is_shown_on_each_platform_while_it_is_written(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "OFTEN", 0.05)
    model = Slow()
    monkeypatch.setattr(console.app.services.provider, "_provider", model)
    async with window(console.app.local.base_url) as opened:
        page = await sign_in(console, opened, OPERATOR)
        await page.goto(at(console, "/playground"))
        await page.get_by_label("Text").fill("Tell me")
        await page.get_by_label("Written by").select_option("guest")
        await page.get_by_label("Platform").select_option("telegram")
        await page.keyboard.press("Tab")
        await page.get_by_role("button", name="Ask").click()
        telegram = page.locator("section[aria-labelledby='on-telegram']")
        await expect(telegram).to_contain_text("<b>The begin</b>")
        await expect(telegram).to_contain_text("it would go here")
        await page.get_by_label("Text").fill("my next message")
        model.open.set()
        await expect(telegram).to_contain_text("<b>The beginning</b> and the end")
        await expect(page.locator("#blocks")).to_be_visible()
        await expect(page.locator("#live")).to_have_text("The answer is complete.")
        await expect(page.get_by_label("Text")).to_have_value("my next message")

        model.open.clear()
        await page.get_by_role("button", name="Ask").click()
        await page.get_by_role("button", name="Stop the answer").click()
        await expect(page.locator("#playground")).to_contain_text("You stopped the answer.")
        await page.get_by_role("button", name="End and forget everything").click()
        await expect(page.locator(".notice")).to_contain_text("Nothing of it is stored.")
        await expect(page.locator("#playground")).to_be_empty()
        assert opened.complaints == []


async def test_the_pages_with_content_are_accessible_and_fit(console: Console) -> None:
    world = await world_in(console.app)
    async with window(console.app.local.base_url) as opened:
        page = await sign_in(console, opened, OPERATOR)
        await page.goto(at(console, "/playground"))
        await page.get_by_label("Text").fill("Write a table")
        await page.get_by_label("Written by").select_option("member")
        await page.get_by_role("button", name="Ask").click()
        await expect(page.locator("#blocks")).to_be_visible()
        await check_views(page)
        await page.goto(at(console, f"/conversations/{world.adas}"))
        await page.get_by_text("Read this conversation in an emergency").click()
        await check_views(page)
        await page.get_by_label("Your name, as people will see it").last.fill("Olga")
        await page.get_by_label("Reason").fill("Ada wrote that she is in danger")
        await page.get_by_role("button", name="Read it, and tell the person").click()
        await expect(page.locator("main")).to_contain_text("my secret garden")
        await expect(page.locator(".notice").last).to_contain_text("You can read the private text")
        await check_views(page)
        await page.goto(at(console, "/private-memory"))
        await check_views(page)
        assert opened.complaints == []
