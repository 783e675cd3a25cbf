"""Stored text that attacks the reader: in every field that a page shows, on every page of the route
table."""

import csv
import io
import json
from collections.abc import AsyncIterator, Collection, Mapping
from pathlib import Path
from urllib.parse import quote

import pytest
import pytest_asyncio
from playwright.async_api import Page

from db import Statement
from gateway.authorship import Material
from gateway.message import Outbound, Part, Place
from gateway.outbound.room_names import MAX_NAME, RoomNames
from gateway.people import Audience
from gateway.policy.decision import Decision
from gateway.ports.admissions import Applicant
from gateway.ports.clock import SystemClock
from gateway.ports.conversation_views import ConversationReader
from gateway.stores.takeovers import Takeover
from gateway.text import verbatim
from memory.agents.model import AgentType, SharedScope
from parley.console import playgrounds
from parley.console.route import AnyRoute, File
from parley.console.routes import ROUTES
from parley.console.text import FORMULA
from safety.unicode import safe_unicode
from tests.parley.console.kit import OWNER, Console, console_in, console_settings, person_named
from tests.parley.console.talk import Talk, direct
from tests.parley.console.test_browser import at, sign_in
from tests.parley.console.views.memory.kit import remember, waiting
from tests.parley.console.views.memory.test_pools import request_of
from tests.parley.demo.browser import IN_CHROMIUM, TELEPHONE, window

pytestmark = IN_CHROMIUM
READER = ConversationReader("default", (person_named(OWNER),), operator=True)
MARK = "gnp.exe"
TRICKS = (
    f'=\u202e{MARK}\u2066"><script>window.pwned=1</script><img src=x onerror="window.pwned=1">'
    "' onmouseover='window.pwned=1' x=\"{{7*7}}"
)
LONG = f"{MARK}{'w' * 1_000_000}"
MOST_BYTES = 1_500_000
"""Bytes of a page with texts of any length."""
COLUMNS = {
    "console_sessions": ("label",),
    "usage": ("model", "workspace", "person"),
    "usage_days": ("model", "workspace", "channel", "person"),
    "turns": ("speaker",),
    "traces": ("outcome", "kind"),
    "person_tokens": ("name",),
    "people_names": ("name",),
    "admissions": ("name",),
    "pairing_requests": ("name",),
    "agents": ("name",),
    "pools": ("name",),
    "agent_handoffs": ("source_name",),
    "memories": ("content", "source_id", "agent"),
    "brain_documents": ("content",),
}
"""Columns of texts that programs and people write, each with the value in all rows."""
BOUNDS = {
    "brain_documents": 10_000,
    "memories": 10_000,
    **dict.fromkeys(("people_names", "admissions", "pairing_requests"), 200),
    **dict.fromkeys(("agents", "pools", "agent_handoffs"), 200),
}
"""Characters beyond which a text is refused; a page has the whole text, to edit it."""
VARIANTS: Mapping[str, tuple[str, ...]] = {
    "conversations": ("", "?q={}", "?channel={}&person={}", "?archived=yes"),
    "memory_entries": ("", "?q={}", "?of=project"),
    "memory": ("",),
    "document_versions": ("?document=soul",),
    "usage": ("?by=person", "?by=channel", "?by=workspace", "?by=model", "?person={}"),
    "audit": ("", "?person={}"),
    "health": ("", "?message={}"),
    "usage_csv": ("?by=person", "?by=channel", "?by=model"),
    "private_memory": ("?person={}",),
}
"""Queries of a view, with the value in them."""
SHOW_IT = {
    "conversations", "conversation", "message", "rendering", "outbox", "playground", "memory",
    "document_versions", "memory_entries", "memory_entry", "memory_reviews", "tokens", "usage",
    "overview", "access", "agents", "audit", "person",
}  # fmt: skip
"""The pages that show such a text at all."""
HARM = """() => {
  const found = [];
  if (window.pwned) found.push("a script of the text ran");
  for (const one of document.querySelectorAll("*"))
    for (const attribute of one.attributes)
      if (attribute.name.startsWith("on")) found.push(`${one.tagName} ${attribute.name}`);
  for (const one of document.querySelectorAll("script"))
    if (!one.src.startsWith(location.origin)) found.push("a script of the text");
  if (document.querySelector("img:not(.brand > img:first-child), iframe, object, embed"))
    found.push("an element of the text");
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (/[\\u202a-\\u202e\\u2066-\\u2069]/.test(node.data)
        && !node.parentElement.closest("bdi, [dir=auto], textarea, option"))
      found.push(`not isolated: ${node.parentElement.outerHTML.slice(0, 200)}`);
  }
  const over = document.documentElement.scrollWidth - innerWidth;
  if (over > 0) found.push(`${over} pixels too wide`);
  return found;
}"""


@pytest_asyncio.fixture(loop_scope="session")
async def console(tmp_path: Path) -> AsyncIterator[Console]:
    async with console_in(console_settings(tmp_path, console={"break_glass": True})) as started:
        yield started


