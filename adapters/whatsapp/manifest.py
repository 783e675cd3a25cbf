"""What is known of the WhatsApp adapter without importing an HTTP client."""

import ipaddress
from datetime import timedelta
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, Field, SecretStr, field_validator

from gateway.ports import AccountSettings, AdapterManifest, Capabilities

GRAPH_URL: Final = "https://graph.facebook.com"
API_VERSION: Final = "v25.0"
MAX_TEMPLATE_BODY: Final = 1024
"""Characters of a template's body with its parameters (Meta, "Message templates")."""

_CREDENTIALS: Final = ("access_token", "phone_number_id", "app_secret", "verify_token")


class WhatsAppTemplate(BaseModel, extra="forbid", frozen=True):
    """An approved template whose body has one parameter, which takes the answer's text.

    `parameter` is the variable's name when the template has named ones; "1" stands for `{{1}}`.
    `max_chars` is the longest text that fits beside the template's own words.
    """

    name: str = Field(pattern=r"^[a-z0-9_]{1,512}$")
    language: str = Field(default="en_US", pattern=r"^[a-zA-Z_]{2,12}$")
    parameter: str = Field(default="1", pattern=r"^[a-z0-9_]{1,60}$")
    max_chars: int = Field(default=900, ge=1, le=MAX_TEMPLATE_BODY)


def _from_short_form(value: object) -> object:
    """`name` or `name/language`, as one environment variable can say it."""
    if not isinstance(value, str):
        return value
    name, _, language = value.partition("/")
    return {"name": name, "language": language} if language else {"name": name}


class WhatsAppSettings(AccountSettings, extra="forbid", frozen=True):
    """The section `platforms.whatsapp`.

    `phone_number_id` is the id that Meta shows above the number, not the number itself.
    """

    access_token: SecretStr = SecretStr("")
    phone_number_id: str = ""
    app_secret: SecretStr = SecretStr("")
    verify_token: SecretStr = SecretStr("")
    api_version: str = Field(default=API_VERSION, pattern=r"^v[0-9]{1,3}\.[0-9]$")
    base_url: str = GRAPH_URL
    template: Annotated[WhatsAppTemplate, BeforeValidator(_from_short_form)] | None = None

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

    def configured(self) -> bool:
        """True when the adapter can both receive and send."""
        return not self.absent()

    def missing(self) -> tuple[str, ...]:
        """What is still needed once any credential is set."""
        absent = self.absent()
        return absent if len(absent) < len(_CREDENTIALS) else ()

    def absent(self) -> tuple[str, ...]:
        """The names of the credentials that are empty."""
        return tuple(name for name in _CREDENTIALS if not getattr(self, name))


def is_loopback(host: str) -> bool:
    """True for this machine's own names and addresses."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


MANIFEST: Final = AdapterManifest(
    platform="whatsapp",
    title="WhatsApp",
    settings=WhatsAppSettings,
    capabilities=Capabilities(
        rooms=False,
        typing=True,
        read_marks=True,
        reactions=True,
        files_in=True,
        files_out=True,
        max_buttons=10,
    ),
    dialect="whatsapp",
    load="adapters.whatsapp.adapter:WhatsAppAdapter",
    dedupe_for=timedelta(days=7),
)
