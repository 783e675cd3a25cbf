"""The instructions of `parley init`: where each platform shows its credentials."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import SecretStr

from gateway.ports import AccountSettings, AdapterManifest
from parley.config.reference_page import documented
from parley.config.schema import shapes


@dataclass(frozen=True, slots=True)
class Credential:
    """A value to ask for. The user chooses an `own_word` freely; without one it is generated."""

    key: str
    where: str
    secret: bool = True
    optional: bool = False
    own_word: bool = False


@dataclass(frozen=True, slots=True)
class Guidance:
    """The steps on a platform, the credentials to ask for, and the steps afterwards."""

    steps: tuple[str, ...]
    credentials: tuple[Credential, ...]
    afterwards: tuple[str, ...] = ()


GUIDANCE: Final[Mapping[str, Guidance]] = {
    "telegram": Guidance(
        (
            "In Telegram, open a chat with @BotFather and send /newbot.",
            "Choose a name, and a user name that ends in bot. BotFather answers with the token.",
        ),
        (Credential("bot_token", "the token BotFather gave you, like 123456:ABC-DEF"),),
        (
            (
                "In groups the bot sees mentions and replies only. For more, send /setprivacy to"
                " @BotFather and add the bot to the group again."
            ),
        ),
    ),
    "discord": Guidance(
        (
            "Open https://discord.com/developers/applications and make a New Application.",
            "On the page Bot, switch on Message Content Intent, then press Reset Token.",
            "On the page OAuth2, mark bot and applications.commands; the address below invites it.",
        ),
        (
            Credential("token", "the token of the page Bot"),
            Credential(
                "application_id",
                "the Application ID of the page General Information",
                secret=False,
                optional=True,
            ),
        ),
    ),
    "slack": Guidance(
        (
            "Run `parley manifest slack` and copy the output.",
            "Open https://api.slack.com/apps, Create New App, From a manifest, and paste it.",
            "Install the app to your workspace.",
            (
                "On Basic Information, App-Level Tokens, generate one with the scope"
                " connections:write."
            ),
        ),
        (
            Credential("bot_token", "the Bot User OAuth Token of the page OAuth & Permissions"),
            Credential("app_token", "the app-level token you generated, like xapp-1-..."),
        ),
        ("In Slack, write /invite @NAME in each channel the assistant should be in.",),
    ),
    "whatsapp": Guidance(
        (
            (
                "Open https://developers.facebook.com/apps, make an app of the type Business,"
                " and add WhatsApp to it."
            ),
            (
                "Meta allows bots that serve a business, not general-purpose assistants: read"
                " docs/platforms/whatsapp.md first."
            ),
            (
                "In the Business settings, System users, generate a token that does not expire,"
                " with whatsapp_business_messaging."
            ),
        ),
        (
            Credential("access_token", "the token of the system user"),
            Credential(
                "phone_number_id",
                "the Phone number ID of the page WhatsApp > API Setup (not the number)",
                secret=False,
            ),
            Credential("app_secret", "the App secret of the page App settings > Basic"),
            Credential("verify_token", "a word of your choice; empty generates one", own_word=True),
        ),
        (
            (
                "On WhatsApp > Configuration, enter the public https address of /webhook/whatsapp"
                " and the verify token (see .env), and subscribe to messages."
            ),
        ),
    ),
}


def guidance_for(manifest: AdapterManifest) -> Guidance:
    """The guidance for a platform; for a plugin its secrets with their documentation."""
    known = GUIDANCE.get(manifest.platform)
    return known if known is not None else Guidance((), tuple(_secrets(manifest.settings)))


def variable(platform: str, key: str) -> str:
    """The environment variable that holds a credential: TELEGRAM_BOT_TOKEN."""
    return f"{platform}_{key}".upper()


def _secrets(settings: type[AccountSettings]) -> list[Credential]:
    texts = documented(settings)
    return [
        Credential(name, texts.get(name, "") or name.replace("_", " "))
        for name, field in settings.model_fields.items()
        if SecretStr in shapes(field.annotation)
    ]