async def poisoned(console: Console, value: str) -> Mapping[str, str]:
    """Write the value into every field; return the id of an entry by the name of its view."""
    app, memory = console.app, await remember(console, OWNER, "PLACEHOLDER of a memory")
    place = Place("web", "main", value, Audience.PUBLIC_ROOM, value, value)
    recalled = {"items": [[value, value, value, 0.5, {value: 1}]]}
    decisions = (
        Decision(value, False, value, value),
        Decision("recall", True, "recalled", value, data=recalled),
        Decision("tool", True, value, value, data={"seconds": 1.0}),
    )
    talk = Talk(app)
    turn = await talk(
        *(place, OWNER, value, value),
        decisions=decisions,
        durations=(("model", value, 0, 1, value),),
        material=(Material("forwarded", value, value),),
    )
    sends = [
        Outbound("k1:0", place, Part(value, value), person=value),
        Outbound("k2:0", place, Part("x", "x")),
    ]
    await app.storage.hot.outbox.add(sends)
    await app.storage.hot.outbox.dead(["k1:0"], value)
    now = SystemClock().now()
    key = (await app.storage.conversation_views.conversations_of(READER, [turn]))[turn]
    who = ("t", "default", key, value, value, "", now, now)
    await app.storage.takeovers.take(Takeover(*who), now)
    await waiting(console, OWNER, "PLACEHOLDER waits")
    handle = await console.program.api_client(OWNER).in_private()
    for number in range(2):
        await handle.documents.write("soul", f"PLACEHOLDER {number}")
    owner = await console.visitor(OWNER)
    await owner.post("/memory/tokens/create", {"name": "x"})
    await people_and_agents(console, value)
    assert app.supervisor is not None
    app.supervisor.errors["web"] = verbatim(value)
    app.supervisor.states[value] = "failed"
    await overwrite(console, value)
    return {"/conversations": turn, "/memory/entries": memory}


async def people_and_agents(console: Console, value: str) -> None:
    """Whose names and titles are in lists: people who wait and who were let in, agents, pools."""
    pairing, agents = console.app.services.pairing, console.app.memory.agents
    assert pairing is not None
    assert agents is not None
    for name in ("waits", "admitted"):
        applicant = Applicant("default", f"web:main:{name}", value, direct(name))
        await pairing.request(applicant)
    (request,) = [
        one
        for one in await pairing.waiting("default")
        if one.applicant.person == person_named("admitted")
    ]
    assert await pairing.approve(request, person_named(OWNER)) is not None
    person = await request_of(console, OWNER)
    source = await agents.registry.register_agent(person, AgentType.CLAUDE_CODE, name="one")
    target = await agents.registry.register_agent(person, AgentType.CLAUDE_CODE, name="two")
    await agents.pools.create_pool(person, "PLACEHOLDER", SharedScope.TEAM)
    task = {"task_description": value[:1_000]}
    assert await agents.handoffs.initiate_handoff(person, source.id, target.id, task) is not None


async def overwrite(console: Console, value: str) -> None:
    database = console.app.storage.long_lived
    for table, columns in COLUMNS.items():
        changes = ", ".join(f"{column} = :value" for column in columns)
        update = Statement(f"UPDATE {table} SET {changes}")
        await database.change(update, {"value": value[: BOUNDS.get(table)]})
    inside = {"value": json.dumps(value[:10_000])[1:-1]}
    await database.change(
        Statement("UPDATE memory_reviews SET record = replace(record, 'PLACEHOLDER', :value)"),
        inside,
    )


def addresses(route: AnyRoute, ids: Mapping[str, str], value: str) -> list[str]:
    """The addresses of a view; a new view with an id needs an entry here."""
    path = route.path
    if "{id}" in path:
        path = path.replace("{id}", ids[path.partition("/{id}")[0]])
    given = quote(value[:150], safe="")
    return [path + query.replace("{}", given) for query in VARIANTS.get(route.name, ("",))]


@pytest.mark.parametrize("value", [TRICKS, LONG], ids=["tricks", "long"])
async def test_stored_text_does_no_harm_on_any_page(
    console: Console, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(playgrounds, "GRACE", 600.0)  # its page is opened later

    async def named(_self: RoomNames, rooms: Collection[str]) -> Mapping[str, str]:
        return dict.fromkeys(rooms, " ".join(safe_unicode(value[:MAX_NAME]).split()))

    monkeypatch.setattr(RoomNames, "of", named)
    ids = await poisoned(console, value)
    showing, harm = set[str](), list[str]()
    async with window(console.app.local.base_url, TELEPHONE) as opened:
        page = await sign_in(console, opened, OWNER)
        await play(page, console, value)
        await overwrite(console, value)
        for route in ROUTES:
            if route.method != "GET" or issubclass(route.result, File):
                continue
            for path in addresses(route, ids, value):
                answer = await page.goto(at(console, path))
                assert answer is not None
                assert answer.status == 200, path[:100]
                assert len(await answer.body()) < MOST_BYTES, path[:100]
                harm += [f"{path[:60]} {one}" for one in await page.evaluate(HARM)]
                if MARK in await page.locator("main").inner_text():
                    showing.add(route.name)
        assert harm == []
        assert opened.complaints == []
    assert showing >= SHOW_IT
    await files_without_formulas(console, ids, value)


async def play(page: Page, console: Console, value: str) -> None:
    """Ask in the playground, where the value is a message and a name."""
    await page.goto(at(console, "/playground"))
    await page.get_by_label("Text").fill(value[:4_000])
    await page.get_by_label("Name", exact=True).fill(value[:60])
    await page.get_by_role("button", name="Ask").click()
    await page.locator("#blocks").wait_for()


async def files_without_formulas(console: Console, ids: Mapping[str, str], value: str) -> None:
    """Every file of the console is read by a spreadsheet, or is no table."""
    owner, tables = await console.visitor(OWNER), 0
    for route in ROUTES:
        if route.method != "GET" or not issubclass(route.result, File):
            continue
        query = "&".join(f"{name}={text}" for name, text in route.example.items())
        for path in {*addresses(route, ids, value), f"{route.path}?{query}"}:
            answer = await owner.get(path)
            assert answer.status == 200, path
            assert answer.headers["Content-Disposition"].startswith("attachment")
            if "csv" in answer.headers["Content-Type"]:
                tables += 1
                csv.field_size_limit(10_000_000)
                for row in csv.reader(io.StringIO(answer.text)):
                    assert not [cell for cell in row if cell.lstrip().startswith(FORMULA)], path
    assert tables
