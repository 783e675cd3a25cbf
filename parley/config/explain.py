"""Turns pydantic's errors into sentences with advice; they never contain values."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from gateway.text import Sentence, Text, Unconverted, text, verbatim
from parley.config.problems import DID_YOU_MEAN, MISSING, Problem, closest, dotted, suggestion
from parley.config.problems import Path as KeyPath
from parley.config.schema import allowed_words, at, paths, section_of
from parley.config.sections import NAME_PATTERN
from parley.config.yaml_file import Value

# Translators: it stands alone at a field, or after the name of a key and a colon.
_WHOLE_NUMBER: Final = text("should be a whole number.")
# Translators: it stands alone at a field, or after the name of a key and a colon.
_LIST: Final = text("should be a list.")
# Translators: it stands alone at a field, or after the name of a key and a colon.
_SECTION: Final = text("should be a section with keys.")
_KINDS: Final[Mapping[str, Text]] = {
    "int_type": _WHOLE_NUMBER,
    "int_from_float": _WHOLE_NUMBER,
    "int_parsing": _WHOLE_NUMBER,
    # Translators: it stands alone at a field, or after the name of a key and a colon.
    "float_type": text("should be a number."),
    # Translators: it stands alone at a field, or after the name of a key and a colon.
    "bool_type": text("should be true or false."),
    # Translators: it stands alone at a field, or after the name of a key and a colon.
    "string_type": text("should be a text; put it in quotes."),
    "tuple_type": _LIST,
    "list_type": _LIST,
    "dict_type": _SECTION,
    "model_type": _SECTION,
    "missing": MISSING,
}
_BOUNDS: Final[Mapping[str, tuple[Sentence, str]]] = {
    # Translators: it stands alone at a field, or after the name of a key and a colon.
    "greater_than_equal": (text("should be at least {number}."), "ge"),
    # Translators: it stands alone at a field, or after the name of a key and a colon.
    "greater_than": (text("should be more than {number}."), "gt"),
    # Translators: it stands alone at a field, or after the name of a key and a colon.
    "less_than_equal": (text("should be at most {number}."), "le"),
    # Translators: it stands alone at a field, or after the name of a key and a colon.
    "less_than": (text("should be less than {number}."), "lt"),
    # Translators: it stands alone at a field, or after the name of a key and a colon.
    "string_too_short": (text("should have at least {number} characters."), "min_length"),
    # Translators: it stands alone at a field, or after the name of a key and a colon.
    "string_too_long": (text("should have at most {number} characters."), "max_length"),
    # Translators: it stands alone at a field, or after the name of a key and a colon.
    "too_long": (text("should have at most {number} entries."), "max_length"),
}
# Translators: it stands alone at a field, or after the name of a key and a colon.
_ONE_OF: Final = text("should be one of: {words}.")
# Translators: it stands alone at a field, or after the name of a key and a colon.
_EMPTY: Final = text("is an empty list.")
_NAME_IDS: Final = text("Name ids, or leave the key out to allow everybody.")
# Translators: it stands alone at a field, or after the name of a key and a colon.
_UNKNOWN: Final = text("is not a known key.")
# Translators: it stands alone at a field, or after the name of a key and a colon.
_NAME: Final = text(
    "is not a valid name: use lower-case letters, digits, - and _, with a letter first."
)
# Translators: it stands alone at a field, or after the name of a key and a colon.
_ADDRESS: Final = text("should be an address that begins with {secure} (or {plain}).")
# Translators: it stands alone at a field, or after the name of a key and a colon.
_DIGITS: Final = text("should be digits.")
# Translators: it stands alone at a field, or after the name of a key and a colon.
_PATTERN: Final = text("does not match {pattern}")
MIN_HIDDEN: Final = 4
"""Shorter values are not removed from messages: they would match by chance."""


class Explainer:
    """Explains the errors of one validation."""

    def __init__(
        self,
        model: type[BaseModel],
        values: Value,
        origins: Mapping[KeyPath, str],
        broken_plugins: Sequence[str],
    ) -> None:
        self._model = model
        self._values = values
        self._origins = origins
        self._broken = broken_plugins

    def explain(self, error: ValidationError) -> list[Problem]:
        """One problem per error, in the order of the configuration."""
        errors = error.errors(include_url=False, include_context=True, include_input=False)
        places = [details["loc"] for details in errors]
        return [
            self._problem(details)
            for details in errors
            if not (details["type"] == "too_short" and _has_more_below(details["loc"], places))
        ]

    def _problem(self, details: ErrorDetails) -> Problem:
        path = self._known_part(details["loc"])
        origin = next(
            (self._origins[path[:n]] for n in range(len(path), 0, -1) if path[:n] in self._origins),
            "",
        )
        text, advice = self._text(path, details)
        return Problem(dotted(path), text, advice, origin)

    def _known_part(self, location: tuple[str | int, ...]) -> KeyPath:
        """The location without pydantic's own steps ("[key]", tagged unions)."""
        return tuple(step for step in location if step != "[key]")

    def _text(self, path: KeyPath, details: ErrorDetails) -> tuple[Unconverted, Unconverted]:
        kind = details["type"]
        if kind == "extra_forbidden":
            return self._unknown(path)
        if kind in {"literal_error", "enum"}:
            words = allowed_words(at(self._model, path))
            value = self._value_at(path)
            near = closest(value, words) if isinstance(value, str) else ""
            return (
                _ONE_OF.of(words=verbatim(", ".join(words))),
                DID_YOU_MEAN.of(name=verbatim(near)) if near else "",
            )
        if kind == "string_pattern_mismatch":
            return _form(details.get("ctx", {}).get("pattern", "")), ""
        if kind == "too_short" and self._value_at(path) == []:
            return _EMPTY, _NAME_IDS
        if kind in _KINDS:
            return _KINDS[kind], ""
        if kind in _BOUNDS:
            sentence, name = _BOUNDS[kind]
            bound = details.get("ctx", {}).get(name, 0)
            if isinstance(bound, float) and bound.is_integer():
                bound = int(bound)
            return sentence.of(number=verbatim(str(bound))), ""  # as a person has to type it
        return self._of_validator(path, details), ""

    def _of_validator(self, path: KeyPath, details: ErrorDetails) -> Unconverted:
        """The words of a validator: a sentence of the catalogues, or the English words of another
        package; without the values of the configuration."""
        message = details["msg"].removeprefix("Value error, ").rstrip(".")
        hidden = self._hidden(message, path)
        error = details.get("ctx", {}).get("error")
        said = error.args[0] if isinstance(error, ValueError) and error.args else ""
        if isinstance(said, Sentence) and hidden == message:
            return said
        return f"{hidden}."

    def _unknown(self, path: KeyPath) -> tuple[Unconverted, Unconverted]:
        wrong = str(path[-1])
        if path[:-1] == ("platforms",):
            broken = [text for text in self._broken if wrong.lower() in text.lower()]
            if broken:
                return "is a platform whose plugin could not be loaded.", broken[0]
        section = section_of(at(self._model, path[:-1]))
        known = tuple(section.model_fields) if section is not None else ()
        if not closest(wrong, known):
            elsewhere = [dotted(p) for p, _ in paths(self._model) if p[-1] == wrong and 0 not in p]
            if elsewhere:
                return self._unknown_text(path), DID_YOU_MEAN.of(name=verbatim(elsewhere[0]))
        return self._unknown_text(path), suggestion(wrong, known)

    def _unknown_text(self, path: KeyPath) -> Unconverted:
        return "is not a platform known here." if path[:-1] == ("platforms",) else _UNKNOWN

    def _value_at(self, path: KeyPath) -> Value:
        value = self._values
        for step in path:
            if isinstance(value, dict) and isinstance(step, str):
                value = value.get(step)
            elif isinstance(value, list) and isinstance(step, int) and step < len(value):
                value = value[step]
            else:
                return None
        return value

    def _hidden(self, message: str, path: KeyPath) -> str:
        """The message without the values at or below the path."""
        for value in sorted(self._texts(path, self._value_at(path)), key=len, reverse=True):
            if len(value) >= MIN_HIDDEN:
                message = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", "(not shown)", message)
        return message

    def _texts(self, path: KeyPath, value: Value) -> list[str]:
        """The texts at and below the path, without the words that the documentation lists."""
        if isinstance(value, dict):
            return [t for k, v in value.items() for t in self._texts((*path, k), v)]
        if isinstance(value, list):
            return [t for n, v in enumerate(value) for t in self._texts((*path, n), v)]
        known = isinstance(value, str) and value in allowed_words(at(self._model, path))
        return [value] if isinstance(value, str) and not known else []


def _has_more_below(place: KeyPath, places: Sequence[KeyPath]) -> bool:
    return any(len(p) > len(place) and p[: len(place)] == place for p in places)


def _form(pattern: str) -> Text:
    """The required form of a text that does not match."""
    if pattern == NAME_PATTERN:
        return _NAME
    for scheme in ("http", "ws"):
        if f"{scheme}s?://" in pattern:
            plain = verbatim(f"{scheme}://")
            return _ADDRESS.of(secure=verbatim(f"{scheme}s://"), plain=plain)
    is_number = pattern.startswith(r"^\d")
    return _DIGITS if is_number else _PATTERN.of(pattern=verbatim(pattern))
