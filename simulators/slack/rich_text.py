"""The structure of `rich_text` blocks, as strictly as Slack reads it."""

from collections.abc import Iterator
from typing import Final

_STYLES: Final = {"bold", "italic", "strike", "code", "underline", "highlight"}
_LEAVES: Final = {
    "text": "text",
    "link": "url",
    "user": "user_id",
    "channel": "channel_id",
    "usergroup": "usergroup_id",
    "emoji": "name",
    "broadcast": "range",
    "date": "format",
    "color": "value",
}
"""Kinds of inline elements, each with the field it cannot do without."""

_PREFORMATTED: Final = {"text", "link"}
_INDENT: Final = 8


def check_rich_text(block: dict[str, object], at: str) -> Iterator[str]:
    """Complaints about a rich_text block or table cell."""
    elements = block.get("elements")
    if not isinstance(elements, list):
        yield f"missing required field: elements [json-pointer:{at}/elements]"
        return
    for index, element in enumerate(elements):
        where = f"{at}/elements/{index}"
        if not isinstance(element, dict):
            yield f"must be an object [json-pointer:{where}]"
            continue
        yield from _container(element, where)


def _container(element: dict[str, object], at: str) -> Iterator[str]:
    match element.get("type"):
        case "rich_text_section" | "rich_text_quote":
            yield from _leaves(element, at, set(_LEAVES))
        case "rich_text_preformatted":
            yield from _leaves(element, at, _PREFORMATTED)
        case "rich_text_list":
            yield from _list(element, at)
        case kind:
            yield f"unsupported type: {kind} [json-pointer:{at}/type]"


def _list(element: dict[str, object], at: str) -> Iterator[str]:
    if element.get("style") not in ("bullet", "ordered"):
        yield f"must be one of: bullet, ordered [json-pointer:{at}/style]"
    indent = element.get("indent", 0)
    if not isinstance(indent, int) or not 0 <= indent <= _INDENT:
        yield f"must be from 0 to {_INDENT} [json-pointer:{at}/indent]"
    items = element.get("elements")
    if not isinstance(items, list) or not items:
        yield f"missing required field: elements [json-pointer:{at}/elements]"
        return
    for index, item in enumerate(items):
        where = f"{at}/elements/{index}"
        if not isinstance(item, dict) or item.get("type") != "rich_text_section":
            yield f"must be a rich_text_section [json-pointer:{where}/type]"
        else:
            yield from _leaves(item, where, set(_LEAVES))


def _leaves(container: dict[str, object], at: str, allowed: set[str]) -> Iterator[str]:
    leaves = container.get("elements")
    if not isinstance(leaves, list):
        yield f"missing required field: elements [json-pointer:{at}/elements]"
        return
    for index, leaf in enumerate(leaves):
        where = f"{at}/elements/{index}"
        kind = leaf.get("type") if isinstance(leaf, dict) else None
        if not isinstance(leaf, dict) or kind not in allowed:
            yield f"unsupported type: {kind} [json-pointer:{where}/type]"
            continue
        needed = _LEAVES[str(kind)]
        value = leaf.get(needed)
        if not isinstance(value, str):
            yield f"missing required field: {needed} [json-pointer:{where}/{needed}]"
        elif not value:
            yield f"must be more than 0 characters [json-pointer:{where}/{needed}]"
        yield from _style(leaf.get("style"), where)


def _style(style: object, at: str) -> Iterator[str]:
    if style is None:
        return
    if not isinstance(style, dict):
        yield f"must be an object [json-pointer:{at}/style]"
        return
    for key, value in style.items():
        if key not in _STYLES or not isinstance(value, bool):
            yield f"additional property: {key} [json-pointer:{at}/style]"
