"""A platform on paper: the smallest simulator, and the smallest gateway, in memory.

`PaperSimulator` keeps what people write; `PaperGateway` answers it at once, with a trace, so that
the demo's rooms, player and page can be tested without any platform's protocol.
"""

import html
import json
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count

from gateway.immutable import replace
from gateway.policy.decision import Decision
from gateway.ports.traces import Trace
from parley.demo.voice import WORDS
from simulators.base import (
    MAX_CALLS,
    ApiCall,
    ChangeSignal,
    Faults,
    NotSupported,
    RoomKind,
    Shown,
    ShownButton,
    SimFile,
    SimPerson,
    SimRoom,
)
from tests.support.patience import PATIENCE

Listener = Callable[[str, SimRoom, Shown, bool], None]


class PaperSimulator:
    """`platform` names it; one without `rooms` has direct messages only, as WhatsApp."""

    def __init__(self, platform: str, *, rooms: bool = True) -> None:
        self._platform = platform
        self._has_rooms = rooms
        self.faults = Faults()
        self.calls: deque[ApiCall] = deque(maxlen=MAX_CALLS)
        self.listeners: list[Listener] = []
        self.log: list[tuple[str, ...]] = []
        self._people: dict[str, SimPerson] = {}
        self._shown: dict[str, list[Shown]] = {}
        self._ids = count(1)
        self._again = 0
        self._signal = ChangeSignal()

    @property
    def platform(self) -> str:
        return self._platform

    async def start(self) -> None:
        return None

    async def stop(self) -> None:
        return None

    def settings(self) -> dict[str, object]:
        return {}

    async def wait_connected(self, timeout: float = PATIENCE) -> None:
        return None

    def attach(self, base_url: str) -> None:
        self.log.append(("attach", base_url))

    def person(self, name: str) -> SimPerson:
        return self._people.setdefault(name, SimPerson(f"U-{name}", name))

    def room(self, title: str, kind: RoomKind = "public") -> SimRoom:
        if not self._has_rooms:
            raise NotSupported("direct messages only")
        return SimRoom(f"C-{title}", kind, title)

    def direct(self, person: SimPerson) -> SimRoom:
        return SimRoom(f"D-{person.name}", "direct", person.name)

    async def say(
        self,
        person: SimPerson,
        room: SimRoom,
        text: str,
        *,
        mention: bool = False,
        reply_to: str = "",
        files: tuple[SimFile, ...] = (),
    ) -> str:
        message = self.post(
            room, text, author=person.id, reply_to_id=reply_to, files=files, by_bot=False
        )
        times, self._again = 1 + self._again, 0
        for listener in self.listeners * times:
            listener(
                self._platform,
                room,
                message,
                mention or room.kind == "direct" or bool(room.thread_id),
            )
        return message.id

    def post(
        self,
        room: SimRoom,
        text: str,
        *,
        author: str = "BOT",
        by_bot: bool = True,
        buttons: tuple[ShownButton, ...] = (),
        files: tuple[SimFile, ...] = (),
        reply_to_id: str = "",
        only_for: str = "",
    ) -> Shown:
        """Put a message into the room."""
        message = Shown(
            id=f"{self._platform}-{next(self._ids)}",
            room_id=room.id,
            thread_id=room.thread_id,
            author_id=author,
            by_bot=by_bot,
            text=text,
            html=f"<p>{html.escape(text)}</p>",
            buttons=buttons,
            files=files,
            reply_to_id=reply_to_id,
            only_for=only_for,
        )
        self._shown.setdefault(room.id, []).append(message)
        if by_bot:
            self.calls.append(ApiCall("sendMessage", {"text": text}, 200, 0.0))
        self._signal.notify()
        return message

    async def open_thread(self, person: SimPerson, room: SimRoom, title: str) -> SimRoom:
        return replace(room, thread_id=f"T{next(self._ids)}")

    async def edit(self, person: SimPerson, room: SimRoom, message_id: str, text: str) -> None:
        self._change(room, message_id, text=text, html=f"<p>{html.escape(text)}</p>", edited=True)

    async def delete(self, person: SimPerson, room: SimRoom, message_id: str) -> None:
        self._change(room, message_id, text="", html="", deleted=True)

    async def command(
        self, person: SimPerson, room: SimRoom, name: str, arguments: str = ""
    ) -> None:
        self.log.append(("command", name, arguments))
        self._ask(room, f"/{name} {arguments}".strip(), person)

    def _ask(self, room: SimRoom, text: str, person: SimPerson) -> None:
        event_id = f"{self._platform}-event-{next(self._ids)}"
        fake = Shown(event_id, room.id, room.thread_id, person.id, False, text)
        for listener in self.listeners:
            listener(self._platform, room, fake, True)

    async def press(self, person: SimPerson, room: SimRoom, message_id: str, label: str) -> None:
        self.log.append(("press", message_id, label))
        self._ask(room, f"pressed {label}", person)

    async def react(self, person: SimPerson, room: SimRoom, message_id: str, emoji: str) -> None:
        self.log.append(("react", message_id, emoji))

    def duplicate_next(self, times: int = 1) -> None:
        self._again += times

    async def drop_connections(self) -> None:
        self.log.append(("dropped",))

    def shown(self, room: SimRoom) -> list[Shown]:
        """A room of Slack with its threads, in the order written; elsewhere apart."""
        whole = self._platform == "slack" and not room.thread_id
        return [
            message
            for message in self._shown.get(room.id, [])
            if whole or message.thread_id == room.thread_id
        ]

    async def wait_for(
        self, room: SimRoom, found: Callable[[list[Shown]], bool], timeout: float = PATIENCE
    ) -> list[Shown]:
        if not await self._signal.wait_until(lambda: found(self.shown(room)), timeout):
            raise TimeoutError(f"{room.title}: {self.shown(room)}")
        return self.shown(room)

    def _change(self, room: SimRoom, message_id: str, **changes: object) -> None:
        lines = self._shown[room.id]
        for index, line in enumerate(lines):
            if line.id == message_id:
                lines[index] = replace(line, **changes)  # type: ignore[arg-type]
        self._signal.notify()


