"""The definitions of lost, duplicated and unordered in `benchmarks/faults`."""

import pytest

from benchmarks.faults.verdict import NOTE, Handed, Kills, Verdict, judge, overtaken, row
from benchmarks.faults.world import first_taken, marks

ORDERLY = {number: Handed(number, number) for number in range(10)}


def verdict(*chats: list[int], written: int = 4, allowed: int = 0) -> Verdict:
    answers = {str(number): chat for number, chat in enumerate(chats)}
    return judge(answers, written, ORDERLY, allowed)


def test_complete_ordered_answers_meet_the_requirements() -> None:
    result = verdict([0, 2], [1, 3])
    assert (result.lost, result.answered_twice, result.out_of_order, result.kept) == (0, 0, 0, True)


def test_an_unanswered_message_is_lost() -> None:
    result = verdict([0, 2], [1])
    assert (result.lost, result.kept) == (1, False)


@pytest.mark.parametrize(("allowed", "kept"), [(0, False), (1, False), (2, True)])
def test_messages_in_flight_can_be_answered_twice(allowed: int, kept: bool) -> None:
    result = verdict([0, NOTE, 0, NOTE, 0], [1, 2, 3], allowed=allowed)
    assert (result.answered_twice, result.kept) == (2, kept)


def test_a_repetition_needs_a_note_above_it() -> None:
    assert verdict([0, NOTE, 0, 2], [NOTE, 1, 3], allowed=1).kept
    result = verdict([0, 2, NOTE, 2, 0], [1, 3], allowed=2)
    assert (result.answered_twice, result.twice_without_note, result.kept) == (2, 1, False)


def test_a_repetition_does_not_count_as_out_of_order() -> None:
    assert verdict([0, 1, NOTE, 0, 2, 3], allowed=1).out_of_order == 0


def test_a_later_message_of_a_chat_must_not_be_answered_first() -> None:
    result = verdict([1, 0], [3, 2])
    assert (result.out_of_order, result.out_of_order_as_written, result.kept) == (2, 2, False)


def test_messages_in_transit_at_the_same_time_have_no_order() -> None:
    handed = {0: Handed(0.0, 2.0), 1: Handed(1.0, 3.0)}
    assert overtaken([1, 0], handed) == overtaken([0, 1], handed) == 0


def test_a_message_delivered_late_is_answered_late() -> None:
    handed = {0: Handed(8.0, 9.0), 1: Handed(1.0, 2.0)}
    assert overtaken([1, 0], handed) == 0
    assert overtaken([0, 1], handed) == 1


def test_a_message_overtaken_by_several_counts_once() -> None:
    assert overtaken([1, 2, 3, 0], ORDERLY) == 1


def test_a_message_counts_as_delivered_at_its_first_acknowledgement() -> None:
    payloads = [{"text": f"this is n00000{number}"} for number in (1, 2)]
    attempts = [
        (payloads[0], False, False, 0.0, 0.1),  # nobody listened
        (payloads[1], True, False, 0.2, 0.3),
        (payloads[0], False, True, 0.4, 0.5),  # perhaps it was stored, and then killed
        (payloads[0], True, False, 0.6, 0.7),
        (payloads[0], True, False, 0.8, 0.9),
    ]
    assert first_taken(attempts) == {1: Handed(0.4, 0.7), 2: Handed(0.2, 0.3)}


def test_an_answer_names_its_message() -> None:
    assert marks("you said: this is n000123, and n12") == [123]


def test_the_line_of_a_run_contains_the_totals() -> None:
    line = row(verdict([0, 1, 2, 3]), Kills([3, 0, 1], [5, 6, 7], [0.5, 2.0, 0.7]))
    assert (line["in_flight_at_the_kills"], line["in_flight_at_most"]) == (4, 3)
    assert (line["kills"], line["restart_seconds_median"], line["kept"]) == (3, 0.7, True)
