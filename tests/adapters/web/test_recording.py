"""The microphone of the web page: from the button to the bytes that the gateway fetches."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Page, expect

from adapters.web.connection import WebAdapter
from adapters.web.manifest import WebSettings
from gateway.immutable import replace
from gateway.message import Attachment, MessageReceived, Outbound, OutboundFile, VoiceMessage
from gateway.speech.containers import kind_of
from parley.http.local_listener import LocalListener
from tests.adapters.web.conftest import Inbox, context
from tests.parley.demo.browser import IN_CHROMIUM, Window, window
from tests.support.speech import ogg_opus

pytestmark = IN_CHROMIUM


@asynccontextmanager
async def opened(
    voice_seconds: int, *, allowed: bool = True
) -> AsyncIterator[tuple[Window, Inbox, WebAdapter]]:
    inbox = Inbox()
    adapter = WebAdapter(WebSettings(enabled=True), replace(context(), voice_seconds=voice_seconds))
    await adapter.connect(inbox)
    listener = LocalListener("127.0.0.1", 0)
    listener.add_routes(adapter.routes())
    await listener.start()
    try:
        async with window(listener.base_url) as shown:
            if allowed:
                await shown.context.grant_permissions(["microphone"])
            await shown.page.goto(f"{listener.base_url}/chat/")
            await expect(shown.page.locator("#state")).to_have_text("Connected")
            yield shown, inbox, adapter
    finally:
        await adapter.disconnect()
        await listener.stop()


async def sent(page: Page, inbox: Inbox) -> Attachment:
    await page.locator("#send").click()
    for _ in range(100):
        if inbox.events:
            break
        await asyncio.sleep(0.05)
    (event,) = inbox.events
    assert isinstance(event, MessageReceived)
    (file,) = event.message.attachments
    return file


async def test_what_is_recorded_is_attached_and_sent_as_a_voice_message() -> None:
    async with opened(60) as (shown, inbox, adapter):
        page, record = shown.page, shown.page.locator("#record")
        await record.click()
        await expect(record).to_have_attribute("aria-pressed", "true")
        await expect(page.locator("#recorded")).to_have_text("0:01")
        await record.click()
        await expect(page.locator("#attached .file-name")).to_have_text("voice message.webm")
        await expect(page.locator("#send")).to_be_focused()
        file = await sent(page, inbox)
        data = await adapter.fetch(file, 1_000_000)
        assert (file.kind, file.mime, file.voice) == ("audio", "audio/webm", True)
        assert file.seconds is not None
        assert 0.9 < file.seconds < 5
        assert kind_of(data) == "webm"
        assert shown.complaints == []


async def test_a_recording_ends_by_itself() -> None:
    async with opened(1) as (shown, inbox, _):
        await shown.page.locator("#record").click()
        await expect(shown.page.locator("#attached .file-name")).to_be_visible()
        assert (await sent(shown.page, inbox)).seconds == 1.0


async def test_without_permission_the_page_says_what_to_do() -> None:
    async with opened(60, allowed=False) as (shown, _, _):
        await shown.page.locator("#record").click()
        await expect(shown.page.locator("#problem")).to_contain_text("microphone")
        await expect(shown.page.locator("#record")).to_have_attribute("aria-pressed", "false")


async def test_where_nobody_listens_there_is_no_button() -> None:
    async with opened(0) as (shown, _, _):
        await expect(shown.page.locator("#text")).to_be_visible()
        await expect(shown.page.locator("#record")).to_be_hidden()


async def test_a_spoken_answer_can_be_played() -> None:
    async with opened(60) as (shown, inbox, adapter):
        await shown.page.locator("#text").fill("hello")
        await shown.page.locator("#send").click()
        await expect(shown.page.locator("#log li")).to_have_count(1)
        place = inbox.events[0].place
        voice = OutboundFile("answer.ogg", "audio/ogg", ogg_opus(200), VoiceMessage(1.0))
        await adapter.send(Outbound("r:1", place, file=voice))
        player = shown.page.locator("audio")
        await expect(player).to_be_visible()
        source = await player.get_attribute("src") or ""
        answer = await shown.page.request.get(source)
        assert (answer.headers["content-type"], await answer.body()) == ("audio/ogg", voice.data)
