"""Any mutation of an update gives events or nothing, never an exception."""

import copy
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.telegram.parse import kind_of, parse
from adapters.telegram.receive import album_of, merged, ordering_key
from gateway.message import ChatMessage, MessageReceived
from tests.adapters.telegram.updates import ME, entity, samples, update
from tests.support.property_cases import cases

SAMPLES = samples()
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(st.characters(), max_size=20),
    st.sampled_from(["supergroup", "mention", "\ud83d", "😀" * 30, "-1", "@OurBot"]),
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=12), inner, max_size=4)
    ),
    max_leaves=12,
)


def paths(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    results = [here] if here else []
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in items:
            results += paths(inner, (*here, key))
    return results


def put(root: Any, path: tuple[Any, ...], value: Any, drop: bool) -> None:
    for key in path[:-1]:
        root = root[key]
    if drop:
        del root[path[-1]]
    else:
        root[path[-1]] = value


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    payload: Any = copy.deepcopy(draw(st.sampled_from(SAMPLES)))
    for _ in range(draw(st.integers(1, 3))):
        choices = paths(payload)
        if not choices:
            break
        chosen = random.Random(draw(st.integers(0, 2**32))).choice(choices)
        put(payload, chosen, draw(JSON), draw(st.booleans()))
    return payload


def look(payload: Any) -> None:
    for me in (ME, None):
        events = parse(payload, me)
        assert parse(payload, me) == events
        for event in events:
            assert event.event_id
            repr(event).encode()
        merged(events * 2)
    assert kind_of(payload)
    album_of(payload)
    ordering_key(payload)


@settings(max_examples=cases(200), deadline=None)
@given(mutated())
def test_a_mutated_update_raises_no_exception(payload: Any) -> None:
    look(payload)


@settings(max_examples=cases(200), deadline=None)
@given(st.dictionaries(st.sampled_from(["update_id", "message", "callback_query"]), JSON))
def test_any_json_raises_no_exception(payload: Any) -> None:
    look(payload)


@pytest.mark.nightly
@settings(max_examples=12_000, deadline=None)
@given(mutated())
def test_many_mutated_updates_raise_no_exception(payload: Any) -> None:
    look(payload)


WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)


@settings(max_examples=cases(300), deadline=None)
@given(WORDS, WORDS)
def test_removing_the_bots_mention_keeps_every_other_word(before: str, after: str) -> None:
    text = f"{before}@OurBot{after}"
    marks = [{**entity(text, "@OurBot", "mention")}] if "@OurBot" not in before else []
    events = parse(update(text=text, entities=marks), ME)
    assert len(events) == 1
    assert isinstance(events[0], MessageReceived)
    message: ChatMessage = events[0].message
    if not marks:
        return
    assert message.mentions_bot

    def bare(words: str) -> str:
        return "".join(words.split()).strip(",:")

    assert bare(message.content).replace(",", "").replace(":", "") == bare(before + after).replace(
        ",", ""
    ).replace(":", "")
