"""The text of a message and the entities in it: mentions, commands, hashtags, links, formatting."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from msgspec import Struct

from adapters.shared.json_readers import JsonObject, array, mapping, numeric_id, text
from adapters.telegram.entities import (
    CLOSE,
    LINE_START,
    OPEN,
    QUOTES,
    Entity,
    TextChange,
    Units,
    changed,
    entities_in,
    lines_of,
    outermost,
    units_of,
)
from adapters.telegram.rich_message import flattened

_FORMATS: Final = frozenset({"bold", "italic", "underline", "spoiler", "custom_emoji"})
"""Formatting that changes nothing about a mention in it."""
_NAMED: Final = ("mention", "text_mention", "bot_command", "url", "email", "pre", "text_link")
"""Entities in which a name is read by the kind of the entity, or is no mention."""


@dataclass(frozen=True, slots=True)
class TelegramBot:
    """This bot: its id, its username without `@`, and its account. Both are empty if unknown."""

    id: str = ""
    username: str = ""
    account: str = "main"

    def is_named(self, name: str) -> bool:
        """True for this bot's username, with or without `@`, in any case."""
        return bool(self.username) and name.lstrip("@").lower() == self.username.lower()

    def is_linked(self, url: str) -> bool:
        """True for an address of this bot's account, as some apps write a mention."""
        return bool(self.id) and url in (f"tg://user?id={self.id}", f"tg://user/?id={self.id}")


class TelegramText(Struct, frozen=True):
    """A text and its entities.

    `content` has this bot's own mention removed, "> " before each line of a quotation, and the
    Markdown of struck-out words and code. `command` is lower case, without slash and bot name;
    `for_other_bot` is true when the command names another bot.
    """

    content: str = ""
    command: str = ""
    arguments: str = ""
    for_other_bot: bool = False
    mentions_bot: bool = False
    mentions_others: bool = False
    mentions: tuple[str, ...] = ()
    hashtags: tuple[str, ...] = ()


def read_text(source: str, entities: object, me: TelegramBot) -> TelegramText:
    """The parsed text, as the bot `me` sees it."""
    if not isinstance(entities, list) or not entities:
        return TelegramText(content=source)
    units = Units(source)
    known = entities_in(units, entities)
    quotations = outermost(entity for entity in known if entity.kind in QUOTES)
    is_quoted, struck = _inside(quotations), struck_out(units, known)
    is_struck = _inside(struck)
    mentions: list[tuple[str, bool]] = []
    hashtags: list[str] = []
    command, for_other_bot, command_names_me = "", False, False
    changes = [
        TextChange(at, at, "> ", LINE_START) for quote in quotations for at, _ in lines_of(quote)
    ]
    # A quoted command is no command, and a quoted mention addresses nobody.
    own = [entity for entity in known if not is_quoted(entity)]
    for entity in own:
        match entity.kind:
            case "mention" | "text_mention":
                name, ours = _mentioned(entity, me)
                mentions.append((name, ours))
                if ours:
                    changes.append(TextChange(entity.start, entity.end, ""))
            case "bot_command" if _is_command(entity) and not is_struck(entity):
                command, _, target = entity.words.removeprefix("/").partition("@")
                for_other_bot = bool(target and me.username) and not me.is_named(target)
                command_names_me = me.is_named(target)
                if target and not for_other_bot:
                    changes.append(TextChange(1 + len(command), entity.end, ""))
            case "hashtag":
                hashtags.append(entity.words.removeprefix("#"))
            case "text_link":
                url = text(entity.raw, "url")
                if me.is_linked(url):
                    mentions.append((entity.words.removeprefix("@"), True))
                    changes.append(TextChange(entity.start, entity.end, ""))
                elif url and url.rstrip("/") != entity.words.rstrip("/"):
                    changes.append(TextChange(entity.end, entity.end, f" ({url})"))
    for start, end in _formatted_mentions(units, known, is_quoted, me):
        mentions.append((me.username, True))
        changes.append(TextChange(start, end, ""))
    removed = {(one.start, one.end) for one in changes if not one.words}
    marked = [entity for entity in known if (entity.start, entity.end) not in removed]
    struck = [entity for entity in struck if (entity.start, entity.end) not in removed]
    content = changed(units, changes + marks(units, marked, struck, is_quoted))
    return TelegramText(
        content=content,
        command=command.lower(),
        arguments=content[1 + len(command) :].strip() if command else "",
        for_other_bot=for_other_bot,
        mentions_bot=command_names_me or any(ours for _, ours in mentions),
        mentions_others=not all(ours for _, ours in mentions),
        mentions=tuple(name for name, _ in mentions),
        hashtags=tuple(hashtags),
    )


def _is_command(entity: Entity) -> bool:
    return entity.start == 0 and entity.words.startswith("/")


def _mentioned(entity: Entity, me: TelegramBot) -> tuple[str, bool]:
    """A username without `@`, or an id where there is none; and whether it is this bot's."""
    if entity.kind == "text_mention":
        user_id = numeric_id(mapping(entity.raw, "user"), "id")
        return user_id, bool(user_id) and user_id == me.id
    return entity.words.removeprefix("@"), me.is_named(entity.words)


