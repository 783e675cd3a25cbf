"""The manifest of an adapter: everything that is known without importing its platform's library."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, TypeAlias

from pydantic import BaseModel

from gateway.message import Place
from gateway.ports.adapter import Capabilities
from gateway.ports.live import LiveStyle

Dialect: TypeAlias = Literal["discord", "slack", "telegram", "whatsapp", "web", "plain"]
"""The renderer of an answer; an external adapter names one of these."""


class AccountSettings(BaseModel, extra="forbid", frozen=True):
    """Base of an adapter's settings model: the keys under `platforms.<platform>`.

    Secrets are `pydantic.SecretStr`. Every field has a default, so that a section can be empty.
    """

    def configured(self) -> bool:
        """Return True if the credentials needed to connect are set; otherwise the platform is
        off."""
        return False

    def missing(self) -> tuple[str, ...]:
        """Return the names of missing credentials once any one of them is set."""
        return ()


@dataclass(frozen=True, slots=True)
class SendPace:
    """Sends per second that a platform accepts from one account; 0 is no limit.

    `room_per_minute` applies to rooms only, beside the limit of every chat.
    """

    platform_per_second: float = 0.0
    chat_per_second: float = 0.0
    room_per_minute: float = 0.0


@dataclass(frozen=True, slots=True)
class AdapterManifest:
    """The manifest of an adapter.

    Entry points of the group `parley.adapters` name a value of this type. `load` is
    "package.module:Class"; the class is called as `Class(settings, context)`.
    """

    platform: str
    title: str
    settings: type[AccountSettings]
    capabilities: Capabilities
    dialect: Dialect
    load: str
    dedupe_for: timedelta = timedelta(hours=24)
    """How long the platform may deliver the same event again."""
    pace: SendPace = SendPace()
    live: "Callable[[Place], LiveStyle | None] | None" = None
    """Like `CanShowLive.live_style`, for a process without a connection."""
    identify: str = ""
    """Set where the platform gives people several ids: "package.module:function" of `async
    (AdapterState, id) -> ids`, the ids under which the chat knows the person of an id."""
