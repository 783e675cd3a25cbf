"""The readable text of a message: entities resolved, this bot's mention removed; and the text of
Block Kit blocks as mrkdwn: sections, lists, code, quotations, tables and cards.

Fields: Slack, "Block Kit: blocks", "Rich text block", "Table block", "Data table block".
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct

from adapters.shared.json_readers import (
    JsonObject,
    array,
    as_mapping,
    identifier,
    integer,
    items,
    mapping,
    number,
    objects,
    text,
)
from gateway.authorship import in_one_word
from gateway.message import MAX_CONTENT

_ENTITY: Final = re.compile(r"<([^<>]{1,3000})>")
_LEADING_ME: Final = re.compile(r"\A(?:\s*\0[,:]?)+\s*")
_BROADCASTS: Final = {"here", "channel", "everyone"}
_MAX_MENTIONS: Final = 100


class SlackText(Struct, frozen=True):
    """A message's text and its mentions."""

    content: str
    mentions_me: bool
    mentions_others: bool
    mentions: tuple[str, ...]
    channels: tuple[str, ...]
    broadcast: bool


class _SlackTextReader:
    """Resolves the entities of one text and collects its mentions."""

    def __init__(self, me: str, names: Mapping[str, str]) -> None:
        self.me = me
        self.names = names
        self.users: dict[str, None] = {}
        self.groups: dict[str, None] = {}
        self.channels: dict[str, None] = {}
        self.broadcast = False

    def resolve(self, match: re.Match[str]) -> str:
        target, _, label = match.group(1).partition("|")
        sigil, rest = target[:1], target[1:]
        if sigil == "@":
            return self._person(rest, label)
        if sigil == "#":
            self.channels[rest] = None
            return f"#{in_one_word(label) or rest}"
        if sigil == "!":
            return self._special(rest, label)
        return _link(target, label)

    def _person(self, user: str, label: str) -> str:
        self.users[user] = None
        if self.me and user == self.me:
            return "\0"
        name = (label or self.names.get(user, "")).lstrip("@")
        return f"@{in_one_word(name) or user}"

    def _special(self, command: str, label: str) -> str:
        name, _, argument = command.partition("^")
        if name in _BROADCASTS:
            self.broadcast = True
            return f"@{name}"
        if name == "subteam":
            self.groups[argument] = None
            return f"@{in_one_word(label.lstrip('@')) or argument}"
        return label or command


def read_text(raw: str, me: str, names: Mapping[str, str], *, addressed: bool = False) -> SlackText:
    """The readable form of `raw` (Slack's mrkdwn with its `<…>` entities and `&amp;`).

    A person's own `<` arrives escaped, so every `<…>` is an entity. With `addressed`, Slack tells
    that this bot is mentioned: the only mentioned account is then the bot.
    """
    reader = _SlackTextReader(me or (_only_mention(raw) if addressed else ""), names)
    resolved = _ENTITY.sub(reader.resolve, raw.replace("\0", ""))
    content = _without_me(_LEADING_ME.sub("", resolved)).strip()
    users = tuple(reader.users)[:_MAX_MENTIONS]
    return SlackText(
        content=unescape(content)[:MAX_CONTENT],
        mentions_me=addressed or (bool(reader.me) and reader.me in reader.users),
        mentions_others=bool(reader.groups) or any(user != reader.me for user in users),
        mentions=users,
        channels=tuple(reader.channels)[:_MAX_MENTIONS],
        broadcast=reader.broadcast,
    )


def _without_me(resolved: str) -> str:
    """The text without this bot's mentions and the spaces before each."""
    *before, last = resolved.split("\0")
    return "".join((*(part.rstrip(" \t") for part in before), last))


def unescape(value: str) -> str:
    """Undo Slack's three escapes; the ampersand last, otherwise `&amp;lt;` would become <."""
    return value.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def escape(value: str) -> str:
    """Escape a text for mrkdwn, so that it contains no mention, link or command."""
    return value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _only_mention(raw: str) -> str:
    users = {m.group(1).partition("|")[0] for m in _ENTITY.finditer(raw) if m.group(1)[0] == "@"}
    return next(iter(users))[1:] if len(users) == 1 else ""


def _link(target: str, label: str) -> str:
    address = target.removeprefix("mailto:").removeprefix("tel:")
    if not label or label in (target, address) or target.endswith(f"://{label}"):
        return address
    return f"{label} ({address})"


