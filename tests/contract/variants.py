"""The adapters that the suite runs against, each with what its platform calls things.

To try an adapter of your own, add a `Variant`: a simulator that implements
`simulators.base.PlatformSimulator`, and the few facts below.
"""

import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Final, Literal, Protocol, runtime_checkable

from adapters.discord.manifest import MANIFEST as DISCORD
from adapters.slack.manifest import MANIFEST as SLACK
from adapters.telegram.manifest import MANIFEST as TELEGRAM
from adapters.web.manifest import MANIFEST as WEB
from adapters.whatsapp.manifest import MANIFEST as WHATSAPP
from gateway.ports import AccountSettings, AdapterManifest, PlatformAdapter
from simulators.base import PlatformSimulator, SimPerson
from simulators.discord import DiscordSimulator
from simulators.slack import SlackSimulator
from simulators.slack.events import callback
from simulators.telegram import TelegramSimulator
from simulators.whatsapp import WhatsAppSimulator
from tests.contract.lines_people import LinesPeople
from tests.contract.web_people import WebPeople

Repetition = Literal["platform", "adapter", "person"]
"""The origin of the repetition of an event that could not be stored: the platform without an
acknowledgement; the adapter, if a platform has none; the person, who is notified."""

ROOMS: Final = frozenset({"rooms", "threads", "files_out", "native_commands"})
"""The features of a platform with rooms."""
QUICK: Final = (0.02, 0.05, 0.1, 0.2, 0.4)
"""Seconds between repeated deliveries: the platforms' own pauses, made short."""


@runtime_checkable
class HostedPlatform(Protocol):
    """A platform that the adapter itself serves: people can come once it is connected."""

    async def host(self, adapter: PlatformAdapter) -> None:
        """Open what people use."""
        ...


@dataclass(frozen=True, slots=True)
class Variant:
    """One adapter in one way of connecting.

    `methods` are the platform's names of requests, for faults and for counting: empty where there
    is no server to fail. `typed` is how the platform's app encodes what people type, `mention` how
    they write another's mention, `broken` markup that the platform refuses, `unknown_chat` a
    well-formed id of no chat, `strange` delivers an update of a kind that does not exist yet.
    `replies`: people can reply to a message. `repeatable`: the platform itself may deliver an
    event twice. `accounts`: several can be connected. `features` are of `marks.FEATURES`.
    """

    name: str
    manifest: AdapterManifest
    platform: Callable[[str], PlatformSimulator]
    methods: Mapping[str, str] = field(default_factory=dict)
    typed: Callable[[str], str] = str
    mention: Callable[[SimPerson], str] | None = None
    broken: str | dict[str, object] | None = None
    unknown_chat: str = ""
    strange: Callable[[PlatformSimulator], Awaitable[None]] | None = None
    another_bot: Callable[[PlatformSimulator], SimPerson] | None = None
    repetition: Repetition = "platform"
    replies: bool = True
    repeatable: bool = True
    accounts: bool = True
    features: frozenset[str] = frozenset()
    settings: Mapping[str, object] = field(default_factory=dict)

    def settings_for(self, platform: PlatformSimulator, account: str) -> AccountSettings:
        """The section of the configuration that points at this platform."""
        return self.manifest.settings.model_validate({**platform.settings(), **self.settings})


# --- Discord ------------------------------------------------------------------------------------


async def _strange_discord(platform: PlatformSimulator) -> None:
    assert isinstance(platform, DiscordSimulator)
    platform.announcer.raw("SOMETHING_NEW", {"id": "1"})


def _discord_bot(platform: PlatformSimulator) -> SimPerson:
    assert isinstance(platform, DiscordSimulator)
    return platform.other_bot("Robo")


_DISCORD: Final = Variant(
    "discord",
    DISCORD,
    lambda account: DiscordSimulator(bot_name=account),
    methods={
        "send": "POST /channels/{id}/messages",
        "typing": "POST /channels/{id}/typing",
        "react": "PUT /channels/{id}/messages/{id}/reactions/{emoji}/@me",
        "unreact": "DELETE /channels/{id}/messages/{id}/reactions/{emoji}/@me",
    },
    mention=lambda person: f"<@{person.id}>",
    unknown_chat="999999999999999999",
    strange=_strange_discord,
    another_bot=_discord_bot,
    repetition="adapter",
    features=ROOMS,
)

# --- Slack --------------------------------------------------------------------------------------


