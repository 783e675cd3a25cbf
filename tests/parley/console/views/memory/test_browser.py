"""Preferences and project notes in Chromium: lines, the count, two tabs, accessibility."""

from playwright.async_api import expect

from tests.parley.console.kit import PERSON, Console
from tests.parley.console.test_browser import at, console, sign_in
from tests.parley.console.views.memory.test_pools import invited
from tests.parley.demo.browser import IN_CHROMIUM, accessibility_findings, check_views, window

__all__ = ["console"]  # a fixture of the tests here

pytestmark = IN_CHROMIUM
TEXT = "Short answers, please.\nNo jokes.\nاكتب بالعربية عند الحاجة\n" + "x" * 200


async def test_the_pages_with_content_are_accessible_and_fit(console: Console) -> None:
    handle = await console.program.api_client("ada").in_private()
    await handle.documents.write("soul", "Long answers.")
    await handle.documents.write("soul", TEXT)
    async with window(console.app.local.base_url) as opened:
        page = await sign_in(console, opened, "ada")
        for path in ("/memory", "/memory/versions?document=soul"):
            await page.goto(at(console, path))
            await check_views(page)
        await page.goto(at(console, "/memory"))
        await page.get_by_label("Edit line 1").click()
        await check_views(page)
        assert opened.complaints == []


async def test_a_line_is_edited_with_the_keyboard_alone(console: Console) -> None:
    handle = await console.program.api_client("ada").in_private()
    await handle.documents.write("soul", "Short answers.")
    async with window(console.app.local.base_url) as opened:
        page = await sign_in(console, opened, "ada")
        await page.goto(at(console, "/memory"))
        await page.get_by_label("Edit line 1").focus()
        await page.keyboard.press("Enter")
        await page.keyboard.press("Tab")
        await expect(page.get_by_label("Line 1", exact=True)).to_be_focused()
        await page.keyboard.press("Control+a")
        await page.keyboard.type("Long answers.")
        await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("status").first).to_have_text(
            "Saved as version 2 of the preferences."
        )
        await expect(page.locator(".lines .line")).to_have_text("Long answers.")
        assert opened.complaints == []


async def test_the_count_follows_the_text_and_warns(console: Console) -> None:
    handle = await console.program.api_client("ada").in_private()
    await handle.documents.write("soul", "x" * 8_990)
    async with window(console.app.local.base_url) as opened:
        page = await sign_in(console, opened, "ada")
        await page.goto(at(console, "/memory"))
        count = page.locator("#soul-new-count")
        await page.get_by_label("New line").fill("y" * 8)
        await expect(count).to_have_text("8,999 of 10,000 characters")
        await page.get_by_label("New line").fill("y" * 9)
        await expect(count).to_have_text("9,000 of 10,000 characters: 1,000 left")
        await page.get_by_label("New line").fill("y" * 1_010)
        await expect(count).to_have_text("10,001 of 10,000 characters: 1 too many")
        # A text that is too long is not sent, so that it cannot be lost.
        field = page.get_by_label("New line")
        await field.fill("y" * 1_000_000)
        await page.get_by_role("button", name="Add").click()
        assert "too long" in await field.evaluate("field => field.validationMessage")
        assert len(await field.input_value()) == 1_000_000
        await expect(page.locator(".lines .line")).to_have_count(1)


async def test_the_loser_of_two_tabs_sees_both_and_adds_theirs(console: Console) -> None:
    async with window(console.app.local.base_url) as opened:
        first = await sign_in(console, opened, "ada")
        second = await opened.context.new_page()
        for tab in (first, second):
            await tab.goto(at(console, "/memory"))
        await first.get_by_label("New line").fill("Short answers.")
        await first.get_by_role("button", name="Add").click()
        await expect(first.locator(".lines .line")).to_have_text("Short answers.")
        await second.get_by_label("New line").fill("Answers in French.")
        await second.get_by_role("button", name="Add").click()
        await expect(second.locator(".diff ins")).to_contain_text("Short answers.")
        await expect(second.get_by_label("Your text, not saved")).to_have_value(
            "Answers in French."
        )
        assert await accessibility_findings(second) == []
        await second.get_by_role("button", name="Add it as a new line").click()
        await expect(second.locator(".lines .line")).to_have_text(
            ["Short answers.", "Answers in French."]
        )


async def test_invitations_and_tokens_are_accessible_fit_and_need_only_the_keyboard(
    console: Console,
) -> None:
    await invited(console)
    async with window(console.app.local.base_url) as opened:
        page = await sign_in(console, opened, PERSON)
        await page.goto(at(console, "/memory/pools"))
        await check_views(page)
        await page.get_by_role("button", name="Accept").focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("status").first).to_have_text(
            "Your agent is in the pool now."
        )
        await check_views(page)
        await page.goto(at(console, "/memory/tokens"))
        for use in ("read", "write"):
            await page.get_by_label("What it may do").select_option(use)
            await page.get_by_role("button", name="Create").click()
            await expect(page.locator("#token")).to_contain_text("parley_")
            await check_views(page)
        assert opened.complaints == []
