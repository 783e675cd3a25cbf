"""Buttons whose time is over go; those that were pressed, and those of the erased, are left."""

from collections.abc import Sequence
from datetime import timedelta

from db.sqlite import SqliteDatabase
from gateway.immutable import replace
from gateway.message import Button, Outbound, Receipt
from gateway.outbound.expiring_buttons import AT_ONCE, MAX_SHOWN, ExpiringButtons
from gateway.stores.sqlite.queues import SqliteOutbox
from tests.support.clock import FakeClock
from tests.support.databases import sqlite_database
from tests.support.messages import outbound

MINUTE = timedelta(minutes=1)


def question(clock: FakeClock, key: str = "q:0", person: str = "test:main:ada") -> Outbound:
    until = clock.now() + MINUTE
    buttons = (Button("Yes", "yes"), Button("No", "no"))
    return replace(outbound(key), buttons=buttons, buttons_until=until, person=person)


class Kept:
    """Expiring buttons over a real outbox, and what was submitted of them."""

    def __init__(self, database: SqliteDatabase, clock: FakeClock) -> None:
        self.outbox, self.clock = SqliteOutbox(database, clock), clock
        self.submitted: list[Outbound] = []
        self.buttons = ExpiringButtons(self.outbox, self._submit, clock)

    def _submit(self, sends: Sequence[Outbound]) -> None:
        self.submitted += sends


async def opened(clock: FakeClock) -> Kept:
    database = sqlite_database(":memory:")
    await database.start()
    return Kept(database, clock)


async def test_expired_buttons_are_removed_once_and_not_before() -> None:
    clock = FakeClock()
    kept = await opened(clock)
    kept.buttons.remember(question(clock), Receipt("m1"))
    kept.buttons.remember(outbound("plain:0"), Receipt("m2"))
    await clock.advance(59)
    assert await kept.buttons.remove_expired() == 0
    await clock.advance(2)
    assert await kept.buttons.remove_expired() == 1
    assert await kept.buttons.remove_expired() == 0
    (clearing,) = kept.submitted
    assert (clearing.clears, clearing.buttons, clearing.is_empty) == ("m1", (), True)
    assert [one.outbound.key for one in await kept.outbox.waiting(10)] == [clearing.key]


async def test_pressed_buttons_and_those_of_erased_people_are_ignored() -> None:
    clock = FakeClock()
    kept = await opened(clock)
    for number, person in enumerate(("test:main:ada", "test:main:bob", "test:main:eve")):
        kept.buttons.remember(question(clock, f"q{number}:0", person), Receipt(f"m{number}"))
    kept.buttons.forget_removed(replace(outbound("press:0"), clears="m0"))
    kept.buttons.forget_person("test:main:bob")
    await clock.advance(61)
    assert await kept.buttons.remove_expired() == 1
    assert [one.clears for one in kept.submitted] == ["m2"]


async def test_their_number_is_limited_and_they_are_removed_in_steps() -> None:
    clock = FakeClock()
    kept = await opened(clock)
    for number in range(MAX_SHOWN + 10):
        kept.buttons.remember(question(clock, f"q{number}:0"), Receipt(f"m{number}"))
    await clock.advance(61)
    assert await kept.buttons.remove_expired() == AT_ONCE
    gone = AT_ONCE
    while step := await kept.buttons.remove_expired():
        gone += step
    assert gone == MAX_SHOWN
