"""What `parley doctor` asks Telegram."""

from collections.abc import Mapping

from telegram.error import InvalidToken, TelegramError

from adapters.telegram.client import RawBot
from adapters.telegram.errors import ASK_BOTFATHER
from adapters.telegram.json_readers import mapping, text
from adapters.telegram.manifest import TelegramSettings
from gateway.ports import Check


async def diagnose(bot: RawBot, settings: TelegramSettings) -> list[Check]:
    """Token, privacy mode, inline mode, and how updates arrive. Never raises."""
    checks: list[Check] = []
    if settings.mode == "webhook":
        checks.append(_secret(settings))
    try:
        me = mapping(await bot.call("getMe", {}))
        checks.append(Check("bot token", True, f"this is @{text(me.get('username'))}"))
        checks.append(_privacy(me))
        checks.append(_inline(me))
        webhook = mapping(await bot.call("getWebhookInfo", {}))
        checks.append(_delivery(settings, webhook))
    except InvalidToken:
        checks.append(Check("bot token", False, "Telegram does not know it", ASK_BOTFATHER))
    except TelegramError as problem:
        advice = "Check the network, and platforms.telegram.base_url."
        checks.append(Check("connection", False, problem.message, advice))
    return checks


def _secret(settings: TelegramSettings) -> Check:
    if settings.webhook_secret.get_secret_value():
        return Check("webhook secret", True, "set")
    return Check(
        "webhook secret",
        False,
        "webhook mode without a secret: anybody could post updates",
        "Set platforms.telegram.webhook_secret to a long random word.",
    )


def _privacy(me: Mapping[str, object]) -> Check:
    if me.get("can_read_all_group_messages") is True:
        return Check("privacy mode", True, "off: the bot sees every message in its groups")
    return Check(
        "privacy mode",
        True,
        "on: in groups the bot sees only commands, mentions of it and replies to it",
        "If it should follow whole conversations: @BotFather, /setprivacy, Disable; "
        "then remove the bot from the group and add it again.",
    )


def _inline(me: Mapping[str, object]) -> Check:
    if me.get("supports_inline_queries") is True:
        return Check("inline mode", True, "on")
    return Check(
        "inline mode",
        True,
        "off: nobody can write @bot and a question in other chats",
        "To offer it: @BotFather, /setinline.",
    )


def _delivery(settings: TelegramSettings, webhook: Mapping[str, object]) -> Check:
    url = text(webhook.get("url"))
    waiting = webhook.get("pending_update_count")
    problem = text(webhook.get("last_error_message"))
    if settings.mode == "polling":
        if not url:
            return Check("updates", True, f"long polling; {waiting} waiting")
        return Check(
            "updates",
            False,
            f"a webhook is set ({url}) while the configuration says polling",
            "Starting Parley removes the webhook; if another program uses it, "
            "give Parley a bot of its own.",
        )
    if not url:
        return Check("updates", True, "the webhook is set when Parley starts")
    if problem:
        return Check(
            "updates",
            False,
            f"the last call of the webhook failed: {problem}; {waiting} waiting",
            "Check that webhook_url reaches this program's public listener.",
        )
    return Check("updates", True, f"webhook {url}; {waiting} waiting")
