"""The world of the simulated Discord: one server, its people, channels and messages. No I/O."""

import time
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Final

from simulators.base import SimFile

TEXT, DM, NEWS_THREAD, PUBLIC_THREAD, PRIVATE_THREAD, FORUM = 0, 1, 10, 11, 12, 15
THREADS: Final = (NEWS_THREAD, PUBLIC_THREAD, PRIVATE_THREAD)
PLAIN, THREAD_CREATED, REPLY, COMMAND_ANSWER, THREAD_STARTER = 0, 18, 19, 20, 21
EPHEMERAL, LOADING = 1 << 6, 1 << 7
SLASH, COMPONENT = 2, 3

EVERYONE_MAY: Final = sum(1 << bit for bit in (6, 10, 11, 14, 15, 16, 31, 38))
"""Permissions of everybody in the server, the bot included (Discord: permissions)."""
MAX_MESSAGES: Final = 5_000
"""Messages kept per channel; the oldest go first."""
MAX_NONCES: Final = 10_000
MAX_INTERACTIONS: Final = 10_000

_DISCORD_EPOCH_MS: Final = 1_420_070_400_000


@dataclass(frozen=True, slots=True)
class User:
    """A person or a bot."""

    id: str
    name: str
    is_bot: bool = False
    portrait: SimFile | None = None
    """The picture of their own."""

    @property
    def avatar(self) -> str | None:
        """The name of the picture; None for the one that Discord gives to everybody."""
        return sha256(self.portrait.data).hexdigest()[:32] if self.portrait else None


@dataclass(slots=True)
class Channel:
    """A channel, a thread, or the direct conversation with `recipient`."""

    id: str
    type: int
    name: str = ""
    parent_id: str = ""
    owner_id: str = ""
    recipient_id: str = ""
    hidden_from_everyone: bool = False
    hidden_from_bot: bool = False
    without_history: set[str] = field(default_factory=set)
    """Users whom the channel denies Read Message History."""
    members: set[str] = field(default_factory=set)
    """Members of a private thread."""
    messages: OrderedDict[str, "Message"] = field(default_factory=OrderedDict)

    @property
    def in_guild(self) -> bool:
        """False for direct conversations."""
        return self.type != DM


@dataclass(frozen=True, slots=True)
class StoredFile:
    """An uploaded file."""

    id: str
    name: str
    mime: str
    data: bytes = field(repr=False)


@dataclass(slots=True)
class Message:
    """A message, also one that was deleted: people may look at what stood there."""

    id: str
    channel_id: str
    author_id: str
    content: str = ""
    type: int = PLAIN
    timestamp: datetime = field(default_factory=lambda: datetime.now(UTC))
    edited: datetime | None = None
    reply_to_id: str = ""
    files: tuple[StoredFile, ...] = ()
    components: list[dict[str, object]] = field(default_factory=list)
    embeds: list[object] = field(default_factory=list)
    nonce: str | int | None = None
    flags: int = 0
    only_for: str = ""
    deleted: bool = False
    webhook_id: str = ""
    forwarded: str = ""
    reactions: dict[str, set[str]] = field(default_factory=dict)
    body: dict[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class Interaction:
    """A slash command or a pressed button, from the press to the last follow-up."""

    id: str
    token: str
    kind: int
    channel_id: str
    user_id: str
    created: float
    message_id: str = ""
    acknowledged: bool = False
    original_id: str = ""


class World:
    """Everything the server remembers."""

    def __init__(self, bot_name: str) -> None:
        self._last_id = 0
        self.guild_id = self.next_id()
        self.application_id = self.next_id()
        self.bot = User(self.next_id(), bot_name, is_bot=True)
        self.bot_role_id = self.next_id()
        self.bot_permissions = EVERYONE_MAY
        self.users: dict[str, User] = {self.bot.id: self.bot}
        self.owner = self.add_user("owner")
        self.description = ""
        self.languages: dict[str, str] = {}
        """The languages of people's apps other than American English, by id."""
        self.voices_refused = False
        """True where the bot may send no voice messages."""
        self.later = 0.0
        """Seconds by which the CDN's clock is ahead: signed addresses expire after a day."""
        self.gone: set[str] = set()
        """Ids of people who left the server, or were removed."""
        self.channels: dict[str, Channel] = {}
        self.commands: list[dict[str, object]] = []
        self.guild_commands: list[dict[str, object]] = []
        self.interactions: OrderedDict[str, Interaction] = OrderedDict()
        self._nonces: OrderedDict[tuple[str, str], tuple[str, float]] = OrderedDict()
        self.joined_at = datetime.now(UTC)

    def next_id(self) -> str:
        """A snowflake: newer than every earlier one, with the current time inside."""
        now = (int(time.time() * 1000) - _DISCORD_EPOCH_MS) << 22
        self._last_id = max(now, self._last_id + 1)
        return str(self._last_id)

    def add_user(self, name: str, *, is_bot: bool = False) -> User:
        """A further member of the server."""
        user = User(self.next_id(), name, is_bot)
        self.users[user.id] = user
        return user

    def add_channel(self, kind: int, channel_id: str = "", **facts: object) -> Channel:
        """A channel of this type; `facts` are fields of `Channel`."""
        channel = Channel(channel_id or self.next_id(), kind, **facts)  # type: ignore[arg-type]  # checked at run
        self.channels[channel.id] = channel
        return channel

    def add_message(self, message: Message) -> Message:
        """Keep a message in its channel."""
        messages = self.channels[message.channel_id].messages
        messages[message.id] = message
        while len(messages) > MAX_MESSAGES:
            messages.popitem(last=False)
        return message

    def message(self, channel_id: str, message_id: str) -> Message | None:
        """A message that was not deleted."""
        channel = self.channels.get(channel_id)
        message = channel.messages.get(message_id) if channel else None
        return None if message is None or message.deleted else message

    def remember_nonce(self, channel_id: str, nonce: object, message_id: str) -> None:
        """Note which message a nonce made."""
        self._nonces[channel_id, str(nonce)] = (message_id, time.monotonic())
        while len(self._nonces) > MAX_NONCES:
            self._nonces.popitem(last=False)

    def message_of_nonce(self, channel_id: str, nonce: object, within: float) -> Message | None:
        """The message that this nonce made, if that was less than `within` seconds ago."""
        entry = self._nonces.get((channel_id, str(nonce)))
        if entry is None or time.monotonic() - entry[1] > within:
            return None
        return self.message(channel_id, entry[0])

    def add_interaction(self, interaction: Interaction) -> Interaction:
        """Keep an interaction, found again by its token."""
        self.interactions[interaction.token] = interaction
        while len(self.interactions) > MAX_INTERACTIONS:
            self.interactions.popitem(last=False)
        return interaction
