"""The next step of a live message, for every order of events."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from gateway.immutable import replace
from gateway.outbound.live.message import (
    FIRST_CHARACTERS,
    LINGER,
    LOOK,
    MAX_STRIKES,
    NEXT_CHARACTERS,
    Deliver,
    LiveMessage,
    LivePhase,
    Remove,
    Show,
    Wait,
)
from gateway.ports import LiveStyle
from tests.support.property_cases import cases

EDITED = LiveStyle(pause=1.1)
DRAFT = LiveStyle(pause=1.1, fades=30.0)
ENOUGH = FIRST_CHARACTERS + NEXT_CHARACTERS


def shown(style: LiveStyle = EDITED, at: float = 0.0) -> LiveMessage:
    """A message of which the beginning is on the screen."""
    state, look = LiveMessage(style).look(at, FIRST_CHARACTERS)
    assert look == Show()
    state, late = state.appeared(at, FIRST_CHARACTERS, "" if style.fades else "m1")
    assert late is None
    return state


def test_a_single_word_is_not_shown() -> None:
    _, look = LiveMessage(EDITED).look(0.0, FIRST_CHARACTERS - 1)
    assert look == Wait(LOOK)
    _, look = LiveMessage(EDITED).look(0.0, 0)
    assert look == Wait(None)


def test_between_two_requests_the_pause_of_the_platform_is_kept() -> None:
    state, look = shown().look(0.4, FIRST_CHARACTERS + NEXT_CHARACTERS)
    assert isinstance(look, Wait)
    assert look.seconds == pytest.approx(0.7)
    _, look = state.look(1.1, FIRST_CHARACTERS + NEXT_CHARACTERS)
    assert look == Show()


def test_a_few_characters_wait_for_more_for_a_limited_time() -> None:
    state, look = shown().look(1.2, FIRST_CHARACTERS + 1)
    assert look == Wait(LOOK)
    _, look = state.look(LINGER, FIRST_CHARACTERS + 1)
    assert look == Show()


def test_there_is_one_request_at_a_time() -> None:
    state, _ = LiveMessage(EDITED).look(0.0, ENOUGH)
    assert state.look(100.0, 10_000) == (state, Wait(None))


def test_a_preview_that_expires_is_shown_again_without_new_text() -> None:
    state = shown(DRAFT)
    _, look = state.look(5.0, FIRST_CHARACTERS)
    assert isinstance(look, Wait)
    assert look.seconds is not None
    assert 5.0 + look.seconds < DRAFT.fades
    _, look = state.look(5.0 + look.seconds, FIRST_CHARACTERS)
    assert look == Show()


def test_a_permanent_message_is_not_edited_without_new_text() -> None:
    assert shown().look(1_000.0, FIRST_CHARACTERS)[1] == Wait(None)


def test_slow_rendering_is_done_less_often() -> None:
    state, _ = LiveMessage(EDITED).look(0.0, ENOUGH)
    state, _ = state.appeared(0.0, ENOUGH, "m1", cost=4.0)
    _, look = state.look(1.2, 10_000)
    assert isinstance(look, Wait)
    assert look.seconds == pytest.approx(2.8)


def test_a_temporary_refusal_is_waited_for_and_the_third_ends_the_live_text() -> None:
    state = shown()
    for strike in range(MAX_STRIKES):
        assert not state.given_up
        state = state.refused(float(strike), 5.0)
    assert state.given_up
    assert state.look(1_000.0, 10_000)[1] == Wait(None)
    assert state.finish()[1] == Deliver("m1")


def test_a_success_resets_the_count_of_refusals() -> None:
    state = shown().refused(0.0, 1.0).refused(1.0, 1.0)
    state, _ = state.look(5.0, ENOUGH)
    state, _ = state.appeared(5.0, ENOUGH, "m1")
    assert state.strikes == 0


def test_the_final_answer_replaces_the_shown_text() -> None:
    state, action = shown().finish()
    assert (state.phase, action) == (LivePhase.FINALISING, Deliver("m1"))


@pytest.mark.parametrize("state", [LiveMessage(EDITED), shown(DRAFT), shown(EDITED).give_up()])
def test_the_final_answer_is_sent_once_for_any_shown_text(state: LiveMessage) -> None:
    state, action = state.finish()
    assert action is not None
    assert state.finish() == (state, None)
    assert state.cancel() == (state, None)


def test_a_message_that_appears_too_late_is_deleted() -> None:
    state, _ = LiveMessage(EDITED).look(0.0, ENOUGH)
    state, action = state.finish()
    assert action == Deliver("")
    state, late = state.appeared(9.0, ENOUGH, "m1")
    assert (late, state.phase, state.handle) == (Remove("m1"), LivePhase.FINALISING, "")


def test_an_edit_confirmed_late_deletes_nothing() -> None:
    state = replace(shown(), asking=True)
    state, _ = state.finish()
    assert state.appeared(9.0, ENOUGH, "m1")[1] is None


def test_a_stopped_answer_is_closed_only_if_something_was_shown() -> None:
    assert LiveMessage(EDITED).cancel()[1] is None
    assert shown(EDITED).cancel()[1] == Deliver("m1")
    assert shown(DRAFT).cancel()[1] == Deliver("")
    assert LiveMessage(EDITED).recall("m1").cancel()[1] == Deliver("m1")


def test_a_message_of_an_earlier_process_is_edited_and_not_sent_again() -> None:
    state = LiveMessage(EDITED).recall("m0")
    assert state.finish()[1] == Deliver("m0")
    assert shown().recall("m0").handle == "m1", "what is shown now counts"
    assert LiveMessage(EDITED).recall("") == LiveMessage(EDITED)


def test_a_message_of_an_earlier_process_is_edited_also_where_previews_expire() -> None:
    state, _ = LiveMessage(DRAFT).recall("m0").look(0.0, ENOUGH)
    state, _ = state.appeared(0.0, ENOUGH, "")
    assert state.finish()[1] == Deliver("m0")


def test_a_refused_final_edit_is_sent_again_once() -> None:
    state, _ = shown().finish()
    state, action = state.final_refused()
    assert action == Deliver("")
    assert state.final_refused() == (state, None)


class AnyOrder(RuleBasedStateMachine):
    """Everything that can happen to a live message, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.state = LiveMessage(EDITED)
        self.now = 0.0
        self.written = 0
        self.requests = 0
        self.finals: list[Deliver] = []
        self.refusals = 0
        self.on_screen: set[str] = set()

    @rule(seconds=st.floats(0.0, 40.0))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule(characters=st.integers(0, 200))
    def more_is_written(self, characters: int) -> None:
        self.written += characters

    @rule(fades=st.booleans())
    @precondition(lambda self: self.state == LiveMessage(self.state.style))
    def somewhere_else(self, fades: bool) -> None:
        self.state = LiveMessage(DRAFT if fades else EDITED)

    @rule()
    @precondition(lambda self: self.state.phase is LivePhase.IDLE and not self.requests)
    def an_earlier_run_left_something(self) -> None:
        self.state = self.state.recall("m0")
        self.on_screen.add("m0")

    @rule()
    def look(self) -> None:
        before = self.state
        self.state, look = self.state.look(self.now, self.written)
        if isinstance(look, Show):
            assert before.open
            assert not before.asking
            assert not before.given_up
            assert self.now >= before.not_before
            self.requests += 1
        elif look.seconds is not None:
            assert look.seconds >= 0

    @rule()
    @precondition(lambda self: self.requests > 0)
    def the_platform_shows_it(self) -> None:
        self.requests -= 1
        handle = "" if self.state.style.fades else (self.state.handle or "m1")
        if handle:
            self.on_screen.add(handle)
        self.state, late = self.state.appeared(self.now, self.written, handle)
        if late is not None:
            self.on_screen.discard(late.handle)

    @rule(seconds=st.floats(0.0, 40.0))
    @precondition(lambda self: self.requests > 0)
    def it_refuses_for_now(self, seconds: float) -> None:
        self.requests -= 1
        self.state = self.state.refused(self.now, seconds)

    @rule()
    @precondition(lambda self: self.requests > 0)
    def it_refuses_for_good(self) -> None:
        self.requests -= 1
        self.state = self.state.give_up()

    @rule(seconds=st.floats(0.0, 10.0))
    @precondition(lambda self: self.requests > 0)
    def there_is_no_room(self, seconds: float) -> None:
        self.requests -= 1
        self.state = self.state.postpone(self.now, seconds)

    @rule(stopped=st.booleans())
    def the_answer_ends(self, stopped: bool) -> None:
        self.state, action = self.state.cancel() if stopped else self.state.finish()
        if action is not None:
            self.finals.append(action)

    @rule()
    def the_final_edit_is_refused(self) -> None:
        self.state, action = self.state.final_refused()
        if action is not None:
            self.refusals += 1
            self.on_screen.clear()  # a refusal deletes the shown messages

    @invariant()
    def there_is_one_request_and_one_final(self) -> None:
        assert self.requests <= 1
        assert len(self.finals) <= 1
        assert self.refusals <= 1
        if self.state.phase is LivePhase.FINALISING:
            assert len(self.finals) == 1

    @invariant()
    def nothing_stays_on_the_screen_that_the_final_does_not_replace(self) -> None:
        if self.finals and not self.requests and not self.refusals:
            assert self.on_screen <= {self.finals[0].replaces}


AnyOrder.TestCase.settings = settings(
    max_examples=cases(300), stateful_step_count=40, deadline=None
)
TestAnyOrder = AnyOrder.TestCase
