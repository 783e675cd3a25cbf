"""The one table of errors: what each case means, on every face.

A case has a code, which is stable. HTTP and the console answer a code with its status; MCP and the
chat say the sentence of the error; the command line prints it and ends with the exit status. So the
same case cannot be answered in two ways.
"""

from collections.abc import Mapping
from typing import Final

from db.errors import StoreUnavailable
from gateway.errors import BadInput, ConfigurationError, LibraryMissing, MemoryUnavailable

INVALID: Final = 422
"""The status of an input that no other row names: it is read, and cannot be used."""
FAILURE: Final = 1
USAGE: Final = 2
UNUSABLE_CONFIGURATION: Final = 3

_CASES: Final[Mapping[int, tuple[str, ...]]] = {
    400: ("bad_query", "bad_body", "unreadable_form"),
    401: ("token_missing", "token_wrong", "token_expired", "token_revoked", "signed_out"),
    403: (
        "needs_person",
        "needs_session",
        "needs_capability",
        "needs_scope",
        "not_allowed",
        "not_served",
        "not_yours",
        "missing_capability",
        "missing_permission",
        "strange_origin",
        "strange_form",
    ),
    404: ("not_found", "missing"),
    405: ("method_not_allowed",),
    408: ("too_slow",),
    409: (
        "break_glass_off",
        "conflict",
        "duplicate",
        "asked_already",
        "rejected_lately",
        "full",
        "memory_off",
        "no_account",
        "no_override",
        "no_project",
        "no_source",
        "not_confirmed",
        "not_editable",
        "not_pending",
        "not_possible",
        "not_synced",
        "own_access",
        "queue_full",
        "quota",
        "running",
        "session_limit",
        "too_soon",
    ),
    413: ("too_large",),
    415: ("not_json", "no_form"),
    422: ("refused", "bad_form", "bad_key", "no_export", "unreadable_document"),
    429: ("too_many",),
    500: ("failed",),
    503: ("unavailable", "memory_unavailable"),
}
STATUSES: Final[Mapping[str, int]] = {
    code: status for status, codes in _CASES.items() for code in codes
}
"""The HTTP status of each code. What is wrong with a text has the code of its check, and `INVALID`.

400 is a request that cannot be read, 422 one that can be read and not used. 403 does not depend on
the object, 404 does not tell whether it exists. 409 is an input that would do with other stored
data or settings, 429 one that would do later.
"""


def status_of(code: str) -> int:
    """Return the HTTP status of a case."""
    return STATUSES.get(code, INVALID)


def code_of(error: Exception) -> str:
    """Return the code of an error; `failed` for a defect of the program."""
    match error:
        case MemoryUnavailable():
            return "memory_unavailable"
        case BadInput():
            return error.code
        case StoreUnavailable():
            return "unavailable"
    return "failed"


def exit_status_of(error: Exception) -> int:
    """Return the exit status of the command line."""
    unusable = isinstance(error, (ConfigurationError, LibraryMissing))
    return UNUSABLE_CONFIGURATION if unusable else FAILURE
