"""A message as people see it in Slack: safe HTML, and the same as readable text."""

import html
import re
from collections.abc import Callable
from typing import Final, TypeAlias

from markdown_it import MarkdownIt

from simulators.base import ShownButton
from simulators.slack.world import Message, World

Names: TypeAlias = Callable[[str], str]
Node: TypeAlias = dict[str, object]

_CODE: Final = re.compile(r"(```.*?```|`[^`\n]+`)", re.DOTALL)
_ENTITY: Final = re.compile(r"<([^<>\n]+)>")
_STYLES: Final = (
    (re.compile(r"(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])"), "b"),
    (re.compile(r"(?<![\w_])_(?=\S)([^_\n]+?)(?<=\S)_(?![\w_])"), "i"),
    (re.compile(r"(?<![\w~])~(?=\S)([^~\n]+?)(?<=\S)~(?![\w~])"), "s"),
)
_QUOTED: Final = re.compile(r"^(?:&gt;|>) ?(.*)$", re.MULTILINE)
_SAFE_LINK: Final = re.compile(r"(?i)(https?://|mailto:|tel:)")
_BREAKS: Final = re.compile(r"<br>|</(?:p|h3|li|pre|blockquote|tr|div)>|<hr>")
_TAG: Final = re.compile(r"<[^>]*>")
_MARK: Final = "\ue000"


def html_of(message: Message, world: World) -> str:
    """The message in Slack's look; blocks win over the text, as in Slack."""
    if message.blocks:
        return "".join(_block(block, world.name_of) for block in message.blocks)
    return f"<p>{mrkdwn(message.text, world.name_of)}</p>" if message.text else ""


def text_of(message: Message, world: World) -> str:
    """The message without markup."""
    return plain(html_of(message, world))


def plain(markup: str) -> str:
    """HTML of this module as text: lines, bullets, cells apart by tabs."""
    marked = markup.replace("<li>", "• ").replace("</td><td>", "\t").replace("</th><th>", "\t")
    return html.unescape(_TAG.sub("", _BREAKS.sub("\n", marked))).strip("\n")


def buttons_of(message: Message) -> tuple[ShownButton, ...]:
    """Return the buttons and menu entries of a message."""
    return tuple(ShownButton(label, str(a.get("value", ""))) for label, a in actions_of(message))


def actions_of(message: Message) -> list[tuple[str, Node]]:
    """Label of everything that can be pressed, and what an interaction says of it."""
    actions: list[tuple[str, Node]] = []
    for block in message.blocks:
        candidates = _nodes(block, "elements") if block.get("type") == "actions" else []
        accessory = block.get("accessory")
        if isinstance(accessory, dict):
            candidates = [accessory]
        for element in candidates:
            shared: Node = {"block_id": block.get("block_id") or "generated"}
            shared |= {k: element[k] for k in ("action_id", "type") if k in element}
            if element.get("type") == "button":
                own: Node = {k: element[k] for k in ("text", "value", "style") if k in element}
                actions.append((_string(element.get("text")), {**shared, **own}))
            for option in _nodes(element, "options"):
                value: Node = {"selected_option": option, "value": option.get("value")}
                actions.append((_string(option.get("text")), {**shared, **value}))
    return actions


def mrkdwn(source: str, names: Names) -> str:
    """Slack's mrkdwn as HTML."""
    pieces = []
    for piece in _CODE.split(source):
        if piece.startswith("```") and len(piece) >= 6:
            pieces.append(f"<pre>{_literal(piece[3:-3].strip(chr(10)))}</pre>")
        elif piece.startswith("`") and len(piece) > 2:
            pieces.append(f"<code>{_literal(piece[1:-1])}</code>")
        else:
            pieces.append(_inline(piece, names))
    return "".join(pieces)


def _literal(source: str) -> str:
    """Slack escapes three characters; HTML wants the quotes as well."""
    return html.escape(html.unescape(source))


def _inline(source: str, names: Names) -> str:
    kept: list[str] = []

    def keep(match: re.Match[str]) -> str:
        kept.append(_entity(match.group(1), names))
        return f"{_MARK}{len(kept) - 1}{_MARK}"

    lines = _QUOTED.sub(rf"{_MARK}q\1{_MARK}Q", _ENTITY.sub(keep, source.replace(_MARK, "")))
    styled = _literal(lines)
    for pattern, tag in _STYLES:
        styled = pattern.sub(rf"<{tag}>\1</{tag}>", styled)
    styled = styled.replace(f"{_MARK}q", "<blockquote>").replace(f"{_MARK}Q", "</blockquote>")
    for index, entity in enumerate(kept):
        styled = styled.replace(f"{_MARK}{index}{_MARK}", entity)
    return styled.replace("</blockquote>\n", "</blockquote>").replace("\n", "<br>")


