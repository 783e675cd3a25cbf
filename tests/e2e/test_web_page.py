"""The web page in Chromium over the whole program: conversations, stop, files, restart, misuse."""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pytest
from playwright.async_api import Page, expect

from adapters.web.chats import STREAMS_PER_PERSON
from gateway.errors import ModelRefused
from gateway.immutable import replace
from gateway.languages.installed import Languages
from gateway.llm.offline import OfflineProvider
from gateway.ports import ModelEvent, ModelRequest
from parley.app import App
from parley.config import from_mapping
from tests.parley.demo.browser import (
    DESKTOP,
    IN_CHROMIUM,
    TELEPHONE,
    accessibility_findings,
    window,
)
from tests.support.ports import free_port
from tests.support.program import running_app
from tests.support.pseudo_language import UNMARKED, PseudoLanguages

pytestmark = IN_CHROMIUM

NO_SECTIONS: Final[Mapping[str, object]] = MappingProxyType({})
NASTY = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
CODE = f'say: ```py"><img/src=x/onerror=alert(1)>\ndef greet():  # hello\n    return "{NASTY}"\n```'


@asynccontextmanager
async def program(
    folder: Path,
    port: int,
    sections: Mapping[str, object] = NO_SECTIONS,
    languages: Languages | None = None,
    **web: object,
) -> AsyncIterator[str]:
    settings = from_mapping(
        {
            "model": {"provider": "offline"},
            "platforms": {"web": {"enabled": True, **web}},
            "database": {"url": f"sqlite:///{folder}/parley.db"},
            "server": {"port": port},
            "webhooks": {"port": 0},
            "limits": {"user_per_minute": 0, "channel_per_minute": 0},
            **sections,
        }
    )
    async with running_app(App(settings), drain=0) as app:
        if languages is not None:
            app.policies.value = replace(app.policies.value, languages=languages)
        yield app.local.base_url


async def write(page: Page, text: str) -> None:
    """Write a message and wait for its answer."""
    answers = await page.locator(".theirs").count()
    await page.fill("#text", text)
    await page.press("#text", "Enter")
    await expect(page.locator(".theirs:not(.live)")).to_have_count(answers + 1)
    await expect(page.locator("#stop")).to_be_hidden()


async def test_conversations_are_listed_opened_and_restored(tmp_path: Path) -> None:
    port = free_port()
    async with program(tmp_path, port) as url, window(url) as opened, window(url) as stranger:
        page = opened.page
        await page.goto(f"{url}/chat/")
        await expect(page.locator("#empty")).to_be_visible()
        await write(page, "my favourite colour is teal")
        await page.get_by_role("button", name="New chat").click()
        await expect(page.locator("#empty")).to_be_visible()
        await write(page, f"{NASTY} long")
        titles = page.locator("#chats .chat-title")
        await expect(titles).to_have_text([f"{NASTY} long", "my favourite colour is teal"])
        await titles.nth(1).click()
        await expect(page.locator(".mine .bubble")).to_contain_text("teal")
        await page.go_back()
        await expect(page.locator(".mine .bubble")).to_contain_text("onerror")
        second = await opened.context.new_page()
        await second.goto(page.url)
        await write(second, "from another tab")
        await expect(page.locator(".mine").nth(1)).to_contain_text("from another tab")
        await stranger.page.goto(page.url)
        await expect(stranger.page.locator("#empty")).to_be_visible()
        await expect(stranger.page.locator("#chats li")).to_have_count(0)
        assert await page.title() not in ("1", "2")
        assert opened.complaints == []


async def test_the_page_says_that_the_program_is_gone_and_comes_back(tmp_path: Path) -> None:
    port = free_port()
    async with window(f"http://127.0.0.1:{port}") as opened:
        page = opened.page
        async with program(tmp_path, port) as url:
            await page.goto(f"{url}/chat/")
            await write(page, "the word is apple")
        await expect(page.locator("#offline")).to_be_visible()
        await page.fill("#text", "still here")
        await page.press("#text", "Enter")
        await expect(page.locator("#problem")).to_contain_text("send it again")
        async with program(tmp_path, port):
            await page.get_by_role("button", name="Try now").click()
            await expect(page.locator("#state")).to_have_text("Connected")
            await expect(page.locator("#offline")).to_be_hidden()
            await expect(page.locator(".line")).to_have_count(2)
            await expect(page.locator("#text")).to_have_value("still here")
            await page.press("#text", "Enter")
            await expect(page.locator(".theirs")).to_have_count(2)


