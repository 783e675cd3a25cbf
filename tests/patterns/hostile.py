"""Texts made to be slow, and the steps of the program that read them."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from adapters.discord.message_text import _MARK as DISCORD_MARK
from adapters.slack import message_text as slack
from adapters.telegram.message_text import TelegramBot, read_text
from adapters.whatsapp.messages import command_in
from gateway.commands.catalogue import _WRITTEN as SPOKEN
from gateway.markdown.unfinished import close_unfinished
from memory.grounding.citations import find_citations
from memory.grounding.hedges import analyze_hedges
from memory.grounding.web_sources import as_text
from memory.ports.recall import Query
from memory.recall.query import dates_in, understood
from memory.recall.time_span import load_words, parse_time
from memory.text.similarity import words
from memory.text.terms import index_terms, query_terms
from memory.write.statement import find_statement
from safety.injection_detection.detect import detect_injection, neutralise_markers
from safety.sanitize import sanitize
from safety.secret_detection.detect import redact_secrets
from safety.unicode import safe_unicode

PUMPS: Final = (
    *"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ \t\n0aAé",
    *(
        "ഹ",
        "ि",
        "क्",
        "ж",
        "日",
        "ไ",
        "ع",
        "א",
        "\u0301",
        "\u200b",
        "\u200d",
        "\u202e",
        "\ufe0f",
        "🇦",
        "👩\u200d",
    ),
    *(
        "a_",
        "a ",
        "_;",
        "*a",
        "**a ",
        "[a](",
        "![",
        "](",
        "<a ",
        "<@U1>",
        "<<",
        "</",
        "&lt;",
        "&amp;",
    ),
    *(
        "&#60;",
        "%3c",
        "%25",
        "\\u003c",
        "a.",
        "a-",
        "1.",
        "1-",
        "://",
        "http://a/",
        "a@",
        "@a",
        "\t\n",
    ),
    *("i ", "i'd ", "may ", "the ", "no ", "select ", "' or ", "ignore all ", "system: ", "pass: "),
    *(
        "<script ",
        "<style>",
        "<!--",
        "-->",
        "href = ",
        "j a v a ",
        "ADR-1 ",
        "#1 ",
        "a1b2c3d ",
        "1,",
    ),
    *("```", "```a\n", "``` ", "“", "„", "«", '"a', "'a ", "||", "~~", "- ", "> ", "|a", "|-"),
    *("-----BEGIN ", "eyJ", "key=", "token: ", "AKIA", "sk-", "/stop ", "2026-01-", "last ", "+1 "),
)
"""Pieces that a text repeats: all signs, scripts, marks, markup and the beginnings of what is
looked for."""


def long(pump: str, length: int) -> str:
    """A text of this length: the pump again and again, and an end that fits nothing."""
    return (pump * (length // len(pump) + 1))[: length - 2] + "\x01é"


def _times(text: str) -> None:
    load_words()
    for language in ("en", "tr", "ja"):
        parse_time(text, (language,), NOW, UTC)


NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)
STEPS: Final[dict[str, tuple[int, Callable[[str], object]]]] = {
    "Slack's words": (40_000, lambda text: slack.read_text(text, "U1", {})),
    "Discord's marks": (40_000, lambda text: DISCORD_MARK.sub("", text)),
    "Telegram's entities": (
        40_000,
        lambda text: read_text(
            text, [{"type": "mention", "offset": 0, "length": 2}] * 100, TelegramBot("1", "me")
        ),
    ),
    "WhatsApp's command": (40_000, command_in),
    "spoken command": (40_000, SPOKEN.fullmatch),
    "hidden characters": (40_000, safe_unicode),
    "sanitising": (10_000, sanitize),
    "injections": (10_000, detect_injection),
    "markers": (10_000, neutralise_markers),
    "secrets": (40_000, redact_secrets),
    "healing": (12_000, close_unfinished),
    "filing": (10_000, index_terms),
    "asking": (10_000, lambda text: query_terms(text, unfinished=True)),
    "query": (2_000, lambda text: understood(Query(text, NOW))),
    "dates": (2_000, dates_in),
    "times": (2_000, _times),
    "hedges": (2_000, analyze_hedges),
    "citations": (2_000, find_citations),
    "similarity": (2_000, words),
    "statement": (40_000, lambda text: find_statement(text[:2_000], [text])),
    "pages": (65_536, as_text),
}
"""For each step the longest text that it gets, in characters, and the step."""