MAX_NODES: Final = 6_000
"""Parts of one message's blocks that are read, at every depth together: a table has at most 201
rows and 20 columns."""
CUT: Final = "[…]"
"""Stands for parts beyond `MAX_NODES`."""
_DEEPEST: Final = 8
_MAX_BLOCKS: Final = 50
_MAX_ELEMENTS: Final = 500
_MAX_ROWS: Final = 201
_MAX_CELLS: Final = 20
_MAX_INDENT: Final = 8
_TEXTS: Final = (
    *("title", "subtitle", "caption", "label", "text", "body", "description"),
    *("details", "output", "alt_text"),
)
"""Fields with the text of a block: a string, a text object, or a block."""
_CHILDREN: Final = ("elements", "fields", "blocks", "child_blocks", "tasks", "sources")
_PLAIN: Final = frozenset({"plain_text", "raw_text", "markdown"})
"""Kinds whose text has no entities of mrkdwn."""
_CONTROLS: Final = frozenset(
    {"button", "actions", "context_actions", "icon_button", "feedback_buttons", "divider"}
)
_WORD: Final = re.compile(r"\w+")


def node_budget() -> Iterator[int]:
    """A new count of the parts that are read of one message."""
    return iter(range(MAX_NODES))


def text_of_blocks(source: JsonObject, left: Iterator[int] | None = None) -> str:
    """The text of the blocks, until `left` is used up."""
    left = node_budget() if left is None else left
    lines = [_block(block, _DEEPEST, left) for block in items(source, "blocks", _MAX_BLOCKS)]
    content = "\n".join(line for line in lines if line)[:MAX_CONTENT]
    return f"{content}\n{CUT}" if content and next(left, None) is None else content


def only_rich_text(source: JsonObject) -> bool:
    """True for blocks that Slack's own composer makes: their text is the message's text as well."""
    blocks = array(source, "blocks", _MAX_BLOCKS)
    return all(text(as_mapping(block), "type", 50) == "rich_text" for block in blocks)


def lacks_words(written: str, of_blocks: str) -> bool:
    """Return True if the blocks say more than a message's `text`. Marks of lists do not count:
    Slack writes letters and small numerals for inner ones."""
    words, shown = (Counter(_WORD.findall(one.casefold())) for one in (written, of_blocks))
    return any(len(word) > 1 and not word.isdigit() for word in shown - words)


def fuller(written: str, of_blocks: str) -> str:
    """The text of a message whose `text` may be a short stand-in for its blocks: the one that has
    all words of the other, or both."""
    if not (written and of_blocks):
        return written or of_blocks
    words, shown = (Counter(_WORD.findall(one.casefold())) for one in (written, of_blocks))
    if words == shown:
        return of_blocks if of_blocks.count("`") > written.count("`") else written
    if shown <= words:
        return written
    return of_blocks if words <= shown else f"{written}\n{of_blocks}"


def _block(node: JsonObject, depth: int, left: Iterator[int]) -> str:
    """The text of a block and its children."""
    if depth <= 0 or next(left, None) is None:
        return ""
    kind = text(node, "type", 50)
    if kind in _CONTROLS:
        return ""
    leaf = _leaf(node, kind)
    if leaf is not None:
        return leaf
    match kind:
        case "image":  # an icon of a context block says nothing
            return _texts(node, kind, depth, left) if depth == _DEEPEST else ""
        case "table" | "data_table":
            return _table(node, depth, left)
        case "rich_text":
            return _rich_text(node, depth, left)
        case "rich_text_list":
            return _list(node, depth, left, 0)
        case "rich_text_preformatted":
            return f"```\n{_joined(node, 'elements', '', depth, left).strip(chr(10))}\n```"
        case "rich_text_quote":
            quoted = _joined(node, "elements", "", depth, left)
            return "\n".join(f"&gt; {line}" for line in quoted.split("\n"))
        case "rich_text_section":
            return _joined(node, "elements", "", depth, left)
    children = (_joined(node, key, "\n", depth, left) for key in _CHILDREN)
    return "\n".join(filter(None, (_texts(node, kind, depth, left), *children)))


def _texts(node: JsonObject, kind: str, depth: int, left: Iterator[int]) -> str:
    """The texts of a block itself, each once."""
    parts: dict[str, None] = {}
    for key in _TEXTS:
        value = node.get(key)
        if isinstance(value, str):
            content = text(node, key)
            parts[escape(content) if kind in _PLAIN else content] = None
        elif isinstance(value, dict):
            parts[_block(value, depth - 1, left)] = None
    if kind == "call":
        call = mapping(mapping(node, "call"), "v1")
        parts[escape(text(call, "name", 300))] = None
        parts[escape(text(call, "join_url", 3000))] = None
    if kind == "video":
        parts[escape(text(node, "title_url", 3000))] = None
    return "\n".join(filter(None, parts))


