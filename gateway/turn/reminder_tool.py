"""The model's tool for appointments.

The person who asks owns what is noted, whoever wrote the text that made the model call. It is
stored when the answer is complete, and repeated below it. A prompt, which is asked later in
the person's name, has to be in their own words of this turn.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Final, TypeAlias

from msgspec import Struct

from gateway.appointments.appointment import Appointment, AppointmentPolicy, Kind
from gateway.appointments.request import Arguments, Schedule, read_arguments, schedule_of
from gateway.errors import ToolError
from gateway.immutable import replace
from gateway.message import Place
from gateway.people import Audience, Principal
from gateway.policy.response_filter import filter_response
from gateway.ports import ToolAnswer, ToolProvider, ToolSpec
from gateway.stores.appointments import AppointmentStore
from gateway.text import day_in
from gateway.turn.context.task import stated_in
from safety.secret_detection.detect import redact_secrets
from safety.unicode import safe_unicode

MAX_NOTED: Final = 10
"""Changes of one turn."""
_TEXT: Final = {"type": "string"}
REMIND: Final = ToolSpec(
    "remind",
    "Set a reminder; number changes one, alone deletes it; empty lists",
    {
        "type": "object",
        "properties": {
            "text": _TEXT,
            "at": {"type": "string", "description": "local 2026-12-31T09:00"},
            "in_minutes": {"type": "number"},
            "every": {"type": "string", "description": "day, weekday, 2 weeks, mon,thu, first mon"},
            "until": _TEXT,
            "zone": _TEXT,
            "number": {"type": "integer"},
        },
    },
    side_effects=False,
)
"""It changes nothing but the person's own appointments in this place."""
RUN: Final = ToolSpec(
    REMIND.name,
    REMIND.description,
    {
        **REMIND.schema,
        "properties": {
            **REMIND.schema["properties"],  # type: ignore[dict-item]  # it stands above
            "run": {"type": "boolean", "description": "ask you text then, in their words"},
        },
    },
    side_effects=False,
)
"""The same for people who may schedule questions."""
OWN_WORDS: Final = "text: for run, a sentence of the person in this turn, word for word"
MAY_NOT: Final = "run: this person may not schedule questions"
WITHHELD: Final = "text: it may hold a secret, which is not stored"
TOO_MANY: Final = "the person has {most} appointments already, and no more are possible"
NO_SUCH: Final = "number: the person has no such appointment here; without arguments all are listed"
NO_TEXT_GIVEN: Final = "text: what to remind of"
TOO_MUCH: Final = f"at most {MAX_NOTED} changes at once"
SHOWN_TIMES: Final = 3
"""Times of a rule that the model reads."""
SHORTENED: Final = "in a month without this day it is on the last day"


class Maker(Struct, frozen=True):
    """The person who asks in a turn, where, and in which words. `prompts`: they may schedule
    questions."""

    who: Principal
    name: str
    place: Place
    zone: tzinfo
    words: Sequence[str]
    now: datetime
    prompts: bool


class Kept(Struct, frozen=True):
    """An appointment to store, or to change under its number."""

    appointment: Appointment


class Removed(Struct, frozen=True):
    """An appointment to remove."""

    appointment: Appointment


Change: TypeAlias = Kept | Removed


