"""The checks of a Slack account for `parley doctor`."""

import re
from typing import Final

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.shared.http import NOT_REACHED, reason_of
from adapters.shared.json_readers import as_mapping, mapping
from adapters.shared.json_readers import text as text_at
from adapters.slack.app_manifest import SCOPES
from adapters.slack.client import open_client
from adapters.slack.errors import APPS, CREDENTIAL_ERRORS, UNREACHABLE, code_of
from adapters.slack.manifest import SlackSettings
from gateway.ports import Check, CheckCause
from gateway.text import Text, counted, joined, text, verbatim

_NOT_SET: Final = text("not set")
_PAGE: Final = verbatim(APPS)
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
        advice = text(
            "Set `platforms.slack.bot_token` (`xoxb-…`, OAuth & Permissions at {page}).", page=_PAGE
        )
        return [Check(name, ok=False, detail=_NOT_SET, advice=advice)]
    if token.startswith("xapp-"):
        advice = text("This is the app token: set it as `platforms.slack.app_token`.")
        return [Check(name, False, text("begins with `xapp-`"), advice, "credential")]
    try:
        answer = await client.auth_test()
    except (SlackApiError, *UNREACHABLE) as error:
        advice = text("Copy it again from OAuth & Permissions at {page}.", page=_PAGE)
        return [_failed(name, error, advice)]
    about = as_mapping(answer.data)
    signed_in = text(
        "signed in as {name} in {workspace}",
        name=verbatim(text_at(about, "user", 80)),
        workspace=verbatim(f"{text_at(about, 'team', 80)} ({text_at(about, 'team_id', 40)})"),
    )
    granted = {s.strip() for s in str(answer.headers.get("x-oauth-scopes", "")).split(",")}
    return [
        Check(name, ok=True, detail=signed_in),
        *_scopes(granted),
    ]


def _scopes(granted: set[str]) -> list[Check]:
    missing = [scope for scope in sorted(SCOPES) if scope not in granted]
    if not missing:
        # Translators: permissions.
        all_granted = counted("all {count} granted", "all {count} granted", count=len(SCOPES))
        return [Check("Slack scopes", ok=True, detail=all_granted)]
    where = text(
        "Add it under OAuth & Permissions, Bot Token Scopes, at {page}, then reinstall.", page=_PAGE
    )
    return [
        Check(
            f"Slack scope: {scope}",
            False,
            text("missing: to {purpose}", purpose=SCOPES[scope]),
            where,
            "permission",
        )
        for scope in missing
    ]


async def _app_token(client: AsyncWebClient, token: str) -> Check:
    name = "Slack app token"
    advice = text(
        "Make one with the scope `connections:write` under Basic Information, App-Level Tokens, "
        "and turn Socket Mode on, at {page}; set `platforms.slack.app_token` (`xapp-…`).",
        page=_PAGE,
    )
    if not token:
        return Check(name, ok=False, detail=_NOT_SET, advice=advice)
    try:
        await client.apps_connections_open(app_token=token)
    except (SlackApiError, *UNREACHABLE) as error:
        return _failed(name, error, advice)
    return Check(name, ok=True, detail=text("Socket Mode can be opened"))


async def _same_app(client: AsyncWebClient, app_token: str) -> list[Check]:
    """A failed check when the two tokens belong to two apps: Slack would then deliver nothing. An
    app token carries its app's id: xapp-1-A…"""
    parts = app_token.split("-")
    try:
        about = as_mapping((await client.auth_test()).data)
        bot = as_mapping((await client.bots_info(bot=text_at(about, "bot_id", 40))).data)
    except (SlackApiError, *UNREACHABLE):
        return []  # users:read may be missing, which has a check of its own
    of_bot, of_app = text_at(mapping(bot, "bot"), "app_id", 40), parts[2] if len(parts) > 3 else ""
    if not of_bot or not of_app or of_bot == of_app:
        return []
    detail = text(
        "the app token belongs to the app {one}, the bot token to the app {other}",
        one=verbatim(of_app),
        other=verbatim(of_bot),
    )
    advice = text(
        "Take both tokens from one app at {page}: Slack delivers nothing otherwise.", page=_PAGE
    )
    return [Check("Slack app", False, detail, advice, "wrong_app")]


def _signing_secret(secret: str) -> Check:
    name = "Slack signing secret"
    advice = text("Copy it from Basic Information, App Credentials, at {page}.", page=_PAGE)
    if not secret:
        missing = text("not set: no request can be verified")
        return Check(name, ok=False, detail=missing, advice=advice)
    if not _SECRET.fullmatch(secret):
        detail = text("is not a signing secret (32 hexadecimal digits)")
        return Check(name, ok=False, detail=detail, advice=advice)
    known = text("set; the first request shows whether it is right")
    return Check(name, ok=True, detail=known)


def _failed(name: str, error: Exception, advice: Text) -> Check:
    if isinstance(error, SlackApiError):
        code = code_of(error)
        cause: CheckCause = "permission" if code in _PERMISSION else "credential"
        refused: Text = text("refused: {code}.", code=verbatim(code) if code else text("error"))
        if code in CREDENTIAL_ERRORS:
            refused = joined((refused, CREDENTIAL_ERRORS[code]), " ")
        return Check(name, False, refused, advice, cause)
    detail = NOT_REACHED.of(platform=verbatim("Slack"), reason=reason_of(error))
    hint = text("Check the network, the proxy and `platforms.slack.base_url`.")
    return Check(name, False, detail, hint, "unreachable")
