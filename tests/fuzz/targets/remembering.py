"""Fuzz targets for texts that memory reads: questions, dates, citations, hedges, pages, imports,
figures."""

from datetime import UTC, datetime
from typing import Any, Final

from gateway.errors import BadInput
from memory.documents.heartbeat import narrative, read_figures
from memory.grounding.citations import find_citations
from memory.grounding.hedges import analyze_hedges
from memory.grounding.web_sources import as_text
from memory.ports.recall import Query
from memory.recall.query import dates_in, understood
from memory.recall.time_span import parse_time
from memory.text.similarity import jaccard, stored_keys, words
from memory.text.terms import index_terms, query_terms
from memory.transfer.line_format import Elsewhere, ImportEntry, Unreadable, header_from, line_from
from tests.fuzz.target import Target, on_json, on_text

NOW: Final = datetime(2026, 11, 22, 9, tzinfo=UTC)
LINE: Final = {
    "id": "mem-0b8f2c0e-6a55-4c1c-9a77-2f7a4f9a1f00", "content": "Remembers the number 1",
    "kind": "fact", "tags": ["a"], "role": "", "created_at": "2026-11-01T10:00:00Z",
    "superseded_by": "", "superseded_at": None,
}  # fmt: skip


def _question(text: str) -> None:
    understood(Query(text, NOW, 10))


def _terms(text: str) -> None:
    index_terms(text)
    query_terms(text)
    query_terms(text, unfinished=True)


def _alike(text: str) -> None:
    one, other = words(text), words(text[::-1])
    assert 0 <= jaccard(one, other) <= 1
    stored_keys(one)


def _line(data: bytes) -> None:
    read = line_from(data)
    assert isinstance(read, ImportEntry | Elsewhere | Unreadable)
    try:
        header_from(data)
    except BadInput:
        return


def _figures(value: Any) -> None:
    if not isinstance(value, dict):
        return
    try:
        sample = read_figures(value, NOW)
    except ValueError:
        return  # it contains no figures
    assert len(narrative(sample)) <= 4_000


TARGETS: Final[tuple[Target, ...]] = (
    on_text("question", _question, "what about REDIS_TIMEOUT and v1.2.3?", 'the "big one" of May 3',
            "a_a_a$", "когда мы встретились?"),
    on_text("terms", _terms, "C++ and node.js", "ഹഹഹ ക്ഷ", "日本語 の テスト", "Žofín naïve"),
    on_text("dates", dates_in, "on 3 May 2026", "2026-11-22", "last friday",
            "vor drei Tagen", "3.5.2026"),
    on_text("times", lambda text: parse_time(text, ("de", "tr", "en"), NOW, UTC), "vor drei Tagen",
            "between 3 and 10 November", "3日前", "10 Kasım'da", "قبل أسبوعين", "since 31.12.2099"),
    on_text("citations", find_citations, "see https://e.org/a(b), ADR-007, acme/app#12, a3f9c01",
            "docs/adr/ADR-003-storage.md commit deadbeefdeadbeefdeadbeefdeadbeefdeadbeef"),
    on_text("hedges", analyze_hedges, "I think we might maybe use it", "ich glaube, vielleicht"),
    on_text("page", as_text, "<html><script>x</script><p>a &amp; b</p>", "<!-- <b> --> <p"),
    on_text("similarity", _alike, "a b c d", "we use tabs"),
    Target("import-line", _line, (str(LINE).replace("'", '"').replace("None", "null").encode(),
                                  b'{"format":"parley-memory","version":1}'), as_json=True),
    on_json("figures", _figures, {"active_members": 142, "mrr_usd": 4850.5, "x": {"y": "z"}}),
)  # fmt: skip
