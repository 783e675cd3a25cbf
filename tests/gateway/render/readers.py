"""Reads each platform's markup back, as strictly as the platform does.

Written from the platforms' rules, not from our renderers, so that an error in one shows up against
the other. Whitespace and the zero width space are not compared.
"""

import re
from collections.abc import Callable, Iterable
from html.parser import HTMLParser
from typing import Any

from gateway.markdown.tree import (
    Block,
    CodeBlock,
    Document,
    Heading,
    ItemList,
    Paragraph,
    QuoteBlock,
    Table,
)
from gateway.message import Part

NESTABLE = {"b", "i", "u", "s", "tg-spoiler"}
ALONE = {"a", "code", "pre"}
TAGS = NESTABLE | ALONE | {"blockquote"}
VOID = {"br", "hr"}


def letters(text: str) -> str:
    """The characters that take ink."""
    return "".join(char for char in text if not char.isspace() and char not in "\u200b\x00")


def holds(text: str, expected: str) -> bool:
    """True when the letters of `expected` stand in `text` in their order."""
    rest = iter(letters(text))
    return all(char in rest for char in letters(expected))


def visible(blocks: Document) -> str:
    """All text of a tree, in order."""
    return "\n".join(map(_visible, blocks))


def _visible(block: Block) -> str:
    match block:
        case Paragraph() | Heading():
            return "".join(run.text for run in block.runs)
        case CodeBlock():
            return block.text
        case QuoteBlock():
            return visible(block.blocks)
        case ItemList():
            return "\n".join(visible(item.blocks) for item in block.items)
        case Table():
            cells = [cell for row in (block.header, *block.rows) for cell in row]
            return " ".join(run.text for cell in cells for run in cell)
        case _:
            return ""


class _Tags(HTMLParser):
    """Reads HTML and insists on its form."""

    def __init__(self, allowed: set[str]) -> None:
        super().__init__(convert_charrefs=True)
        self.allowed = allowed
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in self.allowed, f"tag {tag}"
        self.check(tag, dict(attrs))
        if tag not in VOID:
            self.open.append(tag)

    def check(self, tag: str, attrs: dict[str, str | None]) -> None:
        """Platform rules on nesting and attributes."""

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"nothing open at </{tag}>"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"comment {data}")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(f"declaration {decl}")

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"instruction {data}")


class _TelegramTags(_Tags):
    def check(self, tag: str, attrs: dict[str, str | None]) -> None:
        inside = set(self.open)
        if tag == "code" and self.open[-1:] == ["pre"]:
            assert re.fullmatch(r"language-\S+", attrs.pop("class") or "")
        else:
            assert not inside & {"code", "pre"}, f"{tag} in {self.open}"
        if tag in ("code", "pre"):
            assert not inside & NESTABLE, f"{tag} in {self.open}"
        if tag == "pre" or tag == "blockquote":
            assert not inside, f"{tag} in {self.open}"
        if tag == "a":
            assert "a" not in inside
            assert re.match(r"(https?|tg|mailto|tel):", attrs.pop("href") or "", re.IGNORECASE)
        assert not attrs, f"{tag} has {attrs}"


def telegram(html: str) -> str:
    """Telegram's HTML mode: known tags, closed in order, nothing unescaped."""
    bare = re.sub(r"<(/?)([a-z-]+)( (?:href|class)=\"[^\"<>]*\")?>", "", html)
    assert not re.search("[<>]", bare), bare
    assert not re.search(r"&(?!(?:lt|gt|amp|quot);)", html), html
    reader = _TelegramTags(TAGS)
    reader.feed(html)
    reader.close()
    assert not reader.open
    return "".join(reader.text)


class _WebTags(_Tags):
    def check(self, tag: str, attrs: dict[str, str | None]) -> None:
        if tag == "a":
            assert re.match(r"(https?://|mailto:)", attrs.pop("href") or "", re.IGNORECASE)
            assert "noopener" in (attrs.pop("rel") or "")
            attrs.pop("target")
        assert not set(attrs) - {"class", "start"}


WEB_TAGS = (
    "p h1 h2 h3 h4 h5 h6 pre code blockquote ul ol li table thead tbody tr th td "
    "hr br strong em u s span a"
)


