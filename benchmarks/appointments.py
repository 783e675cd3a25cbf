"""A simulated year of appointments: what was due, what was sent, and when.

    python -m benchmarks.appointments             1,000 people, a year, both databases
    python -m benchmarks.appointments --people 100 --days 60

People in twelve zones have recurring and single appointments; some move to another zone. Two
workers share the database. They are killed before and after their calls of the stores at random,
and start again minutes later; a few times the whole installation is down for hours or days. The
clock is a fake one. What has to be sent is computed by `dateutil`, apart from the program.

Held to: nothing lost, nothing sent twice, nothing late outside the time in which no worker ran.
"""

import argparse
import asyncio
import json
import logging
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

import structlog
from dateutil import rrule
from dateutil.tz import resolve_imaginary

from gateway.appointments.appointment import Appointment, AppointmentPolicy
from gateway.appointments.recurrence import LAST, Rule, following
from gateway.immutable import replace
from gateway.message import Outbound, Place, Receipt
from gateway.people import Audience
from gateway.ports import MembershipStatus
from gateway.stores.appointments import LEASE, AppointmentStore
from gateway.stores.sqlite.queues import SqliteOutbox
from gateway.text import Text
from gateway.turn.due_appointments import DueAppointments
from gateway.turn.services import Policies, Services
from tests.support.adapter import RecordingAdapter
from tests.support.clock import FakeClock
from tests.support.databases import Engine, postgres_database, sqlite_database, started
from tests.support.gateway import Gateway, gateway
from tests.support.servers import postgres_server

ZONES: Final = (
    "Europe/Zurich",
    "Europe/London",
    "America/New_York",
    "America/Los_Angeles",
    "America/Sao_Paulo",
    "America/St_Johns",
    "Asia/Tokyo",
    "Asia/Kolkata",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Pacific/Auckland",
    "Africa/Cairo",
)
START: Final = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
"""That of the fake clock."""
DAY: Final = timedelta(days=1)
KILLED: Final = 0.002
"""The probability of a death at one of the points around a call."""
WORKERS: Final = 2
SLACK: Final = 2 * LEASE + timedelta(minutes=1)
"""The time after which a worker that lives has sent what two others left."""
LATE_WITHIN: Final = timedelta(hours=24)
SOON: Final = timedelta(hours=1)
"""The end of the time is not judged: what is due then may still wait."""
Fired = dict[tuple[str, str], list[datetime]]


class Killed(BaseException):
    """The process ends here."""


@dataclass
class Chance:
    """Decides where a worker dies."""

    random: random.Random
    rate: float
    deaths: int = 0

    def point(self) -> None:
        """A point at which the process may end. Raises `Killed`."""
        if self.random.random() < self.rate:
            self.deaths += 1
            raise Killed


class Mortal:
    """A part whose calls may be the last ones of the process."""

    def __init__(self, part: Any, chance: Chance) -> None:
        self._part = part
        self._chance = chance

    def __getattr__(self, name: str) -> Any:
        inner = getattr(self._part, name)
        if not asyncio.iscoroutinefunction(inner):
            return inner

        async def called(*args: Any, **kwargs: Any) -> Any:
            self._chance.point()
            result = await inner(*args, **kwargs)
            self._chance.point()
            return result

        return called


class CountingAdapter(RecordingAdapter):
    """Notes when each occurrence was sent."""

    def __init__(self) -> None:
        super().__init__()
        self.fired: Fired = defaultdict(list)
        self.clock = FakeClock()

    async def send(self, outbound: Outbound) -> Receipt:
        _, id_, occurrence = outbound.turn_id.split("-")
        self.fired[id_, occurrence].append(self.clock.now())
        return Receipt(outbound.key)


@dataclass
class Planned:
    """An appointment, and the zone to which its person moves at a time."""

    appointment: Appointment
    moves_at: datetime | None = None
    moves_to: str = ""


@dataclass
class Worker:
    """A process; it is dead until `back`."""

    due: DueAppointments
    back: datetime = START


