"""The collections recall is measured on, the measures, and a floor under our own chats."""

import json
import math
import subprocess
import sys
from copy import copy
from pathlib import Path

import pytest

from benchmarks.recollection.cached import CachedSearches
from benchmarks.recollection.corpora import Corpus, cranfield, locomo, own
from benchmarks.recollection.filled import id_in, library
from benchmarks.recollection.held_out import best_on, corpora_left_out, left_out_table, settings
from benchmarks.recollection.made import together
from benchmarks.recollection.measures import measured, summary
from benchmarks.recollection.runs import answered, returned
from benchmarks.recollection.unanswerable import ANYBODY, unanswerable
from gateway.immutable import replace
from memory.recall.rules import RecallRules

FLOOR = 0.75


def test_recall_and_gain_are_computed_over_the_relevant_texts() -> None:
    one = measured(["a", "x", "b", "y"], ["a", "b", "c"], 2.0)
    assert one.recall == pytest.approx((2 / 3, 2 / 3, 2 / 3))
    ideal = 1 + 1 / math.log2(3) + 1 / 2
    assert one.ndcg == pytest.approx((1 + 1 / 2) / ideal)
    assert summary([one, measured([], ["a"], 4.0)])["recall@5"] == pytest.approx(1 / 3, abs=1e-4)
    assert summary([]) == {}


