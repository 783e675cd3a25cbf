"""From the configuration to the memory that the gateway is handed."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gateway.message import Place
from gateway.people import Audience, PersonId, Principal, Role
from gateway.ports.memory import Caller, NoCommands, NoMemory
from memory.model.outcome import Outcome, WriteResult
from memory.model.record import Draft, Kind
from memory.ports.recall import Query, SearchHit
from memory.recall.query import understood
from memory.recall.rules import Fusion, RecallLimits, RecallRules
from memory.recall.scoring import LEXICAL, VECTOR, fused, related
from parley.app import App
from parley.config import SettingsError, from_mapping
from parley.wiring.memory import recall_rules
from parley.wiring.memory_writing import plans_of
from tests.support.clock import FakeClock


@asynccontextmanager
async def app(folder: Path, **sections: Mapping[str, object]) -> AsyncIterator[App]:
    url = f"sqlite:///{folder}/parley.db"
    settings = from_mapping({"database": {"url": url}, "server": {"port": 0}, **sections})
    opened = App(settings, FakeClock())
    await opened.storage.start()
    yield opened
    await opened.storage.stop()


async def remember(opened: App, text: str, *, says: str = "") -> WriteResult:
    place = Place("telegram", "main", "ada", Audience.DIRECT)
    who = Principal("default", PersonId("telegram", "main", "ada"), Role.MEMBER)
    at = FakeClock().now()
    caller = Caller("x", who, "Ada", place, "c", at, ("m",), (says,) if says else ())
    assert opened.memory.memory is not None
    handle = await opened.memory.memory.for_principal(caller)
    draft = Draft(text, Kind.FACT, quote=says)
    return await (handle.write.infer(draft) if says else handle.write.remember(draft))


async def test_with_memory_disabled_nothing_is_stored_and_no_command_exists(tmp_path: Path) -> None:
    async with app(tmp_path, memory={"enabled": False}) as opened:
        assert isinstance(opened.memory.remembering, NoMemory)
        assert isinstance(opened.memory.commands, NoCommands)
        assert opened.memory.memory is None
    assert not (tmp_path / "audit.key").exists()


async def test_the_configured_write_policy_applies(tmp_path: Path) -> None:
    text = "the server may time out under load"
    outcomes = []
    for policy in ("grounded", "confirm", "open"):
        folder = tmp_path / policy
        folder.mkdir()
        async with app(folder, memory={"write_policy": policy}) as opened:
            hedged = await remember(opened, text, says=text)
            plain = await remember(opened, "the door is green", says="the door is green")
            outcomes.append((hedged.outcome, plain.outcome))
    assert outcomes == [
        (Outcome.REVIEW, Outcome.STORED),
        (Outcome.REVIEW, Outcome.REVIEW),
        (Outcome.STORED, Outcome.STORED),
    ]


async def test_the_configured_plan_applies(tmp_path: Path) -> None:
    async with app(tmp_path, plans={"default": "free"}) as opened:
        results = [await remember(opened, f"Owns boat number {number}") for number in range(4)]
    assert [result.outcome for result in results] == [Outcome.STORED] * 3 + [Outcome.REFUSED]
    assert results[-1].reason.english.startswith("Memory limit reached (3/3).")


def test_a_person_can_have_a_plan_of_their_own() -> None:
    plans = plans_of(from_mapping({"plans": {"people": {"telegram:main:ada": "pro"}}}))
    assert plans.plan_of(("telegram:main:ada",)).memories == 15
    assert plans.plan_of(("telegram:main:ben",)).memories is None


def test_recall_uses_the_measured_weights_unless_configured() -> None:
    assert recall_rules(from_mapping({})) == RecallRules()
    expected = {
        "bm25_weight": 1.0,
        "vector_weight": 0.5,
        "recency_weight": 0.0,
        "max_episodic_results": 3,
        "max_semantic_results": 5,
        "max_total_tokens": 800,
    }
    rules = recall_rules(from_mapping({"memory": {"recall": expected}}))
    assert (rules.searches.lexical, rules.searches.vector, rules.weights.recency) == (1.0, 0.5, 0.0)
    assert rules.limits == RecallLimits(3, 5, 800)
    assert rules.searches.depth == RecallRules().searches.depth


def test_a_match_by_vectors_of_a_service_is_not_questioned() -> None:
    service = {"embedding_provider": "openai", "embedding": {"api_key": "none"}}
    question = understood(Query("who tuned the piano last spring", FakeClock().now()))
    weak = {VECTOR: [SearchHit("a", 0.3, 0.1)]}
    local, other = (
        recall_rules(from_mapping({"memory": section})).searches for section in ({}, service)
    )
    assert not related(weak, question, local)
    assert related(weak, question, other)


def test_the_fusion_and_the_candidates_can_be_configured() -> None:
    section = {
        "bm25_weight": 1.5,
        "vector_weight": 1.0,
        "candidates": 7,
        "fusion": "ranks",
        "rrf_k": 10,
    }
    searches = recall_rules(from_mapping({"memory": {"recall": section}})).searches
    assert (searches.depth, searches.fusion, searches.k) == (7, Fusion.RANKS, 10)
    words, meaning = (
        [SearchHit("a", 9.0), SearchHit("b", 8.0)],
        [SearchHit("b", 0.9), SearchHit("a", 0.8)],
    )
    scores = fused({LEXICAL: words, VECTOR: meaning}, searches)
    share = {id_: score * (1.5 + 1.0) / (10 + 1) for id_, score in scores.items()}
    assert share == pytest.approx({"a": 1.5 / 11 + 1 / 12, "b": 1.5 / 12 + 1 / 11})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("bm25_weight", value) for value in (-0.1, 10.1, "nan", "inf")),
        *(("vector_weight", value) for value in (-1, 11, "nan")),
        *(("candidates", value) for value in (0, 201)),
        *(("rrf_k", value) for value in (0, 1_001)),
        ("fusion", "sums"),
    ],
)
def test_values_of_recall_outside_their_bounds_are_refused(name: str, value: object) -> None:
    with pytest.raises(SettingsError, match=name):
        from_mapping({"memory": {"recall": {name: value}}})


@pytest.mark.parametrize("value", [0.001, 1.5, 10])
def test_weights_of_recall_go_up_to_ten(value: float) -> None:
    section = {"bm25_weight": value, "vector_weight": 10}
    searches = recall_rules(from_mapping({"memory": {"recall": section}})).searches
    assert (searches.lexical, searches.vector) == (value, 10)


def test_recall_without_any_weight_is_refused() -> None:
    with pytest.raises(SettingsError, match="bm25_weight or vector_weight"):
        from_mapping({"memory": {"recall": {"bm25_weight": 0, "vector_weight": 0}}})
