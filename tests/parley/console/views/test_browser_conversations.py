"""The pages about conversations in Chromium: accessible, usable by keyboard, in a narrow window."""

import asyncio
from datetime import timedelta

import pytest_asyncio
from playwright.async_api import expect

from gateway.ports.clock import SystemClock
from parley.console import events
from tests.parley.console.kit import OPERATOR, PERSON, Console
from tests.parley.console.talk import HANDLED, LASTED, ROOM, World, direct, world_in
from tests.parley.console.test_browser import at, console, sign_in
from tests.parley.demo.browser import (
    IN_CHROMIUM,
    TELEPHONE,
    accessibility_findings,
    check_views,
    window,
)

__all__ = ["console"]  # a fixture of the tests here

pytestmark = IN_CHROMIUM


@pytest_asyncio.fixture(loop_scope="session")
async def world(console: Console) -> World:
    world = await world_in(console.app)
    await world.talk(ROOM, PERSON, "<b>garden</b> " + "w" * 100_000, "\u202egarden\u202c")
    await world.talk(ROOM, PERSON, "handled", decisions=HANDLED, durations=LASTED)
    return world


def paths(world: World) -> list[str]:
    return [
        f"/conversations/{world.adas}",
        f"/conversations/{world.room_ada}",
        f"/conversations/{world.room_ada}?before=1-x",
        f"/conversations/{world.room_ada}/message",
        f"/conversations/{world.room_ada}/rendering",
        f"/conversations/{world.talk.number:016x}/message",
        "/conversations",
        "/conversations?archived=yes",
        "/conversations?q=garden",
        "/conversations?q=nothing+at+all",
        "/conversations?platform=web&cost=9",
    ]


async def test_pages_with_content_are_accessible_and_fit(console: Console, world: World) -> None:
    async with window(console.app.local.base_url) as opened:
        page = await sign_in(console, opened, OPERATOR)
        for path in paths(world):
            await page.goto(at(console, path))
            await check_views(page)
        assert opened.complaints == []


async def test_the_keyboard_searches_and_archives(console: Console, world: World) -> None:
    assert world.talk.number == 6
    async with window(console.app.local.base_url) as opened:
        page = await sign_in(console, opened, PERSON)
        await page.goto(at(console, "/conversations"))
        await page.get_by_role("searchbox").first.fill("secret garden")
        await page.keyboard.press("Enter")
        await expect(page.locator(".hits li")).to_have_count(1)
        await expect(page.locator("mark")).to_have_text("secret")
        address = page.url
        await page.goto(at(console, "/overview"))
        await page.goto(address)
        await expect(page.locator(".hits li")).to_have_count(1)
        await page.goto(at(console, "/conversations?platform=web"))
        rows = page.locator(".entry")
        await expect(rows).to_have_count(2)
        await page.get_by_role("checkbox").first.focus()
        await page.keyboard.press("Space")
        button = page.get_by_role("button", name="Archive selected")
        for _ in range(20):
            await page.keyboard.press("Tab")
            if await button.evaluate("one => one === document.activeElement"):
                break
        await page.keyboard.press("Enter")
        await expect(page.locator(".notice")).to_contain_text("in the archive")
        await expect(rows).to_have_count(1)
        await expect(page.locator("#platform")).to_have_value("web")
        assert opened.complaints == []


async def test_all_conversations_are_chosen_at_once(console: Console, world: World) -> None:
    assert world.talk.number == 6
    async with window(console.app.local.base_url, TELEPHONE) as opened:
        page = await sign_in(console, opened, PERSON)
        await page.goto(at(console, "/conversations"))
        await page.get_by_role("button", name="Select all on this page").click()
        await expect(page.locator("input[name=ids]:checked")).to_have_count(2)
        await page.get_by_role("button", name="Archive selected").click()
        await expect(page.locator(".empty")).to_be_visible()
        await page.get_by_role("link", name="Archive", exact=True).click()
        await expect(page.locator(".entry")).to_have_count(2)
        assert opened.complaints == []


