"""Chunks of any text are the whole text, in order, with its lines, and bounded."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory.knowledge.splitting import split_file
from memory.knowledge.splitting.pieces import MAX_CHUNKS, MOST, lines_of

PATHS = (
    "a.py", "a.go", "a.rs", "a.ts", "a.java", "a.c", "a.rb", "a.hs", "a.sql", "a.tf", "a.zig",
    "a.md", "a.rst", "a.adoc", "a.txt", "docs/adr/0001-a.md", "incidents/2026-01-02.md", "a.xyz",
)  # fmt: skip
LINES = st.sampled_from(
    [
        "", " ", "\t", "def f():", "    def g(self):", "class A:", "func (m *Mux) Use() {", "}",
        "impl<T> Foo for Bar<T> {", "# Title", "## Status", "Superseded by [x](y.md)", "---", "===",
        "```", "~~~", "public static int f(int a) {", "const a = () => {", "status: accepted",
        "\r", "é", "\u2028", "\x0c", "* [a](b)", "x" * 3_500, "ab " * 700,
    ]
)  # fmt: skip
TEXTS = st.lists(LINES, max_size=80).map("\n".join) | st.text(max_size=400)


@given(st.sampled_from(PATHS), TEXTS)
@example("a.py", "")
@example("a.md", "---\na: [b\n---\n# c")
@example("a.md", "x" * 100_000)
def test_chunks_are_the_whole_text_in_order(path: str, text: str) -> None:
    chunks = split_file(path, text).chunks
    assert "".join(chunk.text for chunk in chunks) == text
    assert all(chunk.text for chunk in chunks)


@given(st.sampled_from(PATHS), TEXTS)
def test_the_lines_of_a_chunk_are_those_of_its_text(path: str, text: str) -> None:
    lines = lines_of(text)
    for chunk in split_file(path, text).chunks:
        shown = "".join(lines[chunk.first_line - 1 : chunk.last_line])
        assert shown == chunk.text or (chunk.first_line == chunk.last_line and chunk.text in shown)


@given(st.sampled_from(PATHS), TEXTS)
def test_chunks_are_bounded(path: str, text: str) -> None:
    split = split_file(path, text)
    assert all(len(chunk.text) <= MOST for chunk in split.chunks)
    assert len(split.chunks) <= MAX_CHUNKS


@pytest.mark.parametrize(
    "text",
    [
        "\n" * 50_000,
        "def f(): pass\n" * 30_000,
        "x" * 3_000_000,
        "# a\n" * 30_000,
        "[" * 300_000,
        ("{" * 2_000 + "\n") * 150,
        "".join(" " * depth + "class A:\n" for depth in range(1_000)),
        "".join("#" * (level % 6 + 1) + " a\n" for level in range(30_000)),
    ],
    ids=["lines", "definitions", "one-line", "headings", "nesting", "braces", "depth", "levels"],
)
@pytest.mark.parametrize("path", ["a.py", "a.js", "a.md"])
def test_hostile_files_have_a_bounded_number_of_chunks_with_bounded_names(
    path: str, text: str
) -> None:
    chunks = split_file(path, text).chunks
    assert "".join(chunk.text for chunk in chunks) == text
    assert len(chunks) <= MAX_CHUNKS
    assert all(len(chunk.symbol) <= 400 and len(chunk.heading) <= 400 for chunk in chunks)


def test_long_code_without_definitions_parts_at_empty_lines() -> None:
    block = "".join(f"print({number})\n" for number in range(100))
    chunks = split_file("a.py", f"{block}\n{block}\n{block}").chunks
    assert [chunk.text.endswith("\n\n") for chunk in chunks[:-1]] == [True] * (len(chunks) - 1)
