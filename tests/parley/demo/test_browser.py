"""The demo's page in Chromium, over the real gateway and the four real client libraries."""

import os
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from gateway.immutable import replace
from parley.demo.player import Player
from parley.demo.run import Demo, running
from parley.demo.story import STORY
from tests.parley.demo.browser import (
    DESKTOP,
    IN_CHROMIUM,
    TELEPHONE,
    Window,
    accessibility_findings,
    window,
)
from tests.support.pseudo_language import UNMARKED, PseudoLanguages

pytestmark = IN_CHROMIUM


@pytest_asyncio.fixture(loop_scope="session")
async def demo() -> AsyncIterator[Demo]:
    async with running(0, {}) as started:
        assert started.problems == {}
        yield started


def address(demo: Demo, platform: str, room: str = "direct", person: str = "Ada") -> str:
    return f"{demo.url}/#platform={platform}&room={room}&person={person}"


async def write(page: Page, text: str) -> None:
    await page.fill("#text", text)
    await page.press("#text", "Enter")


async def go(opened: Window, url: str) -> Page:
    await opened.page.goto("about:blank")
    await opened.page.goto(url)
    return opened.page


async def test_every_platform_shows_answers_in_its_own_style(demo: Demo) -> None:
    async with window(demo.url) as opened:
        for platform in ("discord", "slack", "telegram", "whatsapp"):
            page = await go(opened, address(demo, platform))
            await write(page, "show me a table")
            await expect(page.locator(".bot .content").first).to_contain_text("Longest message")
            assert await page.evaluate("document.body.dataset.look") == platform
            await expect(page.locator("#decisions .outcome").first).to_have_text("answered")
        assert opened.complaints == []


async def test_a_room_is_answered_only_after_a_mention(demo: Demo) -> None:
    async with window(demo.url) as opened:
        page = await go(opened, address(demo, "discord", "general", "Ben"))
        await page.uncheck("#mention")
        await write(page, "lunch?")
        await expect(page.locator("#decisions .outcome").first).to_have_text("ignored")
        await expect(page.locator("#decisions .no code").first).to_have_text("not_addressed")
        await page.check("#mention")
        await write(page, "what have we talked about so far?")
        await expect(page.locator(".bot .content")).to_have_text(
            "We have not talked about anything yet."
        )
        assert opened.complaints == []


async def test_a_typed_mention_is_not_doubled_and_a_group_has_the_name_of_its_platform(
    demo: Demo,
) -> None:
    async with window(demo.url) as opened:
        page = await go(opened, address(demo, "telegram", "general", "Ben"))
        await expect(page.locator("#room-title")).to_have_text("general")
        await write(page, "@Parley hello there")
        await expect(page.locator(".bot")).to_have_count(1)
        said = await page.locator(".person .content").first.text_content() or ""
        assert said.count("@") == 1
        page = await go(opened, address(demo, "slack", "general", "Ben"))
        await expect(page.locator("#room-title")).to_have_text("#general")
        assert opened.complaints == []


async def test_a_slack_answer_opens_a_thread_that_continues(demo: Demo) -> None:
    async with window(demo.url) as opened:
        page = await go(opened, address(demo, "slack", "general"))
        await write(page, "show me a list")
        await expect(page.locator(".bot.inside .content")).to_contain_text("Here is a list")
        question = page.locator(".message").first
        await question.hover()
        await question.get_by_role("button", name="Thread").click()
        await page.uncheck("#mention")
        await write(page, "what did I just say?")
        await expect(page.locator(".bot.inside .content").nth(1)).to_contain_text("show me a list")
        assert opened.complaints == []


async def test_a_command_asks_and_a_button_answers(demo: Demo) -> None:
    for platform in ("discord", "slack", "telegram", "whatsapp"):
        async with window(demo.url) as opened:
            page = await go(opened, address(demo, platform))
            await write(page, "remember this")
            await expect(page.locator(".bot")).to_have_count(1)
            await write(page, "/clear")
            await page.get_by_role("button", name="Delete history", exact=True).last.wait_for()
            await page.locator(".buttons").get_by_role("button", name="Delete history").click()
            await expect(page.locator("#log")).to_contain_text("Done: deleted 2 messages")
            assert opened.complaints == []


