"""Messages that the assistant writes first are sent, wait, join others, or are dropped."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs

from gateway.errors import Permanent, TemplateRefused, Transient, WindowClosed
from gateway.immutable import replace
from gateway.message import Choice, Notice, Place, Reach
from gateway.observe.logs import configure_logs
from gateway.people import Audience
from gateway.policy import proactive
from gateway.policy.access import AccessPolicy
from gateway.policy.proactive import Kind, ProactivePolicy, Verdict
from gateway.ports import PlatformReach
from gateway.ports.proactive import PendingNotice
from gateway.stores.proactive import ProactiveStore
from gateway.text import label, verbatim
from gateway.turn.proactive import LAST, TAKEN_WITHIN, WAITED, ProactiveNotices, ProactiveSender
from gateway.turn.services import Policies
from gateway.zones import TimePolicy
from tests.support.adapter import RecordingAdapter
from tests.support.gateway import Gateway, gateway
from tests.support.messages import AT, direct, received

ADA, BOB = "test:main:ada", "test:main:bob"
ROOM = Place("test", "main", "C1", Audience.PUBLIC_ROOM, "W1")
UNDO = (Choice(label("Undo"), "undo:1"),)


class Windowed(RecordingAdapter):
    """A platform that takes free messages only for a time after a person wrote."""

    def __init__(self) -> None:
        super().__init__()
        self.open: Reach = "closed"
        self.answers = True
        self.refused: tuple[str, ...] = ()

    async def reach(self, place: Place) -> PlatformReach:
        if not self.answers:
            raise Transient("no process is connected")
        return PlatformReach(self.open, 100 if self.open == "template" else 0, self.refused)


class Guarded(RecordingAdapter):
    """A platform that knows its members."""

    def __init__(self) -> None:
        super().__init__()
        self.members = {"ada"}
        self.answers = True

    async def is_member(self, space: str, person: str) -> bool:
        if not self.answers:
            raise Permanent("no answer")
        return person in self.members


def rules(**facts: Any) -> Policies:
    zones = TimePolicy(zone="Europe/Zurich")
    return Policies(times=zones, proactive=ProactivePolicy(**facts))


@asynccontextmanager
async def proactive_gateway(
    policies: Policies | None = None, adapter: RecordingAdapter | None = None
) -> AsyncIterator[tuple[Gateway, ProactiveSender]]:
    """A gateway at 10:00 in Zurich on a Saturday."""
    async with gateway(policies=policies or rules(), adapter=adapter) as g:
        yield g, ProactiveSender(g.services)


def message(
    key: str = "k1",
    words: str = "",
    kind: Kind = "notice",
    *,
    place: Place | None = None,
    person: str = ADA,
    **facts: Any,
) -> PendingNotice:
    where = place or replace(direct(), channel_id=person.rpartition(":")[2])
    notice = Notice(person, where, verbatim(words or f"about {key}"))
    if "buttons" in facts:
        notice = replace(
            notice, buttons=facts.pop("buttons"), buttons_until=facts.pop("until", None)
        )
    return PendingNotice("default", key, notice, kind, **facts)


def stored(g: Gateway) -> ProactiveStore:
    """The store of messages that wait."""
    store = g.services.stores.proactive
    assert store is not None
    return store


async def sent(g: Gateway) -> Sequence[str]:
    await g.rest()
    return g.texts


async def until(g: Gateway, at: datetime) -> None:
    await g.clock.advance((at - g.clock.now()).total_seconds())


async def test_without_rules_a_message_goes_out_once() -> None:
    async with proactive_gateway() as (g, sender):
        assert (await sender.send(message())).action == "send"
        await sender.send(message())
        assert await sent(g) == ["about k1"]
        assert g.counts["proactive", "within_rules"] >= 1


async def test_quiet_hours_hold_a_message_until_their_end() -> None:
    async with proactive_gateway() as (g, sender):
        await g.services.readers.choose_quiet("default", ADA, "09:00-12:30")
        verdict = await sender.send(message())
        assert (verdict.action, verdict.reason) == ("wait", proactive.OWN_HOURS)
        assert await sender.release() == 0
        await sender.send(message("k2", person=BOB))
        assert await sent(g) == ["about k2"], "another person has none"
        await until(g, AT.replace(hour=11, minute=30))
        assert await sender.release() == 1
        head = WAITED[proactive.OWN_HOURS].english
        assert (await sent(g))[1:] == [f"{head}\n\nabout k1"]
        assert await sender.release() == 0


async def test_the_quiet_hours_of_the_installation_hold_for_who_chose_none() -> None:
    async with proactive_gateway(rules(quiet_hours="08:00-11:00")) as (g, sender):
        assert (await sender.send(message())).reason == proactive.OWN_HOURS
        await g.services.readers.choose_quiet("default", ADA, "off")
        assert (await sender.send(message("k2"))).action == "send"
        assert (await sender.send(message("k3", place=ROOM))).reason == proactive.PLACE_HOURS


async def test_a_place_has_its_own_hours_in_its_own_zone() -> None:
    policies = replace(rules(), times=TimePolicy(zone="Europe/Zurich", places={"C1": "Asia/Tokyo"}))
    async with proactive_gateway(policies) as (g, sender):
        store = g.services.stores.proactive
        assert store is not None
        await store.set_quiet_hours("default", "test:main:C1", "17:00-19:00", AT)
        verdict = await sender.send(message(place=ROOM))
        assert (verdict.reason, verdict.until) == (
            proactive.PLACE_HOURS,
            AT + timedelta(hours=1),  # it is 18:00 in Tokyo
        )
        await g.services.readers.choose_quiet("default", ADA, "09:00-23:00")
        await until(g, AT + timedelta(hours=1))
        await sender.release()
        assert "about k1" in (await sent(g))[-1], "the hours of one person are not those of a room"


async def test_what_waited_for_one_reader_is_one_message_and_buttons_stay_alone() -> None:
    async with proactive_gateway(rules(quiet_hours="08:00-11:00")) as (g, sender):
        for pending in (
            message("k1"),
            message("k2"),
            message("b1", buttons=UNDO),
            message("k3", person=BOB),
        ):
            await sender.send(pending)
        await until(g, AT + timedelta(hours=2))
        await sender.release()
        head = WAITED[proactive.OWN_HOURS].english
        texts = sorted(await sent(g))
        assert texts == [
            f"{head}\n\nabout b1",
            f"{head}\n\nabout k1\n\nabout k2",
            f"{head}\n\nabout k3",
        ]


async def test_over_the_limit_repeated_ones_wait_a_day_and_reminders_come_together() -> None:
    async with proactive_gateway(rules(per_day=2)) as (g, sender):
        await sender.send(message("k1"))
        await sender.send(message("k2"))
        last = LAST.english.strip("_")
        assert [last in text for text in await sent(g)] == [False, True], "said once"
        assert (await sender.send(message("r1", kind="recurring"))).reason == proactive.LIMIT
        for key in ("a1", "a2"):
            asked = message(key, kind="asked", asked_for=g.clock.now())
            assert (await sender.send(asked)).reason == proactive.TOGETHER
        await until(g, AT + timedelta(hours=1))
        await sender.release()
        head = WAITED[proactive.TOGETHER].english
        assert (await sent(g))[2:] == [f"{head}\n\nabout a1\n\nabout a2"]
        await until(g, AT.replace(hour=23))  # midnight in Zurich
        await sender.release()
        assert (await sent(g))[3:] == [f"{WAITED[proactive.LIMIT].english}\n\nabout r1"]


async def test_a_room_has_a_limit_of_its_own() -> None:
    async with proactive_gateway(rules(per_day=1, per_place=2)) as (g, sender):
        verdicts = [await sender.send(message(f"k{n}", place=ROOM)) for n in range(3)]
        assert [one.action for one in verdicts] == ["send", "send", "wait"]
        assert (await sender.send(message("own"))).action == "send"
        assert len(await sent(g)) == 3


async def test_a_closed_window_waits_and_the_next_message_of_the_person_opens_it() -> None:
    adapter = Windowed()
    async with proactive_gateway(adapter=adapter) as (g, sender):
        assert (await sender.send(message())).action == "wait_for_person"
        await sender.send(message("k2"))
        await sender.release()
        assert await sent(g) == []
        adapter.open = "open"
        event = received("hello", message_id="m1")
        author = replace(event.message.author, id="ada")
        place = replace(direct(), channel_id="ada")
        await g.take(replace(event, message=replace(event.message, author=author, place=place)))
        await sender.release()
        head = WAITED[proactive.WINDOW].english
        assert (await sent(g))[-1] == f"{head}\n\nabout k1\n\nabout k2"


async def test_a_platform_that_cannot_be_asked_is_asked_again() -> None:
    adapter = Windowed()
    adapter.open, adapter.answers = "open", False
    async with proactive_gateway(adapter=adapter) as (g, sender):
        verdict = await sender.send(message())
        assert (verdict.action, verdict.reason) == ("wait", proactive.REACH_UNKNOWN)
        adapter.answers = True
        await g.clock.advance(proactive.ASK_AGAIN.total_seconds())
        await sender.release()
        assert await sent(g) == ["about k1"]


async def test_a_template_is_used_for_a_short_text_and_forgotten_when_it_was_taken() -> None:
    adapter = Windowed()
    adapter.open = "template"
    async with proactive_gateway(adapter=adapter) as (g, sender):
        asked = message(kind="asked", buttons=UNDO, asked_for=AT)
        assert (await sender.send(asked)).reason == proactive.BY_TEMPLATE
        long = message("long", "x" * 101)
        assert (await sender.send(long)).action == "wait_for_person"
        assert (await sender.send(message("b", buttons=UNDO))).action == "wait_for_person"
        await sender.release()
        assert await sent(g) == ["about k1"]
        assert adapter.sent[0].buttons == ()
        await g.clock.advance(TAKEN_WITHIN.total_seconds())
        await sender.release()
        await sender.release()
        assert await sent(g) == ["about k1"]
        assert await g.rows("proactive_waiting") == 3
        assert (await sender.send(asked)).reason == proactive.HELD


async def test_a_message_that_comes_after_the_window_closed_waits_for_the_person() -> None:
    adapter = Windowed()
    adapter.open = "open"
    adapter.failures.append(WindowClosed("error 131047"))
    async with proactive_gateway(adapter=adapter) as (g, sender):
        assert (await sender.send(message())).action == "send"
        await sender.release()
        await g.rest()
        adapter.open = "closed"
        await g.clock.advance(TAKEN_WITHIN.total_seconds())
        await sender.release()
        (waits,) = await stored(g).blocked(10)
        assert waits == ("default", ADA)
        assert await sent(g) == []


async def test_a_message_that_the_platform_took_and_refused_later_waits_for_the_person() -> None:
    adapter = Windowed()
    adapter.open = "open"
    async with proactive_gateway(adapter=adapter) as (g, sender):
        await sender.send(message())
        await sender.send(message("k2"))
        assert await sent(g) == ["about k1", "about k2"]
        adapter.open, adapter.refused = "closed", ("another", "sent-1")
        adapter.answers = False
        await g.clock.advance(TAKEN_WITHIN.total_seconds())
        await sender.release()
        adapter.answers = True
        await g.clock.advance(TAKEN_WITHIN.total_seconds())
        await sender.release()
        assert await stored(g).blocked(10) == [("default", ADA)]
        adapter.open = "open"
        await g.clock.advance(proactive.LOOK_AGAIN.total_seconds())
        await sender.release()
        assert (await sent(g))[2:] == [f"{WAITED[proactive.WINDOW].english}\n\nabout k1"]
        await g.clock.advance(TAKEN_WITHIN.total_seconds())
        await sender.release()
        await sender.release()
        assert len(await sent(g)) == 3


async def test_a_person_who_cannot_be_reached_at_all_is_given_up() -> None:
    adapter = Windowed()
    adapter.open = "open"
    adapter.failures.append(Permanent("error 131026"))
    async with proactive_gateway(adapter=adapter) as (g, sender):
        await sender.send(message())
        await sender.release()
        await g.rest()
        await g.clock.advance(TAKEN_WITHIN.total_seconds())
        await sender.release()
        assert await stored(g).blocked(10) == []
        assert len(await g.services.stores.outbox.dead_letters(10)) == 1


async def test_a_message_whose_template_is_refused_waits_for_the_person() -> None:
    adapter = Windowed()
    adapter.open = "template"
    adapter.failures.append(TemplateRefused("error 132015"))
    async with proactive_gateway(adapter=adapter) as (g, sender):
        await sender.send(message())
        await sender.release()
        assert await sent(g) == []
        adapter.open = "closed"
        await g.clock.advance(TAKEN_WITHIN.total_seconds())
        await sender.release()
        adapter.open = "open"
        await g.clock.advance(proactive.LOOK_AGAIN.total_seconds())
        await sender.release()
        assert await sent(g) == [f"{WAITED[proactive.WINDOW].english}\n\nabout k1"]
        assert await g.services.stores.outbox.dead_letters(10) == []


async def test_who_lost_access_gets_nothing_and_the_reason_is_kept() -> None:
    async with proactive_gateway(rules(quiet_hours="08:00-11:00")) as (g, sender):
        await sender.send(message())
        blocked = AccessPolicy(blocked_users=frozenset({"ada"}))
        g.services.current.value = replace(g.services.policies, access=blocked)
        await until(g, AT + timedelta(hours=2))
        await sender.release()
        assert await sent(g) == []
        assert await g.rows("proactive_waiting") == 0
        (trace,) = await g.services.stores.traces.recent()
        assert trace.outcome == "refused:proactive"
        assert [one.reason for one in trace.decisions] == ["user_blocked"]
        assert trace.id == "k1"


async def test_who_belongs_to_another_tenant_by_now_gets_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with proactive_gateway(rules(quiet_hours="08:00-11:00")) as (g, sender):
        await sender.send(message())
        monkeypatch.setattr(type(g.services.extensions), "tenant_of", lambda *_: "other")
        await until(g, AT + timedelta(hours=2))
        await sender.release()
        assert await sent(g) == []
        assert g.counts["proactive", proactive.UNKNOWN_TENANT] == 1


async def test_who_left_gets_nothing_and_an_unsure_platform_is_asked_again() -> None:
    adapter = Guarded()
    async with proactive_gateway(adapter=adapter) as (g, sender):
        assert (await sender.send(message("k1", place=ROOM, as_member=True))).action == "send"
        gone = message("k2", place=ROOM, person=BOB, as_member=True)
        assert await sender.send(gone) == Verdict("never", proactive.LEFT)
        guest = message("k3", place=ROOM, person=BOB)
        assert (await sender.send(guest)).action == "send", "was never a full member"
        adapter.answers, adapter.members = False, {"ada", "cy"}
        unsure = message("k4", place=ROOM, person="test:main:cy", as_member=True)
        assert (await sender.send(unsure)).reason == proactive.UNSURE
        adapter.answers = True
        await g.clock.advance(proactive.ASK_AGAIN.total_seconds())
        await sender.release()
        assert (await sent(g))[-1] == "about k4"


async def test_what_waits_too_long_or_is_of_no_use_any_more_is_dropped() -> None:
    async with proactive_gateway(rules(keep_days=1), adapter=Windowed()) as (g, sender):
        await sender.send(message())
        soon = AT + timedelta(minutes=5)
        await sender.send(message("k2", buttons=UNDO, until=soon))
        await g.clock.advance(proactive.LOOK_AGAIN.total_seconds())
        await sender.release()
        assert g.counts["proactive", proactive.EXPIRED] == 1
        await g.clock.advance(timedelta(days=1).total_seconds())
        await sender.release()
        assert g.counts["proactive", proactive.EXPIRED] == 2
        assert await g.rows("proactive_waiting") == 0


async def test_a_kill_between_the_steps_sends_nothing_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The process dies after the message was queued, and before that was stored."""
    async with proactive_gateway(rules(quiet_hours="08:00-11:00", per_day=5)) as (g, sender):
        store = g.services.stores.proactive
        assert store is not None
        await sender.send(message("k1"))
        await sender.send(message("k2"))
        await until(g, AT + timedelta(hours=2))
        with monkeypatch.context() as patched:
            patched.setattr(type(store), "end_batch", _killed)
            with pytest.raises(ZeroDivisionError):
                await sender.release()
        await sender.send(message("k1"))
        await ProactiveSender(g.services).release()
        await ProactiveSender(g.services).release()
        assert len(await sent(g)) == 1
        assert await g.rows("proactive_sent") == 1


