"""The workspace: people, channels, messages and files, as Slack would keep them. No protocol."""

import secrets
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from simulators.base import ChangeSignal, RoomKind, SimFile, SimPerson, SimRoom

MAX_MESSAGES: Final = 5_000
"""Messages kept per channel; the oldest are forgotten first."""

RESPONSE_URL_USES: Final = 5
"""The number of answers that may be posted to one response URL, within 30 minutes (Slack's
figures)."""

RESPONSE_URL_SECONDS: Final = 30 * 60

STREAM_SECONDS: Final = 300.0
"""After about five minutes nothing can be added to a streamed message any more."""


@dataclass(slots=True)
class StoredFile:
    """A file somebody uploaded; `shared` once it stands in a channel."""

    id: str
    name: str
    mime: str
    data: bytes = field(repr=False)
    user: str = ""
    shared: bool = False


@dataclass(slots=True)
class Message:
    """A message of a channel. `only_for` makes it ephemeral. `markdown` is what was streamed to it;
    it can be added to until `streams_until`, a time of the monotonic clock."""

    ts: str
    channel: str
    user: str
    text: str = ""
    blocks: list[dict[str, object]] = field(default_factory=list)
    thread_ts: str = ""
    files: list[StoredFile] = field(default_factory=list)
    by_bot: bool = False
    only_for: str = ""
    edited_ts: str = ""
    deleted: bool = False
    payload: Mapping[str, object] = field(default_factory=dict)
    attachments: list[dict[str, object]] = field(default_factory=list)
    reactions: dict[str, set[str]] = field(default_factory=dict)
    markdown: str = ""
    streams_until: float = 0.0


@dataclass(slots=True)
class Channel:
    """A conversation. `peer` is the person at the other end of a direct one; `shared` when another
    company is in it too (Slack Connect)."""

    id: str
    kind: RoomKind
    title: str
    bot_inside: bool = True
    peer: str = ""
    shared: bool = False
    messages: list[Message] = field(default_factory=list)
    statuses: dict[str, str] = field(default_factory=dict)

    @property
    def event_type(self) -> str:
        """The name of this kind of channel in events."""
        return {"direct": "im", "private": "group", "public": "channel"}[self.kind]


@dataclass(slots=True)
class ResponseUrl:
    """The address at which the app may answer a command or a press."""

    channel: str
    user: str
    message_ts: str
    made_at: float
    used: int = 0


class World:
    """One workspace with one app installed."""

    def __init__(self, team: str, bot_name: str) -> None:
        self.team = team
        self.app_id = "A" + team[1:]
        self.bot_user = "UBOT" + team[1:]
        self.bot_id = "B" + team[1:]
        self.bot_name = bot_name
        self.people: dict[str, SimPerson] = {}
        self.portraits: dict[str, SimFile] = {}
        """The pictures of people, by id."""
        self.portrait_addresses: dict[str, str] = {}
        """The addresses of pictures that lie elsewhere, by the id of their person."""
        self.teams: dict[str, str] = {}
        """Teams of the people who are of another company, by id."""
        self.languages: dict[str, str] = {}
        """The languages of people's apps other than American English, by id."""
        self.zones: dict[str, str] = {}
        """The time zones of people other than UTC, by id."""
        self.guests: set[str] = set()
        self.deactivated: set[str] = set()
        self.channels: dict[str, Channel] = {}
        self.files: dict[str, StoredFile] = {}
        self.uploads: dict[str, StoredFile] = {}
        self.response_urls: dict[str, ResponseUrl] = {}
        self.changed = ChangeSignal()
        self.stream_seconds = STREAM_SECONDS
        self._last_ts = 0
        self._count = 0

    # --- names and numbers ----------------------------------------------------------------------

    def new_ts(self) -> str:
        """The id of the next message: now, and later than every one before."""
        self._last_ts = max(int(time.time() * 1_000_000), self._last_ts + 1)
        return f"{self._last_ts // 1_000_000}.{self._last_ts % 1_000_000:06d}"

    def new_id(self, prefix: str) -> str:
        """An id in Slack's manner: a letter for the kind, then capitals and digits."""
        self._count += 1
        return f"{prefix}{self.team[1:]}{self._count:05d}"

    def new_trigger(self) -> str:
        """The id of one interaction."""
        return f"{time.time_ns()}.{self._count}.{secrets.token_hex(8)}"

    # --- people and places ----------------------------------------------------------------------

    def person(self, name: str) -> SimPerson:
        """The person of that name, made on first use."""
        for person in self.people.values():
            if person.name == name:
                return person
        person = SimPerson(self.new_id("U"), name)
        self.people[person.id] = person
        return person

    def team_of(self, user: str) -> str:
        """The team that a user belongs to."""
        return self.teams.get(user, self.team)

    def channel(self, title: str, kind: RoomKind) -> Channel:
        """The channel of that title, made on first use."""
        for channel in self.channels.values():
            if channel.title == title and channel.kind == kind:
                return channel
        channel = Channel(self.new_id("C"), kind, title)
        self.channels[channel.id] = channel
        return channel

    def direct(self, person: SimPerson) -> Channel:
        """The direct conversation of a person with the bot."""
        for channel in self.channels.values():
            if channel.peer == person.id and channel.bot_inside:
                return channel
        channel = Channel(self.new_id("D"), "direct", person.name, peer=person.id)
        self.channels[channel.id] = channel
        return channel

    def name_of(self, user: str) -> str:
        """The display name of a user id, or the id itself."""
        if user == self.bot_user:
            return self.bot_name
        return self.people[user].name if user in self.people else user

    def of(self, room: SimRoom) -> Channel:
        """The channel of a room handed out earlier. Raises KeyError for another world's."""
        return self.channels[room.id]

    # --- messages -------------------------------------------------------------------------------

    def add(self, message: Message) -> Message:
        """Put a message where it belongs."""
        messages = self.channels[message.channel].messages
        messages.append(message)
        del messages[:-MAX_MESSAGES]
        self.changed.notify()
        return message

    def find(self, channel: str, ts: str) -> Message | None:
        """The message with that id, unless it was deleted."""
        for message in reversed(self.channels[channel].messages):
            if message.ts == ts and not message.deleted:
                return message
        return None

    def thread(self, channel: str, thread_ts: str) -> Iterator[Message]:
        """A thread: its first message and the replies, in order."""
        for message in self.channels[channel].messages:
            if thread_ts in (message.ts, message.thread_ts):
                yield message

    # --- answers to interactions ----------------------------------------------------------------

    def open_response_url(self, channel: str, user: str, message_ts: str = "") -> str:
        """The key of a new response URL."""
        key = secrets.token_urlsafe(12)
        self.response_urls[key] = ResponseUrl(channel, user, message_ts, time.monotonic())
        return key
