"""Telegram's settings and capabilities, without its library."""

import re
from typing import ClassVar, Final, Literal

from pydantic import Field, SecretStr, field_validator

from adapters.shared.settings import CredentialSettings
from gateway.message import Place, TextCut
from gateway.people import Audience
from gateway.ports import (
    AdapterManifest,
    CanCheckMembership,
    CanClearButtons,
    CanFetchFiles,
    CanReact,
    CanType,
    Capabilities,
    LiveStyle,
    SendPace,
)

_SECRET = re.compile(r"[A-Za-z0-9_-]{1,256}")


class TelegramSettings(CredentialSettings, extra="forbid", frozen=True):
    """The keys under `platforms.telegram`.

    `webhook_url` is the public https address; without a path of its own, the gateway's
    `/webhook/telegram` is appended. Webhook mode needs a secret: without one, anyone who guesses
    the address could write in any person's name.
    """

    credentials: ClassVar = ("bot_token", "webhook_url", "webhook_secret")

    bot_token: SecretStr = SecretStr("")
    """Token of the bot, from @BotFather."""
    base_url: str = "https://api.telegram.org"
    """Address of the Bot API, for a local Bot API server or a simulator."""
    mode: Literal["polling", "webhook"] = "polling"
    """`polling` needs no public address; with `webhook`, Telegram calls the public listener."""
    webhook_url: str = Field(default="", max_length=2048)
    """Public https address, for `webhook`."""
    webhook_secret: SecretStr = SecretStr("")
    """Secret that Telegram sends with every request, for `webhook`."""

    @field_validator("base_url")
    @classmethod
    def _server_address(cls, value: str) -> str:
        if not value.startswith(("https://", "http://")):
            raise ValueError("must begin with https:// (or http:// for a local Bot API server)")
        return value.rstrip("/").removesuffix("/bot")

    @field_validator("webhook_url")
    @classmethod
    def _public_address(cls, value: str) -> str:
        if value and not value.startswith("https://"):
            raise ValueError("must begin with https://: Telegram calls no other address")
        return value

    @field_validator("webhook_secret")
    @classmethod
    def _allowed_characters(cls, value: SecretStr) -> SecretStr:
        secret = value.get_secret_value()
        if secret and not _SECRET.fullmatch(secret):
            raise ValueError("takes 1 to 256 of A-Z, a-z, 0-9, _ and -")
        return value

    def required(self) -> tuple[str, ...]:
        """The bot token; in webhook mode everything."""
        return self.credentials if self.mode == "webhook" else ("bot_token",)


DRAFT: Final = LiveStyle(pause=1.1, fades=30.0)
"""A draft is a preview of 30 seconds (Bot API: sendMessageDraft). Its rate limit is not published;
several programs use 1.1 seconds between edits."""
EDITED: Final = LiveStyle(pause=1.1)


def live_style(place: Place) -> LiveStyle:
    """Drafts exist in private chats only; in groups a message is edited."""
    return DRAFT if place.audience is Audience.DIRECT else EDITED


MANIFEST: Final = AdapterManifest(
    platform="telegram",
    title="Telegram",
    settings=TelegramSettings,
    capabilities=Capabilities(
        max_buttons=100,
        tappable_commands=True,
    ),
    abilities=(CanType, CanFetchFiles, CanReact, CanCheckMembership, CanClearButtons),
    renderer="adapters.telegram.render:render",
    load="adapters.telegram.connection:TelegramAdapter",
    text_cut=TextCut((4_096,), shortest=0.5),
    pace=SendPace(platform_per_second=30, chat_per_second=1, room_per_minute=20),
    live=live_style,
    loggers=("telegram",),
)
"""The pace is Telegram's own: core.telegram.org/bots/faq, under "My bot is hitting limits"."""
