"""Live texts on Telegram, by place."""

from hypothesis import given
from hypothesis import strategies as st

from adapters.telegram.manifest import DRAFT, EDITED, live_style
from adapters.telegram.send import MAX_DRAFT_ID, draft_id
from gateway.message import Place
from gateway.people import Audience


@given(st.text())
def test_a_draft_has_an_id_that_telegram_accepts(key: str) -> None:
    assert 1 <= draft_id(key) <= MAX_DRAFT_ID
    assert draft_id(key) == draft_id(key)


def test_two_answers_have_different_draft_ids() -> None:
    assert draft_id("live:1") != draft_id("live:2")


def test_drafts_are_used_in_private_chats_only() -> None:
    for audience in Audience:
        place = Place("telegram", "main", "1", audience)
        assert live_style(place) == (DRAFT if audience is Audience.DIRECT else EDITED)


def test_edits_keep_the_pause_of_telegram() -> None:
    assert min(DRAFT.pause, EDITED.pause) >= 1.1
