"""Stored conversations are rendered for the adapter, of one tenant, and bounded."""

from datetime import UTC, datetime
from pathlib import Path

from gateway.extensions import ExtensionRegistry
from gateway.markdown.text_renderer import plain_parts
from gateway.message import Place
from gateway.people import Audience
from gateway.ports.conversations import MessageName, StoredTurn
from gateway.ports.identities import CONFLICTS_SHOWN, note_conflict
from gateway.stores.history import SqlOwnConversations
from gateway.stores.sqlite.hot_state import SqliteAdapterStates
from parley.config import load
from parley.wiring.accounts import MAX_SHOWN, ShownConversations, identity_conflicts
from tests.support.clock import FakeClock
from tests.support.databases import sqlite_database

AT = datetime(2026, 11, 3, tzinfo=UTC)
PLACE = Place("web", "main", "web-ada", Audience.DIRECT)


class Turns(SqlOwnConversations):
    """The turns that a test names."""

    def __init__(self, *texts: str) -> None:
        self._texts = texts
        self.tenants: list[str] = []

    async def turns(self, tenant: str, place: Place, person: str, limit: int) -> list[StoredTurn]:
        self.tenants.append(tenant)
        return [
            StoredTurn(f"m{number}", "assistant" if number % 2 else "user", text, AT)
            for number, text in enumerate(self._texts)
        ]


def shown(turns: Turns) -> ShownConversations:
    return ShownConversations(turns, ExtensionRegistry(), lambda: plain_parts)


async def test_answers_are_rendered_and_questions_are_not() -> None:
    turns = Turns("**what**?", "**this**")
    question, answer = await shown(turns).messages(PLACE, "web-ada", 10)
    assert (question.text, question.parts) == ("**what**?", ())
    assert answer.name == MessageName("m1", "assistant")
    assert [part.text for part in answer.parts] == ["this"]
    assert turns.tenants == ["default"]


async def test_the_latest_messages_within_the_bound_are_shown() -> None:
    texts = ["x" * 40_000] * (MAX_SHOWN // 40_000 + 3)
    result = await shown(Turns(*texts[:-1], "short")).messages(PLACE, "web-ada", 100)
    assert sum(len(one.text) for one in result) <= MAX_SHOWN
    assert result[-1].text == "short"
    assert len(result) == MAX_SHOWN // 40_000


async def test_operators_see_for_a_week_that_a_platform_mixed_ids_of_people_up(
    tmp_path: Path,
) -> None:
    file = tmp_path / "parley.yaml"
    file.write_text(
        "platforms: {whatsapp: {access_token: t, phone_number_id: '1', app_secret: s,"
        " verify_token: v}}\n"
    )
    settings, clock, database = load(file, {}), FakeClock(), sqlite_database(":memory:")
    await database.start()
    states = SqliteAdapterStates(database, clock)
    assert await identity_conflicts(settings, states) == []
    for _ in range(2):
        await note_conflict(states.of("whatsapp", "main"), clock.now())
    (said,) = map(str, await identity_conflicts(settings, states))
    assert said.startswith("whatsapp reported 2 changes of a number or id")
    assert "identity_conflict" in said
    await clock.advance(CONFLICTS_SHOWN.total_seconds() + 1)
    assert await identity_conflicts(settings, states) == []
    await database.stop()