async def test_the_request_to_the_platform_is_shown(demo: Demo) -> None:
    async with window(demo.url) as opened:
        page = await go(opened, address(demo, "whatsapp"))
        await write(page, "show me code")
        await expect(page.locator(".bot")).to_have_count(1)
        await page.get_by_role("tab", name="Requests").click()
        call = page.locator(".call", has_text="messages").first
        await call.locator("summary").click()
        await expect(call.locator("pre")).to_contain_text('"messaging_product": "whatsapp"')
        assert opened.complaints == []


async def test_the_page_survives_simulated_faults(demo: Demo) -> None:
    async with window(demo.url) as opened:
        page = await go(opened, address(demo, "telegram"))
        for fault in ("Deliver the next message twice", "Refuse the next answer"):
            await page.locator("#faults summary").click()
            await page.get_by_role("button", name=fault).click()
            await expect(page.locator("#state")).to_have_text(
                "The fault applies to the next message"
            )
        await write(page, "show me a quote")
        await expect(page.locator("#state")).to_be_empty()
        await expect(page.locator(".bot .content")).to_contain_text("Simple beats clever")
        await page.get_by_role("tab", name="Requests").click()
        await expect(page.locator(".call .status", has_text="429")).to_have_count(1)
        await expect(page.locator(".bot")).to_have_count(1)
        assert opened.complaints == []


async def test_an_unsupported_action_is_reported(demo: Demo) -> None:
    async with window(demo.url) as opened:
        page = await go(opened, address(demo, "discord"))
        await write(page, "/unknown")
        await expect(page.locator("#problem")).to_contain_text("no command /unknown here")
        await expect(page.locator("#text")).to_have_value("/unknown")
        page = await go(opened, address(demo, "whatsapp"))
        archive = {"name": "all.zip", "mimeType": "application/zip", "buffer": b"PK"}
        await page.set_input_files("#files", archive)  # type: ignore[arg-type]  # as documented
        await page.click("#send")
        await expect(page.locator("#problem")).to_contain_text("WhatsApp takes no such file")


async def test_files_edits_and_deletions_are_shown(demo: Demo) -> None:
    async with window(demo.url) as opened:
        page = await go(opened, address(demo, "discord"))
        notes = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"Release on Friday"}
        await page.set_input_files("#files", notes)  # type: ignore[arg-type]  # as documented
        await expect(page.locator("#attached li")).to_contain_text("notes.txt")
        await write(page, "what is in here?")
        await expect(page.locator(".file-link")).to_have_text("notes.txt 17 bytes")
        await expect(page.locator(".bot")).to_have_count(1)
        mine = page.locator(".mine").first
        await mine.hover()
        await mine.get_by_role("button", name="Edit").click()
        await write(page, "never mind")
        await expect(mine.locator(".content")).to_contain_text("never mind")
        await mine.hover()
        await mine.get_by_role("button", name="Delete").click()
        await expect(page.locator(".gone")).to_have_count(1)
        assert opened.complaints == []


@pytest.mark.parametrize("dark", [False, True])
async def test_the_page_fits_a_phone(demo: Demo, dark: bool) -> None:
    async with window(demo.url, TELEPHONE, dark=dark) as opened:
        page = await go(opened, address(demo, "telegram"))
        await write(page, "show me everything you can")
        await expect(page.locator(".bot").first).to_be_visible()
        width = "document.documentElement.scrollWidth"
        for tab in ("Rooms", "Conversation", "Why"):
            await page.locator("#tabs").get_by_role("button", name=tab).click()
            assert await page.evaluate(width) <= TELEPHONE[0]
        await expect(page.locator("#decisions .outcome").first).to_be_visible()
        assert opened.complaints == []


async def test_the_page_works_with_the_keyboard_alone(demo: Demo) -> None:
    async with window(demo.url, DESKTOP) as opened:
        page = await go(opened, address(demo, "slack"))
        await page.wait_for_selector("#platforms [aria-current=page]")
        await page.keyboard.press("Tab")
        await expect(page.get_by_role("link", name="Go to the message box")).to_be_focused()
        await page.keyboard.press("Enter")
        await page.keyboard.press("Tab")
        reached = set()
        for _ in range(60):
            reached.add(
                await page.evaluate(
                    "document.activeElement.id || document.activeElement.textContent"
                )
            )
            await page.keyboard.press("Tab")
        assert {"send", "tab-decisions", "text"} & reached
        assert any("Direct message" in str(name) for name in reached)


