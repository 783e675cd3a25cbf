"""Arbitrary deliveries become events or are ignored, and never fail."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.slack.parse import parse
from gateway.message import (
    MAX_CONTENT,
    InboundEvent,
    MessageEdited,
    MessageReceived,
)
from tests.adapters.slack.payloads import (
    EVERYTHING,
    callback,
    message,
)
from tests.adapters.slack.reading import received
from tests.support.property_cases import cases

SHARED = Path(__file__).resolve().parents[4] / "shared/data/payloads/slack.json"


JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.text(st.characters(categories=["Cs", "Cc"]), max_size=5),
    st.sampled_from(
        ["<@", "<@U0BOT>", "<!subteam^", "&lt;", "1.2", "9" * 30, "D1", "message", "/x"]
    ),
    st.lists(st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=5), st.integers(), max_size=3),
    st.builds(message),
    st.just(b"bytes"),
)


def paths(node: object, at: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Every place in a payload that can be changed."""
    results = [at] if at else []
    if isinstance(node, dict):
        for key, value in node.items():
            results += paths(value, (*at, key))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            results += paths(value, (*at, index))
    return results


@st.composite
def mutations(draw: st.DrawFn) -> dict[str, Any]:
    """A payload in which up to four places hold something else, or nothing, or one another."""
    payload: dict[str, Any] = copy.deepcopy(draw(st.sampled_from(EVERYTHING)))
    for _ in range(draw(st.integers(1, 4))):
        places = paths(payload)
        if not places:
            break
        way: list[Any]
        last: Any
        *way, last = draw(st.sampled_from(places))
        parent: Any = payload
        for step in way:
            parent = parent[step]
        how = draw(st.sampled_from(["replace", "remove", "double"]))
        if how == "remove":
            del parent[last]
        elif how == "double" and isinstance(parent, list):
            parent.append(copy.deepcopy(parent[last]))
        else:
            parent[last] = draw(JUNK)
    return payload


def check_events(events: list[InboundEvent]) -> None:
    """Check the conditions that hold for every delivery."""
    for event in events:
        place = event.place
        assert event.event_id
        assert len(event.event_id) <= 300
        assert place.platform == "slack"
        assert place.channel_id
        if isinstance(event, MessageReceived | MessageEdited):
            assert event.message.timestamp.tzinfo is not None
            assert len(event.message.content) <= MAX_CONTENT
            event.message.content.encode()
            assert event.message.author.id


class TestAnything:
    @given(mutations())
    @settings(max_examples=cases(200), deadline=None, suppress_health_check=[HealthCheck.too_slow])
    def test_a_mutated_payload_gives_events_or_nothing(self, payload: dict[str, Any]) -> None:
        check_events(parse(payload))

    @pytest.mark.nightly
    @given(mutations())
    @settings(max_examples=12_000, deadline=None, suppress_health_check=list(HealthCheck))
    def test_many_mutated_payloads_give_events_or_nothing(self, payload: dict[str, Any]) -> None:
        check_events(parse(payload))

    @given(JUNK)
    def test_other_json_gives_no_event(self, junk: Any) -> None:
        check_events(parse(junk))

    def test_blocks_nested_to_the_recursion_limit_are_parsed(self) -> None:
        node: dict[str, Any] = {"type": "rich_text"}
        for _ in range(5_000):
            node = {"type": "rich_text", "elements": [node]}
        assert received(callback(message("", blocks=[node]))).content == ""

    @pytest.mark.skipif(
        not SHARED.exists(), reason="the collected payloads are not beside the repo"
    )
    def test_recorded_payloads_of_other_projects_are_parsed(self) -> None:
        records = json.loads(SHARED.read_text())
        silent = []
        for record in records:
            events = parse(record["payload"])
            check_events(events)
            event = record["payload"].get("event", record["payload"])
            complete = all(key in event for key in ("user", "ts", "channel", "text"))
            if record["kind"].endswith((":message", ":app_mention")) and complete and not events:
                silent.append(record["id"])
            if record["kind"] == "api_response":
                assert events == []
        # The only message that gives nothing is a bot's own.
        assert len(silent) <= 1
