"""The text and the files of a message's components.

Fields: Discord, "Component Reference". A kind that is unknown here is read by its fields.
"""

from collections.abc import Iterator
from typing import Final

from adapters.shared.json_readers import JsonObject, integer, items, mapping, text

BUTTON, SEPARATOR = 2, 14
MAX_COMPONENTS: Final = 200
"""Components that are read of one message, at every depth together; Discord allows 40."""
CUT: Final = "[…]"
"""Stands for components beyond `MAX_COMPONENTS`."""
_DEEPEST: Final = 8
_MAX_LABEL: Final = 100
_MAX_URL: Final = 2_000


def text_of_components(message: JsonObject) -> str:
    """Return the words of the components, and the addresses of buttons that lead to one. The labels
    of other buttons and of menus are controls."""
    lines = [
        line
        for component in _components(message)
        for line in ([CUT] if component is None else _lines(component))
    ]
    return "\n".join(line for line in lines if line.strip())


def media_of_components(message: JsonObject) -> list[JsonObject]:
    """The pictures and files in the components, each in the form of an attachment."""
    found: list[JsonObject] = []
    for component in _components(message):
        if component is None:
            break
        described = text(component, "description", _MAX_LABEL)
        for key in ("media", "file"):
            if media := mapping(component, key):
                name = text(component, "name", _MAX_LABEL) or described
                found.append(_as_attachment(media, name, integer(component, "size")))
        for item in items(component, "items", MAX_COMPONENTS):
            name = text(item, "description", _MAX_LABEL)
            found.append(_as_attachment(mapping(item, "media"), name, None))
    return found


def _components(message: JsonObject) -> Iterator[JsonObject | None]:
    """All components in the order in which they are shown; None where the rest is not read."""
    waiting = [(one, _DEEPEST) for one in reversed(items(message, "components", MAX_COMPONENTS))]
    left = MAX_COMPONENTS
    while waiting:
        component, depth = waiting.pop()
        left -= 1
        if left < 0 or depth <= 0:
            yield None
            return
        yield component
        children = items(component, "components", MAX_COMPONENTS)
        children += filter(None, (mapping(component, key) for key in ("accessory", "component")))
        waiting += [(one, depth - 1) for one in reversed(children)]


def _lines(component: JsonObject) -> list[str]:
    kind = integer(component, "type")
    if kind == BUTTON:
        url = text(component, "url", _MAX_URL)
        return [f"{text(component, 'label', _MAX_LABEL)} ({url})".strip()] if url else []
    if kind == SEPARATOR:
        return ["---"] if component.get("divider") is not False else []
    lines = [text(component, "content"), text(component, "description", 1_024)]
    lines += [text(item, "description", 1_024) for item in items(component, "items", 50)]
    return lines


def _as_attachment(media: JsonObject, name: str, size: int | None) -> JsonObject:
    """An unfurled media item; its address at Discord, where the file lies elsewhere."""
    proxied = text(media, "proxy_url", _MAX_URL)
    url = text(media, "url", _MAX_URL)
    return {
        "url": proxied or url,
        "filename": name or _file_name(url),
        "content_type": text(media, "content_type", 100),
        "size": size,
    }


def _file_name(url: str) -> str:
    return url.partition("?")[0].rpartition("/")[2][:_MAX_LABEL]
