"""Learning how a model counts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.llm.calibration import (
    ALWAYS,
    EXACT,
    Calibration,
    Scripts,
    TokenCalibrations,
    read,
    written,
)
from gateway.llm.tokens import by_script, estimate, estimate_messages, estimate_tools, learned
from gateway.ports import ModelMessage, TextBlock, ToolSpec
from tests.gateway.llm.asking import user

ENGLISH = "The quick brown fox jumps over the lazy dog. "
RUSSIAN = "Съешь же ещё этих мягких французских булок. "
CHINESE = "敏捷的棕色狐狸跳过了懒狗。"
TRUE = Calibration(1.15, 0.8, 0.7, 1.3, 346)
"""A service that counts unlike the estimate in every respect."""


def counted_by(service: Calibration, text: str) -> int:
    return round(service.predict(by_script(text), 0))


def test_the_ratio_of_a_script_is_learned_from_prompts_in_that_script() -> None:
    calibration = EXACT
    for size in (20, 40, 80, 120, 160, 200):
        text = ENGLISH * size
        calibration = calibration.observe(by_script(text), 0, counted_by(TRUE, text))

    text = ENGLISH * 150
    assert calibration.predict(by_script(text), 0) == pytest.approx(
        counted_by(TRUE, text), rel=0.01
    )
    assert calibration.two == calibration.three == calibration.four == 1.0


def test_scripts_are_learned_separately_from_mixed_prompts() -> None:
    calibration = EXACT
    for n in range(1, 25):
        text = ENGLISH * (10 + n) + RUSSIAN * (n % 5) * 8 + CHINESE * (n % 3) * 20
        calibration = calibration.observe(by_script(text), 0, counted_by(TRUE, text))

    for text in (ENGLISH * 40, ENGLISH * 20 + RUSSIAN * 30, ENGLISH * 20 + CHINESE * 40):
        assert calibration.predict(by_script(text), 0) == pytest.approx(
            counted_by(TRUE, text), rel=0.05
        )
    assert calibration.two < 0.95
    assert calibration.three < 0.95


def test_the_estimate_uses_the_learned_ratios() -> None:
    text = ENGLISH * 50
    assert estimate(text, Calibration(1.5)) == round(1.5 * by_script(text)[0])
    assert estimate(CHINESE, Calibration(three=2.0)) > 1.7 * estimate(CHINESE)


@given(
    st.lists(
        st.tuples(
            st.tuples(*[st.floats(0, 1e6)] * 4), st.integers(0, 10_000), st.integers(0, 10**7)
        ),
        max_size=40,
    )
)
def test_any_counts_give_ratios_within_the_limits(
    seen: list[tuple[Scripts, int, int]],
) -> None:
    calibration = EXACT
    for scripts, frames, counted in seen:
        calibration = calibration.observe(scripts, frames, counted)

    ratios = (calibration.latin, calibration.two, calibration.three, calibration.four)
    assert all(0.5 <= ratio <= 3 for ratio in ratios)
    assert 0 <= calibration.constant <= 2_000
    assert all(calibration.covariance[n][n] > 0 for n in range(5))


def test_a_short_prompt_changes_nothing() -> None:
    assert EXACT.observe((10, 0, 0, 0), 0, 500) is EXACT
    assert EXACT.observe((500, 0, 0, 0), 0, 0) is EXACT


def test_later_only_some_prompts_are_used() -> None:
    calibration, changes = EXACT, 0
    questions = (ModelMessage("user", (TextBlock(ENGLISH * 20),)),)
    for _ in range(ALWAYS * 3):
        before = calibration
        calibration = learned(calibration, ENGLISH, (), questions, 400)
        changes += before.covariance != calibration.covariance or before.latin != calibration.latin

    assert calibration.samples == ALWAYS * 3
    assert changes <= ALWAYS + 2


def test_the_state_used_for_assembly_changes_ever_more_rarely() -> None:
    known = TokenCalibrations()
    states = set()
    for n in range(1, 101):
        known.learn("claude", Calibration(1 + n / 1000, samples=n))
        states.add(known.steady("claude"))
        assert known.latest("claude").samples == n

    assert sorted(state.samples for state in states) == [1, 2, 4, 8, 16, 32, 64]


def test_each_model_is_learned_separately_and_their_number_is_limited() -> None:
    known = TokenCalibrations()
    for n in range(150):
        known.learn(f"model-{n}", Calibration(1.2, samples=1))

    assert known.steady("model-149").latin == 1.2
    assert known.latest("model-0") == known.steady("model-0") == EXACT


def taught(service: Calibration, text: str, prompts: int = 40) -> Calibration:
    calibration = EXACT
    for n in range(1, prompts + 1):
        some = text * n
        calibration = calibration.observe(by_script(some), 0, counted_by(service, some))
    return calibration


def test_merging_two_states_takes_each_ratio_from_the_more_certain_one() -> None:
    english, chinese = taught(TRUE, ENGLISH), taught(TRUE, CHINESE)
    for both in (english.beside(chinese), chinese.beside(english)):
        assert both.latin == english.latin
        assert both.three == chinese.three
        text = ENGLISH * 40 + CHINESE * 40
        assert both.predict(by_script(text), 0) == pytest.approx(counted_by(TRUE, text), rel=0.05)
    assert english.beside(EXACT).figures == english.figures


def test_ratios_from_before_a_change_of_the_service_do_not_return() -> None:
    kept = taught(TRUE, ENGLISH, 200)
    new = taught(Calibration(1.6), ENGLISH)
    for _ in range(20):
        kept = new.beside(kept)
    assert kept.latin == new.latin


def test_a_model_whose_prompt_has_no_tools_does_not_make_text_cheap() -> None:
    """The templates of small models leave tools out."""
    tools = [ToolSpec("search", "Looks for something. " * 60, {"type": "object"})]
    calibration = EXACT
    for number in range(1, 8):
        messages = [user("whales sing in the sea. " * 30 * number)]
        counted = estimate("Be brief.") + estimate_messages(messages)
        calibration = learned(calibration, "Be brief.", tools, messages, counted)

    assert not calibration.counts_tools
    assert 0.9 < calibration.latin < 1.1
    assert estimate_tools(tools, calibration) == 0
    again = read(written(calibration))
    assert again is not None
    assert not again.counts_tools
