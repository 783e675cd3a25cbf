"""The checks of a Slack account for `parley doctor`."""

import re
from typing import Final

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.shared.http import reason_of
from adapters.shared.json_readers import as_mapping, mapping, text
from adapters.slack.app_manifest import SCOPES
from adapters.slack.client import open_client
from adapters.slack.errors import CREDENTIAL_ERRORS, UNREACHABLE, code_of
from adapters.slack.manifest import SlackSettings
from gateway.ports import Check, CheckCause

_APPS: Final = "https://api.slack.com/apps"
_PERMISSION: Final = {"missing_scope", "no_permission", "team_access_not_granted"}
_SECRET: Final = re.compile(r"[0-9a-f]{32}")


async def diagnose(settings: SlackSettings) -> list[Check]:
    """One check per credential and scope. Never raises."""
    token = settings.bot_token.get_secret_value()
    client = open_client(token, settings.base_url)
    try:
        checks = await _bot(client.web, token)
        if settings.mode == "socket":
            app_token = settings.app_token.get_secret_value()
            checks.append(await _app_token(client.web, app_token))
            if all(check.ok for check in checks):
                checks += await _same_app(client.web, app_token)
        else:
            checks.append(_signing_secret(settings.signing_secret.get_secret_value()))
    finally:
        await client.close()
    return checks


async def _bot(client: AsyncWebClient, token: str) -> list[Check]:
    name = "Slack bot token"
    if not token:
        advice = f"Set platforms.slack.bot_token (xoxb-…, OAuth & Permissions at {_APPS})."
        return [Check(name, ok=False, detail="not set", advice=advice)]
    if token.startswith("xapp-"):
        advice = "This is the app token: set it as platforms.slack.app_token."
        return [Check(name, False, "begins with xapp-", advice, "credential")]
    try:
        answer = await client.auth_test()
    except (SlackApiError, *UNREACHABLE) as error:
        return [_failed(name, error, f"Copy it again from OAuth & Permissions at {_APPS}.")]
    about = as_mapping(answer.data)
    team = f"{text(about, 'team', 80)} ({text(about, 'team_id', 40)})"
    granted = {s.strip() for s in str(answer.headers.get("x-oauth-scopes", "")).split(",")}
    return [
        Check(name, ok=True, detail=f"signed in as {text(about, 'user', 80)} in {team}"),
        *_scopes(granted),
    ]


def _scopes(granted: set[str]) -> list[Check]:
    missing = [scope for scope in sorted(SCOPES) if scope not in granted]
    if not missing:
        return [Check("Slack scopes", ok=True, detail=f"all {len(SCOPES)} granted")]
    where = f"Add it under OAuth & Permissions, Bot Token Scopes, at {_APPS}, then reinstall."
    return [
        Check(f"Slack scope {scope}", False, f"missing: to {SCOPES[scope]}", where, "permission")
        for scope in missing
    ]


async def _app_token(client: AsyncWebClient, token: str) -> Check:
    name = "Slack app token"
    advice = (
        "Make one with the scope connections:write under Basic Information, App-Level Tokens, and"
        f" turn Socket Mode on, at {_APPS}; set platforms.slack.app_token (xapp-…)."
    )
    if not token:
        return Check(name, ok=False, detail="not set", advice=advice)
    try:
        await client.apps_connections_open(app_token=token)
    except (SlackApiError, *UNREACHABLE) as error:
        return _failed(name, error, advice)
    return Check(name, ok=True, detail="Socket Mode can be opened")


async def _same_app(client: AsyncWebClient, app_token: str) -> list[Check]:
    """A failed check when the two tokens belong to two apps: Slack would then deliver nothing. An
    app token carries its app's id: xapp-1-A…"""
    parts = app_token.split("-")
    try:
        about = as_mapping((await client.auth_test()).data)
        bot = as_mapping((await client.bots_info(bot=text(about, "bot_id", 40))).data)
    except (SlackApiError, *UNREACHABLE):
        return []  # users:read may be missing, which has a check of its own
    of_bot, of_app = text(mapping(bot, "bot"), "app_id", 40), parts[2] if len(parts) > 3 else ""
    if not of_bot or not of_app or of_bot == of_app:
        return []
    detail = f"the app token belongs to the app {of_app}, the bot token to the app {of_bot}"
    advice = f"Take both tokens from one app at {_APPS}: Slack delivers nothing otherwise."
    return [Check("Slack app", False, detail, advice, "wrong_app")]


def _signing_secret(secret: str) -> Check:
    name = "Slack signing secret"
    advice = f"Copy it from Basic Information, App Credentials, at {_APPS}."
    if not secret:
        return Check(name, ok=False, detail="not set: no request can be verified", advice=advice)
    if not _SECRET.fullmatch(secret):
        detail = "is not a signing secret (32 hexadecimal digits)"
        return Check(name, ok=False, detail=detail, advice=advice)
    return Check(name, ok=True, detail="set; the first request shows whether it is right")


def _failed(name: str, error: Exception, advice: str) -> Check:
    if isinstance(error, SlackApiError):
        code = code_of(error)
        cause: CheckCause = "permission" if code in _PERMISSION else "credential"
        meaning = f" {CREDENTIAL_ERRORS[code]}" if code in CREDENTIAL_ERRORS else ""
        return Check(name, False, f"refused: {code or 'error'}.{meaning}", advice, cause)
    detail = f"Slack cannot be reached: {reason_of(error)}"
    hint = "Check the network, the proxy and platforms.slack.base_url."
    return Check(name, False, detail, hint, "unreachable")
