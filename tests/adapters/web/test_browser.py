"""The web page in Chromium, over the real adapter and a gateway that echoes."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Route, expect

from adapters.web.connection import WebAdapter
from adapters.web.manifest import WebSettings
from gateway.message import (
    Button,
    ButtonPressed,
    InboundEvent,
    MessageReceived,
    Outbound,
    Part,
)
from gateway.render import render
from parley.http.local_listener import LocalListener
from tests.adapters.web.conftest import context
from tests.parley.demo.browser import IN_CHROMIUM, TELEPHONE, window

pytestmark = IN_CHROMIUM

CODE = "```py\nx = 1 < 2\n" + "y = 0; " * 40 + "\n```"
OK = Button("OK", "ok")
ANSWER = "# Yes\n\nYou said **{said}**\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n" + CODE


class Echo:
    """A gateway that answers at once, first a little, then all of it."""

    def __init__(self) -> None:
        self.adapter: WebAdapter | None = None
        self.events: list[InboundEvent] = []

    async def __call__(self, event: InboundEvent) -> None:
        assert self.adapter is not None
        self.events.append(event)
        place = event.place
        if isinstance(event, MessageReceived):
            await self.adapter.typing(place, event.message.id)
            first = Outbound(event.event_id, place, Part("<p>…</p>", "…"))
            sent = await self.adapter.send(first)
            [part] = render(ANSWER.format(said=event.message.content), "web")
            await self.adapter.end_live(
                Outbound("k", place, part, buttons=(OK,), replaces=sent.message_id)
            )
        elif isinstance(event, ButtonPressed):
            [part] = render(f"Pressed {event.label}", "web")
            await self.adapter.send(Outbound(event.event_id, place, part))


@pytest_asyncio.fixture(loop_scope="session")
async def served() -> AsyncIterator[tuple[Echo, str]]:
    echo = Echo()
    echo.adapter = WebAdapter(WebSettings(enabled=True), context())
    await echo.adapter.connect(echo)
    listener = LocalListener()
    listener.add_routes(echo.adapter.routes())
    await listener.start()
    yield echo, listener.base_url
    await echo.adapter.disconnect()
    await listener.stop()


async def test_a_conversation_shows_every_kind_of_message(served: tuple[Echo, str]) -> None:
    _, url = served
    async with window(url) as opened:
        page = opened.page
        await page.goto(f"{url}/chat/")
        await expect(page.locator("#state")).to_have_text("Connected")
        await page.fill("#text", "<b>hello</b>")
        await page.press("#text", "Enter")
        await expect(page.locator(".mine .bubble")).to_contain_text("<b>hello</b>")
        answer = page.locator(".theirs .bubble").first
        await expect(answer.locator("h1")).to_have_text("Yes")
        await expect(answer.locator("strong")).to_have_text("hello")
        await expect(answer.locator("pre")).to_contain_text("x = 1 < 2")
        await expect(answer.locator("td.right")).to_have_text("2")
        await expect(page.locator("#text")).to_have_value("")
        await answer.get_by_role("button", name="OK").click()
        await expect(page.locator(".theirs .bubble").nth(1)).to_contain_text("Pressed OK")
        await page.reload()
        await expect(page.locator(".line")).to_have_count(3)
        assert opened.complaints == []


async def test_files_replies_edits_and_deletions_work(served: tuple[Echo, str]) -> None:
    echo, url = served
    async with window(url) as opened:
        page = opened.page
        await page.goto(f"{url}/chat/")
        notes = {"name": "nötes.txt", "mimeType": "text/plain", "buffer": b"hello"}
        await page.set_input_files("#files", notes)  # type: ignore[arg-type]  # as documented
        await expect(page.locator("#attached")).to_contain_text("nötes.txt")
        await page.fill("#text", "look")
        await page.click("#send")
        await expect(page.locator(".mine .files a")).to_have_text("nötes.txt")
        await page.locator(".theirs").get_by_role("button", name="Reply").click()
        await page.fill("#text", "why?")
        await page.press("#text", "Enter")
        await expect(page.locator(".mine .quoted")).to_contain_text("You said look")
        mine = page.locator(".mine").first
        await mine.get_by_role("button", name="Edit").click()
        await page.fill("#text", "look here")
        await page.press("#text", "Enter")
        await expect(mine.locator(".foot")).to_contain_text("edited")
        await mine.get_by_role("button", name="Delete").click()
        await expect(mine.locator(".bubble")).to_contain_text("deleted")
        kinds = [event.kind for event in echo.events]
        assert kinds == ["message", "message", "edit", "deletion"]
        assert opened.complaints == []


async def test_a_written_text_is_kept_while_parley_is_unavailable(served: tuple[Echo, str]) -> None:
    echo, url = served
    assert echo.adapter is not None
    async with window(url) as opened:
        page = opened.page
        await page.goto(f"{url}/chat/")
        await expect(page.locator("#state")).to_have_text("Connected")
        await echo.adapter.disconnect()
        await page.fill("#text", "are you there?")
        await page.press("#text", "Enter")
        await expect(page.locator("#problem")).to_contain_text("not connected")
        await expect(page.locator("#text")).to_have_value("are you there?")
        await echo.adapter.connect(echo)
        await page.press("#text", "Enter")
        await expect(page.locator(".theirs")).to_have_count(1)
        await expect(page.locator("#problem")).to_be_hidden()


async def test_what_refuses_a_conversation_is_a_sentence_below_its_own_title(
    served: tuple[Echo, str],
) -> None:
    _, url = served

    async def refuse(route: Route) -> None:
        await route.fulfill(status=503, json={"error": "nothing can be read; try again"})

    async with window(url) as opened:
        page = opened.page
        await page.goto(f"{url}/chat/")
        await page.fill("#text", "hello")
        await page.press("#text", "Enter")
        await expect(page.locator("#title")).to_have_text("hello")
        await page.route("**/chat/api/**", refuse)
        await page.evaluate("location.hash = '#chat-0123456789abcdef'")
        reason = page.locator("#offline-reason")
        await expect(reason).to_contain_text("Nothing can be read; try again. Your text")
        await expect(page.locator("#title")).to_have_text("New chat")
        await page.fill("#text", "again")
        await page.press("#text", "Enter")
        await expect(page.locator("#problem")).to_have_text("Nothing can be read; try again.")


@pytest.mark.parametrize("dark", [False, True])
async def test_the_page_fits_a_phone(served: tuple[Echo, str], dark: bool) -> None:
    _, url = served
    async with window(url, TELEPHONE, dark=dark) as opened:
        page = opened.page
        await page.goto(f"{url}/chat/")
        await page.fill("#text", "word " * 200)
        await page.click("#send")
        await expect(page.locator(".theirs table")).to_be_visible()
        assert await page.evaluate("document.documentElement.scrollWidth") <= TELEPHONE[0]
        await expect(page.locator("#send")).to_be_in_viewport()
        assert opened.complaints == []


async def test_two_browsers_are_two_people(served: tuple[Echo, str]) -> None:
    _, url = served
    async with window(url) as ada, window(url) as ben:
        for opened, text in ((ada, "I am Ada"), (ben, "I am Ben")):
            await opened.page.goto(f"{url}/chat/")
            await opened.page.fill("#text", text)
            await opened.page.press("#text", "Enter")
            await expect(opened.page.locator(".theirs")).to_have_count(1)
        await asyncio.gather(ada.page.reload(), ben.page.reload())
        await expect(ada.page.locator(".mine .bubble")).to_contain_text("I am Ada")
        await expect(ben.page.locator(".mine .bubble")).to_contain_text("I am Ben")
