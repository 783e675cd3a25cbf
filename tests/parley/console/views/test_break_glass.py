"""An operator reads private text in an emergency: recorded and told first, for a short time."""

from datetime import timedelta

import pytest

from db.errors import StoreUnavailable
from gateway.conversation import key_of
from gateway.ports.clock import SystemClock
from memory.model.record import Draft, Kind
from parley.console.views import break_glass
from parley.console.views.break_glass import plain_reason
from parley.wiring.observe import AuditSink
from tests.parley.console.kit import (
    OPERATOR,
    OTHER,
    OWNER,
    PERSON,
    Console,
    Page,
    Sections,
    followed,
    person_named,
    sent,
    text_of,
)
from tests.parley.console.talk import World, direct
from tests.support.immutable import force

pytestmark = pytest.mark.usefixtures("undelivered")
REASON = "Ada wrote that she is in danger"
ASK = {"reason": REASON, "name": "Olga [x](y)"}


@pytest.fixture
def sections() -> Sections:
    return {"console": {"break_glass": True}}


@pytest.fixture
def console(either_console: Console) -> Console:
    return either_console


async def asks(console: Console, who: str, turn: str, **fields: str) -> Page:
    visitor = await console.visitor(who)
    return await visitor.post(f"/conversations/{turn}/break-glass", {**ASK, **fields})


async def trail(console: Console) -> list[str]:
    """The actions of break glass in the audit, with the reasons."""
    log = console.app.storage.memory.audit_on(
        b"k" * 32
    )  # the key only seals: entries are read without it
    entries = [link.entry for link in await log.links(0, 100) if link.entry.action == "console"]
    found = [dict(one.details) for one in entries]
    return [str(one["what"]) for one in found if "grant" in one]


async def test_the_text_is_readable_after_the_person_is_told(
    console: Console, world: World
) -> None:
    before = await text_of(console, OPERATOR, world.adas)
    assert "secret garden" not in before
    assert "Read this conversation in an emergency" in before
    done = await asks(console, OPERATOR, world.adas)
    assert done.location == f"/console/conversations/{world.adas}"
    (told,) = await sent(console)
    assert told.part is not None
    text = str(told.part.payload)
    for words in ("Olga xy", person_named(OPERATOR), REASON, "UTC"):
        assert words in text
    assert told.place == direct(PERSON)
    assert told.person == person_named(PERSON)
    assert await trail(console) == ["glass_broken"]

    for path, words in (("", "secret garden"), ("/message", "secret"), ("/rendering", "roses")):
        assert words in await text_of(console, OPERATOR, world.adas + path)
    read = ["glass_broken", *["private_text_read"] * 3]
    assert await trail(console) == read
    async with followed(await console.visitor(OPERATOR), world.adas) as updates:
        assert (updates.status, await trail(console)) == (200, read)
    assert "tulips" not in await text_of(console, OPERATOR, world.eves)
    for name in (OWNER,):  # a grant is of one operator
        assert "secret garden" not in await text_of(console, name, world.adas)
    searched = await (await console.visitor(OPERATOR)).get("/conversations?q=secret")
    assert "my secret garden" not in searched.text


async def test_a_grant_ends_and_is_erased_with_its_person(console: Console, world: World) -> None:
    await asks(console, OPERATOR, world.adas)
    grants, now = console.app.storage.text_grants, SystemClock().now()
    key = str(key_of("default", direct(PERSON)))
    grant = await grants.of("default", person_named(OPERATOR), key, now)
    assert grant is not None
    assert grant.until - grant.since == break_glass.LASTS
    late = now + timedelta(minutes=16)
    assert await grants.of("default", person_named(OPERATOR), key, late) is None
    rows = await console.app.storage.working.export("default", [person_named(PERSON)])
    assert [one["operator"] for one in rows if one["table"] == "text_grants"] == [
        person_named(OPERATOR)
    ]
    await console.app.storage.working.erase("default", [person_named(PERSON)])
    assert await grants.of("default", person_named(OPERATOR), key, now) is None

    await grants.add(grant)
    assert await grants.prune(late) == 1


async def test_the_record_of_a_reading_outlives_the_account_of_its_operator(
    console: Console, world: World
) -> None:
    await asks(console, OPERATOR, world.adas)
    assert "secret garden" in await text_of(console, OPERATOR, world.adas)
    olga = await console.visitor(OPERATOR)
    erased = await olga.post("/memory/data/erase", {"confirm": "erase everything"})
    assert "is erased" in erased.text
    assert "secret garden" not in await text_of(console, OPERATOR, world.adas)
    ada = await console.visitor(PERSON)
    lines = (await ada.get("/memory/export?form=jsonl")).text.splitlines()
    (row,) = [line for line in lines if '"text_grants"' in line]
    assert person_named(OPERATOR) in row
    assert REASON in row
    audit = (await ada.get("/audit")).text
    assert person_named(OPERATOR) in audit
    await ada.post("/memory/data/erase", {"confirm": "erase everything"})
    rows = await console.app.storage.working.export("default", [person_named(PERSON)])
    assert [one for one in rows if one["table"] == "text_grants"] == []