def _joined(node: JsonObject, key: str, joint: str, depth: int, left: Iterator[int]) -> str:
    parts = (_block(child, depth - 1, left) for child in items(node, key, _MAX_ELEMENTS))
    if joint:
        parts = (part.rstrip("\n") for part in parts)
    return joint.join(part for part in parts if part)


def _rich_text(node: JsonObject, depth: int, left: Iterator[int]) -> str:
    """A composed text. Slack cuts a list in two around an inner one, and counts on behind it."""
    parts: list[str] = []
    counted: dict[int, int] = {}
    for child in items(node, "elements", _MAX_ELEMENTS):
        if text(child, "type", 50) != "rich_text_list":
            counted.clear()
            parts.append(_block(child, depth - 1, left))
            continue
        if depth <= 1 or next(left, None) is None:
            break
        indent, entries = integer(child, "indent") or 0, items(child, "elements", _MAX_ELEMENTS)
        before = counted.get(indent, 0) if integer(child, "offset") is None else 0
        parts.append(_list(child, depth - 1, left, before))
        counted = {level: count for level, count in counted.items() if level < indent}
        if text(child, "style", 20) == "ordered":
            counted[indent] = before + (integer(child, "offset") or 0) + len(entries)
    return "\n".join(filter(None, (part.rstrip("\n") for part in parts)))


def _list(node: JsonObject, depth: int, left: Iterator[int], before: int) -> str:
    """A list, each entry with its number, which counts on after `before`, or a bullet."""
    indent = "  " * max(0, min(integer(node, "indent") or 0, _MAX_INDENT))
    first = 1 + before + (integer(node, "offset") or 0)
    ordered = text(node, "style", 20) == "ordered"
    lines = []
    for at, entry in enumerate(items(node, "elements", _MAX_ELEMENTS)):
        mark = f"{first + at}." if ordered else "-"
        lines.append(f"{indent}{mark} {_block(entry, depth - 1, left).strip(chr(10))}")
    return "\n".join(lines)


def _table(node: JsonObject, depth: int, left: Iterator[int]) -> str:
    """A table, a line for each row, with its caption above."""
    lines = [escape(text(node, "caption", 1_000))]
    for row in array(node, "rows", _MAX_ROWS):
        cells = [
            " ".join(_block(cell, depth - 1, left).split()) for cell in objects(row, _MAX_CELLS)
        ]
        lines.append(" | ".join(cells) if any(cells) else "")
    return "\n".join(line for line in lines if line)


def _leaf(node: JsonObject, kind: str) -> str | None:
    match kind:
        case "text":
            return _styled(text(node, "text"), mapping(node, "style"))
        case "user":
            return f"<@{identifier(node, 'user_id')}>"
        case "channel":
            return f"<#{identifier(node, 'channel_id')}>"
        case "usergroup":
            return f"<!subteam^{identifier(node, 'usergroup_id')}>"
        case "broadcast":
            return f"<!{identifier(node, 'range')}>"
        case "link" | "url":
            return _rich_link(text(node, "url", 3000), text(node, "text"))
        case "emoji":
            return f":{identifier(node, 'name')}:"
        case "date":
            return escape(text(node, "fallback", 200) or _time(node))
        case "color":
            return escape(text(node, "value", 50))
        case "raw_number":
            value = number(node, "value")
            return escape(text(node, "text", 200)) or ("" if value is None else f"{value:.15g}")
        case _:
            return None


def _styled(words: str, style: JsonObject) -> str:
    """A text of a rich text block. Code and struck-out words mean something else without their
    mark."""
    mark = "`" if style.get("code") is True else "~" if style.get("strike") is True else ""
    core = words.strip()
    if not (mark and core) or mark in core or "\n" in core:
        return escape(words)
    before, _, after = words.partition(core)
    return f"{before}{mark}{escape(core)}{mark}{after}"


def _rich_link(url: str, label: str) -> str:
    """A link as mrkdwn, as text where its address would end it."""
    if not label or label == url:
        return escape(url)
    if not url or any(sign in url for sign in "<>|"):
        return escape(f"{label} ({url})" if url else label)
    return f"<{escape(url)}|{escape(label)}>"


def _time(node: JsonObject) -> str:
    try:
        return datetime.fromtimestamp(integer(node, "timestamp") or 0, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return ""
