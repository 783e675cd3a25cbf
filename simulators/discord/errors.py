"""Discord's way of saying no: a status, a code, a message, and where in the body it went wrong."""

from dataclasses import dataclass, field

FormErrors = dict[str, object]
"""Nested like the body; each leaf is {"_errors": [{"code", "message"}]}."""


@dataclass(slots=True)
class ApiError(Exception):
    """An error answer of the REST API."""

    status: int
    code: int
    message: str
    errors: FormErrors = field(default_factory=dict)

    def body(self) -> dict[str, object]:
        """The JSON body of the answer."""
        body: dict[str, object] = {"message": self.message, "code": self.code}
        if self.errors:
            body["errors"] = self.errors
        return body


UNAUTHORIZED = (401, 0, "401: Unauthorized")
NOT_FOUND = (404, 0, "404: Not Found")
UNKNOWN_APPLICATION = (404, 10002, "Unknown Application")
UNKNOWN_CHANNEL = (404, 10003, "Unknown Channel")
UNKNOWN_GUILD = (404, 10004, "Unknown Guild")
UNKNOWN_MEMBER = (404, 10007, "Unknown Member")
UNKNOWN_MESSAGE = (404, 10008, "Unknown Message")
UNKNOWN_USER = (404, 10013, "Unknown User")
UNKNOWN_EMOJI = (400, 10014, "Unknown Emoji")
UNKNOWN_WEBHOOK = (404, 10015, "Unknown Webhook")
UNKNOWN_INTERACTION = (404, 10062, "Unknown interaction")
ENTITY_TOO_LARGE = (413, 40005, "Request entity too large")
ALREADY_ACKNOWLEDGED = (400, 40060, "Interaction has already been acknowledged.")
MISSING_ACCESS = (403, 50001, "Missing Access")
NOT_THE_AUTHOR = (403, 50005, "Cannot edit a message authored by another user")
EMPTY_MESSAGE = (400, 50006, "Cannot send an empty message")
MISSING_PERMISSIONS = (403, 50013, "Missing Permissions")
INVALID_WEBHOOK_TOKEN = (401, 50027, "Invalid Webhook Token")
INVALID_JSON = (400, 50109, "The request body contains invalid JSON.")


def refuse(kind: tuple[int, int, str]) -> ApiError:
    """The error of one of the constants above."""
    return ApiError(*kind)


def invalid_form(path: str, code: str, message: str) -> ApiError:
    """Discord's 50035; `path` is dotted, list positions are numbers."""
    errors: FormErrors = {"_errors": [{"code": code, "message": message}]}
    for key in reversed(path.split(".")):
        errors = {key: errors}
    return ApiError(400, 50035, "Invalid Form Body", errors)
