"""Invalid parts of a request in the words of the catalogues, for people who read them on a page."""

from collections.abc import Mapping
from typing import Final

from pydantic_core import ErrorDetails

from gateway.text import Sentence, Text, counted, text

_INVALID: Final = text("This value is not valid.")
_NO_NUMBER: Final = text("This should be a whole number.")
_NO_AMOUNT: Final = text("This should be a number.")
_NO_WORD: Final = text("This is not one of the possible values.")
_PLAIN: Final[Mapping[str, Sentence]] = {
    "missing": text("This value is missing."),
    "extra_forbidden": text("This parameter is not known."),
    "string_pattern_mismatch": text("This has the wrong format."),
    "literal_error": _NO_WORD,
    "enum": _NO_WORD,
    "bool_parsing": text("This should be true or false."),
    "int_type": _NO_NUMBER,
    "int_parsing": _NO_NUMBER,
    "int_from_float": _NO_NUMBER,
    "float_type": _NO_AMOUNT,
    "float_parsing": _NO_AMOUNT,
    "finite_number": _NO_AMOUNT,
}
_BOUNDS: Final[Mapping[str, tuple[Sentence, str]]] = {
    "greater_than_equal": (text("This should be at least {bound}."), "ge"),
    "greater_than": (text("This should be more than {bound}."), "gt"),
    "less_than_equal": (text("This should be at most {bound}."), "le"),
    "less_than": (text("This should be less than {bound}."), "lt"),
}
_LENGTHS: Final[Mapping[str, tuple[Sentence, str]]] = {
    "string_too_long": (
        counted(
            "This should have at most {count} character.",
            "This should have at most {count} characters.",
        ),
        "max_length",
    ),
    "string_too_short": (
        counted(
            "This should have at least {count} character.",
            "This should have at least {count} characters.",
        ),
        "min_length",
    ),
    "too_long": (
        counted("At most {count} entry is possible.", "At most {count} entries are possible."),
        "max_length",
    ),
}


def reason_of(error: ErrorDetails) -> Text:
    """Return the reason why a value is not valid; for an error of a rare kind, only that it is."""
    kind, context = error["type"], error.get("ctx", {})
    if kind in _PLAIN:
        return _PLAIN[kind]
    sentence, name = _LENGTHS.get(kind) or _BOUNDS.get(kind) or (_INVALID, "")
    bound = context.get(name)
    if isinstance(bound, float) and bound.is_integer():
        bound = int(bound)
    if not isinstance(bound, int):
        return _INVALID
    return sentence.of(count=bound) if kind in _LENGTHS else sentence.of(bound=bound)