def web(html: str) -> str:
    """The page's HTML: known tags, closed in order, links that cannot run anything."""
    reader = _WebTags(set(WEB_TAGS.split()))
    reader.feed(html)
    reader.close()
    assert not reader.open
    return "".join(reader.text)


FENCE = re.compile(r"```(?:([A-Za-z0-9_+\-.#]+?)\n)?\n*([^\n][\s\S]*?)\n*```")
CODE = re.compile(r"(`+)([\s\S]*?[^`])\1(?!`)")
SPAN = re.compile(
    rf"\\[^0-9A-Za-z\s]|{FENCE.pattern}|(?P<ticks>`+)(?P<code>[\s\S]*?[^`])(?P=ticks)(?!`)"
)
LABEL = r"(?:\[[^\]]*\]|[^\[\]]|\](?=[^\[]*\]))*"
DISCORD: list[tuple[re.Pattern[str], Callable[[re.Match[str]], str]]] = [
    (re.compile(r"\\([^0-9A-Za-z\s])"), lambda m: m[1]),
    (re.compile(r"<(https?://[^\s<>]+)>"), lambda m: m[1]),
    (re.compile(r"https?://[^\s<]+[^<.,:;\"')\]\s]"), lambda m: m[0]),
    (CODE, lambda m: m[2]),
    (
        re.compile(rf"\[({LABEL})\]\((https?://[^\s()]+)\)"),
        lambda m: f"{_discord_inline(m[1])} ({m[2]})",
    ),
    (re.compile(r"\*\*((?:\\[\s\S]|[^\\])+?)\*\*(?!\*)"), lambda m: _discord_inline(m[1])),
    (re.compile(r"__((?:\\[\s\S]|[^\\])+?)__(?!_)"), lambda m: _discord_inline(m[1])),
    (re.compile(r"\b_((?:__|\\[\s\S]|[^\\_])+?)_\b"), lambda m: _discord_inline(m[1])),
    (
        re.compile(r"\*(?=\S)((?:\*\*|\\[\s\S]|\s+(?:\\[\s\S]|[^*\s\\]|\*\*)|[^\s*\\])+?)\*(?!\*)"),
        lambda m: _discord_inline(m[1]),
    ),
    (re.compile(r"~~([\s\S]+?)~~(?!_)"), lambda m: _discord_inline(m[1])),
    (re.compile(r"\|\|([\s\S]+?)\|\|"), lambda m: _discord_inline(m[1])),
]
MENTION = re.compile(r"<(?:@[!&]?|#|/|t:|id:|a?:)[^>\s]*>")


def discord(markdown: str) -> str:
    """Discord's client: code of several lines, then lines, then what stands in them."""
    out: list[str] = []
    position = 0
    for span in SPAN.finditer(markdown):
        code = span[2] or span["code"] or ""
        if span[2] or "\n" in code:
            out += [_discord_lines(markdown[position : span.start()]), code]
            position = span.end()
    rest = markdown[position:]
    assert "```" not in SPAN.sub("", rest), "a fence that does not end"
    return "\n".join([*out, _discord_lines(rest)])


def _discord_lines(markdown: str) -> str:
    lines: list[str] = []
    for line in markdown.split("\n"):
        bare = line
        while bare.startswith("> "):
            bare = bare[2:]
        bare = re.sub(r"^\s*(?:#{1,3} +|-# |[-*] +|\d{1,9}\. )?", "", bare)
        lines.append(_discord_inline(bare))
    return "\n".join(lines)


def _discord_inline(text: str) -> str:
    out: list[str] = []
    while text:
        assert not MENTION.match(text), f"a mention: {text[:20]}"
        for pattern, read in DISCORD:
            match = pattern.match(text)
            if match:
                out.append(read(match))
                text = text[match.end() :]
                break
        else:
            out.append(text[0])
            text = text[1:]
    return "".join(out)


WHATSAPP_CODE = re.compile("```([\\s\\S]*?)```|`([^`\u200b]+)`")
STASH = "\ue000"