@pytest.mark.parametrize("broken", ["audit", "notice", "reading"])
async def test_nothing_is_shown_that_cannot_be_recorded_or_told(
    console: Console, world: World, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    async def unavailable(*_: object, **__: object) -> None:
        raise StoreUnavailable("gone")

    if broken == "reading":
        await asks(console, OPERATOR, world.adas)
    await console.signed_in(OPERATOR)("GET", "/console/account")
    outbox = type(console.app.storage.hot.outbox)
    holder, name = (outbox, "add") if broken == "notice" else (AuditSink, "console")
    with monkeypatch.context() as patched:
        patched.setattr(holder, name, unavailable)
        if broken == "reading":
            shown = await console.signed_in(OPERATOR)("GET", f"/console/conversations/{world.adas}")
            assert shown.status == 503
            return
        client = console.signed_in(OPERATOR)
        path = f"/console/conversations/{world.adas}/break-glass"
        assert (await client("POST", path, ASK)).status == 503
    assert "secret garden" not in await text_of(console, OPERATOR, world.adas)


async def test_what_is_refused(console: Console, world: World) -> None:
    own = await world.talk(direct(OPERATOR), OPERATOR, "mine")
    hidden = await world.talk(direct(PERSON), PERSON, "x", tenant="other")
    for turn, fields, status, problem in (
        (world.adas, {"reason": "because"}, 422, "at least 10"),
        (world.adas, {"reason": "sk-ant-api03-" + "a1B2" * 24}, 422, "password or a key"),
        (world.adas, {"reason": "*_~` []()" * 9}, 422, "at least 10"),
        (world.adas, {"reason": "x" * 301}, 422, "300"),
        (world.room_ada, {}, 422, "can read the text"),
        (own, {}, 422, "your own conversation"),
        (hidden, {}, 404, "no such message"),
    ):
        refused = await asks(console, OPERATOR, turn, **fields)
        assert (refused.status, problem in refused.text) == (status, True), fields
    for name, status in ((PERSON, 403), (OTHER, 403), ("", 401)):
        assert (await asks(console, name, world.adas)).status == status
    assert await sent(console) == []
    assert await trail(console) == []


async def test_without_the_setting_nobody_reads(console: Console, world: World) -> None:
    await asks(console, OPERATOR, world.adas)
    rules = console.app.settings.console
    force(rules, "break_glass", False)
    text = await text_of(console, OPERATOR, world.adas)
    assert "secret garden" not in text
    assert "emergency" not in text
    refused = await asks(console, OPERATOR, world.adas)
    assert (refused.status, "console.break_glass" in refused.text) == (409, True)
    page = await (await console.visitor(OPERATOR)).get("/private-memory")
    assert "is off" in page.text
    force(rules, "break_glass", True)


async def test_a_private_memory_is_read_in_the_same_manner(console: Console, world: World) -> None:
    ada = console.program.api_client(PERSON)
    handle = await ada.in_private()
    saved = await handle.write.remember(Draft("My safe word is marmalade", Kind.FACT))
    assert saved.memory_id
    fields = {**ASK, "person": person_named(PERSON), "memory": saved.memory_id[:12]}
    query = f"?person={person_named(PERSON)}&memory={saved.memory_id[:12]}"
    olga = await console.visitor(OPERATOR)
    assert "marmalade" not in (await olga.get(f"/private-memory{query}")).text
    places, now = console.app.storage.memory.direct_places, SystemClock().now()
    await places.prune(now + timedelta(days=1))
    refused = await olga.post("/private-memory/ask", fields)
    assert "cannot be told" in refused.text
    await places.note("default", person_named(PERSON), direct(PERSON), now)
    done = await olga.post("/private-memory/ask", fields)
    assert done.status == 303
    (told,) = await sent(console)
    assert told.place == direct(PERSON)
    text = (await olga.get(f"/private-memory{query}")).text
    assert "My safe word is marmalade" in text
    assert await trail(console) == ["glass_broken", "private_text_read"]
    owner = await (await console.visitor(OWNER)).get(f"/private-memory{query}")
    assert "marmalade" not in owner.text
    other = query.replace(PERSON, OTHER)
    assert "marmalade" not in (await olga.get(f"/private-memory{other}")).text
    assert (await olga.post("/private-memory/ask", {**fields, "memory": "abcdef12"})).status == 404


async def test_an_operator_reads_a_bounded_number_of_texts_at_once(
    console: Console, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(break_glass, "MOST_GRANTS", 1)
    assert (await asks(console, OPERATOR, world.adas)).status == 303
    refused = await asks(console, OPERATOR, world.eves)
    assert (refused.status, "at once" in refused.text) == (422, True)
    assert (await asks(console, OWNER, world.eves)).status == 303


def test_a_reason_has_no_markup() -> None:
    given = "  [help](https://x) **now**,\n `please` <b>! "
    assert plain_reason(given) == "help(https:x) now, please b!"
