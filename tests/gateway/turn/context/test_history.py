"""The older part of a conversation leaves the prompt."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from gateway.authorship import Material
from gateway.conversation import ContextLimits
from gateway.llm.tokens import estimate
from gateway.people import Audience
from gateway.ports.conversations import ConversationSummary, StoredTurn
from gateway.turn.context.history import since, sizes_of
from gateway.turn.context.summary import (
    FROM_REPOSITORY,
    MAX_PERSONS,
    SHOWN,
    leaving,
    merged_summary,
    noted,
    summary_in_time,
)
from gateway.turn.history_and_summary import dialogue_turns
from tests.gateway.turn.context.making import AT

LIMITS = ContextLimits(max_messages=10, max_tokens=2_000, ttl=timedelta(hours=24))
SECOND = timedelta(seconds=1)


def talk(questions: int, words: str = "something") -> list[StoredTurn]:
    turns = []
    for n in range(questions):
        at = AT + 2 * n * SECOND
        turns.append(StoredTurn(f"m{n}", "user", f"{words} {n}?", at, f"person-{n % 3}", "Ada"))
        turns.append(StoredTurn(f"m{n}", "assistant", f"{words} {n}.", at + SECOND))
    return turns


def gone_of(
    turns: list[StoredTurn], limits: ContextLimits, *, coming: int = 0, coming_tokens: int = 0
) -> int:
    sizes = sizes_of(turns, estimate)
    return leaving(turns, sizes, limits, coming=coming, coming_tokens=coming_tokens)


def ids(turns: list[StoredTurn]) -> list[str]:
    return [f"{turn.role[0]}{turn.message_id}" for turn in turns]


def test_nothing_is_removed_while_the_window_has_room() -> None:
    assert gone_of(talk(5), LIMITS) == 0


def test_half_of_the_window_is_removed_at_once_at_a_question() -> None:
    turns = talk(6)
    gone = gone_of(turns, LIMITS)

    assert gone == 8
    assert turns[gone].role == "user"


def test_the_current_question_counts() -> None:
    assert gone_of(talk(4), LIMITS, coming=2) == 0
    assert gone_of(talk(5), LIMITS, coming=2) > 0
    assert gone_of(talk(2), LIMITS, coming=2, coming_tokens=2_000) > 0


def test_the_limit_of_tokens_works_like_the_limit_of_messages() -> None:
    turns = talk(4, "word " * 300)

    assert gone_of(turns, LIMITS) >= 4


def test_the_latest_question_is_always_kept() -> None:
    turns = talk(3, "word " * 5_000)

    assert ids(turns[gone_of(turns, LIMITS) :]) == ["um2", "am2"]


def test_the_window_grows_again_until_the_next_step() -> None:
    """Ten steps of a conversation: it begins at the same turn most of the time."""
    turns, summary, begins = talk(40), None, []
    for n in range(5, 41):
        kept = since(turns[: 2 * n], summary, LIMITS, AT)
        gone = gone_of(kept, LIMITS)
        if gone:
            summary = merged_summary(
                summary, kept[:gone], dialogue_turns(kept[:gone], Audience.DIRECT)
            )
        begins.append(kept[gone].message_id)

    assert len(set(begins)) <= len(begins) // 2


def test_turns_after_the_summary_are_found_by_its_last_turn() -> None:
    turns = talk(4)
    upto = ConversationSummary("so far", "m1", "assistant", turns[3].at)

    assert ids(since(turns, upto, LIMITS, AT)) == ["um2", "am2", "um3", "am3"]


def test_turns_after_the_summary_are_found_by_time_if_that_turn_is_deleted() -> None:
    turns = talk(4)
    upto = ConversationSummary("so far", "deleted", "assistant", turns[3].at)

    assert ids(since(turns, upto, LIMITS, AT)) == ["um2", "am2", "um3", "am3"]
    assert (
        since(turns, ConversationSummary("", "x", "user", AT + timedelta(days=1)), LIMITS, AT) == []
    )


def test_turns_beyond_the_age_limit_are_excluded() -> None:
    late = AT + timedelta(hours=24, seconds=5)

    assert ids(since(talk(4), None, LIMITS, late))[0] == "um3"
    summary = ConversationSummary("so far", "m1", "assistant", AT)
    assert summary_in_time(summary, LIMITS, late) is None
    assert summary_in_time(summary, LIMITS, AT) is summary


def test_a_summary_quotes_decisions_with_their_authors() -> None:
    turns = [
        *talk(1),
        StoredTurn("m7", "user", "Rye or wheat? We decided on rye. More talk.", AT, "ada", "Ada"),
        StoredTurn("m7", "assistant", "Good.", AT),
    ]
    first = merged_summary(None, turns[:2], dialogue_turns(turns[:2], Audience.PUBLIC_ROOM))
    both = merged_summary(first, turns[2:], dialogue_turns(turns[2:], Audience.PUBLIC_ROOM))

    assert both.text == "- [Ada] something 0?\n- [Ada] We decided on rye."
    assert (both.message_id, both.role) == ("m7", "assistant")
    assert both.persons == ("ada", "person-0")


def test_a_summary_with_too_many_people_is_made_anew() -> None:
    crowd = ConversationSummary("old", "m", "user", AT, tuple(f"p{n}" for n in range(MAX_PERSONS)))
    made = merged_summary(crowd, talk(1), dialogue_turns(talk(1), Audience.DIRECT))

    assert "old" not in made.text
    assert made.persons == ("person-0",)


def test_a_summary_contains_no_secret() -> None:
    turns = [StoredTurn("m", "user", "we agreed on AKIAIOSFODNN7EXAMPLE as key", AT, "a", "A")]
    dialogue = dialogue_turns(turns, Audience.DIRECT)
    extracted = merged_summary(None, turns, dialogue)
    longer = noted(extracted, dialogue)

    assert "AKIAIOSFODNN7EXAMPLE" not in extracted.text
    assert longer is not None
    assert "AKIAIOSFODNN7EXAMPLE" not in longer
    assert longer.startswith(f"{extracted.text}\n")


@given(st.lists(st.tuples(st.booleans(), st.text(max_size=200)), max_size=30), st.integers(1, 12))
def test_the_window_always_begins_with_a_question_and_contains_the_latest(
    said: list[tuple[bool, str]], most: int
) -> None:
    turns = [
        StoredTurn(f"m{n}", "user" if question else "assistant", text, AT)
        for n, (question, text) in enumerate(said)
    ]
    limits = ContextLimits(max_messages=most, max_tokens=300)
    kept = since(turns, None, limits, AT)
    gone = gone_of(kept, limits)

    assert 0 <= gone <= max(0, len(kept) - 1)
    if kept:
        assert kept[gone].role == "user"


def test_a_summary_of_external_text_is_external_text() -> None:
    shown = (Material("forwarded", "we agreed to pay", "Eve"),)
    turn = StoredTurn("m", "user", "see this", AT, "a", "A", material=shown)
    first = merged_summary(None, [turn], dialogue_turns([turn], Audience.DIRECT))
    assert first.persons == (SHOWN, "a")
    later = talk(1)
    assert SHOWN in merged_summary(first, later, dialogue_turns(later, Audience.DIRECT)).persons


def test_a_summary_keeps_that_an_answer_was_made_from_a_repository() -> None:
    mark = (Material("repository", ""),)
    turns = [StoredTurn("m", "user", "why?", AT, "a", "A"), StoredTurn("m", "assistant", "so", AT)]
    marked = [turns[0], turns[1]._replace(material=mark)]
    dialogue = dialogue_turns(turns, Audience.DIRECT)
    first = merged_summary(None, marked, dialogue)
    assert FROM_REPOSITORY in first.persons
    assert FROM_REPOSITORY in merged_summary(first, turns, dialogue).persons
    assert FROM_REPOSITORY not in merged_summary(None, turns, dialogue).persons
