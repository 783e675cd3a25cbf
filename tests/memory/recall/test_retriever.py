"""A question's whole way, over a real SQLite store."""

import asyncio
import threading
from collections.abc import Sequence
from datetime import timedelta

import pytest

from gateway.errors import ModelUnavailable
from gateway.immutable import replace
from memory.model.record import Embedding, Kind, Scope, Tier
from memory.ports.memories import Filter
from memory.ports.recall import Query
from memory.recall import selection
from memory.recall.rules import RecallLimits, RecallRules, SearchRules
from safety.secret_detection.detect import redact_secrets
from tests.memory.recall.making import NOW, Asking, talk, turn
from tests.memory.stores.records import AT, BOB, access, record

HAPPENS = "Where does she keep the spare key of the shed?"


async def test_a_memory_is_found_by_words_and_by_meaning(here: Asking) -> None:
    await here.keep(record("Her automobile is green"), record("Her garden is small"))
    matches = await here.recall("which car does she drive nowadays")
    assert matches.results[0].record.content == "Her automobile is green"
    assert tuple(matches.searches) == ("bm25", "vector")
    by_words = await here.recall("which car does she drive nowadays", model=False)
    assert by_words.results == ()
    assert by_words.notes == ("no_model",)


async def test_an_answer_is_found_by_the_previous_question(here: Asking) -> None:
    await here.keep(*talk("Where is the spare key of the shed?", "Under the blue pot."))
    assert "Under the blue pot." in await here.texts(HAPPENS, model=False)


async def test_every_result_names_its_origin(here: Asking) -> None:
    await here.keep(record("The shed is green", id="a"), record("The shed has a spare key", id="b"))
    matches = await here.recall(HAPPENS)
    best = matches.results[0]
    assert best.id == "b"
    assert best.source_ranks == {"bm25": 1, "vector": 1}
    assert set(best.source_scores) == {"bm25", "vector"}
    assert 0 < best.score <= 1
    assert {stage.name for stage in matches.stages} >= {"bm25", "embedding", "vector", "scoring"}
    assert matches.ms >= sum(stage.ms for stage in matches.stages) * 0.99
    assert matches.candidates >= 2


async def test_an_exact_question_needs_no_model(here: Asking) -> None:
    await here.keep(record("see ADR-003 about retries"), record("see ADR-031 about colours"))
    for text in ("ADR-003", '"see ADR-003"', "retries"):
        matches = await here.recall(text)
        assert matches.results[0].record.content == "see ADR-003 about retries"
        assert matches.notes == ("exact",)
    assert here.model.asked == 0


async def test_a_short_question_without_matches_is_searched_by_meaning(here: Asking) -> None:
    await here.keep(record("Her automobile"))
    assert await here.texts("car") == ["Her automobile"]


async def test_a_greeting_recalls_nothing(here: Asking) -> None:
    await here.keep(record("Her automobile is green"), record("The shed has a spare key"))
    for text in ("hello", "good morning everybody, nice weather"):
        assert await here.texts(text) == []


async def test_a_memory_with_the_identifier_of_the_question_is_first(here: Asking) -> None:
    await here.keep(
        record("The build of the harbour library failed with version v2.4.10"),
        record("Pinned: v2.4.1"),
    )
    assert (await here.texts("Which build of the library is v2.4.1?"))[0] == "Pinned: v2.4.1"


async def test_an_unfinished_text_is_completed(here: Asking) -> None:
    await here.keep(record("The shed is green"), record("The ship is green"))
    assert await here.texts("green she", unfinished=True) == ["The shed is green"]
    assert here.model.asked == 0


async def test_without_the_model_words_are_used(here: Asking) -> None:
    await here.keep(record("The shed has a spare key"))
    here.model.fails_with = ModelUnavailable("gone")
    matches = await here.recall(HAPPENS)
    assert len(matches.results) == 1
    assert matches.notes == ("model_failed",)


async def test_a_slow_model_is_waited_for_once_and_then_skipped_for_a_while(here: Asking) -> None:
    await here.keep(record("The shed has a spare key"))
    event = asyncio.Event()

    class Slow:
        model = "slow"

        async def embed(self, texts: Sequence[str]) -> list[Embedding]:
            event.set()
            await asyncio.Event().wait()
            return []

    rules = RecallRules(searches=SearchRules(embed_seconds=0.01))
    retriever = here.retriever()
    retriever._embedder, retriever._rules = Slow(), rules
    first = await retriever.recall(access(), Query(HAPPENS, NOW))
    assert first.notes == ("model_slow",)
    assert event.is_set()
    event.clear()
    again = await retriever.recall(access(), Query(HAPPENS, NOW))
    assert again.notes == ("model_paused",)
    assert not event.is_set()
    assert len(first.results) == len(again.results) == 1


