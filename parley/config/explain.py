"""Turns pydantic's errors into sentences with advice; they never contain values."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from parley.config.problems import Path as KeyPath
from parley.config.problems import Problem, closest, dotted, suggestion
from parley.config.schema import allowed_words, at, paths, section_of
from parley.config.sections import NAME_PATTERN
from parley.config.yaml_file import Value

_KINDS: Final = {
    "int_type": "should be a whole number.",
    "int_from_float": "should be a whole number.",
    "int_parsing": "should be a whole number.",
    "float_type": "should be a number.",
    "bool_type": "should be true or false.",
    "string_type": "should be a text; put it in quotes.",
    "tuple_type": "should be a list.",
    "list_type": "should be a list.",
    "dict_type": "should be a section with keys.",
    "model_type": "should be a section with keys.",
    "missing": "is missing.",
}
_BOUNDS: Final = {
    "greater_than_equal": ("should be at least {}.", "ge"),
    "greater_than": ("should be more than {}.", "gt"),
    "less_than_equal": ("should be at most {}.", "le"),
    "less_than": ("should be less than {}.", "lt"),
    "string_too_short": ("should have at least {} characters.", "min_length"),
    "string_too_long": ("should have at most {} characters.", "max_length"),
    "too_long": ("should have at most {} entries.", "max_length"),
}
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

    def _text(self, path: KeyPath, details: ErrorDetails) -> tuple[str, str]:
        kind = details["type"]
        if kind == "extra_forbidden":
            return self._unknown(path)
        if kind in {"literal_error", "enum"}:
            words = allowed_words(at(self._model, path))
            value = self._value_at(path)
            near = closest(value, words) if isinstance(value, str) else ""
            return (
                f"should be one of: {', '.join(words)}.",
                f'Did you mean "{near}"?' if near else "",
            )
        if kind == "string_pattern_mismatch":
            return _form(details.get("ctx", {}).get("pattern", "")), ""
        if kind == "too_short" and self._value_at(path) == []:
            return "is an empty list.", "Name ids, or leave the key out to allow everybody."
        if kind in _KINDS:
            return _KINDS[kind], ""
        if kind in _BOUNDS:
            sentence, name = _BOUNDS[kind]
            bound = details.get("ctx", {}).get(name)
            if isinstance(bound, float) and bound.is_integer():
                bound = int(bound)
            return sentence.format(bound), ""
        message = details["msg"].removeprefix("Value error, ").rstrip(".")
        return self._hidden(message, path) + ".", ""

    def _unknown(self, path: KeyPath) -> tuple[str, str]:
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
                return self._unknown_text(path), f'Did you mean "{elsewhere[0]}"?'
        return self._unknown_text(path), suggestion(wrong, known)

    def _unknown_text(self, path: KeyPath) -> str:
        return (
            "is not a platform known here."
            if path[:-1] == ("platforms",)
            else ("is not a known key.")
        )

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
        for text in sorted(self._texts(path, self._value_at(path)), key=len, reverse=True):
            if len(text) >= MIN_HIDDEN:
                message = re.sub(rf"(?<!\w){re.escape(text)}(?!\w)", "(not shown)", message)
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


def _form(pattern: str) -> str:
    """The required form of a text that does not match."""
    if pattern == NAME_PATTERN:
        return "is not a valid name: use lower-case letters, digits, - and _, with a letter first."
    for scheme in ("http", "ws"):
        if f"{scheme}s?://" in pattern:
            return f"should be an address that begins with {scheme}s:// (or {scheme}://)."
    return "should be digits." if pattern.startswith(r"^\d") else f"does not match {pattern}"