async def _strange_slack(platform: PlatformSimulator) -> None:
    assert isinstance(platform, SlackSimulator)
    channel = platform.room("general").id
    event: dict[str, object] = {"type": "something_new", "channel": channel}
    platform.deliveries.start("events_api", channel, callback(platform.world, event))


def _slack(mode: Literal["socket", "http"], *, agent_view: bool = False) -> Variant:
    def platform(account: str) -> SlackSimulator:
        path = "/webhook/slack" if account == "main" else f"/webhook/slack/{account}"
        return SlackSimulator(mode, ack_within=3.0, retry_after=QUICK, path=path)

    return Variant(
        "slack-agent" if agent_view else f"slack-{mode}",
        SLACK,
        platform,
        methods={
            "send": "chat.postMessage",
            "react": "reactions.add",
            "unreact": "reactions.remove",
            **({"typing": "assistant.threads.setStatus"} if agent_view else {}),
        },
        typed=lambda text: escape(text, quote=False),
        mention=lambda person: f"<@{person.id}>",
        broken={"blocks": [{"type": "no_such_block"}]},
        unknown_chat="C0NOSUCHONE",
        strange=_strange_slack,
        replies=False,
        features=ROOMS,
        settings={"agent_view": agent_view},
    )


# --- Telegram -----------------------------------------------------------------------------------


async def _strange_telegram(platform: PlatformSimulator) -> None:
    assert isinstance(platform, TelegramSimulator)
    # A kind that the adapter did not ask for, as Telegram sends it right after a change of those.
    platform.queue.allow([])
    for update in platform.queue.add("something_new", 1, {"id": "1"}):
        platform.webhook.deliver(update)


def _telegram(mode: Literal["polling", "webhook"]) -> Variant:
    return Variant(
        f"telegram-{mode}",
        TELEGRAM,
        lambda account: TelegramSimulator(
            mode,
            retry_delay=0.05,
            token=f"7000000001:simulated-telegram-bot-token-{account}",
        ),
        methods={
            "send": "sendMessage",
            "typing": "sendChatAction",
            "react": "setMessageReaction",
            "unreact": "setMessageReaction",
        },
        mention=lambda person: f"@{person.name.lower()}",
        broken="<b>never closed",
        unknown_chat="-1009999999999",
        strange=_strange_telegram,
        features=ROOMS,
        settings={"webhook_url": "https://parley.example"} if mode == "webhook" else {},
    )


# --- WhatsApp -----------------------------------------------------------------------------------


async def _strange_whatsapp(platform: PlatformSimulator) -> None:
    assert isinstance(platform, WhatsAppSimulator)
    await platform.send_raw(platform.person("Ada"), "something_new", {"id": "1"})


def _whatsapp(account: str) -> WhatsAppSimulator:
    path = "/webhook/whatsapp" if account == "main" else f"/webhook/whatsapp/{account}"
    return WhatsAppSimulator(
        webhook_path=path, pauses=QUICK, phone_number_id=f"10654035224{len(account):04d}"
    )


_WHATSAPP: Final = Variant(
    "whatsapp",
    WHATSAPP,
    _whatsapp,
    methods={
        "send": "messages",
        "typing": "read",
        "read": "read",
        "react": "messages",
        "unreact": "messages",
    },
    strange=_strange_whatsapp,
    features=frozenset({"files_out", "further_ids"}),
)

# --- Without a server of the platform's own -----------------------------------------------------

_WEB: Final = Variant(
    "web",
    WEB,
    lambda account: WebPeople(),
    methods={"typing": "typing"},
    unknown_chat="C012",
    repetition="person",
    accounts=False,
    features=frozenset({"files_out"}),
)


def _example() -> AdapterManifest:
    """The manifest of the example in `examples/`, which is not installed here."""
    folder = Path(__file__).parents[2] / "examples" / "parley-adapter-lines"
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    manifest = import_module("parley_lines.manifest").MANIFEST
    assert isinstance(manifest, AdapterManifest)
    return manifest


_LINES: Final = Variant(
    "lines",
    _example(),
    lambda account: LinesPeople(),
    repetition="person",
    replies=False,
    repeatable=False,
)

VARIANTS: Final[Mapping[str, Variant]] = {
    variant.name: variant
    for variant in (
        _DISCORD,
        _slack("socket"),
        _slack("http"),
        _slack("socket", agent_view=True),
        _telegram("polling"),
        _telegram("webhook"),
        _WHATSAPP,
        _WEB,
        _LINES,
    )
}