@dataclass
class Figures:
    """The result for one database."""

    database: str
    due: int = 0
    on_time: int = 0
    late_in_outage: int = 0
    replaced_in_outage: int = 0
    lost: int = 0
    double: int = 0
    late: int = 0
    unexpected: int = 0
    kills: int = 0
    outages: int = 0
    hours_down: float = 0.0
    seconds: float = 0.0
    examples: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """True if the promises hold."""
        return not (self.lost or self.double or self.late or self.unexpected)


def planned(people: int, days: int, dice: random.Random) -> list[Planned]:
    """The appointments of all people: recurring ones, single ones and instants."""
    plans = []
    for number in range(people):
        zone = ZONES[number % len(ZONES)]
        for kind in range(2):
            first = datetime(2026, 11, 21) + timedelta(  # noqa: DTZ001 - local times
                days=dice.randrange(1, days if kind else 30), minutes=30 * dice.randrange(48)
            )
            rule = None if kind else _rule(dice, first)
            local = first if rule is None else following(rule, first, first - timedelta(minutes=1))
            assert local is not None
            plan = Planned(
                Appointment(
                    id=f"{2 * number + kind:016x}",
                    tenant="default",
                    person=f"test:main:p{number}",
                    name=f"P{number}",
                    kind="reminder",
                    place=Place("test", "main", f"d{number}", Audience.DIRECT),
                    words="look",
                    first=first,
                    zone=zone,
                    due=local,
                    made_at=START,
                    rule=rule,
                )
            )
            if number % 10 == 0:
                plan.moves_at = START + timedelta(seconds=dice.randrange(days * 86_400))
                plan.moves_to = dice.choice(ZONES)
            plans.append(plan)
    return plans


def _rule(dice: random.Random, first: datetime) -> Rule:
    weekdays = tuple(sorted(dice.sample(range(7), dice.randint(1, 3))))
    return dice.choices(
        [
            Rule("day"),
            Rule("day", dice.randint(2, 9)),
            Rule("week", 1, (0, 1, 2, 3, 4)),
            Rule("week", dice.randint(1, 3), weekdays),
            Rule("month", day=dice.choice([first.day, 31, LAST])),
            Rule("month", 1, (dice.randrange(7),), dice.choice([1, 2, LAST])),
        ],
        [15, 15, 10, 35, 15, 10],
    )[0]


def expected(plan: Planned, until: datetime) -> list[tuple[str, datetime]]:
    """The occurrences until then: their names and instants, by `dateutil`."""
    one, rule = plan.appointment, plan.appointment.rule
    found = []
    for local in [one.due] if rule is None else _locals(rule, one.first):
        at = resolve_imaginary(local.replace(tzinfo=ZoneInfo(one.zone))).astimezone(UTC)
        if plan.moves_at is not None and at > plan.moves_at:
            moved = resolve_imaginary(local.replace(tzinfo=ZoneInfo(plan.moves_to)))
            at = max(moved.astimezone(UTC), plan.moves_at)
        if at > until:
            break
        found.append((f"{local:%Y%m%d%H%M%S}", at))
    return found


def _locals(rule: Rule, first: datetime) -> rrule.rrule:
    how: dict[str, Any] = {
        "freq": {"day": rrule.DAILY, "week": rrule.WEEKLY, "month": rrule.MONTHLY}[rule.unit]
    }
    if rule.unit == "week":
        how["byweekday"] = rule.weekdays
    elif rule.nth:
        how["byweekday"] = rrule.weekday(rule.weekdays[0])(rule.nth)
    elif rule.unit == "month" and rule.day > 28:
        how |= {"bymonthday": range(28, rule.day + 1), "bysetpos": -1}
    elif rule.unit == "month":
        how["bymonthday"] = rule.day
    return rrule.rrule(dtstart=first, interval=rule.interval, **how)


