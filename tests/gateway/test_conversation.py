"""The conversation of a message, and the part of it that the model sees."""

import pytest

from gateway.conversation import ConversationKey, key_of, place_to_answer
from gateway.immutable import replace
from gateway.people import Audience
from gateway.ports import Capabilities
from tests.support.messages import direct, place

SLACK = Capabilities(answers_open_threads=True)


def test_each_part_of_the_key_distinguishes_conversations() -> None:
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


def test_ids_cannot_imitate_the_key_of_another_conversation() -> None:
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
def test_a_room_with_threads_opens_one_at_the_question(at, message_id: str, thread: str) -> None:  # type: ignore[no-untyped-def]
    assert place_to_answer(at, message_id, SLACK).thread_id == thread


def test_without_threads_an_answer_stays_in_the_place_of_the_question() -> None:
    assert place_to_answer(place(), "m1", Capabilities()) == place()


def test_a_key_is_parsed_from_its_text_and_from_no_other() -> None:
    key = key_of("t", place(thread="T1"))
    assert ConversationKey.of(str(key)) == key
    for text in ("", "lane", "{}", '["t", "test"]', '["t", "p", "a", "w", "c", 1]'):
        with pytest.raises(ValueError, match=r"."):
            ConversationKey.of(text)


def test_an_answer_goes_to_the_thread_of_its_conversation() -> None:
    somewhere = place()
    key = key_of("t", place_to_answer(somewhere, "m1", SLACK))
    assert key.place_in(somewhere) == replace(somewhere, thread_id="m1")
    assert key_of("t", somewhere).place_in(somewhere) is somewhere
