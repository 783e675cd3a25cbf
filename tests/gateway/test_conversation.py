"""Which conversation a message belongs to, and how much of it is shown to the model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.conversation import ContextLimits, key_of, place_to_answer, window
from gateway.people import Audience
from gateway.ports import Capabilities
from tests.support.messages import AT, direct, place

SLACK = Capabilities(answers_open_threads=True)


@dataclass(frozen=True)
class Turn:
    text: str
    at: datetime


def turns(*lengths: int, age: timedelta = timedelta()) -> list[Turn]:
    return [Turn("x" * length, AT - age) for length in lengths]


def lengths(kept: Sequence[Turn]) -> list[int]:
    return [len(turn.text) for turn in kept]


def test_every_part_of_the_key_tells_conversations_apart() -> None:
    somewhere = place(thread="T1")
    others = [
        replace(somewhere, platform="other"),
        replace(somewhere, account="second"),
        replace(somewhere, workspace_id="W2"),
        replace(somewhere, channel_id="C2"),
        replace(somewhere, thread_id="T2"),
        replace(somewhere, thread_id=""),
    ]
    keys = {str(key_of("t", at)) for at in (somewhere, *others)} | {str(key_of("u", somewhere))}
    assert len(keys) == len(others) + 2


def test_ids_cannot_be_made_to_look_like_another_conversation() -> None:
    one = key_of("t", replace(place(), workspace_id='a","b', channel_id="c"))
    two = key_of("t", replace(place(), workspace_id="a", channel_id='b","c'))
    assert str(one) != str(two)


def test_the_room_of_a_thread_is_its_channel() -> None:
    assert key_of("t", place(thread="T1")).room == key_of("t", place())


@pytest.mark.parametrize(
    ("at", "message_id", "thread"),
    [
        (place(), "m1", "m1"),
        (place(thread="T1"), "m1", "T1"),
        (place(audience=Audience.PRIVATE_ROOM), "m1", "m1"),
        (direct(), "m1", ""),
        (place(), "", ""),
    ],
)
def test_where_answers_open_threads(at, message_id: str, thread: str) -> None:  # type: ignore[no-untyped-def]
    assert place_to_answer(at, message_id, SLACK).thread_id == thread


def test_elsewhere_answers_stay_where_the_question_is() -> None:
    assert place_to_answer(place(), "m1", Capabilities()) == place()


@pytest.mark.parametrize(
    ("limits", "kept"),
    [
        (ContextLimits(max_messages=2), [2, 3]),
        (ContextLimits(max_messages=0), []),
        (ContextLimits(max_tokens=5), [2, 3]),
        (ContextLimits(max_tokens=4), [3]),
        (ContextLimits(max_tokens=2), []),
        (ContextLimits(), [1, 2, 3]),
    ],
)
def test_the_latest_that_fit_are_kept_oldest_first(limits: ContextLimits, kept: list[int]) -> None:
    assert lengths(window(turns(1, 2, 3), limits, AT, len)) == kept


def test_a_turn_that_does_not_fit_hides_what_lies_before_it() -> None:
    assert lengths(window(turns(1, 50, 2), ContextLimits(max_tokens=20), AT, len)) == [2]


def test_what_is_older_than_its_time_is_not_shown_although_the_conversation_goes_on() -> None:
    day = ContextLimits().ttl
    old, due = turns(1, age=day + timedelta(seconds=1)), turns(2, age=day)
    assert lengths(window([*old, *due, *turns(3)], ContextLimits(), AT, len)) == [2, 3]


said = st.builds(
    Turn, st.text(max_size=30), st.integers(0, 90_000).map(lambda s: AT - timedelta(seconds=s))
)


@given(
    st.lists(said, max_size=30),
    st.builds(ContextLimits, st.integers(-1, 12), st.integers(-5, 200)),
)
def test_the_window_is_the_longest_end_that_keeps_every_limit(
    history: list[Turn], limits: ContextLimits
) -> None:
    kept = window(history, limits, AT, len)

    def fits(some: Sequence[Turn]) -> bool:
        return (
            len(some) <= max(0, limits.max_messages)
            and (not some or sum(lengths(some)) <= limits.max_tokens)
            and all(AT - turn.at <= limits.ttl for turn in some)
        )

    assert list(kept) == history[len(history) - len(kept) :]
    assert fits(kept)
    if len(kept) < len(history):
        assert not fits(history[len(history) - len(kept) - 1 :])
