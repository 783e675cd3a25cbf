"""Cutting a conversation until it fits, with proof of progress."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.errors import ContextTooLong
from gateway.immutable import replace
from gateway.llm.calibration import EXACT, Calibration
from gateway.llm.tokens import estimate, estimate_messages
from gateway.ports import (
    ContentBlock,
    ImageBlock,
    ModelMessage,
    OpaqueBlock,
    TextBlock,
    ToolCall,
    ToolOutcome,
)
from gateway.turn.model_attempts import IMAGE_LEFT_OUT, Fitted, fit, smaller_room
from gateway.turn.prompt import clip
from tests.gateway.llm.asking import ADD, assistant, user
from tests.support.property_cases import cases

WORDS = st.text("abc de\n", max_size=3_000)


def question(number: int, size: int = 100) -> tuple[ModelMessage, ...]:
    """A question, a tool call, its outcome and an answer."""
    return (
        user(f"question {number} " + "x" * size),
        ModelMessage("assistant", (ToolCall(f"t{number}", "add", "{}"),)),
        ModelMessage("user", (ToolOutcome(f"t{number}", "3" * size),)),
        assistant("answer " + "y" * size),
    )


HISTORY = tuple(message for number in range(10) for message in question(number))
ASK = (user("And now?"),)


def size_of(fitted: Fitted) -> int:
    return estimate_messages(fitted.messages)


def test_a_request_that_fits_is_unchanged() -> None:
    fitted = fit("Be brief.", (ADD,), HISTORY, ASK, 100_000, EXACT)

    assert fitted is not None
    assert fitted.messages == HISTORY + ASK
    assert not fitted.changed


def test_the_oldest_turns_are_removed_first_and_completely() -> None:
    room = estimate("Be brief.") + estimate_messages(HISTORY[20:] + ASK)

    fitted = fit("Be brief.", (), HISTORY, ASK, room + 10, EXACT)

    assert fitted is not None
    assert fitted.messages == HISTORY[20:] + ASK
    assert fitted.dropped == 20
    assert fitted.shortened == 0


def test_a_history_that_begins_with_an_answer_loses_it() -> None:
    fitted = fit("", (), HISTORY[2:], ASK, 100_000, EXACT)

    assert fitted is not None
    assert fitted.messages == HISTORY[4:] + ASK


def test_the_longest_text_of_the_turn_is_shortened_last() -> None:
    own = (
        user("Short."),
        ModelMessage("assistant", (OpaqueBlock("m", "{}"), ToolCall("t", "add", "{}"))),
        ModelMessage("user", (ToolOutcome("t", "word " * 5_000), TextBlock("Also short."))),
    )

    fitted = fit("", (), HISTORY, own, 1_000, EXACT)

    assert fitted is not None
    assert fitted.dropped == len(HISTORY)
    assert fitted.shortened == 1
    assert fitted.messages[0] == own[0]
    assert fitted.messages[1].content == (ToolCall("t", "add", "{}"),)
    outcome = fitted.messages[2].content[0]
    assert isinstance(outcome, ToolOutcome)
    assert "characters omitted here" in outcome.content
    assert fitted.messages[2].content[1] == TextBlock("Also short.")


def test_removed_pictures_are_named() -> None:
    pictures: tuple[ContentBlock, ...] = tuple(ImageBlock("image/png", b"x") for _ in range(5))
    own = (ModelMessage("user", (*pictures, TextBlock("Which is best?"))),)

    fitted = fit("", (), (), own, 4_000, EXACT)

    assert fitted is not None
    kept = fitted.messages[0].content
    assert sum(isinstance(block, ImageBlock) for block in kept) == 2
    assert kept.count(IMAGE_LEFT_OUT) == 3


def test_a_request_that_cannot_be_cut_fails() -> None:
    assert fit("rule " * 1_000, (), (), ASK, 500, EXACT) is None
    assert fit("", (), (), tuple(user("word " * 20) for _ in range(99)), 500, EXACT) is None


@given(
    texts=st.lists(WORDS, min_size=1, max_size=6),
    questions=st.integers(0, 10),
    room=st.integers(1, 6_000),
    ratio=st.floats(0.5, 3),
)
@settings(max_examples=cases(300), deadline=None)
def test_the_result_fits_and_is_well_formed(
    texts: list[str], questions: int, room: int, ratio: float
) -> None:
    calibration = Calibration(ratio)
    own = tuple(user(text) for text in texts)

    fitted = fit("Be brief.", (ADD,), HISTORY[: questions * 4], own, room, calibration)

    if fitted is None:
        return
    assert fitted.tokens <= room
    assert len(fitted.messages) == questions * 4 - fitted.dropped + len(own)
    assert fitted.messages[0].role == "user"
    assert not isinstance(fitted.messages[0].content[0], ToolOutcome)
    again = fit("Be brief.", (ADD,), HISTORY[: questions * 4], own, room, calibration)
    assert again == fitted


@given(
    tokens=st.one_of(st.none(), st.integers(-5, 10**7)),
    limit=st.one_of(st.none(), st.integers(-5, 10**7)),
    excess=st.one_of(st.none(), st.integers(-5, 10**7)),
    answer=st.integers(0, 10**5),
    sent=st.integers(1, 10**6),
)
def test_each_attempt_is_smaller_than_the_previous_one(
    tokens: int | None, limit: int | None, excess: int | None, answer: int, sent: int
) -> None:
    error = ContextTooLong("too long", tokens, limit, excess=excess)

    room = smaller_room(Fitted(ASK, sent), error, answer)

    assert 0 <= room < sent


def test_the_reported_token_counts_decide_how_much_is_cut() -> None:
    sent = Fitted(ASK, 1_000)

    assert smaller_room(sent, ContextTooLong("x", 4_000, 1_000), 0) == 245
    assert smaller_room(sent, ContextTooLong("x", 1_132, 1_000), 0) == 865
    assert smaller_room(sent, ContextTooLong("x", 1_132, 1_000), 200) == 692
    assert smaller_room(sent, ContextTooLong("x", excess=132), 200) == 841
    assert smaller_room(sent, ContextTooLong("x", None, 1_000), 200) == 784
    assert smaller_room(sent, ContextTooLong("x"), 200) == 500


@given(st.text(max_size=2_000), st.integers(100, 500))
def test_shortening_keeps_both_ends_and_the_limit(text: str, limit: int) -> None:
    shown = clip(text, limit)

    assert len(shown) <= limit
    assert clip(shown, limit) == shown
    if len(text) <= limit:
        assert shown == text
    else:
        assert shown[:20] == text[:20]
        assert shown[-10:] == text[-10:]


def test_half_a_surrogate_pair_does_not_break_a_request() -> None:
    clip("a\ud800b", 100).encode("utf-8")


def test_images_and_reasoning_are_counted() -> None:
    picture = replace(ASK[0], content=(ImageBlock("image/png", b"x"),))
    reasoning = replace(ASK[0], content=(OpaqueBlock("m", "x" * 400),))

    assert estimate_messages((picture,)) > 1_500
    assert estimate_messages((reasoning,)) > 50
