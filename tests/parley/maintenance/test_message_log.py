"""The log of a message shows what its person did meanwhile, and nobody else."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gateway.ports import Usage
from gateway.ports.clock import SystemClock
from gateway.ports.traces import Trace
from gateway.ports.usage import UsageRow
from memory.ports.audit import AuditEntry
from parley.config import from_mapping
from parley.maintenance.message_log import read_log
from parley.wiring.storage import Storage

AT = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
CHANNEL = "telegram:main:-100"
TRACE = Trace(
    id="t1",
    message_id="4711",
    platform="telegram",
    account="main",
    conversation='["default", "telegram", "main", "", "-100", ""]',
    kind="message",
    at=AT,
    decisions=(),
    outcome="answered",
    milliseconds=2_000.0,
)


def entry(person: str, channel: str, seconds: float = 1.0) -> AuditEntry:
    at = AT + timedelta(seconds=seconds)
    return AuditEntry("security_event", "default", person, at, (("channel", channel),))


@pytest.mark.parametrize(
    ("asked", "shown"),
    [("ada", ["ada", "ada"]), ("", ["ada", "ben"])],
    ids=["the person's, in any chat", "the chat's, if no model was called"],
)
async def test_the_audit_of_the_person_or_of_the_chat_is_shown(
    tmp_path: Path, asked: str, shown: list[str]
) -> None:
    url = f"sqlite:///{tmp_path}/parley.db"
    storage = Storage(from_mapping({"database": {"url": url}}), SystemClock())
    await storage.start()
    audit = storage.memory.audit_on(b"key")
    for each in (
        entry("ada", CHANNEL),
        entry("ada", "telegram:main:ada"),
        entry("ben", CHANNEL),
        entry("ada", CHANNEL, seconds=60.0),
    ):
        await audit.append(each)
    if asked:
        await storage.stores.usage.settle(
            TRACE.id, (UsageRow("default", asked, "", "m", Usage(1, 1), 10, AT),), ()
        )
    log = await read_log(storage, TRACE)
    await storage.stop()
    assert sorted(link.entry.person for link in log.audit) == shown