def _inside(ranges: list[Entity]) -> Callable[[Entity], bool]:
    """A test if an entity begins inside one of these ranges, which do not overlap."""
    starts = [one.start for one in ranges]

    def is_inside(entity: Entity) -> bool:
        at = bisect_right(starts, entity.start) - 1
        return at >= 0 and entity.start < ranges[at].end

    return is_inside


def _formatted_mentions(
    source: Units, known: list[Entity], is_quoted: Callable[[Entity], bool], me: TelegramBot
) -> Iterator[tuple[int, int]]:
    """The ranges of this bot's name in formatted words that have no entity of a mention.

    Code is mostly an example, so there a name is a mention only where the code is nothing else, or
    is the whole message and begins with it.
    """
    if not me.username or f"@{me.username}".lower() not in source.cut(0).lower():
        return
    taken = _inside(outermost(entity for entity in known if entity.kind in _NAMED))
    seen: set[int] = set()
    for entity in known:
        is_code = entity.kind == "code"
        if not (is_code or entity.kind in _FORMATS) or is_quoted(entity):
            continue
        # With the characters around it, so that a part of a longer name is none.
        lead = min(entity.start, 1)
        words = source.cut(entity.start - lead, min(entity.end + 2, source.length))
        for match in _MENTION.finditer(words):
            if match[1].lower() != me.username.lower():
                continue
            start = entity.start - lead + units_of(words[: match.start()])
            end = start + len(match[0])
            if not entity.start <= start < end <= entity.end or start in seen:
                continue
            whole = (entity.start, entity.end) == (0, source.length) and start == 0
            if is_code and not (whole or (start, end) == (entity.start, entity.end)):
                continue
            if taken(Entity("", start, end, "", {})):
                continue
            seen.add(start)
            yield start, end


_MENTION: Final = re.compile(r"(?<![\w@/.+-])@(\w++)(?![-.@/]\w)", re.ASCII)
"""A username, not as a part of another name, an address or a path."""


def entities_of(message: JsonObject) -> tuple[str, list[object]]:
    """The text of a message, its caption, or the text of a rich message, with the entities that
    belong to it."""
    body = text(message, "text")
    if body:
        return body, array(message, "entities")
    if caption := text(message, "caption"):
        return caption, array(message, "caption_entities")
    return flattened(mapping(message, "rich_message"))


STRUCK: Final = "strikethrough"
_BACKTICKS: Final = re.compile("`+")
_LANGUAGE: Final = re.compile(r"[\w+#.-]{1,40}")


def struck_out(source: Units, entities: Iterable[Entity]) -> list[Entity]:
    """The struck-out ranges, in order. Bold words within one split it; the parts are joined."""
    joined: list[Entity] = []
    for entity in entities:
        if entity.kind != STRUCK:
            continue
        last = joined[-1] if joined else None
        if last is None or entity.start > last.end:
            joined.append(entity)
        elif entity.end > last.end:
            words = source.cut(last.start, entity.end)
            joined[-1] = Entity(STRUCK, last.start, entity.end, words, last.raw)
    return joined


def marks(
    source: Units,
    entities: Iterable[Entity],
    struck: Iterable[Entity],
    is_quoted: Callable[[Entity], bool],
) -> list[TextChange]:
    """The insertions that keep struck-out words and code."""
    found = [mark for entity in struck for mark in _strikes(entity)]
    for entity in entities:
        if entity.kind == "code":
            found += _inline_code(entity)
        elif entity.kind == "pre" and not is_quoted(entity):  # there, each line begins with ">"
            found += _code_block(source, entity)
    return found


def _around(entity: Entity, before: str, after: str) -> tuple[TextChange, TextChange]:
    return (
        TextChange(entity.start, entity.start, before, OPEN),
        TextChange(entity.end, entity.end, after, CLOSE),
    )


def _strikes(entity: Entity) -> Iterable[TextChange]:
    """A mark around the words of each line."""
    for at, line in lines_of(entity):
        core = line.strip()
        if core:
            start = at + units_of(line[: len(line) - len(line.lstrip())])
            yield TextChange(start, start, "~~", OPEN)
            end = start + units_of(core)
            yield TextChange(end, end, "~~", CLOSE)


def _inline_code(entity: Entity) -> tuple[TextChange, ...]:
    if not entity.words.strip():
        return ()
    fence = _fence(entity.words, 1)
    pad = " " if "`" in (entity.words[0], entity.words[-1]) else ""
    return _around(entity, fence + pad, pad + fence)


def _code_block(source: Units, entity: Entity) -> tuple[TextChange, TextChange]:
    fence, language = _fence(entity.words, 3), text(entity.raw, "language", 40)
    language = language if _LANGUAGE.fullmatch(language) else ""
    before = source.cut(max(0, entity.start - 1), entity.start)
    after = source.cut(entity.end, entity.end + 1)
    lead = "" if before in ("", "\n") else "\n"
    close = fence if entity.words.endswith("\n") else f"\n{fence}"
    return _around(
        entity, f"{lead}{fence}{language}\n", close + ("" if after in ("", "\n") else "\n")
    )


def _fence(words: str, least: int) -> str:
    """Backticks that the words do not contain."""
    longest = max((len(run) for run in _BACKTICKS.findall(words)), default=0)
    return "`" * max(least, longest + 1)
