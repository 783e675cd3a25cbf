"""discord.py's client, bound to one account: it owns the connection, we read what arrives.

Every event reaches `tap` as raw JSON, in the order in which it came over the socket. The library's
typed events are no use for that: it starts a task for each of them.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import discord
import structlog

from adapters.discord.api import AccountHTTP
from adapters.discord.manifest import DiscordSettings

log = structlog.get_logger(__name__)

Tap: TypeAlias = Callable[[str, Mapping[str, object]], None]
"""(event name, data), called in order; must not wait."""

MESSAGES: Final = ("MESSAGE_", "INTERACTION_CREATE")
"""Events of which the library keeps nothing that is needed here; its objects are not built."""


def intents(*, members: bool) -> discord.Intents:
    """What is asked of Discord: servers, messages with their text, reactions, and the coming and
    going of members where that is wanted; nothing else."""
    wanted = discord.Intents.none()
    wanted.guilds = True
    wanted.guild_messages = wanted.dm_messages = True
    wanted.guild_reactions = wanted.dm_reactions = True
    wanted.message_content = True
    wanted.members = members
    return wanted


class AccountClient(discord.Client):
    """A client with its own addresses and caches for servers, channels and roles only."""

    def __init__(self, settings: DiscordSettings, tap: Tap, lost: Callable[[], None]) -> None:
        """`lost` is called whenever the line is cut, and for every vain attempt to restore it."""
        self._account_http = AccountHTTP(settings.api_base, settings.gateway_url)
        self._tap = tap
        self._lost = lost
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False
        super().__init__(
            intents=intents(members=settings.members_intent),
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            max_messages=None,
            guild_ready_timeout=0.0,
        )

    async def on_disconnect(self) -> None:
        """Called by the library."""
        self._lost()

    def keeps(self, event: str) -> bool:
        """Whether the library itself has a use for the event: connection and caches."""
        return event in self._connection.parsers and not event.startswith(MESSAGES)

    def _get_state(self, **options: Any) -> Any:
        self.http = self._account_http
        state = super()._get_state(**options)
        state.parsers = _Parsers(state.parsers, self._tap)
        return state


class _Parsers(dict[str, Callable[[Any], None]]):
    """The library's table of event parsers, with our tap behind each of them."""

    def __init__(self, parsers: Mapping[str, Callable[[Any], None]], tap: Tap) -> None:
        super().__init__()
        self._tap = tap
        for event, parser in parsers.items():
            needed = not event.startswith(MESSAGES)
            self[event] = self._reader(event, parser if needed else None)

    def __missing__(self, event: str) -> Callable[[Any], None]:
        return self._reader(event, None)

    def _reader(self, event: str, parser: Callable[[Any], None] | None) -> Callable[[Any], None]:
        def read(data: Any) -> None:
            try:
                if parser is not None:
                    parser(data)
                self._tap(event, data)
            except Exception:  # here it would end the connection for good
                log.exception("event_not_read", platform="discord", event_kind=event)

        return read