def whatsapp(text: str) -> str:
    """WhatsApp's client: monospace, then lines, then marks around whole words and around code."""
    assert STASH not in text
    codes = iter([result[1] or result[2] or "" for result in WHATSAPP_CODE.finditer(text)])
    stashed = WHATSAPP_CODE.sub(STASH, text)
    assert STASH * 2 not in stashed, "the backticks of two pieces of code touch"
    lines = map(_whatsapp_line, stashed.split("\n"))
    return re.sub(STASH, lambda _: next(codes), "\n".join(lines))


def _whatsapp_line(line: str) -> str:
    line = re.sub(r"^(?:> )+", "", line)
    return _unmarked(re.sub(r"^\s*(?:[-*] |\d{1,9}\. )", "", line))


def _unmarked(text: str) -> str:
    for sign in "*_~":
        mark = re.escape(sign)
        text = re.sub(rf"(?<!\w){mark}(?=\S)([^{mark}\n]+)(?<=\S){mark}(?!\w)", r"\1", text)
    return text


def slack(payload: dict[str, Any]) -> str:
    """Slack's blocks, checked as chat.postMessage checks them."""
    blocks = payload["blocks"]
    assert 1 <= len(blocks) <= 50
    assert sum(block["type"] == "table" for block in blocks) <= 1
    assert not re.search(r"<|>|&(?!(?:lt|gt|amp);)", payload["text"])
    return "\n".join(map(_slack_block, blocks))


def _slack_block(block: dict[str, Any]) -> str:
    match block["type"]:
        case "divider":
            return ""
        case "header":
            text: str = block["text"]["text"]
            assert block["text"]["type"] == "plain_text"
            assert 1 <= len(text) <= 150
            return text
        case "table":
            return _slack_table(block)
        case "data_table":
            return _slack_data_table(block)
        case "raw_text":
            assert block["text"]
            return str(block["text"])
        case "rich_text":
            assert block["elements"]
            return "\n".join(map(_slack_element, block["elements"]))
    raise AssertionError(block["type"])


def _slack_table(block: dict[str, Any]) -> str:
    rows = block["rows"]
    assert 1 <= len(rows) <= 100
    assert len({len(row) for row in rows}) == 1
    assert 1 <= len(rows[0]) <= 20
    assert len(block["column_settings"]) == len(rows[0])
    return "\n".join(" ".join(map(_slack_block, row)) for row in rows)


def _slack_data_table(block: dict[str, Any]) -> str:
    rows = block["rows"]
    assert 2 <= len(rows) <= 101
    assert 1 <= len(rows[0]) <= 20
    assert len({len(row) for row in rows}) == 1
    assert all(cell["type"] == "raw_text" for cell in rows[0])
    assert block["caption"]
    assert 1 <= block["page_size"] <= 100
    return "\n".join(" ".join(map(_slack_block, row)) for row in rows)


def _slack_element(element: dict[str, Any]) -> str:
    kind, inner = element["type"], element["elements"]
    assert inner
    if kind == "rich_text_list":
        assert element["style"] in ("bullet", "ordered")
        assert 0 <= element.get("indent", 0) <= 8
        assert element.get("offset", 1) > 0
        assert all(entry["type"] == "rich_text_section" for entry in inner)
        return "\n".join(map(_slack_element, inner))
    assert kind in ("rich_text_section", "rich_text_quote", "rich_text_preformatted")
    if kind == "rich_text_preformatted":
        assert all(set(leaf) == {"type", "text"} for leaf in inner)
    return "".join(map(_slack_leaf, inner))


def _slack_leaf(leaf: dict[str, Any]) -> str:
    assert leaf["type"] in ("text", "link")
    assert leaf["text"]
    assert set(leaf.get("style", {})) <= {"bold", "italic", "strike", "code"}
    if leaf["type"] == "link":
        assert re.match(r"(https?://|mailto:|tel:)", leaf["url"], re.IGNORECASE)
        assert len(leaf["url"]) <= 3000
    return str(leaf["text"])


READERS: dict[str, Callable[[Any], str]] = {
    "discord": discord,
    "slack": slack,
    "telegram": telegram,
    "whatsapp": whatsapp,
    "web": web,
    "plain": str,
}


def read(parts: Iterable[Part], platform: str) -> str:
    """All parts as people see them."""
    return "\n".join(READERS[platform](part.payload) for part in parts)
