"""The first answer in each place says that a program writes, where the operator wants it."""

from pathlib import Path

import pytest

from gateway.message import CommandInvoked, MessageAuthor
from gateway.policy.access import AccessPolicy, RolePolicy
from gateway.policy.persona import Assistant
from gateway.turn.disclosure import A_PROGRAM
from gateway.turn.services import Policies
from tests.support.databases import sqlite_database
from tests.support.gateway import gateway
from tests.support.messages import direct, place, received

SAYS = A_PROGRAM.english.strip("_")
TELLS = Assistant(disclosure="first_contact")
ADA = MessageAuthor("ada", "Ada")


async def test_it_is_said_once_to_each_person_in_each_place() -> None:
    async with gateway(assistant=TELLS) as g:
        await g.take(received("hello", message_id="m1"), received("again", message_id="m2"))
        assert [SAYS in text for text in g.texts] == [True, False]
        await g.take(received("hello", message_id="m3", author="ben"))
        assert SAYS in g.texts[-1]
        at = place("C1")
        await g.take(received("here?", message_id="m4", at=at, mentions_bot=True))
        assert SAYS in g.texts[-1]
        await g.take(received("and now?", message_id="m5", at=at, mentions_bot=True))
        assert SAYS not in g.texts[-1]
        asked = str(g.model.requests)
        assert SAYS not in asked, "the model reads it as its own words"


async def test_the_answer_to_a_command_says_it_too() -> None:
    async with gateway(assistant=TELLS) as g:
        await g.take(CommandInvoked("c1", direct(), ADA, "help"))
        await g.take(received("hello"))
        assert [SAYS in text for text in g.texts] == [True, False]


async def test_a_new_start_does_not_repeat_it(tmp_path: Path) -> None:
    database = sqlite_database(str(tmp_path / "parley.db"))
    await database.start()
    try:
        for start in range(2):
            async with gateway(assistant=TELLS, database=database) as g:
                await g.take(received("hello", message_id=f"m{start}"))
                assert [SAYS in text for text in g.texts] == [not start]
    finally:
        await database.stop()


async def test_it_is_off_unless_the_operator_wants_it() -> None:
    async with gateway() as g:
        await g.take(received("hello"))
        assert SAYS not in g.texts[0]
        assert not await g.rows("first_contacts")


@pytest.mark.parametrize("kind", ["bot", "stranger"])
async def test_nothing_is_stored_of_bots_and_strangers(kind: str) -> None:
    """Otherwise everybody could fill the table."""
    policies = Policies(
        access=AccessPolicy(admission="approved"), roles=RolePolicy(owners=frozenset({"boss"}))
    )
    async with gateway(policies=policies, assistant=TELLS) as g:
        author = MessageAuthor("eve", "Eve", is_bot=kind == "bot")
        await g.take(received("hello", author="eve", is_bot=kind == "bot"))
        await g.take(CommandInvoked("c", direct("eve"), author, "help", reply_handle="h"))
        assert not await g.rows("first_contacts")


async def test_an_erasure_forgets_it() -> None:
    async with gateway(assistant=TELLS) as g:
        await g.take(received("hello"))
        g.services.disclosure.forget("default", "test:main:ada")
        await g.database.run_job(lambda db: db.execute("DELETE FROM first_contacts"))
        await g.take(received("hello again", message_id="m2"))
        assert SAYS in g.texts[-1]
