"""The earlier messages of a thread in the prompt: what is kept when not everything fits."""

import pytest

from gateway.ports.prompt_blocks import BlockKind, ContextParts, ThreadText
from gateway.turn.context.assembler import NEWEST_MISSING, ThreadFitter, assemble, thread_text
from gateway.turn.context.token_budgets import budget_for
from tests.support.for_each import for_each

FIRST = "[from Ada, 2026-11-27 09:00] The deploy failed. " + "Long story. " * 20
LATEST = tuple(f"[from Bob, 2026-11-27 09:{n:02}] reply {n} of some words" for n in range(40))
THREAD = ThreadText(FIRST, LATEST, title="[title] Deploy")


def words(text: str) -> int:
    """Tokens for these tests."""
    return len(text.split())


def test_everything_is_kept_if_it_fits() -> None:
    text, tokens, losses = ThreadFitter(THREAD, words).within(10_000)
    assert all(entry in text for entry in (THREAD.title, FIRST, *LATEST))
    assert (tokens, losses) == (words(text), ())
    assert "left out" not in text


def test_without_a_thread_there_is_no_text() -> None:
    assert ThreadFitter(None, words).within(100) == ("", 0, ())


@for_each("limit", range(0, 480, 7))
def test_the_text_never_exceeds_its_limit_and_is_always_a_whole_frame(limit: int) -> None:
    fitter = ThreadFitter(THREAD, words)
    text, tokens, losses = fitter.within(limit)
    assert tokens <= limit
    assert not text or (text.startswith("<material") and text.endswith("</material>"))
    assert sum(loss.tokens for loss in losses) == fitter.tokens - tokens
    assert ThreadFitter(THREAD, words).within(limit) == (text, tokens, losses)


def test_the_first_and_the_latest_stay_and_the_number_between_is_named() -> None:
    text, _, (loss,) = ThreadFitter(THREAD._replace(between=7), words).within(160)
    assert "The deploy failed." in text
    assert LATEST[-1] in text
    assert LATEST[0] not in text
    shown = sum(entry in text for entry in LATEST)
    assert f"({7 + len(LATEST) - shown} messages between are left out.)" in text
    assert (loss.what, loss.why) == ("thread", "cut")


@pytest.mark.parametrize(
    ("thread", "line"),
    [
        (ThreadText("a", ("b",), 1), "(1 message between is left out.)"),
        (
            ThreadText("a", ("b",), 100, or_more=True),
            "(100 or more messages between are left out.)",
        ),
        (ThreadText("", ("b",), 3), "(3 earlier messages are left out.)"),
        (ThreadText("a", ("b",), newest_missing=True), NEWEST_MISSING),
    ],
)
def test_what_is_missing_is_named(thread: ThreadText, line: str) -> None:
    assert line in thread_text(thread, thread.first, thread.latest)


def test_thread_and_conversation_share_the_history_block() -> None:
    budget = budget_for(8_192)
    long = ThreadText("", tuple(f"[from Bob, 10:00] {'word ' * 200}" for _ in range(40)))
    made = assemble(ContextParts("own", thread=long), budget, words, total=1_500)
    block = made[BlockKind.HISTORY]
    assert made.tokens <= 1_500
    assert block.tokens == words(made.thread) > 0
    assert [loss.what for loss in block.losses] == ["thread"]
    assert not made.turns
