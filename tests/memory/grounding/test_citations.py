"""Citations, and texts that only resemble one."""

from hypothesis import given
from hypothesis import strategies as st

from memory.grounding.citations import MAX_CITATIONS, find_citations
from memory.ports.grounding import CitationKind
from tests.support.for_each import for_each

FORTY = "da39a3ee5e6b4b0d3255bfef95601890afd80709"


@for_each(
    ("text", "source_id"),
    [
        ("Per ADR-003, we use Pixeltable for memory storage", "ADR-003"),
        ("see [ADR 3]", "ADR-003"),
        ("see adr_0012.", "ADR-012"),
        ("decided in ADR1234", "ADR-1234"),
        ("Fixed in commit a1b2c3d4e5f6", "commit:a1b2c3d4e5f6"),
        ("Fixed in A1B2C3D", "commit:a1b2c3d"),
        (f"Fixed in {FORTY}.", f"commit:{FORTY}"),
        ("commit 1234567 broke it", "commit:1234567"),
        ("the commit: deadbeef", "commit:deadbeef"),
        ("git show 7654321", "commit:7654321"),
        ("commit:a1b2c3d", "commit:a1b2c3d"),
        ("See https://docs.example.com/api", "https://docs.example.com/api"),
        ("(see https://docs.example.com/api).", "https://docs.example.com/api"),
        ("https://example.org/a_(b)", "https://example.org/a_(b)"),
        ("<HTTPS://example.org/a>", "HTTPS://example.org/a"),
        ("**https://example.org/a**", "https://example.org/a"),
        ("Closed by #123", "#123"),
        ("(#123)", "#123"),
        ("see GH-456", "#456"),
        ("see acme/app#12.", "acme/app#12"),
    ],
)
def test_a_citation_is_found_with_its_id(text: str, source_id: str) -> None:
    (citation,) = find_citations(text)
    assert citation.source_id == source_id


@for_each(
    "text",
    [
        "the page was defaced",
        "the commit defaced our page",
        "he acceded to it",
        "call 5551234 or 00491711234567",
        "+49-171-1234567",
        "1e1000000",
        "the colour is #abc1234",
        "the colour is #a1b2c3d4",
        "color: #123456",
        "colour #123",
        "sha256:a1b2c3d4e5f6",
        "0xdeadbeef1",
        "id 550e8400-e29b-41d4-a716-446655440000",
        "a1b2c3.d4e5f6",
        "file a1b2c3d4.png",
        "a1b2c3",
        f"{FORTY}0",
        "&#123;",
        "## 12 things",
        "number 1#2",
        "page.html#123",
        "CADR-3",
        "the ADR process",
        "ADR-003x",
        "ftp://example.org/x",
        "https://",
        "",
    ],
)
def test_similar_text_is_not_a_citation(text: str) -> None:
    assert find_citations(text) == ()


def test_an_address_is_one_citation_whatever_its_path() -> None:
    url = f"https://example.org/acme/app/commit/{FORTY}/ADR-003#123"
    assert [c.source_id for c in find_citations(f"see {url} now")] == [url]


def test_several_citations_are_in_the_order_of_the_text_with_their_positions() -> None:
    text = "#7 says per ADR-3 (adr 003) that a1b2c3d fixed #7, see https://example.org/."
    findings = find_citations(text)
    assert [c.source_id for c in findings] == [
        "#7",
        "ADR-003",
        "commit:a1b2c3d",
        "https://example.org/",
    ]
    assert [text[c.start : c.end] for c in findings] == [
        "#7",
        "ADR-3",
        "a1b2c3d",
        "https://example.org/",
    ]


def test_the_number_of_citations_is_limited() -> None:
    assert len(find_citations(" ".join(f"#{n}" for n in range(1, 500)))) == MAX_CITATIONS


@given(st.text(alphabet="ADR-#/0129abcdefGH:htps. \n()[]xyz", max_size=300))
def test_every_citation_is_at_its_position(text: str) -> None:
    for citation in find_citations(text):
        assert 0 <= citation.start < citation.end <= len(text)
        written = text[citation.start : citation.end]
        if citation.kind in {CitationKind.URL, CitationKind.COMMIT}:
            assert written.lower() == citation.id.lower()
        else:
            assert citation.id.removeprefix("ADR-").lstrip("0") in written