async def test_memories_of_others_are_not_found(here: Asking) -> None:
    await here.keep(record("Bob keeps the spare key of the shed", person=BOB))
    await here.keep(*talk("Where is the spare key of the shed?", "Under the pot.", person=BOB))
    assert await here.texts(HAPPENS) == []


async def test_in_a_room_no_private_memory_is_found(here: Asking) -> None:
    await here.keep(record("The spare key of the shed is under the pot"))
    there = access(room="test:main:room", private=False)
    assert await here.texts(HAPPENS, by=there) == []


async def test_own_memories_precede_those_of_the_project_and_global_ones(here: Asking) -> None:
    by = replace(access("test:main:root"), operates=True, project="p")
    text = "The spare key of the shed is under the pot, number"
    await here.keep(
        record(f"{text} 1", by.person, scope=Scope.GLOBAL),
        record(f"{text} 2", by.person, scope=Scope.PROJECT, project="p"),
        record(f"{text} 3", by.person),
        by=by,
    )
    matches = await here.recall(HAPPENS, by)
    assert [one.record.scope for one in matches.results] == [
        Scope.USER,
        Scope.PROJECT,
        Scope.GLOBAL,
    ]


async def test_replaced_deleted_and_expired_memories_are_excluded_immediately(here: Asking) -> None:
    old = record("The spare key is under the pot", id="old")
    await here.keep(old, record("The spare key is with Ben", id="new", supersedes="old"))
    soon = turn("The spare key is lost", id="soon", expires_at=here.clock.now() + timedelta(1))
    await here.keep(soon, record("The spare key is blue", id="deleted"))
    question = "Where is the spare key now, please?"
    assert {one.id for one in (await here.recall(question)).results} == {"new", "soon", "deleted"}
    await here.stores.memories.delete(access(), ["deleted"])
    await here.clock.advance(2 * 86_400)
    assert {one.id for one in (await here.recall(question)).results} == {"new"}


async def test_neighbours_match_the_filters(here: Asking) -> None:
    await here.keep(*talk("Where is the spare key of the shed?", "Under the blue pot."))
    await here.keep(record("The shed has a spare key", kind=Kind.DECISION))
    result = await here.texts(HAPPENS, filters=Filter(tiers=(Tier.SEMANTIC,)))
    assert result == ["The shed has a spare key"]


async def test_neighbours_before_the_requested_time_are_excluded(here: Asking) -> None:
    await here.keep(*talk("It is about the key.", "The spare key of the shed is blue."))
    late = Filter(since=AT + timedelta(seconds=30))
    assert await here.texts(HAPPENS, filters=late) == ["The spare key of the shed is blue."]
    assert len(await here.texts(HAPPENS)) == 2


async def test_the_limits_hold_over_a_real_store(here: Asking) -> None:
    lines = [f"The spare key of shed number {number} is green" for number in range(30)]
    await here.keep(*talk(*lines))
    assert len(await here.texts(HAPPENS, limit=100)) == 10
    few = RecallRules(limits=RecallLimits(episodic=30, tokens=60))
    matches = await here.recall(HAPPENS, rules=few, limit=100)
    assert 0 < matches.tokens <= 60
    assert matches.left_out == 30 - len(matches.results)


async def test_results_contain_no_credentials(here: Asking) -> None:
    key = "ghp_" + "x7Kq2mN9vB4tR8wZ1cY6pL3sD5fG0hJaQeUi"
    await here.keep(record(f"The spare key of the shed: {key}"))
    matches = await here.recall(HAPPENS)
    assert len(matches.results) == 1
    assert key not in repr(matches)


async def test_a_reranker_decides_the_order_of_its_candidates(here: Asking) -> None:
    await here.keep(record("The shed has a spare key", id="a"), record("A key is a key", id="b"))

    class Contrary:
        async def judge(self, query: str, texts: Sequence[str]) -> list[float]:
            return [float(place) for place, _ in enumerate(texts)]

    rules = RecallRules(rerank_weight=1.0)
    retriever = here.retriever(reranker=Contrary(), rules=rules)
    matches = await retriever.recall(access(), Query(HAPPENS, NOW))
    assert [one.id for one in matches.results] == ["b", "a"]
    assert matches.results[0].source_ranks["reranker"] == 1
    assert tuple(matches.searches) == ("bm25", "vector", "reranker")


async def test_a_failing_reranker_changes_nothing(here: Asking) -> None:
    await here.keep(record("The shed has a spare key"))

    class Broken:
        async def judge(self, query: str, texts: Sequence[str]) -> list[float]:
            raise ModelUnavailable("gone")

    matches = await here.retriever(reranker=Broken()).recall(access(), Query(HAPPENS, NOW))
    assert len(matches.results) == 1
    assert matches.notes == ("reranker_failed",)


