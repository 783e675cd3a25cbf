"""The program's sentences do not return to the model as its own words."""

from datetime import UTC, datetime
from typing import get_args

import pytest

from gateway.outbound.live.answer import BROKEN, STOPPED
from gateway.people import Audience
from gateway.ports.conversations import StoredTurn
from gateway.turn.history_and_summary import dialogue_turns
from gateway.turn.model_turn import Outcome, closing
from gateway.turn.render import words_of_model

NOW = datetime(2026, 11, 1, tzinfo=UTC)


def stored(role: str, text: str, speaker: str = "") -> StoredTurn:
    return StoredTurn("m1", role, text, NOW, "p1", speaker)  # type: ignore[arg-type]  # one of two


@pytest.mark.parametrize("outcome", get_args(Outcome))
def test_every_sentence_at_the_end_of_a_turn_is_removed(outcome: Outcome) -> None:
    after = closing(outcome, has_text=True).english
    alone = closing(outcome, has_text=False, reference="01J8").english

    assert words_of_model(f"Whales sing.\n\n{after}" if after else "Whales sing.") == "Whales sing."
    assert words_of_model(alone) == ""


@pytest.mark.parametrize("note", [STOPPED.english, BROKEN.english])
def test_the_marks_of_live_answers_are_removed(note: str) -> None:
    assert words_of_model(f"Whales\n\n{note}") == "Whales"


def test_an_imitated_sentence_is_removed_too() -> None:
    note = closing("length", has_text=True).english

    assert words_of_model(f"Whales\n\n{note}\n\n{note}\n") == "Whales"


@pytest.mark.parametrize(
    "text",
    [
        "I can't help with that. Ask a vet.",
        "_(laughs)_",
        "The note says: _(Stopped.)_ and nothing else",
        "",
    ],
)
def test_other_words_stay(text: str) -> None:
    assert words_of_model(text) == text


def test_a_history_has_only_words_of_the_model() -> None:
    note = closing("length", has_text=True).english
    turns = [
        stored("user", "Tell me."),
        stored("assistant", f"Whales\n\n{note}"),
        stored("user", "More."),
        stored("assistant", closing("rounds", has_text=False).english),
        stored("assistant", "Stopped.", "Olga"),
    ]

    shown = dialogue_turns(turns, Audience.DIRECT)

    assert [turn.role for turn in shown] == ["user", "assistant", "user", "assistant"]
    assert shown[1].text == "Whales"
    assert shown[3].text.endswith("wrote:) Stopped.")
