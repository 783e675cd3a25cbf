"""Telegram's manifest; it does not import the library."""

import re
from typing import Final, Literal

from pydantic import Field, SecretStr, field_validator

from gateway.message import Place
from gateway.people import Audience
from gateway.ports import (
    AccountSettings,
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


class TelegramSettings(AccountSettings, extra="forbid", frozen=True):
    """The keys under `platforms.telegram`.

    `webhook_url` is the public https address; without a path of its own, the gateway's
    `/webhook/telegram` is appended. Webhook mode needs a secret: without one, anybody who guesses
    the address could speak as anybody.
    """

    bot_token: SecretStr = SecretStr("")
    base_url: str = "https://api.telegram.org"
    mode: Literal["polling", "webhook"] = "polling"
    webhook_url: str = Field(default="", max_length=2048)
    webhook_secret: SecretStr = SecretStr("")

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

    def configured(self) -> bool:
        """True when there is everything that the chosen mode needs."""
        return not self._absent()

    def missing(self) -> tuple[str, ...]:
        """The credentials that are still needed once any one is set."""
        started = (
            self.bot_token.get_secret_value()
            or self.webhook_url
            or self.webhook_secret.get_secret_value()
        )
        return self._absent() if started else ()

    def _absent(self) -> tuple[str, ...]:
        needed = {"bot_token": self.bot_token.get_secret_value()}
        if self.mode == "webhook":
            needed["webhook_url"] = self.webhook_url
            needed["webhook_secret"] = self.webhook_secret.get_secret_value()
        return tuple(name for name, value in needed.items() if not value)


DRAFT: Final = LiveStyle(pause=1.1, fades=30.0)
"""A draft is a preview of 30 seconds (Bot API: sendMessageDraft). What Telegram takes of them is
not published; 1.1 seconds are what several programs arrived at for edits."""
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
    ),
    abilities=(CanType, CanFetchFiles, CanReact, CanCheckMembership, CanClearButtons),
    renderer="adapters.telegram.render:render",
    load="adapters.telegram.connection:TelegramAdapter",
    pace=SendPace(platform_per_second=30, chat_per_second=1, room_per_minute=20),
    live=live_style,
    loggers=("telegram",),
)
"""Telegram as an adapter. The pace is Telegram's own: core.telegram.org/bots/faq, under "My bot
is hitting limits"."""