class RemindTool:
    """The tools of a turn with one more. Implements `ToolProvider`; `noted` are the changes to
    store."""

    def __init__(
        self,
        tools: ToolProvider,
        store: AppointmentStore,
        policy: AppointmentPolicy,
        maker: Maker,
        turn_id: str,
    ) -> None:
        self._tools = tools
        self._store = store
        self._policy = policy
        self._maker = maker
        self._turn_id = turn_id
        self.noted: list[Change] = []

    async def tools(self) -> tuple[ToolSpec, ...]:
        """Return the others and this one last, also alone: it is on because somebody chose it."""
        return (*await self._tools.tools(), RUN if self._maker.prompts else REMIND)

    async def call(self, name: str, arguments: Mapping[str, object]) -> ToolAnswer:
        if name != REMIND.name:
            return await self._tools.call(name, arguments)
        given = {key: value for key, value in arguments.items() if value not in (None, "")}
        asked = read_arguments(given)
        if not given:
            listed = await visible(self._store, self._maker.who, self._maker.place)
            return _answer({"appointments": [for_model(one) for one in listed]})
        if len(self.noted) >= MAX_NOTED:
            raise ToolError(TOO_MUCH)
        old = await self._numbered(asked.number) if asked.number is not None else None
        if old is not None and given.keys() == {"number"}:
            self.noted.append(Removed(old))
            return _answer({"removed": for_model(old)})
        made = self._made(asked) if old is None else self._changed(old, asked)
        if old is None:
            await self._check_room()
        self.noted.append(Kept(made))
        return _answer({"noted": for_model(made)})

    async def close(self) -> None:
        """Does nothing: the tools outlive the turn."""

    def _made(self, asked: Arguments) -> Appointment:
        kind: Kind = "prompt" if asked.run else "reminder"
        words, maker = self._words(asked, kind), self._maker
        when = schedule_of(asked, maker.now, maker.zone)
        named = f"{self._turn_id}\n{len(self.noted)}".encode("utf-8", "surrogatepass")
        made = Appointment(
            id=hashlib.blake2b(named, digest_size=8).hexdigest(),
            tenant=maker.who.tenant,
            person=str(maker.who.person),
            name=maker.name,
            kind=kind,
            place=maker.place,
            words=words,
            first=when.first,
            zone=when.zone,
            due=when.due,
            made_at=maker.now,
        )
        return _at(made, when)

    def _changed(self, old: Appointment, asked: Arguments) -> Appointment:
        if asked.run is not None and asked.run != (old.kind == "prompt"):
            raise ToolError("run: delete this one, and make another one")
        words = self._words(asked, old.kind) if asked.text else old.words
        changed = replace(old, words=words, state="active", missed=0)
        if asked.names_time:
            return _at(changed, schedule_of(asked, self._maker.now, self._maker.zone))
        if asked.every or asked.until or asked.zone:
            raise ToolError("at: say the first time as well")
        return changed

    def _words(self, asked: Arguments, kind: Kind) -> str:
        given = " ".join(safe_unicode(asked.text or "").split())
        if not given:
            raise ToolError(NO_TEXT_GIVEN)
        if kind == "prompt" and not self._maker.prompts:
            raise ToolError(MAY_NOT)
        if kind == "prompt" and not stated_in(given, self._maker.words):
            raise ToolError(OWN_WORDS)
        if redact_secrets(given).text != given:
            raise ToolError(WITHHELD)
        if filter_response(given, self._maker.place.audience).blocked:
            raise ToolError(WITHHELD)
        return given

    async def _numbered(self, number: int) -> Appointment:
        listed = await visible(self._store, self._maker.who, self._maker.place)
        gone = {one.appointment.id for one in self.noted if isinstance(one, Removed)}
        for one in listed:
            if one.number == number and one.id not in gone:
                return one
        raise ToolError(NO_SUCH)

    async def _check_room(self) -> None:
        """Raise `ToolError` where another one would be refused; the store decides in the end."""
        who, noted = self._maker.who, sum(isinstance(one, Kept) for one in self.noted)
        own = await self._store.of_person(who.tenant, str(who.person))
        if len(own) + noted >= self._policy.per_person:
            raise ToolError(TOO_MANY.format(most=self._policy.per_person))


def _at(appointment: Appointment, when: Schedule) -> Appointment:
    return replace(
        appointment,
        first=when.first,
        zone=when.zone,
        due=when.due,
        rule=when.rule,
        follows=when.follows,
    )


def _answer(said: Mapping[str, object]) -> str:
    return json.dumps(said, ensure_ascii=False)


async def visible(store: AppointmentStore, who: Principal, place: Place) -> list[Appointment]:
    """Return the appointments of a person that readers of a place may see: in private all of them,
    in a room those that are sent there. Raises `StoreUnavailable`."""
    own = await store.of_person(who.tenant, str(who.person))
    if place.audience is Audience.DIRECT:
        return own
    return [one for one in own if _is_read_at(one.place, place)]


def _is_read_at(sent_to: Place, place: Place) -> bool:
    """Return True if the readers of a place in a room read what is sent to another one."""
    channel = (sent_to.platform, sent_to.account, sent_to.channel_id)
    if channel != (place.platform, place.account, place.channel_id):
        return False
    return not sent_to.closed_thread or sent_to.thread_id == place.thread_id


def for_model(appointment: Appointment) -> dict[str, object]:
    """Return an appointment as the model reads it, with local times."""
    described: dict[str, object] = {
        "number": appointment.number,
        "text": appointment.words,
        "next": [_local(one, appointment) for one in appointment.coming(SHOWN_TIMES)],
        "zone": appointment.zone,
    }
    if not appointment.number:
        del described["number"]
    if appointment.kind == "prompt":
        described["run"] = True
    if appointment.state == "paused":
        described["paused"] = True
    if appointment.rule is not None and appointment.rule.shortens:
        described["note"] = SHORTENED
    return described


def _local(at: datetime, appointment: Appointment) -> str:
    return f"{day_in(at, appointment.tz)}, {at.astimezone(appointment.tz):%H:%M}"
