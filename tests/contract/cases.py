"""The cases of the built-in platforms, each with the names that its platform uses."""

from collections.abc import Mapping
from html import escape
from typing import Final, Literal

import pytest

from adapters.discord.manifest import MANIFEST as DISCORD
from adapters.slack.manifest import MANIFEST as SLACK
from adapters.telegram.manifest import MANIFEST as TELEGRAM
from adapters.web.manifest import MANIFEST as WEB
from adapters.whatsapp.manifest import MANIFEST as WHATSAPP
from parley.testing import PATIENCE, AdapterCase
from simulators.base import PlatformSimulator, SimPerson
from simulators.discord import DiscordSimulator
from simulators.slack import SlackSimulator
from simulators.slack.events import callback
from simulators.telegram import TelegramSimulator
from simulators.whatsapp import WhatsAppSimulator
from tests.contract.web_people import WebPeople

ROOMS: Final = frozenset({"rooms", "threads", "files_out", "native_commands"})
"""The features of a platform with rooms."""
QUICK: Final = (0.02, 0.05, 0.1, 0.2, 0.4)
"""Seconds between repeated deliveries: the platforms' own pauses, made short."""


# --- Discord ------------------------------------------------------------------------------------


async def _strange_discord(platform: PlatformSimulator) -> None:
    assert isinstance(platform, DiscordSimulator)
    platform.announcer.raw("SOMETHING_NEW", {"id": "1"})


def _discord_bot(platform: PlatformSimulator) -> SimPerson:
    assert isinstance(platform, DiscordSimulator)
    return platform.other_bot("Robo")


_DISCORD: Final = AdapterCase(
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


def _patient_slack(platform: PlatformSimulator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Slack repeats an event after 3 s."""
    assert isinstance(platform, SlackSimulator)
    monkeypatch.setattr("adapters.slack.receive.ACK_SECONDS", PATIENCE)
    for courier in (platform.sockets, platform.http):
        courier.ack_within = PATIENCE


def _slack(mode: Literal["socket", "http"], *, agent_view: bool = False) -> AdapterCase:
    def platform(account: str) -> SlackSimulator:
        path = "/webhook/slack" if account == "main" else f"/webhook/slack/{account}"
        return SlackSimulator(mode, ack_within=3.0, retry_after=QUICK, path=path)

    return AdapterCase(
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
        holds_connection=mode == "socket",
        unhurried=_patient_slack,
    )


# --- Telegram -----------------------------------------------------------------------------------


async def _strange_telegram(platform: PlatformSimulator) -> None:
    assert isinstance(platform, TelegramSimulator)
    # A kind that the adapter did not ask for, as Telegram sends it right after a change of those.
    platform.queue.allow([])
    for update in platform.queue.add("something_new", 1, {"id": "1"}):
        platform.webhook.deliver(update)


def _telegram(mode: Literal["polling", "webhook"]) -> AdapterCase:
    return AdapterCase(
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
        deletions=False,
        captions=True,
        holds_connection=mode == "polling",
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


_WHATSAPP: Final = AdapterCase(
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
    captions=True,
    holds_connection=False,
    features=frozenset({"files_out", "further_ids"}),
)

# --- Without a server of the platform's own -----------------------------------------------------

_WEB: Final = AdapterCase(
    "web",
    WEB,
    lambda account: WebPeople(),
    methods={"typing": "typing"},
    unknown_chat="C012",
    repetition="person",
    accounts=False,
    holds_connection=False,
    features=frozenset({"files_out"}),
)


CASES: Final[Mapping[str, AdapterCase]] = {
    case.name: case
    for case in (
        _DISCORD,
        _slack("socket"),
        _slack("http"),
        _slack("socket", agent_view=True),
        _telegram("polling"),
        _telegram("webhook"),
        _WHATSAPP,
        _WEB,
    )
}
