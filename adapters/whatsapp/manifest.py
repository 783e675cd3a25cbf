"""WhatsApp's settings and capabilities, without an HTTP client."""

import ipaddress
from datetime import timedelta
from typing import Annotated, ClassVar, Final
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, SecretStr, field_validator

from adapters.shared.settings import CredentialSettings
from adapters.whatsapp.service_window import WINDOW, WhatsAppTemplate
from gateway.message import TextCut
from gateway.ports import (
    AdapterManifest,
    CanFetchFiles,
    CanMarkRead,
    CanReact,
    CanTellReach,
    CanType,
    Capabilities,
    SendPace,
)

GRAPH_URL: Final = "https://graph.facebook.com"
API_VERSION: Final = "v25.0"


def _from_short_form(value: object) -> object:
    """The short form `name` or `name/language`, for one environment variable."""
    if not isinstance(value, str):
        return value
    name, _, language = value.partition("/")
    return {"name": name, "language": language} if language else {"name": name}


class WhatsAppSettings(CredentialSettings, extra="forbid", frozen=True):
    """The keys under `platforms.whatsapp`. The first four are needed."""

    credentials: ClassVar = ("access_token", "phone_number_id", "app_secret", "verify_token")

    access_token: SecretStr = SecretStr("")
    """A system user's token with `whatsapp_business_messaging`; one from API Setup lasts a day."""
    phone_number_id: str = ""
    """From WhatsApp > API Setup: neither the phone number nor the account's id."""
    app_secret: SecretStr = SecretStr("")
    """From App settings > Basic; webhooks are signed with it."""
    verify_token: SecretStr = SecretStr("")
    """A text of your choice, entered at WhatsApp > Configuration > Webhook as well."""
    api_version: str = Field(default=API_VERSION, pattern=r"^v[0-9]{1,3}\.[0-9]$")
    """Version of the Graph API."""
    base_url: str = GRAPH_URL
    """Address of the Graph API, for a simulator: https, or this machine."""
    template: Annotated[WhatsAppTemplate, BeforeValidator(_from_short_form)] | None = None
    """The message template for people who have not written for 24 hours; `NAME` or
    `NAME/LANGUAGE` is enough. Without it they cannot be reached."""

    @field_validator("phone_number_id", mode="before")
    @classmethod
    def _as_text(cls, value: object) -> object:
        # YAML reads an id without quotes as a number.
        return str(value) if isinstance(value, int) else value

    @field_validator("phone_number_id")
    @classmethod
    def _looks_like_an_id(cls, value: str) -> str:
        value = value.strip()
        if value and not (value.isascii() and value.isdigit()):
            raise ValueError(
                "write the phone number ID (digits only, from WhatsApp > API Setup), "
                "not the phone number"
            )
        return value

    @field_validator("base_url")
    @classmethod
    def _protected(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme == "https" and parts.hostname:
            return value.rstrip("/")
        if parts.scheme == "http" and is_loopback(parts.hostname or ""):
            return value.rstrip("/")
        raise ValueError(f"use https (got {value!r}); plain http only for this machine")


def is_loopback(host: str) -> bool:
    """True for this machine's own names and addresses."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


_MB: Final = 1024 * 1024
MEDIA: Final[dict[str, tuple[str, int]]] = {
    "image/jpeg": ("image", 5 * _MB),
    "image/png": ("image", 5 * _MB),
    "audio/aac": ("audio", 16 * _MB),
    "audio/amr": ("audio", 16 * _MB),
    "audio/mpeg": ("audio", 16 * _MB),
    "audio/mp4": ("audio", 16 * _MB),
    "audio/ogg": ("audio", 16 * _MB),
    "video/mp4": ("video", 16 * _MB),
    "video/3gpp": ("video", 16 * _MB),
    "text/plain": ("document", 100 * _MB),
    "application/pdf": ("document", 100 * _MB),
    "application/msword": ("document", 100 * _MB),
    "application/vnd.ms-excel": ("document", 100 * _MB),
    "application/vnd.ms-powerpoint": ("document", 100 * _MB),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": (
        "document",
        100 * _MB,
    ),
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ("document", 100 * _MB),
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": (
        "document",
        100 * _MB,
    ),
}
"""Type to kind of message and largest size in bytes (Meta, "Supported media types")."""

TEXTUAL: Final = frozenset(
    {"application/json", "application/xml", "application/yaml", "application/x-yaml"}
    | {"application/toml", "application/sql", "application/javascript"}
)
"""Types that are text. They are sent as text/plain, the only text type that Meta accepts."""
FILE_TYPES: Final = frozenset({*MEDIA, *TEXTUAL, "text/csv", "text/markdown"})


MANIFEST: Final = AdapterManifest(
    platform="whatsapp",
    title="WhatsApp",
    settings=WhatsAppSettings,
    capabilities=Capabilities(max_buttons=10, quotes_by_id=True, file_types=FILE_TYPES),
    abilities=(CanType, CanMarkRead, CanFetchFiles, CanReact, CanTellReach),
    renderer="adapters.whatsapp.render:render",
    load="adapters.whatsapp.connection:WhatsAppAdapter",
    identify="adapters.whatsapp.identity:keys_named",
    choices={"phone_number_id": "adapters.whatsapp.doctor:phone_numbers"},
    dedupe_for=timedelta(days=7),
    writes_within=WINDOW,
    text_cut=TextCut((65_536,)),
    pace=SendPace(platform_per_second=80),
)
"""Meta repeats a webhook for up to seven days (Graph API, "Webhooks") and accepts 80 messages a
second from a number (Cloud API, "Throughput"). One person gets 45 at once, then one in six seconds
("Pair rate limits"). The error 131056 reports that limit, so parts of an answer are not delayed
before."""