async def test_a_page_too_many_says_so_and_asks_seldom(tmp_path: Path) -> None:
    async with program(tmp_path, 0) as url, window(url) as opened:
        for _ in range(STREAMS_PER_PERSON):
            page = await opened.context.new_page()
            await page.goto(f"{url}/chat/")
            await expect(page.locator("#state")).to_have_text("Connected")
        refused: list[str] = []
        opened.page.on("response", lambda one: refused.append(one.url) if not one.ok else None)
        await opened.page.goto(f"{url}/chat/")
        await expect(opened.page.locator("#offline")).to_contain_text("Too many open pages")
        assert len(refused) < 8
        await page.close()
        # The page may have tried by itself, and hidden its button.
        await opened.page.locator("#retry").dispatch_event("click")
        await expect(opened.page.locator("#state")).to_have_text("Connected")
        await expect(opened.page.locator("#offline")).to_be_hidden()


async def test_an_answer_is_stopped_and_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancelled, stream = asyncio.Event(), OfflineProvider.stream

    async def held(self: OfflineProvider, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        async for event in stream(self, request):
            yield event
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.set()
                raise

    async with program(tmp_path, 0) as url, window(url) as opened:
        page = opened.page
        await page.goto(f"{url}/chat/")
        with monkeypatch.context() as patched:
            patched.setattr(OfflineProvider, "stream", held)
            await page.fill("#text", "count to 50")
            await page.press("#text", "Enter")
            await page.get_by_role("button", name="Stop the answer").click()
            await asyncio.wait_for(cancelled.wait(), 30)
            await expect(page.locator(".theirs").last).to_contain_text("Stopped.")
            await expect(page.locator("#stop")).to_be_hidden()
        await page.get_by_role("button", name="Regenerate").click()
        await expect(page.locator(".theirs").last).to_contain_text("49 50")
        await expect(page.locator(".theirs")).to_have_count(1)
        await expect(page.locator(".mine")).to_have_count(1)
        assert opened.complaints == []


LIMITED: Final = {"limits": {"user_per_minute": 1, "channel_per_minute": 0}}
ENDINGS: Final[tuple[tuple[Mapping[str, object], tuple[str, ...]], ...]] = (
    (LIMITED, ("count to 3", "and now", "and again", "/help", "/help")),
    ({"access": {"admission": "owners"}}, ("hello", "/help")),
    ({"access": {"admission": "approved"}}, ("hello", "hello again")),
    (NO_SECTIONS, ("/nonsense", "/forget", "/approve X", "/stop", "fail")),
)


@pytest.mark.parametrize(("sections", "messages"), ENDINGS)
async def test_nobody_waits_for_a_message_that_has_ended(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    sections: Mapping[str, object],
    messages: tuple[str, ...],
) -> None:
    stream = OfflineProvider.stream

    async def failing(self: OfflineProvider, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        if "fail" in str(request.messages[-1]):
            raise ModelRefused("the model is broken")
        async for event in stream(self, request):
            yield event

    monkeypatch.setattr(OfflineProvider, "stream", failing)
    async with program(tmp_path, 0, sections) as url, window(url) as opened:
        page = opened.page
        await page.goto(f"{url}/chat/")
        await expect(page.locator("#state")).to_have_text("Connected")
        for number, message in enumerate(messages, start=1):
            await page.fill("#text", message)
            await page.press("#text", "Enter")
            await expect(page.locator(".mine")).to_have_count(number)
            await expect(page.locator("#stop")).to_be_hidden(timeout=10_000)
            await expect(page.locator("#typing")).to_be_hidden()
        assert opened.complaints == []


async def test_code_is_coloured_copied_and_never_run(tmp_path: Path) -> None:
    async with program(tmp_path, 0) as url, window(url) as opened:
        page = opened.page
        await opened.context.grant_permissions(["clipboard-read", "clipboard-write"])
        await page.goto(f"{url}/chat/")
        await write(page, CODE)
        assert await page.locator(".theirs img, .theirs script").count() == 0
        await write(page, CODE.replace('py"><img/src=x/onerror=alert(1)>', "py"))
        box = page.locator(".theirs").last
        await expect(box.locator(".tok-keyword").first).to_have_text("def")
        await expect(box.locator(".tok-comment")).to_have_text("# hello")
        await box.get_by_role("button", name="Copy code").click()
        copied = await page.evaluate("navigator.clipboard.readText()")
        assert copied.rstrip() == f'def greet():  # hello\n    return "{NASTY}"'
        assert await page.title() not in ("1", "2")
        assert opened.complaints == []


ADD_FILES = """([kind, files]) => {
    const data = new DataTransfer();
    for (const [name, size] of files) data.items.add(new File(["x".repeat(size)], name));
    const init = { bubbles: true, cancelable: true };
    document.getElementById("text").dispatchEvent(kind === "paste"
        ? new ClipboardEvent("paste", { ...init, clipboardData: data })
        : new DragEvent("drop", { ...init, dataTransfer: data }));
}"""


async def test_files_are_dropped_pasted_and_refused_by_name(tmp_path: Path) -> None:
    async with program(tmp_path, 0, max_upload_bytes=2_000) as url, window(url) as opened:
        page = opened.page
        await page.goto(f"{url}/chat/")
        await expect(page.locator("#state")).to_have_text("Connected")
        await page.evaluate(ADD_FILES, ["paste", [[f"{NASTY}.txt", 10]]])
        await expect(page.locator("#attached li")).to_have_count(1)
        await page.evaluate(ADD_FILES, ["drop", [["large.txt", 2_001], ["b.txt", 5], ["empty", 0]]])
        await expect(page.locator("#attached li")).to_have_count(2)
        await expect(page.locator("#problem")).to_contain_text("large.txt is too large: 2 kB")
        await expect(page.locator("#problem")).to_contain_text("empty is empty, or a folder")
        await page.evaluate(ADD_FILES, ["drop", [[f"{n}.txt", 1] for n in range(12)]])
        await expect(page.locator("#attached li")).to_have_count(10)
        await expect(page.locator("#problem")).to_contain_text("at most 10 files")
        await write(page, "look at these")
        await expect(page.locator(".mine .files a")).to_have_count(10)
        await expect(page.locator("#attached")).to_be_hidden()
        await page.fill("#text", "x" * 40_001)
        await page.press("#text", "Enter")
        await expect(page.locator("#problem")).to_contain_text("40,001 characters")
        assert opened.complaints == []


@pytest.mark.parametrize(("size", "dark"), [(DESKTOP, False), (TELEPHONE, True)])
async def test_the_page_is_accessible_at_each_size(
    tmp_path: Path, size: tuple[int, int], dark: bool
) -> None:
    async with program(tmp_path, 0) as url, window(url, size, dark=dark) as opened:
        page = opened.page
        await page.goto(f"{url}/chat/")
        await expect(page.locator("#empty")).to_be_visible()
        assert await accessibility_findings(page) == []
        await write(page, "show me everything you can")
        await write(page, "/clear")
        await expect(page.locator(".buttons")).to_be_visible()
        assert await accessibility_findings(page) == []
        assert await page.evaluate("document.documentElement.scrollWidth") <= size[0]
        if size == TELEPHONE:
            await page.get_by_role("button", name="Conversations").click()
            await expect(page.locator("#close-list")).to_be_focused()
            assert await accessibility_findings(page) == []
            await page.keyboard.press("Escape")
            await expect(page.locator("#menu")).to_be_focused()
        assert opened.complaints == []


async def test_the_page_works_with_the_keyboard_alone(tmp_path: Path) -> None:
    async with program(tmp_path, 0) as url, window(url) as opened:
        page = opened.page
        await page.goto(f"{url}/chat/")
        await write(page, "count to 3")
        await page.locator("#text").blur()
        reached = set()
        for _ in range(20):
            await page.keyboard.press("Tab")
            reached.add(
                await page.evaluate(
                    "document.activeElement.ariaLabel || document.activeElement.textContent.trim()"
                )
            )
        for name in ("New chat", "Regenerate", "Copy", "Reply", "Send", "Conversation"):
            assert any(name in one for one in reached), (name, reached)


@pytest.mark.parametrize("size", [DESKTOP, TELEPHONE])
async def test_the_page_is_in_the_language_and_direction_of_its_reader(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with (
        program(tmp_path, 0, languages=PseudoLanguages(), max_upload_bytes=2_000) as url,
        window(url, size) as opened,
    ):
        page = opened.page
        await page.goto(f"{url}/chat/")
        await expect(page.locator("#state")).to_have_text(re.compile("⟦Connected"))
        root = await page.evaluate("[document.documentElement.lang, document.dir]")
        assert root == ["ar", "rtl"]
        assert await page.evaluate(UNMARKED, "#title, #assistant") == []
        await write(page, CODE)
        await page.evaluate(ADD_FILES, ["drop", [["large.txt", 2_001], ["b.txt", 5], ["empty", 0]]])
        await expect(page.locator("#problem")).to_contain_text("⟦")
        await page.locator(".theirs").get_by_role("button", name="Reply").click()
        await page.evaluate("fetch('api/actions', {method: 'POST'})")
        own = "#title, #assistant, .theirs .bubble, .mine .bubble, .file-name, .file-size"
        assert await page.evaluate(UNMARKED, f"{own}, #chats a") == []
        assert await page.evaluate("document.documentElement.scrollWidth") <= size[0]
        assert await accessibility_findings(page) == []
        side = await page.locator("#side").bounding_box()
        assert side is not None
        if size == DESKTOP:
            assert side["x"] > size[0] / 2, "the list is at the right"
        else:
            assert side["x"] >= size[0], "the list waits beyond the right edge"
            await page.locator("#menu").click()
            await expect(page.locator("#close-list")).to_be_focused()
            assert await accessibility_findings(page) == []
        foreign = [one for one in opened.complaints if "415" not in one]
        assert foreign == []
        if folder := os.environ.get("PARLEY_SCREENSHOTS"):
            await page.screenshot(path=f"{folder}/chat-rtl-{size[0]}.png")