class PaperGateway:
    """Answers what is meant for it, each message once, up to `limit` a person."""

    def __init__(self, *simulators: PaperSimulator, limit: int = 6) -> None:
        self._limit = limit
        self._simulators = {simulator.platform: simulator for simulator in simulators}
        self._traces: list[Trace] = []
        self._answered: dict[tuple[str, str], int] = {}
        self._known: set[str] = set()
        self.more: tuple[Decision, ...] = ()
        for simulator in simulators:
            simulator.listeners.append(self.hear)

    async def decisions(self, limit: int) -> list[Trace]:
        return list(reversed(self._traces))[:limit]

    def hear(self, platform: str, room: SimRoom, message: Shown, addressed: bool) -> None:
        """One event, as an adapter would hand it over."""
        if message.id in self._known:
            return
        self._known.add(message.id)
        decisions = [Decision("invocation", addressed, "mention" if addressed else "not_addressed")]
        if not addressed:
            self._note(platform, message, decisions, "ignored")
            return
        caller = (platform, message.author_id)
        asks = not message.text.startswith(("/", "pressed "))  # those have limits of their own
        question = self._answered[caller] = self._answered.get(caller, 0) + asks
        within = question <= self._limit
        decisions.append(Decision("limits", within, "within" if within else "user_limit"))
        self._note(platform, message, decisions, "answered" if within else "refused:limits")
        place = room
        if platform == "slack" and room.kind != "direct" and not room.thread_id:
            place = replace(room, thread_id=message.id)
        simulator = self._simulators[platform]
        if within:
            buttons = (
                (ShownButton("Delete history", "yes"), ShownButton("Keep", "no"))
                if "clear" in message.text
                else ()
            )
            said = message.text or WORDS
            simulator.post(
                place,
                f"You said: {said}",
                buttons=buttons,
                files=message.files,
                reply_to_id=message.id,
            )
            if message.text.startswith("Remind me"):
                simulator.post(place, "⏰ now")
        elif question == self._limit + 1:
            simulator.post(
                place,
                "That was too much in a short time. Please ask again in 10 seconds.",
                reply_to_id=message.id,
            )

    def _note(self, platform: str, message: Shown, decisions: list[Decision], outcome: str) -> None:
        self._traces.append(
            Trace(
                f"trace-{len(self._traces)}",
                message.id,
                platform,
                "main",
                json.dumps(["default", platform, "main", "", message.room_id, message.thread_id]),
                "message",
                datetime(2026, 11, 3, tzinfo=UTC),
                (*decisions, *self.more),
                outcome,
                1.25,
            )
        )
