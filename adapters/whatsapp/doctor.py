"""The checks of a WhatsApp account for `parley doctor`, and the business phone numbers that its
token may use for `parley init`.

Source: Meta, "Managing WhatsApp Business Accounts": `debug_token` names the accounts of each
permission, and `{account}/phone_numbers` their numbers.
"""

import asyncio
from typing import Final

from adapters.shared.json_readers import JsonObject, identifier, identifiers, items, mapping, text
from adapters.whatsapp.client import GraphClient
from adapters.whatsapp.errors import (
    APP_SETTINGS_PAGE,
    HOW_TO_AUTHENTICATE,
    TOKEN_CODES,
    WHICH_PHONE_NUMBER_ID,
    WRONG_ID_SUBCODE,
    GraphFailure,
    GraphRefused,
)
from adapters.whatsapp.manifest import API_VERSION, WhatsAppSettings
from adapters.whatsapp.service_window import WhatsAppTemplate
from gateway.errors import DeliveryError
from gateway.ports import AccountSettings, Check, SettingChoices

OLDEST_VERSION: Final = 22
"""Graph API versions live about two years; v22.0 is of January 2025 (Graph API changelog)."""


async def diagnose(settings: WhatsAppSettings, graph: GraphClient) -> list[Check]:
    """The checks, in the order of setting an account up. Never raises."""
    return [
        _present(
            "app secret",
            bool(settings.app_secret),
            "Copy it from App settings > Basic. Without it, anyone could send events in the name "
            "of Meta, so WhatsApp does not start.",
        ),
        _present(
            "verify token",
            bool(settings.verify_token),
            "Choose any long text, and enter the same under WhatsApp > Configuration > Webhook.",
        ),
        _version(settings.api_version),
        *await _account(settings, graph),
        _template(settings),
    ]


async def _account(settings: WhatsAppSettings, graph: GraphClient) -> list[Check]:
    if not settings.access_token or not settings.phone_number_id:
        return [
            _present("access token", bool(settings.access_token), HOW_TO_AUTHENTICATE),
            _present("phone number id", bool(settings.phone_number_id), WHICH_PHONE_NUMBER_ID),
        ]
    try:
        answer = await graph.number()
    except GraphRefused as error:
        return _refused(error.failure)
    except DeliveryError as error:
        advice = f"Check the network, a proxy, and base_url ({settings.base_url})."
        return [Check("platform reachable", False, str(error), advice, "unreachable")]
    if not text(answer, "display_phone_number", 40):
        detail = f"{settings.phone_number_id} exists, but is not a phone number"
        return [Check("access token", True, "accepted"), _wrong_id(detail)]
    number = text(answer, "display_phone_number", 40)
    name = text(answer, "verified_name", 100)
    quality = text(answer, "quality_rating", 20) or "unknown"
    return [
        Check("access token", True, "accepted"),
        Check("phone number id", True, f"{number} {name} (quality {quality})".strip()),
        *await _secret_of_app(settings, graph),
    ]


async def _secret_of_app(settings: WhatsAppSettings, graph: GraphClient) -> list[Check]:
    """A failed check when Meta says that the app secret is not that of the token's app: then no
    webhook could be verified."""
    if not settings.app_secret:
        return []
    try:
        await graph.number(proven=True)
    except GraphRefused as error:
        if "appsecret_proof" not in error.failure.message:
            return []
        detail = "it is not the secret of the app to which the access token belongs"
        return [Check("app secret", False, detail, APP_SETTINGS_PAGE, "wrong_app")]
    except DeliveryError:
        return []
    return [Check("app secret", True, "it belongs to the access token's app")]


def refused_token(failure: GraphFailure) -> list[Check]:
    """The failed check of a token that Meta refuses; none for another error."""
    if failure.code not in TOKEN_CODES:
        return []
    return [Check("access token", False, str(failure), HOW_TO_AUTHENTICATE, "credential")]


def _refused(failure: GraphFailure) -> list[Check]:
    if refused := refused_token(failure):
        return refused
    if failure.code == 100:
        detail = "Meta knows no such object"
        if failure.subcode != WRONG_ID_SUBCODE:
            detail = "it is not a phone number"
        return [Check("access token", True, "accepted"), _wrong_id(detail)]
    if failure.code is not None and (failure.code == 10 or 200 <= failure.code <= 299):
        advice = "The token lacks a permission, or the app is not assigned to this account."
        advice = f"{advice} {HOW_TO_AUTHENTICATE}"
        return [Check("access token", False, str(failure), advice, "permission")]
    return [Check("platform reachable", False, str(failure), "Try again in a few minutes.")]


def _wrong_id(detail: str) -> Check:
    return Check("phone number id", False, detail, WHICH_PHONE_NUMBER_ID, "wrong_app")


def _present(name: str, there: bool, advice: str) -> Check:
    return Check(name, there, "set" if there else "missing", "" if there else advice)


def _version(version: str) -> Check:
    fresh = int(version[1:].partition(".")[0]) >= OLDEST_VERSION
    advice = "" if fresh else f"Remove api_version, or set {API_VERSION}."
    return Check("api version", fresh, version, advice)


def _template(settings: WhatsAppSettings) -> Check:
    if settings.template is None:
        detail = "none: people who have not written for 24 hours cannot be reached"
        return Check("template", True, detail, "Set template.name and template.language for that.")
    return Check("template", True, _described(settings.template))


def _described(template: WhatsAppTemplate) -> str:
    variables = ", ".join(template.values)
    return f"{template.name} ({template.language}), variables: {variables}"


PERMISSION: Final = "whatsapp_business_management"
MAX_ACCOUNTS: Final = 5
MAX_NUMBERS: Final = 20
SECONDS: Final = 20.0


async def phone_numbers(settings: AccountSettings) -> SettingChoices:
    """The numbers of the token's accounts; none where Meta does not list them. Never raises."""
    if not isinstance(settings, WhatsAppSettings) or not settings.access_token:
        return SettingChoices()
    graph = GraphClient(settings)
    try:
        async with asyncio.timeout(SECONDS):
            return SettingChoices(tuple(await _numbers(graph)))
    except GraphRefused as error:
        return SettingChoices(failed=tuple(refused_token(error.failure)))
    except (DeliveryError, TimeoutError):
        return SettingChoices()
    finally:
        await graph.close()


async def _numbers(graph: GraphClient) -> list[tuple[str, str]]:
    numbers: dict[str, str] = {}
    for account in _accounts(await graph.token()):
        for number in items(await graph.numbers(account, MAX_NUMBERS), "data", MAX_NUMBERS):
            id_ = identifier(number, "id", 20)
            if id_.isdecimal():
                shown = text(number, "display_phone_number", 40)
                numbers[id_] = f"{shown} {text(number, 'verified_name', 100)}".strip()
    return list(numbers.items())[:MAX_NUMBERS]


def _accounts(described: JsonObject) -> list[str]:
    """The WhatsApp accounts that the token may manage. A permission without ids is for all of a
    business, which the answer does not list."""
    for scope in items(mapping(described, "data"), "granular_scopes"):
        if text(scope, "scope", 100) == PERMISSION:
            ids = identifiers(scope, "target_ids", MAX_ACCOUNTS)
            return [id_ for id_ in ids if id_.isdecimal()]
    return []
