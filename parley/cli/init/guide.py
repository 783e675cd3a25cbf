"""The text of `parley init` about a platform: the steps, its credentials, and the steps that are
left."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from pydantic import SecretStr

from gateway.ports import AccountSettings, AdapterManifest
from parley.cli.init.credential_format import FORMATS, CredentialFormat
from parley.config.reference_page import documented
from parley.config.schema import shapes

MANIFEST_FILE: Final = "slack-app.yaml"


class CredentialQuestion(Struct, frozen=True):
    """A value to ask for, under the question `title`. `checks` are the names of the platform's
    checks that fail when it is wrong. An `own_word` is not asked for but generated."""

    key: str
    title: str
    checks: tuple[str, ...] = ()
    secret: bool = True
    own_word: bool = False

    @property
    def name(self) -> str:
        """The key as words: "phone number id"."""
        return self.key.replace("_", " ")


class Guidance(Struct, frozen=True):
    """One line about the platform; the steps on it; the credentials; where the owner writes, empty
    for a page of Parley's own; the steps afterwards."""

    summary: str
    steps: tuple[str, ...] = ()
    credentials: tuple[CredentialQuestion, ...] = ()
    write_to: str = "a direct message to the bot"
    afterwards: tuple[str, ...] = ()


GUIDANCE: Final[Mapping[str, Guidance]] = {
    "web": Guidance(
        "on this machine, without an account or a credential: the quickest first answer",
        write_to="",
    ),
    "telegram": Guidance(
        "one token, from @BotFather",
        (
            "In Telegram, open a chat with @BotFather and send /newbot.",
            "Choose a name, and a user name that ends in bot. BotFather answers with the token.",
        ),
        (CredentialQuestion("bot_token", "Bot token", ("bot token",)),),
        "a direct message to your bot, after Start",
        (
            (
                "In groups the bot receives only commands, mentions and replies. To change that,"
                " send /setprivacy to @BotFather, and add the bot to the group again."
            ),
        ),
    ),
    "discord": Guidance(
        "an application with a bot, and its token",
        (
            "Open https://discord.com/developers/applications and choose New Application.",
            "On the page Bot, switch on Message Content Intent and save, then press Reset Token.",
        ),
        (CredentialQuestion("token", "Bot token", ("token",)),),
        "a direct message to the bot: click its name in the list of members of your server",
    ),
    "slack": Guidance(
        "an app made from a manifest that Parley writes, and two tokens",
        (
            "The file {manifest} describes the app. Open it and copy its text.",
            (
                "Open https://api.slack.com/apps, Create New App, From a manifest, choose your"
                " workspace, the tab YAML, and paste the text. Then press Install."
            ),
            (
                "The bot token is on the page OAuth & Permissions. The app token: page Basic"
                " Information, App-Level Tokens, Generate, with the scope connections:write."
            ),
        ),
        (
            CredentialQuestion("bot_token", "Bot token (xoxb-…)", ("Slack bot token",)),
            CredentialQuestion("app_token", "App token (xapp-…)", ("Slack app token", "Slack app")),
        ),
        "a direct message to the app, under Apps in the sidebar",
        (
            (
                "In Slack, write /invite @NAME, with the name of the app, in each channel in which"
                " the assistant is to answer."
            ),
        ),
    ),
    "whatsapp": Guidance(
        "a business app at Meta, its token and secret, and a public address",
        (
            (
                "Meta allows bots that serve a business, not general-purpose assistants: read"
                " the page that `parley docs how-to/connect-whatsapp` prints."
            ),
            (
                "Open https://developers.facebook.com/apps, create an app of the type Business, and"
                " add WhatsApp to it."
            ),
            (
                "In the Business settings, System users, generate a token that does not expire,"
                " with whatsapp_business_messaging and whatsapp_business_management."
            ),
        ),
        (
            CredentialQuestion("access_token", "Access token (EAA…)", ("access token",)),
            CredentialQuestion(
                "app_secret", "App secret, from App settings > Basic", ("app secret",)
            ),
            CredentialQuestion(
                "phone_number_id",
                "Phone number ID, from WhatsApp > API Setup (not the number)",
                ("phone number id",),
                secret=False,
            ),
            CredentialQuestion("verify_token", "Verify token", own_word=True),
        ),
        "a message to the business number",
        (
            (
                "At Meta, WhatsApp > Configuration: enter https://YOUR-HOST/webhook/whatsapp and"
                " the value of WHATSAPP_VERIFY_TOKEN from {env}, and subscribe to messages. Before"
                " that, Parley receives no messages."
            ),
        ),
    ),
}


def guidance_for(manifest: AdapterManifest) -> Guidance:
    """The guidance for a platform; for a plugin its secrets with their documentation."""
    known = GUIDANCE.get(manifest.platform)
    if known is not None:
        return known
    return Guidance("from another package", credentials=tuple(_secrets(manifest.settings)))


def format_of(platform: str, key: str) -> CredentialFormat | None:
    """The known format of a credential."""
    return FORMATS.get((platform, key))


def variable(platform: str, key: str) -> str:
    """The environment variable that holds a credential: TELEGRAM_BOT_TOKEN."""
    return f"{platform}_{key}".upper()


def _secrets(settings: type[AccountSettings]) -> list[CredentialQuestion]:
    texts = documented(settings)
    return [
        CredentialQuestion(name, texts.get(name, "") or name.replace("_", " "))
        for name, field in settings.model_fields.items()
        if SecretStr in shapes(field.annotation)
    ]