async def test_a_kill_before_messages_are_queued_decides_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The process dies after it chose the messages, and quiet hours or a closed window follow."""
    adapter = Windowed()
    adapter.open = "open"
    async with proactive_gateway(rules(quiet_hours="08:00-11:00"), adapter) as (g, sender):
        await sender.send(message("k1"))
        await sender.send(message("k2"))
        await until(g, AT + timedelta(hours=2))
        with monkeypatch.context() as patched:
            patched.setattr(ProactiveSender, "_send_batch", _killed)
            with pytest.raises(ZeroDivisionError):
                await sender.release()
        await g.services.readers.choose_quiet("default", ADA, "11:00-13:00")
        await sender.release()
        assert await sent(g) == []
        await until(g, AT + timedelta(hours=4))
        with monkeypatch.context() as patched:
            patched.setattr(ProactiveSender, "_send_batch", _killed)
            with pytest.raises(ZeroDivisionError):
                await sender.release()
        adapter.open = "template"
        for _ in range(3):
            await sender.release()
        assert sorted(await sent(g)) == ["about k1", "about k2"]


async def test_quiet_hours_that_begin_after_messages_were_queued_send_nothing_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with proactive_gateway(rules(quiet_hours="08:00-11:00")) as (g, sender):
        store = g.services.stores.proactive
        assert store is not None
        await sender.send(message("k1"))
        await until(g, AT + timedelta(hours=2))
        with monkeypatch.context() as patched:
            patched.setattr(type(store), "end_batch", _killed)
            with pytest.raises(ZeroDivisionError):
                await sender.release()
        await g.services.readers.choose_quiet("default", ADA, "11:00-13:00")
        await sender.release()
        await until(g, AT + timedelta(hours=4))
        await sender.release()
        assert len(await sent(g)) == 1


async def test_processes_that_release_at_once_send_everything_once() -> None:
    async with proactive_gateway(rules(quiet_hours="08:00-11:00")) as (g, sender):
        people = [f"test:main:p{number % 7}" for number in range(30)]
        for number, person in enumerate(people):
            await sender.send(message(f"k{number}", f"<k{number}>", person=person))
        await until(g, AT + timedelta(hours=2))
        others = [ProactiveSender(g.services) for _ in range(3)]
        await asyncio.gather(*(one.release() for one in (sender, *others)))
        await sender.release()
        whole = "\n".join(await sent(g))
        assert [whole.count(f"<k{number}>") for number in range(30)] == [1] * 30
        assert await sender.release() == 0


async def test_a_kill_after_the_last_message_of_the_day_was_counted_does_not_delay_it() -> None:
    async with proactive_gateway(rules(per_day=1)) as (g, sender):
        store = g.services.stores.proactive
        assert store is not None
        await store.count("default", ADA, "2026-11-21", "k1", 1, AT)
        assert (await sender.send(message("k1"))).action == "send"
        assert (await sender.send(message("k2"))).action == "wait"
        assert len(await sent(g)) == 1


async def _killed(*_: object) -> None:
    raise ZeroDivisionError


async def test_notices_of_the_program_pass_the_decision() -> None:
    async with proactive_gateway(rules(quiet_hours="08:00-11:00")) as (g, sender):
        notices = ProactiveNotices(g.services)
        await notices.send("link-1-expired", [message().notice, message(place=ROOM).notice])
        assert await sent(g) == []
        await until(g, AT + timedelta(hours=2))
        await sender.release()
        assert len(await sent(g)) == 1


async def test_what_its_caller_sends_is_decided_and_counted_once() -> None:
    adapter = Windowed()
    adapter.open = "open"
    async with proactive_gateway(rules(per_day=1), adapter) as (g, sender):
        question = message(kind="recurring")
        assert (await sender.permit(question)).action == "send"
        assert (await sender.permit(question)).action == "send", "asked again after a kill"
        refused = await sender.permit(message("k2", kind="recurring"))
        assert (refused.reason, refused.until) == (proactive.LIMIT, AT.replace(hour=23))
        adapter.open = "template"
        assert (await sender.permit(question)).reason == proactive.WINDOW
        await g.services.readers.choose_quiet("default", ADA, "09:00-12:30")
        assert (await sender.permit(question)).reason == proactive.OWN_HOURS
        assert await sent(g) == []
        assert await g.rows("proactive_waiting") == 0


async def test_an_account_that_is_gone_drops_the_message() -> None:
    configure_logs(level=logging.INFO)
    async with proactive_gateway() as (g, sender):
        elsewhere = message(place=replace(direct(), account="other"))
        with capture_logs() as logged:
            assert await sender.send(elsewhere) == Verdict("never", proactive.NOT_CONNECTED)
        [key] = [line["key"] for line in logged if line["event"] == "proactive"]
        [trace] = await g.services.stores.traces.find(key)
        assert [one.reason for one in trace.decisions] == [proactive.NOT_CONNECTED]


async def test_too_many_waiting_messages_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.stores.proactive.MAX_WAITING", 2)
    async with proactive_gateway(rules(quiet_hours="08:00-11:00")) as (g, sender):
        actions = [(await sender.send(message(f"k{n}"))).action for n in range(4)]
        assert actions == ["wait", "wait", "never", "never"]
        assert g.counts["proactive", proactive.TOO_MANY] == 2


async def test_messages_of_several_people_in_one_room_are_each_their_own() -> None:
    """Otherwise the words of one would be sent and erased in the name of another."""
    async with proactive_gateway(rules(quiet_hours="08:00-11:00")) as (g, sender):
        for key, person in (("k1", ADA), ("k2", BOB), ("k3", ADA)):
            await sender.send(message(key, place=ROOM, person=person))
        await until(g, AT + timedelta(hours=2))
        await sender.release()
        await g.rest()
        said = sorted((one.person, one.part.text) for one in g.adapter.sent if one.part is not None)
        head = WAITED[proactive.PLACE_HOURS].english
        assert said == [
            (ADA, f"{head}\n\nabout k1\n\nabout k3"),
            (BOB, f"{head}\n\nabout k2"),
        ]
