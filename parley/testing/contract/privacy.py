"""A message for one person is visible to no other person, or refused."""

import pytest

from gateway.errors import Permanent
from gateway.message import (
    CommandInvoked,
)
from parley.testing.marks import lacks, proves
from parley.testing.stage import Stage, by_bot


@proves("ephemeral")
async def test_a_private_message_is_seen_by_one_person(stage: Stage) -> None:
    room = stage.platform.room("general")
    await stage.platform.command(stage.person, room, "context")
    question = await stage.sink.first(CommandInvoked)
    await stage.send(
        "for Ada", question.place, private_to=question.author.id, reply_handle=question.reply_handle
    )
    (seen,) = await stage.shown(room, bool)
    assert (seen.text, seen.only_for) == ("for Ada", stage.person.id)


@proves("ephemeral")
async def test_a_private_message_without_a_command_is_private_too(stage: Stage) -> None:
    room = stage.platform.room("general")
    question = await stage.hear("psst", room, mention=True)
    await stage.send("for Ada", question.place, private_to=question.author.id)
    openly = [seen for seen in by_bot(stage.platform.shown(room)) if not seen.only_for]
    privately = [seen for seen in by_bot(stage.platform.shown(room)) if seen.only_for]
    assert openly == []
    assert len(privately) + len(by_bot(stage.platform.shown(stage.room))) == 1


@lacks("ephemeral")
@proves("rooms")
async def test_a_private_message_is_refused_where_everybody_would_read_it(stage: Stage) -> None:
    room = stage.platform.room("general")
    question = await stage.hear("psst", room, mention=True)
    with pytest.raises(Permanent):
        await stage.send("for Ada", question.place, private_to=question.author.id)
    assert by_bot(stage.platform.shown(room)) == []


@lacks("ephemeral")
async def test_everything_in_a_direct_message_is_for_one_person(stage: Stage) -> None:
    question = await stage.hear()
    await stage.send("for Ada", question.place, private_to=question.author.id)
    assert [seen.text for seen in await stage.shown(stage.room, bool)] == ["for Ada"]


@proves("further_ids")
async def test_a_person_with_several_ids_has_all_of_them(stage: Stage) -> None:
    author = (await stage.hear()).author
    assert author.aliases
    assert author.id not in author.aliases


@lacks("further_ids")
async def test_a_person_with_one_id_has_no_other(stage: Stage) -> None:
    author = (await stage.hear()).author
    assert (author.aliases, author.former) == ((), ())