def downtimes(days: int, dice: random.Random) -> list[tuple[datetime, datetime]]:
    """Times in which the whole installation is down: minutes, hours, and once more than a day."""
    lengths = (timedelta(minutes=20), timedelta(hours=3), timedelta(hours=11), timedelta(hours=40))
    times, begin = [], START
    for length in lengths * max(1, days // 120):
        begin += timedelta(hours=dice.randrange(24, max(48, 24 * days // (len(lengths) + 1))))
        if begin + length > START + timedelta(days=days - 3):
            break
        times.append((begin, begin + length))
        begin += length
    return times


class Year:
    """One run."""

    def __init__(
        self, g: Gateway, engine: Engine, plans: Sequence[Planned], chance: Chance
    ) -> None:
        self._g = g
        self._engine = engine
        self._plans = plans
        self._chance = chance
        self._store = AppointmentStore(engine)
        self._outbox = SqliteOutbox(g.database, g.clock)
        self._workers = [Worker(self._born()) for _ in range(WORKERS)]
        self.dead: list[tuple[datetime, datetime]] = []
        """The times in which no worker lived."""
        self._taken_over_at: datetime | None = None
        """The time at which a living process takes over the sends of one that died."""

    def _born(self) -> DueAppointments:
        services: Services = replace(
            self._g.services,
            stores=replace(
                self._g.services.stores, outbox=Mortal(self._g.services.stores.outbox, self._chance)
            ),
        )
        store: Any = Mortal(AppointmentStore(self._engine), self._chance)
        return DueAppointments(services, store, self._g.intake.add_scheduled, _belongs, _nobody)

    async def run(self, days: int, downtimes: Sequence[tuple[datetime, datetime]]) -> None:
        """Let the time pass."""
        for plan in self._plans:
            await self._store.add(plan.appointment, 50, 200)
        clock, end, pruned = self._g.clock, START + timedelta(days=days), START
        down = list(downtimes)
        moves = sorted(
            (plan for plan in self._plans if plan.moves_at is not None),
            key=lambda plan: plan.moves_at or START,
        )
        while (now := clock.now()) < end:
            while down and down[0][1] <= now:
                down.pop(0)
            if down and down[0][0] <= now:
                for worker in self._workers:
                    worker.back = max(worker.back, down[0][1])
            while moves and (moves[0].moves_at or now) <= now:
                await self._move(moves.pop(0))
            await self._work(now)
            if now - pruned >= DAY:
                pruned = now
                while await self._outbox.prune():
                    pass
            await self._pass(now, end, down, moves)

    async def _move(self, plan: Planned) -> None:
        one = await self._store.find(plan.appointment.id)
        if one is not None and one.state == "active":
            await self._store.move(one, plan.moves_to)

    async def _work(self, now: datetime) -> None:
        """Let all workers work that live, until nothing is due."""
        for _ in range(1_000):
            living = [worker for worker in self._workers if worker.back <= now]
            done = await asyncio.gather(*(self._step(worker, now) for worker in living))
            if not any(done):
                return

    async def _step(self, worker: Worker, now: datetime) -> int:
        try:
            done = await worker.due.step()
        except Killed:
            seconds = self._chance.random.randrange(1, 600)
            worker.back, worker.due = now + timedelta(seconds=seconds), self._born()
            self._taken_over_at = now + LEASE
            return 1
        for _ in range(100):  # the sends of this process
            if self._g.services.deliverer.idle:
                break
            await asyncio.sleep(0)
        return done

    async def _pass(
        self,
        now: datetime,
        end: datetime,
        down: Sequence[tuple[datetime, datetime]],
        moves: Sequence[Planned],
    ) -> None:
        """Go on to the next time at which something happens."""
        following = await self._store.next_at(now)
        times = [end, now + DAY]
        alive = any(worker.back <= now for worker in self._workers)
        times += [following] if following is not None and alive else []
        times += [worker.back for worker in self._workers if worker.back > now]
        times += [time for one in down[:1] for time in one if time > now]
        times += [plan.moves_at for plan in moves[:1] if plan.moves_at is not None]
        taken = self._taken_over_at if alive else None
        times += [taken] if taken is not None and taken > now else []
        until = max(min(times), now + timedelta(milliseconds=1))
        if not alive:
            self.dead.append((now, min(worker.back for worker in self._workers)))
        revived = any(now < worker.back <= until for worker in self._workers)
        self._g.clock.skip((until - now).total_seconds())
        if revived or (taken is not None and taken <= until):
            self._taken_over_at = None
            await self._g.services.deliverer.start()


async def _belongs(person: str, project: str) -> MembershipStatus:
    return MembershipStatus.UNKNOWN


async def _nobody(tenant: str, group: str, said: Text) -> None:
    raise AssertionError("nobody is told of a reminder")


def judged(
    figures: Figures,
    plans: Sequence[Planned],
    fired: Mapping[tuple[str, str], Sequence[datetime]],
    dead: Sequence[tuple[datetime, datetime]],
    until: datetime,
) -> Figures:
    """Compare what was sent with what was due."""
    gaps = _joined(dead)
    left = Counter({key: len(times) for key, times in fired.items()})
    for plan in plans:
        occurrences = expected(plan, until + 2 * SOON)
        for place, (name, at) in enumerate(occurrences):
            del left[plan.appointment.id, name]
            if at > until:
                continue
            times = fired.get((plan.appointment.id, name), ())
            figures.due += 1
            # it may begin while the occurrence is worked on
            gap = next((one for one in gaps if one[0] - SLACK <= at < one[1]), None)
            if times and times[0] <= at + SLACK:
                gap = None
            worked_from = at if gap is None else gap[1]
            after = occurrences[place + 1][1] if place + 1 < len(occurrences) else None
            figures.double += max(0, len(times) - 1)
            if times:
                in_time = times[0] <= worked_from + SLACK and times[0] >= at
                figures.on_time += in_time and gap is None
                figures.late_in_outage += in_time and gap is not None
                figures.late += not in_time
                problem = "" if in_time else f"late: {times[0]}"
            elif gap is not None and (
                (after is not None and after <= gap[1] + SLACK)
                or (after is not None and gap[1] - at > LATE_WITHIN)
                or (plan.appointment.rule is not None and gap[1] - at > LATE_WITHIN)
            ):
                figures.replaced_in_outage += 1
                problem = ""
            else:
                figures.lost += 1
                problem = "lost"
            if problem and len(figures.examples) < 5:
                figures.examples.append(f"{plan.appointment} {name} {at} {gap} {problem}")
    figures.unexpected = sum(count for key, count in left.items() if count > 0)
    return figures


def _joined(times: Sequence[tuple[datetime, datetime]]) -> list[tuple[datetime, datetime]]:
    """Join times between which there is too little time to work."""
    joined: list[tuple[datetime, datetime]] = []
    for begin, end in sorted(times):
        if joined and begin <= joined[-1][1] + SLACK:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((begin, end))
    return joined


async def simulate(engine: Engine, people: int, days: int, seed: int, rate: float) -> Figures:
    """Run on one opened database."""
    began, dice = time.perf_counter(), random.Random(seed)
    adapter, chance = CountingAdapter(), Chance(random.Random(seed + 1), rate)
    plans, down = planned(people, days, dice), downtimes(days, dice)
    rules = Policies(appointments=AppointmentPolicy(enabled=True))
    async with gateway(policies=rules, adapter=adapter) as g:
        adapter.clock = g.clock
        year = Year(g, engine, plans, chance)
        await year.run(days, down)
        for _ in range(20):
            await asyncio.sleep(0)
        until = START + timedelta(days=days) - SOON
        figures = Figures(engine.engine, kills=chance.deaths, outages=len(down))
        judged(figures, plans, adapter.fired, year.dead, until)
        gaps = _joined(year.dead)
        figures.hours_down = round(sum((b - a).total_seconds() for a, b in gaps) / 3_600, 1)
    figures.seconds = round(time.perf_counter() - began, 1)
    return figures


@asynccontextmanager
async def databases(names: Sequence[str]) -> AsyncIterator[list[Engine]]:
    """Opened databases."""
    opened: list[Engine] = []
    if "sqlite" in names:
        async with started(sqlite_database(":memory:")) as database:
            opened.append(database)
            if "postgres" in names:
                with postgres_server() as server:
                    async with started(postgres_database(server.url)) as other:
                        yield [*opened, other]
                return
            yield opened
        return
    with postgres_server() as server:
        async with started(postgres_database(server.url)) as other:
            yield [other]


async def main() -> int:
    """Run on each database; 1 if a promise is broken."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--people", type=int, default=1_000)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--databases", nargs="+", default=["sqlite", "postgres"])
    args = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    broken = 0
    async with databases(args.databases) as opened:
        for engine in opened:
            figures = await simulate(engine, args.people, args.days, args.seed, KILLED)
            print(json.dumps(figures.__dict__), flush=True)
            broken |= not figures.holds
    return broken


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
