"""A failing model is known: since when, with which status, for how many people."""

from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from gateway.errors import ContextTooLong, ModelError, ModelRefused, ModelUnavailable
from gateway.llm.model_health import (
    CERTAIN,
    CERTAIN_ALONE,
    LINES,
    MAX_MESSAGE,
    ModelHealth,
    message_of,
)
from gateway.observe.correlation import asking
from tests.support.clock import FakeClock

SERVER = "https://api.example.org"


def overloaded(request_id: str = "req_1") -> ModelUnavailable:
    return ModelUnavailable("the service says 529: Overloaded", status=529, request_id=request_id)


def fail(health: ModelHealth, error: ModelError, person: str = "ada") -> None:
    with asking(person):
        health.call_failed("m", SERVER, error, 0.5, ())


async def test_a_model_fails_from_its_first_failed_call_until_its_next_answer() -> None:
    clock = FakeClock()
    health = ModelHealth(clock)
    began = clock.now()
    fail(health, overloaded())
    clock.skip(30.0)
    fail(health, overloaded("req_2"), "ben")
    fail(health, overloaded("req_3"), "ben")

    (failure,) = health.failures()
    assert (failure.model, failure.server, failure.status) == ("m", SERVER, 529)
    assert (failure.kind, failure.request_id) == ("overloaded", "req_3")
    assert (failure.since, failure.last) == (began, clock.now())
    assert (failure.calls, failure.people) == (3, 2)
    assert health.failed_calls() == {("m", "529"): 3}

    health.call_answered("m", SERVER)

    assert health.failures() == ()
    assert health.failed_calls() == {("m", "529"): 3}


async def test_each_failed_call_is_a_log_line_up_to_a_number_in_a_minute() -> None:
    clock = FakeClock()
    health = ModelHealth(clock)
    with capture_logs() as lines:
        for _ in range(LINES + 5):
            fail(health, overloaded())
        clock.skip(61.0)
        fail(health, overloaded())

    failed = [line for line in lines if line["event"] == "model_call_failed"]
    assert len(failed) == LINES + 1
    assert failed[0]["status"] == 529
    assert failed[0]["kind"] == "overloaded"
    assert failed[0]["message"] == "the service says 529: Overloaded"
    assert failed[0]["request_id"] == "req_1"
    assert failed[0]["log_level"] == "warning"
    assert failed[-1]["not_logged_before"] == "5"


async def test_another_failure_has_its_own_lines() -> None:
    health = ModelHealth(FakeClock())
    with capture_logs() as lines:
        for _ in range(LINES):
            fail(health, overloaded())
        fail(health, ModelRefused("no", status=401))

    assert lines[-1]["kind"] == "key_refused"


async def test_an_answer_in_another_process_ends_the_failure_only_if_it_came_later() -> None:
    clock = FakeClock()
    health = ModelHealth(clock)
    fail(health, overloaded())

    health.answered_elsewhere("m", SERVER, clock.now() - timedelta(seconds=1))
    assert health.failures()

    health.answered_elsewhere("m", SERVER, clock.now() + timedelta(seconds=1))
    assert not health.failures()


async def test_one_refused_question_is_no_failing_model_but_some_in_a_row_are() -> None:
    health = ModelHealth(FakeClock())
    for number in range(CERTAIN - 1):
        fail(health, ModelRefused("bad request", status=400), f"p{number}")
    assert health.failures() == ()

    fail(health, ModelRefused("bad request", status=400))
    assert len(health.failures()) == 1


async def test_the_refused_questions_of_one_person_say_less_about_the_model() -> None:
    health = ModelHealth(FakeClock())
    for _ in range(CERTAIN_ALONE - 1):
        fail(health, ModelRefused("bad request", status=400), "mallory")
    assert not health.failures()
    fail(health, ModelRefused("bad request", status=400), "mallory")
    assert len(health.failures()) == 1


async def test_a_conversation_that_is_too_long_is_logged_and_no_failing_model() -> None:
    health = ModelHealth(FakeClock())
    with capture_logs() as lines:
        for _ in range(9):
            fail(health, ContextTooLong("too long", status=400))

    assert health.failures() == ()
    assert lines[0]["kind"] == "too_long"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<html><body><h1>502 Bad Gateway</h1></body></html>", "502 Bad Gateway"),
        ("line one\nlevel=error injected\x1b[31m", "line one level=error injected [31m"),
        ("bad key k-of-the-operator", "bad key [SECRET_REDACTED]"),
        (f"message '{'words of a person ' * 5}' is refused", "message … is refused"),
        ("x" * 5_000, "x" * (MAX_MESSAGE - 1) + "…"),
    ],
)
def test_a_message_is_one_bounded_line_without_secrets_and_long_quotations(
    text: str, shown: str
) -> None:
    assert message_of(ModelRefused(text), ["k-of-the-operator"]) == shown


async def test_many_models_and_people_are_bounded() -> None:
    health = ModelHealth(FakeClock())
    with capture_logs():
        for number in range(300):
            health.call_failed(f"m{number}", SERVER, overloaded(), 0.1, ())

    assert len(health.failures()) == 50
    assert len(health.failed_calls()) == 200


BUSY = f"the model's server is {'very ' * 12}busy and can't answer"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (f'refused: "{"a word " * 40}', "refused: …"),
        (f"refused: '{'a word ' * 40}", "refused: …"),
        (BUSY, BUSY),
        ("the key secret-1234567", "the key"),
    ],
)
def test_a_message_that_was_cut_shows_no_half_of_what_it_may_not_show(
    written: str, shown: str
) -> None:
    assert message_of(ModelRefused(written), ["secret-123456789"]) == shown
