"""Each ranking rule moves what it is for, and can be switched off."""

import pytest

from gateway.immutable import replace
from memory.knowledge.model import Chunk, FileKind
from memory.knowledge.question import understood
from memory.knowledge.ranking import (
    ChunkStatistics,
    FoundChunk,
    FoundFile,
    RankingRules,
    is_aside,
    ranked,
)
from memory.knowledge.words import filed_words

OFF = RankingRules(0, 0, 0, 0, 0, 1, 1, False, 1, 0, 0, 0)
KNOWN = ChunkStatistics(1_000, 20_000, {"queue": 100, "mail": 20, "=queue": 2, "=mailqueu": 1})


def file(
    path: str, *texts: str, symbol: str = "", language: str = "python", **more: str
) -> FoundFile:
    kind = FileKind(more.get("kind", "code"))
    by = more.get("superseded_by", "")
    result = FoundFile(1, "r", path, kind, language, more.get("status", ""), by)
    for number, text in enumerate(texts):
        filed = filed_words(Chunk(1, 1, symbol, "", text))
        result.chunks.append(FoundChunk(number, filed.length, filed.text, symbol, ""))
    return result


def order(asked: str, rules: RankingRules, *files: FoundFile) -> list[str]:
    return [one.file.path for one in ranked(understood(asked), files, KNOWN, rules)]


PAIRS = {
    "definition": ("queue", file("a", "queue"), file("b", "queue", symbol="A.queue")),
    "exact": (
        "MailQueue",
        file("a", "mail queue", symbol="mail_queue"),
        file("b", "mail queue", symbol="MailQueue"),
    ),
    "file_name": ("mail queue", file("a", "mail queue"), file("mail_queue.py", "mail queue")),
    "path": ("queue", file("a", "queue"), file("queue/x.py", "queue")),
    "symbol": ("queue", file("a", "queue"), file("b", "queue", symbol="fill_queue")),
    "further": ("queue", file("a", "queue"), file("b", "queue", "queue")),
    "aside": ("queue", file("a/test/b.py", "queue"), file("a/x/b.py", "queue")),
    "document": ("queue", file("a", "queue", language="markdown"), file("b", "queue")),
    "replaced": (
        "queue",
        file("a", "queue queue", kind="decision", superseded_by="b"),
        file("b", "queue", kind="decision"),
    ),
    "other_language": ("ruby queue", file("a", "queue"), file("b", "queue", language="ruby")),
}


@pytest.mark.parametrize("rule", PAIRS)
def test_a_rule_moves_what_it_is_for(rule: str) -> None:
    question, first, second = PAIRS[rule]
    with_rule = replace(OFF, **{rule: getattr(RankingRules(), rule)})
    assert order(question, with_rule, first, second)[0] == second.path
    if rule != "path":
        assert order(question, OFF, first, second)[0] == min(first.path, second.path)


@pytest.mark.parametrize(("nearness", "shown"), [(0.9, 1), (0.1, 0)])
def test_a_file_shows_its_nearest_chunk_if_vectors_say_more_of_it(
    nearness: float, shown: int
) -> None:
    one, other = file("a", "queue", "letters that wait"), file("b", "queue queue")
    one.chunks[1] = replace(one.chunks[1], nearness=nearness)
    other.chunks[0] = replace(other.chunks[0], nearness=0.9)
    rules = replace(OFF, nearness=RankingRules().nearness)
    results = {
        found.file.path: found for found in ranked(understood("queue"), [one, other], KNOWN, rules)
    }
    assert results["a"].chunk.number == shown


def test_a_decision_that_ended_is_found_like_others() -> None:
    ended = file("a", "queue", kind="decision", status="deprecated")
    replaced = file("b", "queue", kind="decision", superseded_by="c")
    current = file("c", "mail", kind="decision", status="accepted")
    other = file("d", "mail", kind="decision", status="accepted")
    assert order("queue", RankingRules(), other, ended, replaced, current)[:3] == ["c", "a", "b"]


def test_rare_words_weigh_more_and_long_chunks_less() -> None:
    assert order("mail queue", OFF, file("a", "queue"), file("b", "mail"))[0] == "b"
    assert order("mail", OFF, file("a", "mail " + "x " * 500), file("b", "mail"))[0] == "b"


@pytest.mark.parametrize(
    "path",
    ["tests/a.py", "src/__tests__/a.js", "a_test.go", "test_a.py", "a.spec.ts", "FooTest.java",
     "_examples/a.go", "vendor/x/a.go", "a.pb.go", "a_pb2.py", "a.min.js", "types.d.ts"],
)  # fmt: skip
def test_tests_examples_and_foreign_code_are_aside(path: str) -> None:
    assert is_aside(path)


@pytest.mark.parametrize(
    "path", ["src/a.py", "contest/a.py", "latest.go", "protest.py", "testing.md"]
)
def test_sources_are_not_aside(path: str) -> None:
    assert not is_aside(path)
