"""A process that accepts and answers events without a pause, until it is killed.

After every ten events it prints how many are finished.
"""

import asyncio
import sys
from datetime import timedelta
from itertools import count
from pathlib import Path

from gateway.conversation import ConversationKey
from gateway.ports.clock import SystemClock
from gateway.ports.conversations import StoredTurn
from gateway.ports.queues import InboxEntry
from gateway.ports.traces import Trace
from gateway.ports.unit_of_work import CompletedTurn
from gateway.stores.sqlite.queues import SqliteInbox
from gateway.stores.unit_of_work import SqliteUnitOfWork
from tests.support.databases import sqlite_database
from tests.support.messages import outbound, received

KEY = ConversationKey("t", "test", "main", "W1", "C1")


async def main(file: Path) -> None:
    clock = SystemClock()
    database = sqlite_database(file)
    await database.start()
    inbox, unit = SqliteInbox(database, clock), SqliteUnitOfWork(database, clock)
    for number in count(1):
        id_, now = f"e{number}", clock.now()
        await inbox.add(
            InboxEntry(id_, "conversation", received(message_id=id_), now), timedelta(days=1)
        )
        await unit.complete(
            CompletedTurn(
                KEY,
                (StoredTurn(id_, "user", "q", now), StoredTurn(id_, "assistant", "a", now)),
                (),
                (),
                Trace(id_, id_, "test", "main", "", "message", now, (), "answered", 1.0),
                (id_,),
                (outbound(f"answer-{id_}:0"), outbound(f"answer-{id_}:1")),
            )
        )
        if number % 10 == 0:
            sys.stdout.write(f"{number}\n")
            sys.stdout.flush()


asyncio.run(main(Path(sys.argv[1])))
