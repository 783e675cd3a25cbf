"""Configuration and access in Chromium: the flows of an owner, accessibility."""

from datetime import timedelta

from playwright.async_api import expect

from gateway.message import Place
from gateway.people import Audience
from gateway.ports.admissions import Applicant
from memory.stores.api_tokens import ApiToken
from parley.console.views.configuration import forms
from tests.parley.console.kit import OWNER, Console, person_named
from tests.parley.console.test_browser import at, console, sign_in
from tests.parley.console.views.configuration.kit import change
from tests.parley.demo.browser import (
    IN_CHROMIUM,
    TELEPHONE,
    check_views,
    window,
)

__all__ = ["console"]  # a fixture of the tests here

pytestmark = IN_CHROMIUM
LONG = "web:" + "x" * 150
PAGES = (
    *(f"/configuration?page={name}" for name in forms.PAGES),
    "/configuration?show=all",
    "/configuration?q=nothing-like-this",
    "/configuration/versions",
    "/access",
    "/access/question",
    "/access/question?person=web:main:eve&audience=public_room&channel=general",
    "/access/question?person=web:main:ada&action=tool&tool=set_task",
)


async def filled(console: Console) -> None:
    """Changes, an override that cannot be used, people who ask, an approved one, a token."""
    services, oona = console.app.services, await console.visitor(OWNER)
    await change(oona, "access.blocked_users", f"web:eve\n{LONG}\nأحمد", 0)
    await change(oona, "assistant.persona", "Brief and friendly.\nNever guess.", 1)
    fields = {"name": "web:general", "persona": "Formal.", "model": "model-a", "based_on": "2"}
    await oona.post("/configuration/persona", fields)
    rule = {"name": "set_task", "role": "operator", "audiences": "direct", "based_on": "3"}
    await oona.post("/configuration/tool", rule)
    pairing, now = services.pairing, services.clock.now()
    assert pairing is not None
    for name in ("zoe", "yuri"):
        place = Place("web", "main", name, Audience.DIRECT)
        await pairing.request(Applicant("default", person_named(name), name.title(), place))
    await pairing.approve((await pairing.waiting("default"))[0], person_named(OWNER))
    token = ApiToken("t", "laptop", "default", person_named("ada"), now, now + timedelta(days=9))
    assert await console.app.storage.memory.tokens.add(token)


async def test_the_pages_with_content_are_accessible_and_fit(console: Console) -> None:
    await filled(console)
    async with window(console.app.local.base_url) as opened:
        page = await sign_in(console, opened, OWNER)
        for path in PAGES:
            await page.goto(at(console, path))
            await check_views(page)
        await page.goto(at(console, "/configuration"))
        await check_views(page)
        assert opened.complaints == []


async def test_an_owner_changes_and_undoes_with_the_keyboard(console: Console) -> None:
    async with window(console.app.local.base_url) as opened:
        page = await sign_in(console, opened, OWNER)
        await page.keyboard.press("Control+k")
        await page.keyboard.type("all keys by")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Configuration")
        await page.get_by_role("link", name="All keys").click()
        await page.get_by_label("Change limits.user_per_minute").focus()
        await page.keyboard.press("Enter")
        await page.keyboard.press("Tab")
        await expect(page.get_by_label("limits.user_per_minute", exact=True)).to_be_focused()
        await page.keyboard.press("Control+a")
        await page.keyboard.type("-3")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("alert")).to_contain_text("should be at least 0.")
        field = page.get_by_label("limits.user_per_minute", exact=True)
        await expect(field).to_have_value("-3")
        await field.fill("9")
        await field.press("Enter")
        await expect(page.get_by_role("status").first).to_contain_text("Saved as version 1.")
        assert console.app.services.policies.limits.user_per_minute == 9
        await page.get_by_role("button", name="Undo the last change").click()
        await expect(page.get_by_role("status").first).to_contain_text("Saved as version 2.")
        assert console.app.services.policies.limits.user_per_minute != 9
        assert [one for one in opened.complaints if "422" not in one] == []


async def test_an_owner_sets_a_tool_rule_and_asks_what_it_does(console: Console) -> None:
    async with window(console.app.local.base_url) as opened:
        page = await sign_in(console, opened, OWNER)
        await page.goto(at(console, "/configuration?page=tools"))
        rules = page.locator("section", has=page.get_by_role("heading", name="Tool rules"))
        await rules.get_by_text("Add", exact=True).first.click()
        await rules.get_by_label("Tool (server__tool) or server").fill("set_task")
        await rules.get_by_label("Lowest role").select_option("owner")
        await rules.get_by_role("button", name="Add").click()
        await expect(page.get_by_role("status").first).to_contain_text("Saved as version 1.")
        await page.goto(at(console, "/access"))
        await page.get_by_role("link", name="Check").click()
        await page.get_by_label("Person", exact=True).fill("web:main:ada")
        await page.get_by_label("Action", exact=True).select_option("tool")
        await page.get_by_label("Tool", exact=True).fill("set_task")
        await page.get_by_role("button", name="Check").click()
        await expect(page.get_by_role("heading", level=2).first).to_contain_text("No")
        await expect(page.locator("#main")).to_contain_text("tools.set_task")
        assert opened.complaints == []


async def test_an_operator_approves_in_the_page(console: Console) -> None:
    await filled(console)
    async with window(console.app.local.base_url, TELEPHONE) as opened:
        page = await sign_in(console, opened, "olga")
        await page.goto(at(console, "/access"))
        await page.get_by_role("button", name="Approve", exact=True).click()
        await expect(page.get_by_role("status").first).to_contain_text("may write now")
        await expect(page.locator("#main")).to_contain_text("No open requests.")
        await page.get_by_role("row", name="laptop").get_by_role("button").click()
        await expect(page.get_by_role("status").first).to_have_text("The token is revoked.")
        assert opened.complaints == []


async def test_one_save_for_a_page_and_errors_at_the_field(console: Console) -> None:
    async with window(console.app.local.base_url, TELEPHONE) as opened:
        page = await sign_in(console, opened, OWNER)
        await page.goto(at(console, "/configuration?page=limits"))
        person, room = page.get_by_label("One person", exact=True), page.get_by_label("One room")
        day = page.get_by_label("One person per day")
        await day.fill("2.5")
        await person.fill("-3")
        await room.fill("many")
        await page.get_by_role("button", name="Save", exact=True).click()
        await expect(page.get_by_role("alert").first).to_contain_text("Nothing was saved")
        await expect(person).to_have_attribute("aria-invalid", "true")
        await expect(person).to_have_value("-3")
        await expect(room).to_have_attribute("aria-invalid", "true")
        await expect(day).to_have_value("2.5")
        await check_views(page)
        assert console.app.configuration.number == 0
        await person.fill("9")
        await room.fill("30")
        await page.get_by_role("button", name="Save", exact=True).click()
        await expect(page.get_by_role("status").first).to_contain_text("Saved as version 1.")
        policies = console.app.services.policies
        assert (policies.limits.user_per_minute, policies.limits.channel_per_minute) == (9, 30)
        assert policies.budgets.user_per_day == 2.5
        await page.get_by_role("link", name="Assistant", exact=True).click()
        await page.get_by_label("Name", exact=True).fill("Ada")
        await page.get_by_label("when somebody replies to it").uncheck()
        await page.get_by_role("button", name="Save", exact=True).click()
        await expect(page.locator(".brand")).to_have_text("Ada")
        assert [str(one) for one in console.app.services.policies.invocation.triggers] == [
            *("mention", "direct_message"),
        ]
        assert [one for one in opened.complaints if "422" not in one] == []
