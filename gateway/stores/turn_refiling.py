"""Files stored turns again under the words that their texts have in this version.

A change of the words of `TurnWords` adds `TURNS.again` to the steps of the schema. Until it is
done, an older turn is found by its former words.
"""

from collections.abc import Sequence
from typing import Final

from db import Database, Row, Statement, Work, execute
from db.refiling import Refiling
from gateway.conversation import ConversationKey
from gateway.stores.conversations import COLUMNS, stored_turn
from gateway.stores.turn_index import TurnWords

AT_ONCE: Final = 10
"""Turns of one step: the longest ones take some tens of milliseconds."""
ASKER: Final = """(
    SELECT asked.person FROM turns asked
    WHERE asked.channel = m.channel AND asked.message_id = m.answers AND asked.role = 'user')"""
"""The person whose exchange a turn belongs to."""
TURNS: Final = Refiling(
    "turn_refiling", "turns", "id", f"m.conversation, m.audience, m.words, {ASKER}, {COLUMNS}"
)
REFILE: Final = Statement("UPDATE turns SET words = :words WHERE id = :id")


async def refile_some(database: Database, words: TurnWords) -> int:
    """File the next turns again; the number of those that were read, 0 when none is left. Raises
    `StoreUnavailable`."""
    return await database.run(lambda: TURNS.step(lambda rows: _refile(rows, words), AT_ONCE))


def _refile(rows: Sequence[Row], words: TurnWords) -> Work[None]:
    for number, conversation, audience, before, asker, *columns in rows:
        turn, tenant = stored_turn(tuple(columns)), ConversationKey.of(conversation).tenant
        now = words.of_turn(tenant, audience, asker or "", turn)
        if now != before:
            yield from execute(REFILE, {"id": number, "words": now})