async def test_documents_found_first_help_to_find_more(here: Asking) -> None:
    await here.keep(
        record("shed spare key padlock rusts", id="a"),
        record("padlock rusts", id="b"),
        record("Tea is green", id="c"),
    )
    plain = await here.recall(HAPPENS, rules=RecallRules(searches=SearchRules(feedback=0)))
    pulled = await here.recall(HAPPENS)
    before, after = (
        {one.id: one.source_scores["vector"] for one in result.results}
        for result in (plain, pulled)
    )
    assert before.keys() == after.keys() == {"a", "b"}
    assert after["b"] > before["b"] + 0.1


@pytest.mark.parametrize(
    ("kept", "asked"),
    [
        ("会議は来週の火曜日です", "会議は何曜日ですか"),
        ("资料请发给王敏", "资料发给谁"),
        ("Ключ от сарая у Ольги", "У кого ключ от сарая?"),
        ("Żółte segregatory stoją tu", "gdzie są zolte segregatory"),
    ],
)
async def test_other_scripts_are_found_by_their_words(here: Asking, kept: str, asked: str) -> None:
    await here.keep(record(kept), record("Something else entirely"))
    assert (await here.texts(asked, model=False))[:1] == [kept]


@pytest.mark.parametrize("text", ["", "   ", "\n", "?", "\x00", '"', "OR AND NOT (", "a" * 5_000])
async def test_no_question_raises_an_exception(here: Asking, text: str) -> None:
    await here.keep(record("Tea is green"))
    assert (await here.recall(text)).tokens >= 0


async def test_the_same_question_has_the_same_result(here: Asking) -> None:
    await here.keep(*talk(*(f"The shed of number {n} is green" for n in range(20))))
    once, twice = await here.recall(HAPPENS), await here.recall(HAPPENS)
    assert once.results == twice.results


async def test_long_candidates_are_processed_outside_the_event_loop(
    here: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_loop: list[int] = []
    real = redact_secrets

    def noted(text: str) -> object:
        if threading.current_thread() is threading.main_thread():
            on_loop.append(len(text))
        return real(text)

    monkeypatch.setattr(selection, "redact_secrets", noted)
    await here.keep(record("The shed is green since Thursday noon"))
    await here.recall("Is the shed green?")
    assert sum(on_loop) > 0, "short ones need no thread"
    read = len(on_loop)
    await here.recall("Is the shed green?")
    assert len(on_loop) == read, "a short one is looked through once"
    on_loop.clear()
    hostile = "the shed 1 is my key " * 450
    await here.keep(*(record(f"{n} {hostile}", tier=Tier.EPISODIC) for n in range(8)))
    matches = await here.recall("Is the shed green?")
    assert matches.candidates >= 8
    assert sum(on_loop) <= selection.AT_ONCE


NAMES = ("Ada", "Ben", "Chloe", "Dirk", "Edda", "Finn")
THINGS = (
    *("garden shed", "red bicycle", "coffee mill", "rain coat", "wooden boat", "old camera"),
    *("blue lamp", "winter boots", "tennis racket", "spice rack"),
)
UNKNOWN = (
    "Which lawyer wrote the will of Ada?",
    "How many shares of the cooperative does Ben own?",
    "What did the optician charge Chloe for the lenses?",
    "Welcher Anwalt hat das Testament von Ada geschrieben?",
    "¿Qué abogado redactó el testamento de Ada?",
    "Quel avocat a rédigé le testament de Ada ?",
    "Który prawnik napisał testament dla Ada?",
    "Какой адвокат составил завещание Ada?",
    "Adaの遺言書を書いた弁護士は誰ですか",
)


@pytest.mark.parametrize("text", UNKNOWN)
async def test_a_question_about_an_unknown_subject_returns_nothing(here: Asking, text: str) -> None:
    said = [
        f"{name}: my {thing} is in cellar {n}" for n, name in enumerate(NAMES) for thing in THINGS
    ]
    await here.keep(*talk(*said))
    assert (await here.recall(text, model=False)).results == ()
    known = await here.recall("Where did Ada leave the coffee mill?", model=False)
    assert known.results[0].record.content == "Ada: my coffee mill is in cellar 0"
    assert "unrelated" not in known.notes


async def test_an_empty_answer_gives_its_reason(here: Asking) -> None:
    said = [
        f"{name}: my {thing} is in cellar {n}" for n, name in enumerate(NAMES) for thing in THINGS
    ]
    await here.keep(*talk(*said))
    matches = await here.recall(UNKNOWN[0], model=False)
    assert matches.notes == ("no_model", "unrelated")
    assert matches.searches["bm25"] > 0
    assert matches.candidates == matches.tokens == 0