async def test_new_messages_appear_by_themselves(console: Console, world: World) -> None:
    async with window(console.app.local.base_url) as opened:
        page = await sign_in(console, opened, PERSON)
        async with page.expect_response("**/events?follow=*"):
            await page.goto(at(console, f"/conversations/{world.adas}"))
        await expect(page.locator(".exchange")).to_have_count(1)
        async with page.expect_response(f"**/conversations/{world.adas}"):
            await asyncio.sleep(events.EVERY)  # the first look
            await world.talk(direct(PERSON), PERSON, "and tulips")
        await expect(page.locator(".exchange")).to_have_count(2)
        await expect(page.locator("#live")).to_have_text("The conversation has changed.")
        assert opened.complaints == []


async def test_an_operator_takes_over_and_what_they_write_stays(
    console: Console, world: World
) -> None:
    async with window(console.app.local.base_url) as opened:
        page = await sign_in(console, opened, OPERATOR)
        await page.goto(at(console, f"/conversations/{world.adas}"))
        await page.get_by_text("Take over this conversation").click()
        name = page.get_by_label("Your name, as people will see it")
        await name.fill("Olga")
        async with page.expect_response(f"**/conversations/{world.adas}"):
            await page.evaluate("document.body.dispatchEvent(new Event('parley:conversation'))")
        await expect(name).to_have_value("Olga")
        assert await accessibility_findings(page) == []
        async with page.expect_response("**/events?follow=*"):
            await page.get_by_role("button", name="Take over").click()
        heading = page.get_by_role("heading", name="You are answering this conversation")
        await expect(heading).to_be_visible()
        assert await accessibility_findings(page) == []
        field = page.get_by_label("Your answer")
        await field.fill("I will")
        world.talk.begin = SystemClock().now() - timedelta(seconds=world.talk.number + 1)
        async with page.expect_response(f"**/conversations/{world.adas}"):
            await asyncio.sleep(events.EVERY)  # the first look
            await world.talk(direct(PERSON), PERSON, "will you help?")
        await expect(page.locator(".chat")).to_contain_text("will you help?")
        await expect(field).to_have_value("I will")
        await page.get_by_role("button", name="Send").click()
        await expect(page.locator(".said.answer").last).to_contain_text("I will")
        await page.get_by_role("button", name="Give the conversation back").click()
        await expect(heading).to_have_count(0)
        assert opened.complaints == []


async def test_a_conversation_looks_like_one_and_opens_decisions_beside_it(
    console: Console, world: World
) -> None:
    talk = world.talk
    for number in range(12):
        last = await talk(ROOM, PERSON, f"question {number}", "It is **green**.\n\n- one\n- two")
    async with window(console.app.local.base_url, (1440, 900)) as opened:
        page = await sign_in(console, opened, OPERATOR)
        await page.goto(at(console, f"/conversations/{last}"))
        bubble = page.locator(f"#message-{last} .answer")
        await expect(bubble.locator("strong", has_text="green")).to_be_visible()
        await expect(bubble.locator("li")).to_have_count(2)
        await expect(bubble).to_be_in_viewport()  # the newest message, without scrolling
        await expect(page.locator(".chat .day")).not_to_have_count(0)
        theirs, ours = page.locator(f"#message-{last} .turn"), bubble
        left, right = await theirs.first.bounding_box(), await ours.bounding_box()
        assert left is not None
        assert right is not None
        assert left["x"] < right["x"]
        link = page.locator(f"#message-{last}").get_by_role("link", name="How it was handled")
        await link.click()
        await expect(
            page.locator("#handling").get_by_role("heading", name="Decisions")
        ).to_be_visible()
        assert page.url.endswith(last)
        assert await accessibility_findings(page) == []
        await page.set_viewport_size({"width": 390, "height": 844})
        await link.click()
        await page.wait_for_url(f"**/{last}/message")
        assert opened.complaints == []


async def test_pages_fit_when_they_are_read_from_right_to_left(
    console: Console, world: World
) -> None:
    async with window(console.app.local.base_url) as opened:
        page = await sign_in(console, opened, OPERATOR)
        for path in (
            "/conversations",
            f"/conversations/{world.room_ada}",
            "/person?person=web:main:ada",
        ):
            await page.goto(at(console, path))
            await page.evaluate("document.documentElement.dir = 'rtl'")
            await check_views(page)
            assert await page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        assert opened.complaints == []
