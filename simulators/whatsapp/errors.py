"""Errors in the shape of the Graph API, with the HTTP status Meta documents for each code.

Source of codes and statuses: Meta, "Cloud API error codes" (support/error-codes).
"""

from typing import Final

TITLES: Final[dict[int, tuple[int, str]]] = {
    1: (400, "API Unknown"),
    2: (503, "API Service"),
    4: (400, "Application request limit reached"),
    10: (403, "Application does not have permission for this action"),
    100: (400, "Invalid parameter"),
    190: (401, "Invalid OAuth access token - Cannot parse access token"),
    200: (403, "Permissions error"),
    368: (403, "Temporarily blocked for policies violations"),
    80007: (400, "Rate limit issues"),
    130429: (429, "Rate limit hit"),
    131000: (500, "Something went wrong"),
    131005: (403, "Access denied"),
    131008: (400, "Required parameter is missing"),
    131009: (400, "Parameter value is not valid"),
    131016: (500, "Service unavailable"),
    131026: (400, "Message undeliverable"),
    131030: (400, "Recipient phone number not in allowed list"),
    131042: (400, "Business eligibility payment issue"),
    131047: (400, "Re-engagement message"),
    131048: (400, "Spam rate limit hit"),
    131051: (400, "Unsupported message type"),
    131052: (400, "Media download error"),
    131053: (400, "Media upload error"),
    131056: (400, "(Business Account, Consumer Account) pair rate limit hit"),
    132000: (400, "Number of parameters does not match the expected number of params"),
    132001: (404, "Template name does not exist in the translation"),
    132005: (400, "Translated text too long"),
    132007: (400, "Template format character policy violated"),
    132012: (400, "Parameter format does not match format in the created template"),
    132015: (400, "Template is paused"),
    132016: (400, "Template is disabled"),
    132018: (400, "There was an issue with the parameters in your template"),
    133010: (400, "Account not registered"),
}


class GraphError(Exception):
    """A refusal. `details` says which parameter; `status` defaults to the code's own."""

    def __init__(
        self,
        code: int,
        details: str = "",
        *,
        status: int | None = None,
        subcode: int | None = None,
        kind: str = "OAuthException",
        message: str = "",
        retry_after: float | None = None,
    ) -> None:
        known_status, title = TITLES.get(code, (400, "Error"))
        self.code = code
        self.details = details
        self.status = status if status is not None else known_status
        self.subcode = subcode
        self.kind = kind
        self.title = title
        self.message = message or f"(#{code}) {title}"
        self.retry_after = retry_after
        super().__init__(f"{self.message}: {details}")

    def body(self, trace: str) -> dict[str, object]:
        """The JSON of the response; `trace` is its fbtrace_id."""
        error: dict[str, object] = {
            "message": self.message,
            "type": self.kind,
            "code": self.code,
            "fbtrace_id": trace,
        }
        if self.subcode is not None:
            error["error_subcode"] = self.subcode
        if self.details:
            error["error_data"] = {"messaging_product": "whatsapp", "details": self.details}
        return {"error": error}

    def in_status(self) -> dict[str, object]:
        """The same in the `errors` of a failed status."""
        return {
            "code": self.code,
            "title": self.title,
            "message": self.title,
            "error_data": {"details": self.details or self.title},
            "href": "https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes/",
        }


def bad_token() -> GraphError:
    """The answer to a token that is missing or wrong."""
    return GraphError(190, message=TITLES[190][1])


def unknown_node(method: str, node: str) -> GraphError:
    """Return the error of Graph for an id that is not what the path needs: a phone number or a WABA
    id."""
    return GraphError(
        100,
        subcode=33,
        kind="GraphMethodException",
        message=(
            f"Unsupported {method.lower()} request. Object with ID '{node}' does not exist, cannot "
            "be loaded due to missing permissions, or does not support this operation."
        ),
    )
