"""What is remembered about the windows of the models."""

import structlog

from gateway.errors import ContextTooLong
from gateway.immutable import replace
from gateway.llm.known_windows import MARGIN, KnownWindows, ModelPlace, is_cut
from gateway.ports import ModelFinished, ModelMessage, Usage
from tests.gateway.llm.asking import question

SENT = replace(question("Hello"), tokens=3_000, max_tokens=500)


def known(*windows: int) -> KnownWindows:
    return KnownWindows([ModelPlace(f"m{i}", "http://s", each) for i, each in enumerate(windows)])


def answer(tokens: int) -> ModelFinished:
    return ModelFinished(ModelMessage("assistant", ()), "end", Usage(tokens, 1), "m0")


def test_the_configured_windows_hold_until_something_is_found() -> None:
    windows = known(8_000, 4_000)

    assert (windows.window(0), windows.window(1), windows.window(2)) == (8_000, 4_000, 0)
    assert (windows.smallest(), windows.largest()) == (4_000, 8_000)
    assert windows.findings() == ()
    assert KnownWindows().smallest() is None


def test_a_window_that_an_error_names_is_remembered() -> None:
    windows = known(8_000)

    windows.refused(0, SENT, ContextTooLong("x", 3_200, 2_048))

    assert windows.window(0) == round(2_048 * MARGIN)
    (finding,) = windows.findings()
    assert (finding.model, finding.server) == ("m0", "http://s")
    assert finding.setting == "model.window: 2048"


def test_the_setting_is_that_of_the_model_and_has_a_value_that_can_be_set() -> None:
    windows = known(8_000, 8_000)

    windows.named(0, 1_024)
    windows.named(1, 4_096)

    first, fallback = windows.findings()
    assert "model.window" not in first.setting
    assert fallback.setting == "model.fallbacks[0].window: 4096"


def test_without_figures_half_of_the_refused_request_is_remembered() -> None:
    windows = known(8_000)

    windows.refused(0, SENT, ContextTooLong("x"))

    assert windows.window(0) == round((3_000 + 500) / 2 * MARGIN)


def test_figures_that_do_not_fit_the_request_are_not_believed() -> None:
    """An error may repeat text of the person who asked."""
    windows = known(8_000)

    windows.refused(0, SENT, ContextTooLong("x", 900_000, 600))
    windows.refused(0, SENT, ContextTooLong("x", None, 2_000_000))

    assert windows.window(0) == 8_000


def test_no_error_makes_a_window_smaller_than_a_prompt_that_was_answered() -> None:
    windows = known(8_000)
    windows.answered(0, replace(SENT, tokens=2_500), answer(2_400))

    windows.refused(0, SENT, ContextTooLong("x", 3_000, 600))

    assert windows.window(0) == 2_400


def test_a_server_that_was_started_again_with_a_smaller_window() -> None:
    windows = known(8_000)
    windows.named(0, 4_096)
    windows.answered(0, SENT, answer(3_000))

    windows.refused(0, replace(SENT, tokens=2_900), ContextTooLong("x", 2_950, 2_048))
    assert windows.window(0) == round(2_048 * MARGIN)

    windows.named(0, 2_048)
    assert windows.window(0) == round(2_048 * MARGIN)


def test_a_server_that_was_started_again_with_a_larger_window() -> None:
    windows = known(8_000)
    windows.named(0, 2_048)
    windows.refused(0, SENT, ContextTooLong("x", 3_200, 2_048))

    windows.named(0, 4_096)

    assert windows.window(0) == round(4_096 * MARGIN)


def test_a_window_that_follows_from_an_error_is_forgotten_from_time_to_time() -> None:
    windows = known(8_000, 9_000)
    windows.refused(0, SENT, ContextTooLong("x", 3_200, 2_048))
    windows.refused(1, SENT, ContextTooLong("x", 3_200, 2_048))

    windows.forget_refusals(0)

    assert windows.window(0) == 8_000
    assert windows.window(1) < 2_048


def test_models_of_one_server_have_windows_of_their_own() -> None:
    windows = known(8_000)

    windows.refused(0, replace(SENT, model="small"), ContextTooLong("x", 3_000, 2_000))

    assert windows.window(0) == 8_000
    assert windows.window(0, "small") < 2_000
    assert windows.smallest("small") == windows.window(0, "small")


def test_a_larger_window_than_configured_changes_nothing() -> None:
    windows = known(8_000)

    windows.named(0, 32_000)

    assert windows.window(0) == 8_000
    assert windows.findings() == ()


def test_a_server_that_cuts_prompts_is_reported_once_it_did_so_twice() -> None:
    windows = known(32_000)
    with structlog.testing.capture_logs() as logs:
        windows.answered(0, replace(SENT, tokens=5_000, text_tokens=5_000), answer(2_048))
        assert windows.findings() == ()
        windows.answered(0, replace(SENT, tokens=6_000, text_tokens=6_000), answer(2_050))
        windows.answered(0, replace(SENT, tokens=7_000, text_tokens=7_000), answer(2_049))

    (finding,) = windows.findings()
    assert "num_ctx" in finding.setting
    assert "2,050" in finding.text
    assert [line["event"] for line in logs] == ["context_cut_by_model_server"]


def test_a_count_near_the_estimate_is_no_cut() -> None:
    assert not is_cut(3_000, 2_000)
    assert not is_cut(3_000, 0)
    assert not is_cut(800, 100)
    assert is_cut(6_000, 2_048)
