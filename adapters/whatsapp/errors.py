"""Meta's error codes, and the meaning of each for a send.

Source: Meta, "Cloud API error codes" (developers.facebook.com, WhatsApp Business Platform,
support/error-codes); the pause for 131056 from "Pair rate limits": one message in 6 seconds.
Codes decide, not HTTP statuses: Meta recommends it, and sends rate limits with 400 as with 429.
"""

from typing import Final, Literal, TypeAlias

from msgspec import Struct

from gateway.errors import (
    DeliveryError,
    Permanent,
    PlatformFailed,
    StartError,
    TemplateRefused,
    Transient,
    WindowClosed,
)
from gateway.text import Text, text, verbatim

Outcome: TypeAlias = Literal["transient", "unknown", "window", "template", "permanent"]
"""`unknown`: the platform failed, and may have sent the message before. `template`: it does not
take the template with any text."""

TOKEN_CODES: Final = frozenset({0, 190})
WRONG_ID_SUBCODE: Final = 33

HOW_TO_AUTHENTICATE: Final = text(
    "Create a system user's token with `whatsapp_business_messaging` and "
    "`whatsapp_business_management` (Business settings > System users); the one on the API Setup "
    "page lasts a day."
)
WHICH_PHONE_NUMBER_ID: Final = text(
    'Copy "Phone number ID" from WhatsApp > API Setup. It is neither the phone number nor the '
    '"WhatsApp Business Account ID" next to it.'
)

APP_SETTINGS_PAGE: Final = text(
    "Copy the App secret from App settings > Basic of the app in which the token was generated. It "
    "is neither the Client token nor the access token."
)

CHECK_NETWORK: Final = text("Check the network, a proxy, and `platforms.whatsapp.base_url`.")

PAUSES: Final[dict[int, float]] = {131056: 6.0}

OUTCOMES: Final[dict[int, Outcome]] = {
    0: "permanent",  # AuthException: the token does not authenticate
    2: "transient",  # API service: down or overloaded
    3: "permanent",  # API method: capability or permission
    4: "transient",  # API too many calls
    10: "permanent",  # permission denied
    33: "permanent",  # the business phone number was deleted
    100: "permanent",  # invalid parameter; with subcode 33 a wrong phone number id
    190: "permanent",  # access token expired or invalid
    200: "permanent",  # API permission (200 to 299)
    368: "permanent",  # temporarily blocked for policy violations
    80007: "transient",  # rate limit of the WhatsApp Business Account
    130429: "transient",  # throughput reached
    130472: "permanent",  # the person is part of an experiment of Meta's
    130497: "permanent",  # restricted from messaging people in this country
    131000: "transient",  # something went wrong
    131005: "permanent",  # access denied
    131008: "permanent",  # required parameter missing
    131009: "permanent",  # parameter value not valid
    131016: "transient",  # service unavailable
    131021: "permanent",  # recipient is the sender
    131026: "permanent",  # undeliverable: no WhatsApp, blocked, old version
    131030: "permanent",  # recipient not in the test number's list
    131031: "permanent",  # account locked
    131042: "permanent",  # payment issue
    131047: "window",  # more than 24 hours since the person wrote
    131048: "permanent",  # spam rate limit: quality of the number
    131051: "permanent",  # unsupported message type
    131052: "permanent",  # media download error
    131053: "permanent",  # media upload error
    131056: "transient",  # pair rate limit
    131057: "transient",  # account in maintenance mode
    132000: "template",  # template: number of parameters
    132001: "template",  # template does not exist in the language
    132005: "permanent",  # template text too long
    132007: "template",  # template violates a content policy
    132012: "template",  # template parameter format
    132015: "template",  # template paused for low quality
    132016: "template",  # template disabled
    132018: "permanent",  # template parameter has newlines, tabs or many spaces
    133004: "transient",  # server temporarily unavailable
    133010: "permanent",  # phone number not registered
}


ACCOUNT_LIMITS: Final = frozenset({4, 80007, 130429})
"""Limits of the application, the business account and the number; 131056 binds one person only."""


class GraphFailure(Struct, frozen=True):
    """A refusal of the platform. `retry_after` in seconds, None when the answer names none."""

    status: int
    code: int | None = None
    subcode: int | None = None
    message: str = ""
    details: str = ""
    retry_after: float | None = None

    def __str__(self) -> str:
        number = f"error {self.code}" if self.code is not None else f"HTTP {self.status}"
        return f"WhatsApp: {number} {self.details or self.message}".strip()


class GraphRefused(DeliveryError):
    """A refusal of the platform, before `delivery_error` gives it a meaning."""

    def __init__(self, failure: GraphFailure) -> None:
        super().__init__(str(failure))
        self.failure = failure


def outcome_of(failure: GraphFailure) -> Outcome:
    """The meaning of a refusal. The HTTP status decides about unknown codes."""
    known = OUTCOMES.get(failure.code) if failure.code is not None else None
    if known is not None:
        return known
    if failure.status == 429:
        return "transient"
    return "unknown" if failure.status >= 500 else "permanent"


def delivery_error(failure: GraphFailure, *, repeatable: bool = False) -> DeliveryError:
    """The typed error of a refusal. `repeatable`: a second request does no harm."""
    match outcome_of(failure):
        case "unknown" if not repeatable:
            return PlatformFailed(str(failure), failure.retry_after)
        case "transient" | "unknown":
            pause = failure.retry_after
            if pause is None and failure.code is not None:
                pause = PAUSES.get(failure.code)
            return Transient(str(failure), pause, whole_account=failure.code in ACCOUNT_LIMITS)
        case "window":
            return WindowClosed(str(failure))
        case "template":
            return TemplateRefused(str(failure))
        case "permanent":
            return Permanent(str(failure))


def start_error(failure: GraphFailure) -> StartError:
    """The reason for a failed connection, with advice."""
    if failure.code in TOKEN_CODES:
        return StartError(_said(failure), HOW_TO_AUTHENTICATE, permanent=True)
    if failure.code == 100 and failure.subcode == WRONG_ID_SUBCODE:
        problem = text(
            "`{key}` is not the id of a phone number.",
            key=verbatim("platforms.whatsapp.phone_number_id"),
        )
        return StartError(problem, WHICH_PHONE_NUMBER_ID, permanent=True)
    permanent = outcome_of(failure) == "permanent"
    return StartError(_said(failure), text("Run `parley doctor` for details."), permanent=permanent)


def _said(failure: GraphFailure) -> Text:
    """The refusal in the words of the platform."""
    return verbatim(f"{failure}.")
