"""The formats of credentials: recognises a mistyped or mixed-up one before a platform is asked."""

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

MAX_LENGTH: Final = 4_096
_MARKS: Final = "\"'`<>\u200b\u200e\u200f\ufeff\u2060 \t\r\n"
"""Marks around a copied value that are not part of it."""
_ALLOWED: Final = re.compile(r"[!-~]+")


class CredentialFormat(Struct, frozen=True):
    """A kind of credential: its name with its article, an example, and where it is found."""

    title: str
    example: str
    pattern: re.Pattern[str]
    where: str = ""


TELEGRAM: Final = CredentialFormat(
    "a Telegram bot token",
    "123456789:AA…",
    re.compile(r"[0-9]{6,14}:[A-Za-z0-9_-]{30,60}"),
    "@BotFather shows it: send /mybots, choose the bot, API Token.",
)
DISCORD: Final = CredentialFormat(
    "a Discord bot token",
    "MTIz….Gx1a2b.…, three parts with dots between them",
    re.compile(r"[A-Za-z0-9_-]{18,40}\.[A-Za-z0-9_-]{4,12}\.[A-Za-z0-9_-]{24,60}"),
    "Page Bot of your application, Reset Token: https://discord.com/developers/applications",
)
SLACK_BOT: Final = CredentialFormat(
    "a Slack bot token",
    "xoxb-…",
    re.compile(r"(?:xoxe\.)?xoxb-[A-Za-z0-9-]{10,300}"),
    "Page OAuth & Permissions of your app, Bot User OAuth Token: https://api.slack.com/apps",
)
SLACK_APP: Final = CredentialFormat(
    "a Slack app token",
    "xapp-1-…",
    re.compile(r"xapp-[A-Za-z0-9-]{10,300}"),
    "Page Basic Information of your app, App-Level Tokens, with the scope connections:write: "
    "https://api.slack.com/apps",
)
META_TOKEN: Final = CredentialFormat(
    "an access token of Meta",
    "EAA…",
    re.compile(r"EAA[A-Za-z0-9_-]{20,1000}"),
    "Business settings, Users, System users, Generate token: https://business.facebook.com",
)
META_NUMBER: Final = CredentialFormat(
    "a phone number ID",
    "106540352242922, digits only",
    re.compile(r"[0-9]{10,20}"),
    "Page WhatsApp > API Setup of your app, under the number: https://developers.facebook.com/apps",
)
META_SECRET: Final = CredentialFormat(
    "an app secret of Meta",
    "32 digits and letters from a to f",
    re.compile(r"[0-9a-f]{32}"),
    "Page App settings > Basic of your app, App secret, Show: https://developers.facebook.com/apps",
)
SLACK_SECRET: Final = CredentialFormat(
    "a Slack signing secret",
    "32 digits and letters from a to f",
    re.compile(r"[0-9a-f]{32}"),
    "Page Basic Information of your app, App Credentials: https://api.slack.com/apps",
)
ANTHROPIC: Final = CredentialFormat(
    "an Anthropic API key",
    "sk-ant-api03-…",
    re.compile(r"sk-ant-(?!admin)[A-Za-z0-9_-]{10,300}"),
    "https://platform.claude.com, API keys",
)
OPENAI: Final = CredentialFormat(
    "an OpenAI API key",
    "sk-…",
    re.compile(r"sk-(?!ant-|or-)[A-Za-z0-9_-]{10,300}"),
    "https://platform.openai.com/api-keys",
)
OPENROUTER: Final = CredentialFormat(
    "an OpenRouter API key",
    "sk-or-…",
    re.compile(r"sk-or-[A-Za-z0-9_-]{10,300}"),
    "https://openrouter.ai/settings/keys",
)

