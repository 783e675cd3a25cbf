"""The rule of a key: its type and its bounds, as sentences."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from gateway.text import Listed, Text, Value, counted, joined, text, verbatim
from parley.config.schema import Shape, allowed_words, item_of, mapping_of, section_of, shapes

_KINDS: Final[Mapping[Shape, Text]] = {
    bool: text("`true` or `false`."),
    int: text("A whole number."),
    float: text("A number."),
    SecretStr: text("A secret."),
}
_BY_NAME: Final = text("A section by name.")
_SECTIONS: Final = text("A list of sections.")
_LIST: Final = text("A list of texts.")
_NUMBERS: Final = text("A list of numbers.")
_TEXT: Final = text("A text.")
_ONE_OF: Final = text("One of {words}.")
_ANY_OF: Final = text("Any of {words}.")
_FROM_TO: Final = text("From {low} to {high}.")
_OVER_TO: Final = text("More than {low}, and at most {high}.")
_FROM: Final = text("At least {low}.")
_OVER: Final = text("More than {low}.")
_TO: Final = text("At most {high}.")
_CHARACTERS: Final = counted("At most {count} character.", "At most {count} characters.")
_EACH: Final = counted(
    "Each has at most {count} character.", "Each has at most {count} characters."
)
_ENTRIES: Final = counted("At most {count} entry.", "At most {count} entries.")
_BOUNDS: Final = ("ge", "gt", "le", "lt", "max_length")


def rule_of(info: FieldInfo) -> Text:
    """Return the type of a key and its bounds."""
    item = item_of(info.annotation)
    own = _bounds([*info.metadata, *_constraints(info.annotation)])
    bounds = [_range(own)]
    if mapping_of(info.annotation) is None and "max_length" in own:
        length = _CHARACTERS if item is None else _ENTRIES
        bounds.append(length.of(count=own["max_length"]))
    if item is not None and not allowed_words(item):
        inner = _bounds(_constraints(item))
        bounds.append(_range(inner))
        if "max_length" in inner:
            bounds.append(_EACH.of(count=inner["max_length"]))
    return joined([_kind(info.annotation), *(one for one in bounds if one is not None)], " ")


def _kind(annotation: Shape) -> Text:
    words, item = allowed_words(annotation), item_of(annotation)
    if words:
        return _ONE_OF.of(words=_listed(words))
    if mapping_of(annotation) is not None:
        return _BY_NAME
    if item is not None:
        return _kind_of_list(item)
    options = shapes(annotation)
    return next((said for kind, said in _KINDS.items() if kind in options), _TEXT)


def _kind_of_list(item: Shape) -> Text:
    if section_of(item) is not None:
        return _SECTIONS
    if words := allowed_words(item):
        return _ANY_OF.of(words=_listed(words))
    return _NUMBERS if {int, float} & set(shapes(item)) else _LIST


def _listed(words: tuple[str, ...]) -> Listed:
    return Listed(tuple(verbatim(f"`{word}`") for word in words), "or")


def _range(bounds: Mapping[str, Any]) -> Text | None:
    low, high = bounds.get("ge", bounds.get("gt")), bounds.get("le", bounds.get("lt"))
    included = "ge" in bounds
    if low is None:
        return None if high is None else _TO.of(high=_number(high))
    if high is None:
        return (_FROM if included else _OVER).of(low=_number(low))
    return (_FROM_TO if included else _OVER_TO).of(low=_number(low), high=_number(high))


def _number(bound: float) -> Value:
    """Return a bound; one with decimals is written as a person has to type it."""
    return int(bound) if bound == int(bound) else verbatim(f"{bound:g}")


def _bounds(constraints: list[object]) -> dict[str, Any]:
    found = ((name, getattr(one, name, None)) for one in constraints for name in _BOUNDS)
    return {name: value for name, value in found if value is not None}


def _constraints(annotation: Shape) -> list[object]:
    """Return the constraints of a type, without those of the items of a list."""
    return [found for one in _unfolded(annotation) for found in getattr(one, "metadata", (one,))]


def _unfolded(annotation: Shape) -> Iterator[object]:
    origin: object = get_origin(annotation)
    if origin is Annotated:
        yield from _unfolded(get_args(annotation)[0])
        yield from annotation.__metadata__
    elif item_of(annotation) is None or type(None) in get_args(annotation):
        for option in get_args(annotation):
            yield from _unfolded(option)
