"""Memories, reviews, export and erasure in Chromium: flows with the keyboard, accessibility."""

from playwright.async_api import Page, expect

from memory.model.record import Kind
from tests.parley.console.kit import Console
from tests.parley.console.test_browser import at, console, sign_in
from tests.parley.console.views.memory.kit import remember, waiting
from tests.parley.demo.browser import (
    IN_CHROMIUM,
    TELEPHONE,
    check_views,
    window,
)

__all__ = ["console"]  # a fixture of the tests here

pytestmark = IN_CHROMIUM
LONG = "I drink tea: " + "عند" * 50


async def status_says(page: Page, text: str) -> None:
    await expect(page.locator(".notice")).to_contain_text(text)


async def test_every_page_of_my_memory_is_accessible_and_fits(console: Console) -> None:
    tea = await remember(console, "ada", "I drink green tea.", Kind.PREFERENCE)
    coffee = await remember(console, "ada", LONG, supersedes=tea)
    await waiting(console, "ada", "Ada plays the cello.")
    async with window(console.app.local.base_url) as opened:
        page = await sign_in(console, opened, "ada")
        entries = ("entries?replaced=yes", "entries?of=project", f"entries/{coffee}")
        for path in (*entries, "reviews", "visibility", "accounts", "tokens", "data"):
            await page.goto(at(console, f"/memory/{path}"))
            await check_views(page)
        for path, button in (("accounts", "Make a code"), ("tokens", "Create")):
            await page.goto(at(console, f"/memory/{path}"))
            await page.get_by_role("button", name=button).click()
            await expect(page.locator(".secret")).to_be_visible()
            await check_views(page)
        await page.goto(at(console, "/memory/entries"))
        await page.get_by_role("button", name="Select all on this page").click()
        await page.get_by_role("button", name="Delete selected").click()
        await expect(page.get_by_role("heading", level=2)).to_contain_text("Delete 2 memories?")
        await check_views(page)
        assert opened.complaints == []


async def test_a_memory_is_found_edited_and_restored_with_the_keyboard(console: Console) -> None:
    await remember(console, "ada", "I drink green tea.", Kind.PREFERENCE)
    await remember(console, "ada", "The meeting is on Tuesday.")
    async with window(console.app.local.base_url) as opened:
        page = await sign_in(console, opened, "ada")
        await page.keyboard.press("Control+k")
        await page.keyboard.type("memories with search")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Memories")
        await page.get_by_role("searchbox").focus()
        await page.keyboard.type("tea")
        await page.keyboard.press("Enter")
        await expect(page.locator("tbody th")).to_have_count(1)
        await page.get_by_role("link", name="I drink green tea.").focus()
        await page.keyboard.press("Enter")
        await page.get_by_text("Edit", exact=True).focus()
        await page.keyboard.press("Enter")
        await page.keyboard.press("Tab")
        await expect(page.get_by_label("New text")).to_be_focused()
        await page.keyboard.press("Control+a")
        await page.keyboard.type("I drink black coffee.")
        await page.keyboard.press("Tab")
        await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await status_says(page, "The new text is saved.")
        await expect(page.locator(".hits li")).to_have_count(2)
        await page.get_by_role("button", name="Restore the earlier text").press("Enter")
        await status_says(page, "The earlier text is valid again.")
        await expect(page.locator(".said").first).to_have_text("I drink green tea.")
        assert opened.complaints == []


async def test_several_memories_are_deleted_after_their_number_is_confirmed(
    console: Console,
) -> None:
    for text in ("I drink green tea.", "The meeting is on Tuesday.", "My boat is called Nina."):
        await remember(console, "ada", text)
    async with window(console.app.local.base_url, TELEPHONE) as opened:
        page = await sign_in(console, opened, "ada")
        await page.goto(at(console, "/memory/entries?kind=fact"))
        for name in ("I drink green tea.", "My boat is called Nina."):
            await page.get_by_role("checkbox", name=name).check()
        await page.get_by_role("button", name="Delete selected").click()
        await page.get_by_role("button", name="Delete 2 memories").click()
        await status_says(page, "2 memories are deleted.")
        await page.get_by_role("link", name="Back to the list").click()
        await expect(page).to_have_url(at(console, "/memory/entries?kind=fact"))
        await expect(page.locator("tbody th a")).to_have_text("The meeting is on Tuesday.")
        assert opened.complaints == []


async def test_a_review_is_rejected_with_a_reason_and_another_is_changed(console: Console) -> None:
    await waiting(console, "ada", "Ada dislikes rain.")
    await waiting(console, "ada", "Ada plays the cello.")
    async with window(console.app.local.base_url) as opened:
        page = await sign_in(console, opened, "ada")
        await page.goto(at(console, "/memory/reviews"))
        await page.get_by_label("Reject entry 1 with a reason").click()
        await page.get_by_label("Reason, for the history").first.fill("She likes it.")
        await page.get_by_role("button", name="Reject with this reason").first.click()
        await status_says(page, "It is discarded")
        await page.get_by_label("Edit entry 1").click()
        await page.get_by_label("Text to store instead").fill("Ada plays the viola.")
        await page.get_by_role("button", name="Store this text").click()
        await status_says(page, "The changed text is stored.")
        await expect(page.locator(".decided tbody tr")).to_have_count(2)
        await expect(page.locator(".decided")).to_contain_text("She likes it.")
        assert opened.complaints == []


async def test_everything_is_downloaded_and_then_erased(console: Console) -> None:
    await remember(console, "ada", "I drink green tea.")
    async with window(console.app.local.base_url) as opened:
        page = await sign_in(console, opened, "ada")
        await page.goto(at(console, "/memory/data"))
        async with page.expect_download() as coming:
            await page.get_by_role("link", name="Memories (Markdown)").click()
        file = await (await coming.value).path()
        assert "I drink green tea." in file.read_text("utf-8")
        await page.get_by_label("To erase, write").fill("erase")
        await page.get_by_role("button", name="Erase everything").click()
        await expect(page.get_by_role("alert")).to_contain_text("Nothing was erased.")
        await page.get_by_label("To erase, write").fill("erase everything")
        await page.get_by_role("button", name="Erase everything").click()
        await status_says(page, "web:main:ada is erased")
        await page.goto(at(console, "/memory/entries"))
        await expect(page.get_by_role("heading", level=1)).to_have_text("You are not signed in")
