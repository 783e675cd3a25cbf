"""Sessions and login links of the console, in both databases."""

from datetime import timedelta

import pytest

from db import Statement
from gateway.message import Place
from gateway.people import Audience
from gateway.ports.admissions import Applicant
from gateway.stores.admissions import SqlAdmissions
from gateway.stores.console_sessions import (
    MAX_LINKS,
    MAX_SESSIONS,
    SEEN_EVERY,
    ConsoleSession,
    ConsoleSessionStore,
)
from gateway.stores.personal_data import SqlPersonalData
from tests.support.clock import FakeClock
from tests.support.databases import Engine
from tests.support.messages import AT

ADA, BOB = "test:main:ada", "test:main:bob"
SOON, LATER = AT + timedelta(minutes=10), AT + timedelta(days=7)
IDLE = AT - timedelta(hours=12)


@pytest.fixture
def store(engine: Engine) -> ConsoleSessionStore:
    return ConsoleSessionStore(engine)


async def signed_in(
    store: ConsoleSessionStore, person: str = ADA, minutes: int = 0
) -> tuple[str, ConsoleSession]:
    at = AT + timedelta(minutes=minutes)
    link = await store.new_link("t", person, at, at + timedelta(minutes=10))
    made = await store.sign_in(link, "Firefox", "Europe/Berlin", at, LATER)
    assert made is not None
    return made


async def test_a_link_works_once(store: ConsoleSessionStore) -> None:
    link = await store.new_link("t", ADA, AT, SOON)
    made = await store.sign_in(link, "Firefox", "Europe/Berlin", AT, LATER)
    assert made is not None
    secret, session = made
    assert (session.tenant, session.person, session.zone) == ("t", ADA, "Europe/Berlin")
    assert await store.find(secret, AT, IDLE) == session
    assert await store.sign_in(link, "Firefox", "", AT, LATER) is None


async def test_an_expired_or_unknown_link_does_not_work(store: ConsoleSessionStore) -> None:
    link = await store.new_link("t", ADA, AT, SOON)
    assert await store.sign_in(link, "", "", SOON, LATER) is None
    assert await store.sign_in("unknown", "", "", AT, LATER) is None


async def test_no_secret_is_stored(store: ConsoleSessionStore, engine: Engine) -> None:
    link = await store.new_link("t", BOB, AT, SOON)
    secret, _ = await signed_in(store)
    for table in ("console_links", "console_sessions"):
        rows = await engine.fetch(Statement(f"SELECT * FROM {table}"), {})
        assert rows
        assert not {link, secret} & {str(value) for row in rows for value in row}


async def test_a_person_has_a_bounded_number_of_links(store: ConsoleSessionStore) -> None:
    links = [
        await store.new_link("t", ADA, AT + timedelta(seconds=second), SOON)
        for second in range(MAX_LINKS + 1)
    ]
    other = await store.new_link("t", BOB, AT, SOON)
    worked = [await store.sign_in(link, "", "", AT, LATER) for link in (*links, other)]
    assert [one is not None for one in worked] == [False, *[True] * MAX_LINKS, True]


async def test_a_session_ends_unused_and_at_its_limit(store: ConsoleSessionStore) -> None:
    secret, session = await signed_in(store)
    assert await store.find(secret, AT, AT) is None
    assert await store.find(secret, LATER, IDLE) is None
    assert await store.find(secret, LATER - timedelta(seconds=1), IDLE) == session


async def test_the_use_of_a_session_is_noted_once_a_minute(store: ConsoleSessionStore) -> None:
    secret, _ = await signed_in(store)
    for seconds, noted in ((30, 0), (60, 0), (70, 60)):
        found = await store.find(secret, AT + timedelta(seconds=seconds), IDLE)
        assert found is not None
        assert found.seen_at == AT + timedelta(seconds=noted)
    assert timedelta(seconds=60) == SEEN_EVERY


async def test_people_end_only_their_own_sessions(store: ConsoleSessionStore) -> None:
    secret, session = await signed_in(store)
    assert not await store.end("t", BOB, session.id)
    assert not await store.end("other", ADA, session.id)
    assert await store.find(secret, AT, IDLE) is not None
    assert await store.end("t", ADA, session.id)
    assert await store.find(secret, AT, IDLE) is None


async def test_all_other_sessions_and_links_end(store: ConsoleSessionStore) -> None:
    first, _ = await signed_in(store)
    second, kept = await signed_in(store)
    foreign, _ = await signed_in(store, BOB)
    link = await store.new_link("t", ADA, AT, SOON)
    assert await store.end_all("t", ADA, kept.id) == 1
    found = [await store.find(secret, AT, IDLE) for secret in (first, second, foreign)]
    assert [one is not None for one in found] == [False, True, True]
    assert await store.sign_in(link, "", "", AT, LATER) is None


async def test_a_person_has_a_bounded_number_of_sessions(store: ConsoleSessionStore) -> None:
    secrets = [(await signed_in(store, minutes=at))[0] for at in range(MAX_SESSIONS + 1)]
    assert await store.find(secrets[0], AT, IDLE) is None
    listed = await store.of_person("t", ADA, AT, IDLE)
    assert len(listed) == MAX_SESSIONS
    assert listed[0].seen_at > listed[-1].seen_at


async def test_theme_and_zone_are_stored(store: ConsoleSessionStore) -> None:
    secret, session = await signed_in(store)
    await store.choose(session.id, "Asia/Tokyo", "dark")
    found = await store.find(secret, AT, IDLE)
    assert found is not None
    assert (found.zone, found.theme) == ("Asia/Tokyo", "dark")


async def test_expired_links_and_sessions_are_deleted(
    store: ConsoleSessionStore, engine: Engine
) -> None:
    await store.new_link("t", BOB, AT, SOON)
    await signed_in(store)
    assert await store.prune(SOON) == 1
    assert await store.prune(LATER) == 1
    assert not await engine.fetch(Statement("SELECT * FROM console_sessions"), {})


async def test_erasure_and_export_reach_sessions_and_links(
    store: ConsoleSessionStore, engine: Engine, clock: FakeClock
) -> None:
    secret, session = await signed_in(store)
    other, _ = await signed_in(store, BOB)
    link = await store.new_link("t", ADA, AT, SOON)
    personal = SqlPersonalData(engine, clock)
    rows = await personal.export("t", [ADA])
    assert {row["table"] for row in rows} == {"console_sessions", "console_links"}
    assert session.id in {row.get("id") for row in rows}
    assert not any("secret_hash" in row for row in rows)
    await personal.erase("t", [ADA])
    assert await store.find(secret, AT, IDLE) is None
    assert await store.sign_in(link, "", "", AT, LATER) is None
    assert await store.find(other, AT, IDLE) is not None


async def test_a_revoked_person_is_signed_out(store: ConsoleSessionStore, engine: Engine) -> None:
    place = Place("test", "main", "ada", Audience.DIRECT)
    admissions = SqlAdmissions(engine)
    await admissions.request(Applicant("t", ADA, "Ada", place), "r", "hash", AT)
    assert await admissions.approve("r", "olga", AT) is not None
    secret, _ = await signed_in(store)
    other, _ = await signed_in(store, BOB)
    link = await store.new_link("t", ADA, AT, SOON)
    await admissions.revoke("t", [ADA], AT)
    assert await store.find(secret, AT, IDLE) is None
    assert await store.sign_in(link, "", "", AT, LATER) is None
    assert await store.find(other, AT, IDLE) is not None
