"""The pages about usage in Chromium: charts with a table, accessible, in a narrow window."""

import pytest_asyncio
from playwright.async_api import expect

from tests.parley.console.kit import OPERATOR, Console
from tests.parley.console.talk import World, world_in
from tests.parley.console.test_browser import at, console, sign_in
from tests.parley.demo.browser import (
    IN_CHROMIUM,
    TELEPHONE,
    check_views,
    window,
)

__all__ = ["console"]  # a fixture of the tests here

pytestmark = IN_CHROMIUM
PATHS = ("/usage", "/usage?days=365&by=channel", "/usage?until=2020-01-01&person=nobody")


@pytest_asyncio.fixture(loop_scope="session")
async def world(console: Console) -> World:
    return await world_in(console.app)


async def test_charts_are_drawn_from_the_table(console: Console, world: World) -> None:
    assert world.talk.number == 4
    async with window(console.app.local.base_url) as opened:
        page = await sign_in(console, opened, OPERATOR)
        await page.goto(at(console, "/usage"))
        await expect(page.locator("#charts canvas")).to_have_count(5)
        await expect(page.locator("#periods")).not_to_be_visible()
        for path in PATHS:
            await page.goto(at(console, path))
            await check_views(page)
        await page.goto(at(console, "/usage"))
        await page.get_by_text("The figures as a table").click()
        await expect(page.locator("#periods tbody tr").first).to_be_visible()
        await page.get_by_label("Group by").select_option("channel")
        await page.get_by_role("button", name="Show").click()
        await page.get_by_role("link", name="Direct messages").click()
        await expect(page.get_by_label("Channel id")).to_have_value("direct")
        await expect(page.locator(".figure dd").nth(1)).to_have_text("2")
        async with page.expect_download() as started:
            await page.get_by_role("link", name="CSV file").click()
        assert (await started.value).suggested_filename.startswith("usage-by-person-")
        assert opened.complaints == []


async def test_a_chart_that_is_not_drawn_anew_does_not_widen_a_narrow_page(
    console: Console, world: World
) -> None:
    assert world.talk.number == 4
    async with window(console.app.local.base_url) as opened:
        page = await sign_in(console, opened, OPERATOR)
        await page.add_init_script("window.ResizeObserver = class { observe() {} }")
        await page.goto(at(console, "/usage"))
        await expect(page.locator("#charts canvas")).to_have_count(5)
        width, height = TELEPHONE
        await page.set_viewport_size({"width": width, "height": height})
        assert await page.evaluate("document.documentElement.scrollWidth") == width
