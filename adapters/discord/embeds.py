"""The text and the pictures of a message's embeds.

Fields: Discord, "Embed Object".
"""

from mimetypes import guess_type
from typing import Final

from adapters.shared.json_readers import JsonObject, items, mapping, text

MAX_EMBEDS: Final = 10
MAX_FIELDS: Final = 25
"""Embeds of one message, and fields of one embed (Discord)."""
MAX_URL: Final = 2_000
_SHOWN: Final = ("rich", "image", "gifv", "")
"""Kinds whose picture is content. In the preview of a linked page or video it only decorates."""


def texts_of_embeds(message: JsonObject) -> list[str]:
    """The text of each embed that has one, with the addresses to which it leads."""
    written = text(message, "content")
    shown = (_embed(one, written) for one in items(message, "embeds", MAX_EMBEDS))
    return [content for content in shown if content]


def media_of_embeds(message: JsonObject) -> list[JsonObject]:
    """The pictures that embeds show, each in the form of an attachment, at the address of Discord's
    media proxy: the picture itself may lie anywhere."""
    found: list[JsonObject] = []
    for embed in items(message, "embeds", MAX_EMBEDS):
        if text(embed, "type", 20) not in _SHOWN:
            continue
        for key in ("image", "thumbnail"):
            picture = mapping(embed, key)
            proxied = text(picture, "proxy_url", MAX_URL)
            if proxied:
                name = text(picture, "url", MAX_URL).partition("?")[0].rpartition("/")[2]
                kind = text(picture, "content_type", 100) or guess_type(name)[0] or "image/png"
                found.append({"url": proxied, "filename": name[:100], "content_type": kind})
                break
    return found


def _embed(embed: JsonObject, written: str) -> str:
    """The text of an embed. An address that the author wrote is not said again."""
    author, fields = mapping(embed, "author"), items(embed, "fields", MAX_FIELDS)
    if text(embed, "type", 20) == "poll_result":
        return _poll_result({text(one, "name", 100): text(one, "value") for one in fields})
    parts = [
        _linked(text(author, "name"), text(author, "url", MAX_URL), written),
        _linked(text(embed, "title"), text(embed, "url", MAX_URL), written),
        text(embed, "description"),
        *(f"{text(field, 'name')}: {text(field, 'value')}" for field in fields),
        text(mapping(embed, "footer"), "text"),
        *_pictures(embed, written),
    ]
    return "\n".join(part for part in parts if part.strip())


def _poll_result(fields: dict[str, str]) -> str:
    """The end of a poll, which the client shows in words."""
    words = (fields.get("victor_answer_emoji_name", ""), fields.get("victor_answer_text", ""))
    winner, total = " ".join(filter(None, words)), fields.get("total_votes", "")
    votes = f"{fields.get('victor_answer_votes', '')} of {total} votes"
    result = f"- {winner} ({votes})" if winner else f"- no winner ({total} votes)"
    return f"Poll result: {fields.get('poll_question_text', '')}\n{result}"


def _linked(words: str, url: str, written: str) -> str:
    if not url or url in written or url in words:
        return words
    return f"{words} ({url})" if words else url


def _pictures(embed: JsonObject, written: str) -> list[str]:
    """The addresses of the picture and the video, without those of small decorations."""
    kinds = (("Picture", "image"), ("Video", "video"))
    urls = ((name, text(mapping(embed, key), "url", MAX_URL)) for name, key in kinds)
    leads = ("http://", "https://")
    return [f"{name}: {url}" for name, url in urls if url.startswith(leads) and url not in written]