FORMATS: Final[Mapping[tuple[str, str], CredentialFormat]] = {
    ("telegram", "bot_token"): TELEGRAM,
    ("discord", "token"): DISCORD,
    ("slack", "bot_token"): SLACK_BOT,
    ("slack", "app_token"): SLACK_APP,
    ("slack", "signing_secret"): SLACK_SECRET,
    ("whatsapp", "access_token"): META_TOKEN,
    ("whatsapp", "phone_number_id"): META_NUMBER,
    ("whatsapp", "app_secret"): META_SECRET,
}
"""By platform and setting."""

_RECOGNISED: Final = (
    TELEGRAM,
    DISCORD,
    SLACK_BOT,
    SLACK_APP,
    META_TOKEN,
    CredentialFormat(
        "an admin key of Anthropic", "sk-ant-admin…", re.compile(r"sk-ant-admin.{0,300}")
    ),
    ANTHROPIC,
    OPENROUTER,
    OPENAI,
    CredentialFormat("a user token of Slack", "xoxp-…", re.compile(r"xoxp-.{0,300}")),
    CredentialFormat("a configuration token of Slack", "xoxe-…", re.compile(r"xoxe[.-].{0,300}")),
    CredentialFormat(
        "a token of Slack, but not of a bot", "xox…", re.compile(r"xox[a-z]-.{0,300}")
    ),
    CredentialFormat(
        "a public key of Discord", "64 hexadecimal digits", re.compile(r"[0-9a-f]{64}")
    ),
    CredentialFormat(
        "an app secret of Meta or a signing secret of Slack",
        "32 digits",
        re.compile(r"[0-9a-f]{32}"),
    ),
    CredentialFormat("an id of Discord", "17 to 20 digits", re.compile(r"[0-9]{17,20}")),
    CredentialFormat("a phone number", "+1 555 …", re.compile(r"\+[0-9 ()-]{6,24}")),
    CredentialFormat("an app id of Slack", "A0…", re.compile(r"A[0-9A-Z]{8,12}")),
    CredentialFormat("an address", "https://…", re.compile(r"https?://.{1,2000}")),
    CredentialFormat(
        "an e-mail address", "name@…", re.compile(r"[^@\s]{1,200}@[^@\s.]{1,100}\.[a-z.]{2,100}")
    ),
    CredentialFormat("a name of a bot", "@name", re.compile(r"@[A-Za-z0-9_]{3,40}")),
    CredentialFormat("a number", "digits", re.compile(r"[0-9]{1,30}")),
)
"""In the order of trying: the first match names the kind."""


def cleaned(text: str) -> str:
    """A copied value without quotes, invisible marks, and a name in front of it: `TOKEN=…`,
    `Bot …`, `Bearer …`."""
    value = text.strip(_MARKS)
    value = re.sub(r"^(?:export )?[A-Z][A-Z0-9_]{2,60}=", "", value).strip(_MARKS)
    return re.sub(r"^(?:Bot|Bearer) +", "", value).strip(_MARKS)


def problem_of(value: str, expected: CredentialFormat) -> str:
    """The sentences about a value that is not of the expected format; empty when it is one. They
    quote nothing of a secret but its known prefix."""
    if len(value) <= MAX_LENGTH and expected.pattern.fullmatch(value):
        return ""
    title = f"This is not {expected.title}: expected {expected.example}"
    return f"{title}. {_finding(value, expected)} {expected.where}".rstrip()


def _finding(value: str, expected: CredentialFormat) -> str:
    if len(value) > MAX_LENGTH:
        return f"It has {len(value)} characters."
    kind = next((k for k in _RECOGNISED if k is not expected and k.pattern.fullmatch(value)), None)
    if kind is not None:
        return f"It looks like {kind.title} ({kind.example})."
    if not _ALLOWED.fullmatch(value):
        odd = next(char for char in value if not _ALLOWED.fullmatch(char))
        shown = "a space" if odd.isspace() else f"the character {odd!a}"
        return f"It contains {shown}, so it was not copied as a whole."
    return f"It has {len(value)} characters in another format; copy it again as a whole."