def test_a_conversation_with_missing_fields_is_read(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    turns = [{"text": "bare"}, {"id": "D1:2", "speaker": "Ada", "text": "hello", "when": "never"}]
    questions = [
        {"question": "Who said hello?", "evidence": ["D1:2", "gone"]},
        {"question": "What else?"},
        {"question": "Whose?", "evidence": None},
    ]
    path.write_text(json.dumps([{"turns": turns, "questions": questions}]))
    (corpus,) = locomo(path)
    assert [one.text for one in corpus.documents] == ["bare", "Ada: hello"]
    assert [(one.text, one.relevant) for one in corpus.questions] == [
        ("Who said hello?", ("D1:2",))
    ]


def test_documents_without_titles_and_grades_as_lists_are_read(tmp_path: Path) -> None:
    path = tmp_path / "papers.json"
    data = {
        "documents": [{"id": 1, "text": "one"}, {"id": 2, "title": "Two", "text": "two"}],
        "queries": [{"id": 7, "text": "q"}, {"id": 8, "text": "r"}, {"id": 9, "text": "s"}],
        "relevant": {"7": {"1": 3, "2": 0, "5": 1}, "8": [2]},
    }
    path.write_text(json.dumps(data))
    (corpus,) = cranfield(path)
    assert [one.text for one in corpus.documents] == ["one", "Two\ntwo"]
    assert [one.relevant for one in corpus.questions] == [("1",), ("2",)]


def test_collections_become_the_requested_number_of_memories_of_one_person() -> None:
    corpora = own()
    few = sum(len(corpus.documents) for corpus in corpora)
    one = together(corpora, few + 3)
    assert len(one.documents) == few + 3
    assert len({(document.id, document.text) for document in one.documents}) == few + 3
    known = {document.id for document in one.documents}
    assert one.questions
    assert all(known.issuperset(ask.relevant) for ask in one.questions)


def test_the_setting_for_a_corpus_is_chosen_without_it() -> None:
    scores = {"chats": [0.5, 0.9, 0.6], "papers": [0.4, 0.2, 0.5], "notes": [0.8, 0.7, 0.8]}
    assert best_on({"papers": scores["papers"], "notes": scores["notes"]}) == 2
    _, chats, papers, notes, on_all = left_out_table(scores)
    assert chats.split() == ["chats", "0.500", "0.600", "(2)", "0.900", "(1)"]
    assert papers.split() == ["papers", "0.400", "0.200", "(1)", "0.500", "(2)"]
    assert notes.split() == ["notes", "0.800", "0.800", "(2)", "0.800", "(0)"]
    assert on_all == "best on all: setting 2"


def test_a_corpus_counts_by_its_share_of_the_best_score() -> None:
    """A corpus with high scores does not decide alone."""
    assert best_on({"easy": [0.9, 0.8], "hard": [0.1, 0.2]}) == 1
    assert best_on({"easy": [0.9, 0.9], "hard": [0.2, 0.2]}) == 0


def test_the_same_settings_are_drawn_each_time() -> None:
    drawn = settings(RecallRules())
    assert drawn == settings(RecallRules())
    assert all(one.limits == RecallRules().limits for one in drawn)
    assert len(set(map(str, drawn))) == len(drawn)


async def test_searches_that_are_asked_once_give_the_same_results() -> None:
    corpora = own()[:1]
    async with library(corpora, None) as full:
        stores = copy(full.stores)
        stores.recall = CachedSearches(stores.recall)
        once = replace(full, stores=stores)
        plain = await answered(full, None, RecallRules())
        for _ in range(2):
            again = await answered(once, None, RecallRules())
            assert [one.results for one in again] == [one.results for one in plain]


async def test_every_corpus_is_left_out_once() -> None:
    corpora = own()
    async with library(corpora[:1], None) as one, library(corpora[1:2], None) as two:
        lines = await corpora_left_out({"one": one, "two": two}, None)
    assert [line.split()[0] for line in lines[:3]] == ["left", "one", "two"]
    assert all(line.startswith(("best on all: ", "setting ")) for line in lines[3:])


@pytest.mark.parametrize("corpus", own(), ids=lambda corpus: corpus.name)
def test_the_own_chats_answer_their_questions(corpus: Corpus) -> None:
    known = {one.id for one in corpus.documents}
    assert len(known) == len(corpus.documents)
    assert all(set(one.relevant) <= known for one in corpus.questions)
    assert all(one.at < corpus.now for one in corpus.documents)
    replaced = {one.replaces for one in corpus.documents} - {""}
    assert not any(replaced & set(one.relevant) for one in corpus.questions)


async def test_word_search_alone_reaches_a_minimum_on_the_own_chats() -> None:
    corpora = own()
    replaced = {
        id_in(corpus, one.replaces)
        for corpus in corpora
        for one in corpus.documents
        if one.replaces
    }
    async with library(corpora, None) as full:
        answers = await answered(full, None, RecallRules())
    assert summary([one.measured for one in answers])["recall@10"] >= FLOOR
    exact = [one for one in answers if one.ask.kind in ("identifier", "exact", "script")]
    assert summary([one.measured for one in exact])["recall@10"] == 1.0
    assert not any(replaced & set(one.results) for one in answers)


def test_the_last_line_is_json_also_as_a_script(tmp_path: Path) -> None:
    path = tmp_path / "papers.json"
    documents = [{"id": 1, "text": "green tea"}, {"id": 2, "text": "red wine"}]
    queries = [{"id": 1, "text": "which tea is there"}]
    path.write_text(
        json.dumps({"documents": documents, "queries": queries, "relevant": {"1": {"1": 1}}})
    )
    script = Path(__file__).parents[2] / "benchmarks" / "recall.py"
    done = subprocess.run(
        [sys.executable, str(script), "--cranfield", str(path), "--without-models", "--json"],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    figures = json.loads(done.stdout.splitlines()[-1])
    assert figures["recall@5"] == figures["ndcg@10"] == 1.0
    assert figures.keys() >= {"recall@10", "recall@20", "p50_ms", "p95_ms", "searches"}
    empty = subprocess.run(
        [sys.executable, str(script), "--locomo", str(path / "gone")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert empty.returncode == 2
    assert "cannot read the collection" in empty.stderr


async def test_most_questions_about_unknown_subjects_return_nothing() -> None:
    corpora = unanswerable(own())
    kinds = {ask.kind for corpus in corpora for ask in corpus.questions}
    assert kinds >= {*ANYBODY, "other", "family", "ops_room", "trip", "verein"}
    assert not any(ask.relevant for corpus in corpora for ask in corpus.questions)
    async with library(own(), None) as full:
        crossed = replace(full, corpora=tuple(corpora))
        counts = [results for _, results in await returned(crossed, None, RecallRules())]
    assert len(counts) >= 300
    assert counts.count(0) / len(counts) >= 0.6