async def test_html_in_messages_is_shown_as_text_or_by_its_meaning(demo: Demo) -> None:
    nasty = '<img src=x onerror="document.title=1"><script>document.title=2</script><b>bold</b>'
    async with window(demo.url) as opened:
        for platform in ("discord", "slack", "telegram", "whatsapp"):
            page = await go(opened, address(demo, platform, person="Cleo"))
            await write(page, f"say: {nasty}")
            await expect(page.locator(".mine .content").first).to_contain_text(nasty)
            safe = "x<script>document.title=2</script>bold"
            await expect(page.locator(".bot .content").first).to_have_text(safe)
            assert await page.locator("#log img, #log script").count() == 0
            assert await page.title() not in ("1", "2")
        assert opened.complaints == []


async def test_the_first_view_is_a_place_of_the_story(demo: Demo) -> None:
    async for outcome in Player(demo.world, demo.app.decisions).play(STORY[:1]):
        assert outcome.ok
    async with window(demo.url, TELEPHONE) as opened:
        await opened.page.goto(demo.url)
        await expect(opened.page.locator(".mine .content")).to_contain_text("Who are you")
        await expect(opened.page.locator(".bot .content")).to_contain_text("offline model")
        assert opened.complaints == []


async def test_the_message_box_keeps_its_height_when_a_room_is_chosen(demo: Demo) -> None:
    async with window(demo.url, TELEPHONE) as opened:
        page = await go(opened, address(demo, "telegram"))
        await page.locator("#tabs").get_by_role("button", name="Rooms").click()
        await page.locator("#platforms").get_by_role("button", name="general").first.click()
        await expect(page.locator("#text")).to_be_visible()
        box = await page.locator("#text").bounding_box()
        assert box is not None
        assert box["height"] >= 36


async def test_commands_presses_and_reactions_leave_a_trace(demo: Demo) -> None:
    async with window(demo.url) as opened:
        page = await go(opened, address(demo, "discord"))
        await write(page, "my favourite colour is teal")
        answer = page.locator(".bot").first
        await answer.hover()
        await answer.get_by_role("button", name="React with thumbs up").click()
        await expect(answer.locator(".reactions li")).to_have_attribute("aria-label", "👍 from Ada")
        await write(page, "/clear")
        await page.locator(".buttons").get_by_role("button", name="Delete history").click()
        await expect(page.locator(".interaction").first).to_have_text("Ada used /clear")
        await expect(page.locator(".interaction").nth(1)).to_have_text("Ada pressed Delete history")
        assert opened.complaints == []


@pytest.mark.parametrize("dark", [False, True])
async def test_axe_finds_nothing_serious(demo: Demo, dark: bool) -> None:
    async with window(demo.url, dark=dark) as opened:
        for platform in ("discord", "slack", "telegram", "whatsapp"):
            page = await go(opened, address(demo, platform))
            await write(page, "show me everything you can")
            await expect(page.locator(".bot").first).to_be_visible()
            skipped = page.locator("#decisions .skipped").first
            await expect(skipped).to_contain_text("skipped: ")
            assert await accessibility_findings(page) == []


@pytest.mark.parametrize("size", [DESKTOP, TELEPHONE])
async def test_the_page_is_in_the_language_and_direction_of_its_reader(
    demo: Demo, size: tuple[int, int]
) -> None:
    demo.app.policies.value = replace(demo.app.policies.value, languages=PseudoLanguages())
    async with window(demo.url, size) as opened:
        for platform in ("telegram", "slack"):
            page = await go(opened, address(demo, platform, "general", "Ben"))
            assert await page.evaluate("document.dir") == "rtl"
            await write(page, "hello")
            await expect(page.locator(".bot .content").first).to_be_visible()
            await expect(page.locator(".person time").first).to_be_visible()
            await expect(page.locator("#decisions .outcome").first).to_contain_text("answered")
            own = "#log .content, .quoted, .name, .badge, #platforms :is(button, h2), #people label"
            english = "#decisions .detail, #requests"
            found = await page.evaluate(UNMARKED, f"{own}, {english}, .asked, #room-title")
            assert [one for one in found if one not in ("Telegram ·", "Slack ·")] == []
            assert await page.evaluate("document.documentElement.scrollWidth") <= size[0]
            assert await accessibility_findings(page) == []
            if folder := os.environ.get("PARLEY_SCREENSHOTS"):
                await page.screenshot(path=f"{folder}/demo-rtl-{platform}-{size[0]}.png")
        assert opened.complaints == []
