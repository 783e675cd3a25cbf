"""The description of an adapter that imports none of its platform's library."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from pydantic import BaseModel

from gateway.message import Place
from gateway.ports.abilities import Check, LiveStyle
from gateway.ports.adapter import Capabilities


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
class SettingChoices:
    """The possible values of a setting, as the platform lists them: pairs of a value and its title.

    `failed` holds the check that names a refused credential; the values are empty then.
    """

    values: tuple[tuple[str, str], ...] = ()
    failed: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True)
class AdapterManifest:
    """The description of an adapter that imports none of its platform's library.

    Entry points of the group `parley.adapters` name a value of this type. `load` is
    "package.module:Class"; the class is called as `Class(settings, context)`.
    """

    platform: str
    title: str
    settings: type[AccountSettings]
    load: str
    capabilities: Capabilities = field(default_factory=Capabilities)
    abilities: tuple[type, ...] = ()
    """The protocols of `REMOTE_ABILITIES` that the adapter has, for a process that holds no
    connection and does not import the adapter. Where it is connected, its methods decide."""
    renderer: str = ""
    """"package.module:function" of a `Renderer`; empty: answers are plain text."""
    dedupe_for: timedelta = timedelta(hours=24)
    """How long the platform may deliver the same event again."""
    pace: SendPace = SendPace()
    loggers: tuple[str, ...] = ()
    """Loggers of the platform's library whose warnings repeat our own events."""
    live: "Callable[[Place], LiveStyle | None] | None" = None
    """Like `CanShowLive.live_style`, for a process without a connection."""
    identify: str = ""
    """For platforms with several ids per person: "package.module:function" of `async (AdapterState,
    id) -> ids`, the ids under which the chat knows the person of this id. The adapter then stores
    all ids of a person (`keep_ids`)."""
    choices: Mapping[str, str] = field(default_factory=dict)
    """Settings that the platform can list with the other credentials, for `parley init`:
    "package.module:function" of `async (AccountSettings) -> SettingChoices`, which never raises, by
    setting."""