def _entity(inside: str, names: Names) -> str:
    target, _, label = inside.partition("|")
    if target.startswith("@"):
        return f'<span class="mention">@{_literal(label or names(target[1:]))}</span>'
    if target.startswith("#"):
        return f'<span class="mention">#{_literal(label or target[1:])}</span>'
    if target.startswith("!"):
        return f'<span class="mention">@{_literal(label or target[1:].partition("^")[0])}</span>'
    return _link(html.unescape(target), html.unescape(label) or html.unescape(target))


def _link(url: str, label: str) -> str:
    if not _SAFE_LINK.match(url):
        return html.escape(f"{label} ({url})" if label != url else url)
    href = html.escape(url, quote=True)
    return f'<a href="{href}" rel="noopener noreferrer" target="_blank">{html.escape(label)}</a>'


def _string(text_object: object) -> str:
    return str(text_object.get("text", "")) if isinstance(text_object, dict) else ""


def _nodes(node: Node, key: str) -> list[Node]:
    value = node.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text_object(value: object, names: Names) -> str:
    if not isinstance(value, dict):
        return ""
    text = str(value.get("text", ""))
    if value.get("type") == "mrkdwn":
        return mrkdwn(text, names)
    return html.escape(text).replace("\n", "<br>")


def _block(block: Node, names: Names) -> str:
    match block.get("type"):
        case "section":
            fields = "".join(f"<p>{_text_object(f, names)}</p>" for f in _nodes(block, "fields"))
            text = _text_object(block.get("text"), names)
            return (f"<p>{text}</p>" if text else "") + fields
        case "header":
            return f"<h3>{html.escape(_string(block.get('text')))}</h3>"
        case "context":
            text = " ".join(_text_object(e, names) for e in _nodes(block, "elements"))
            return f'<p class="context">{text}</p>'
        case "divider":
            return "<hr>"
        case "image":
            return f"<p>{_link(str(block.get('image_url')), str(block.get('alt_text')))}</p>"
        case "markdown":
            reader = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
            return str(reader.disable("image").render(str(block.get("text", ""))))
        case "rich_text":
            return _rich_text(block, names)
        case "table" | "data_table":
            return _table(block, names)
        case _:
            return ""


def _table(block: Node, names: Names) -> str:
    rows = block.get("rows")
    lines = []
    for number, row in enumerate(rows if isinstance(rows, list) else []):
        tag = "td" if number else "th"
        cells = (_cell(cell, names) for cell in row if isinstance(cell, dict))
        lines.append("<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>")
    return f"<table>{''.join(lines)}</table>"


def _cell(cell: Node, names: Names) -> str:
    if cell.get("type") == "raw_text":
        return html.escape(str(cell.get("text", "")))
    parts = (_leaves(element, names) for element in _nodes(cell, "elements"))
    return "<br>".join(parts)


def _rich_text(block: Node, names: Names) -> str:
    pieces = []
    for element in _nodes(block, "elements"):
        match element.get("type"):
            case "rich_text_preformatted":
                pieces.append(f"<pre>{_leaves(element, names, breaks=False)}</pre>")
            case "rich_text_quote":
                pieces.append(f"<blockquote>{_leaves(element, names)}</blockquote>")
            case "rich_text_list":
                pieces.append(_rich_list(element, names))
            case _:
                pieces.append(f"<p>{_leaves(element, names)}</p>")
    return "".join(pieces)


def _rich_list(element: Node, names: Names) -> str:
    tag = "ol" if element.get("style") == "ordered" else "ul"
    depth, offset = element.get("indent", 0), element.get("offset", 0)
    first = f' start="{offset + 1}"' if tag == "ol" and isinstance(offset, int) and offset else ""
    entries = "".join(f"<li>{_leaves(e, names)}</li>" for e in _nodes(element, "elements"))
    return f'<{tag} class="indent-{depth}"{first}>{entries}</{tag}>'


_TAGS: Final = {"bold": "b", "italic": "i", "strike": "s", "code": "code", "underline": "u"}


def _leaves(container: Node, names: Names, *, breaks: bool = True) -> str:
    text = "".join(_leaf(leaf, names) for leaf in _nodes(container, "elements"))
    return text.replace("\n", "<br>") if breaks else text


def _leaf(leaf: Node, names: Names) -> str:
    match leaf.get("type"):
        case "text":
            text = html.escape(str(leaf.get("text", "")))
        case "link":
            url = str(leaf.get("url", ""))
            text = _link(url, str(leaf.get("text") or url))
        case "user":
            text = f'<span class="mention">@{html.escape(names(str(leaf.get("user_id"))))}</span>'
        case "emoji":
            text = html.escape(f":{leaf.get('name')}:")
        case "broadcast":
            text = f'<span class="mention">@{html.escape(str(leaf.get("range")))}</span>'
        case kind:
            text = html.escape(str(leaf.get(f"{kind}_id") or leaf.get("fallback") or ""))
    style = leaf.get("style")
    for name, tag in _TAGS.items():
        if isinstance(style, dict) and style.get(name) is True:
            text = f"<{tag}>{text}</{tag}>"
    return text
