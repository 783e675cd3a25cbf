"""Whole conversations at the most talkative log level: ids and codes are written, words are not."""

import io
import json
import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from gateway.errors import FormatRejected
from gateway.message import Place
from gateway.observe.correlation import correlation_id
from gateway.observe.logs import OURS, REDACTED, configure_logs
from gateway.people import PersonId
from gateway.policy.decision import Decision
from gateway.ports.usage import UsageRow
from parley.config.secrets import secret_values
from simulators.base import Fault, FaultKind, SimFile
from tests.e2e.conftest import EVERY_CONNECTION, open_lab, open_lab_with_model
from tests.e2e.harness import Lab
from tests.e2e.test_faults import SEND
from tests.support.immutable import force
from tests.support.waiting import eventually

CANARY = "xylophonecanary"
NAME = "Kanarienvogel"


class Log:
    """Everything that is written to the log."""

    def __init__(self) -> None:
        self.out = io.StringIO()

    @property
    def text(self) -> str:
        return self.out.getvalue()

    def about(self, event: str) -> list[dict[str, object]]:
        records = [json.loads(line) for line in self.text.splitlines()]
        return [record for record in records if record["event"] == event]

    async def has(self, event: str) -> None:
        """Return once such a line is there."""
        await eventually(lambda: f'"{event}"' in self.text)

    def is_clean(self, secrets: Iterator[str]) -> None:
        """Fails where a word of somebody's, or a secret, stands in a line."""
        for word in (CANARY, NAME, *(secret for secret in secrets if len(secret) > 5)):
            lines = [line for line in self.text.splitlines() if word.lower() in line.lower()]
            assert not lines, lines[0]
        assert REDACTED not in self.text


@pytest.fixture
def log() -> Iterator[Log]:
    """The log at its most talkative, libraries included."""
    made = Log()
    configure_logs("json", logging.DEBUG, stream=made.out)
    others = [
        logger
        for name, logger in logging.root.manager.loggerDict.items()
        if isinstance(logger, logging.Logger) and name.partition(".")[0] not in OURS
    ]
    levels = [logger.level for logger in others]
    for logger in others:
        logger.setLevel(logging.DEBUG)
    yield made
    for logger, level in zip(others, levels, strict=True):
        logger.setLevel(level)
    configure_logs(level=logging.WARNING)


async def converse(lab: Lab) -> None:
    """Do what people do, with the canary in every word."""
    platform, ada = lab.platform, lab.platform.person(NAME)
    room = platform.direct(ada)
    file = SimFile(f"{CANARY}.txt", "text/plain", f"the {CANARY} sings".encode())
    first = await platform.say(ada, room, f"**{CANARY}** <b>[{CANARY}](x</b> `{CANARY}")
    await lab.answer(room)
    await platform.say(ada, room, f"{CANARY} in a file", files=(file,))
    await lab.answer(room, after=1)
    await platform.command(ada, room, "ask", f"why {CANARY}?")
    if platform.platform != "discord":
        await platform.say(ada, room, f"/{CANARY} {CANARY}")
    await lab.idle()
    if platform.platform != "whatsapp":
        await platform.edit(ada, room, first, f"another {CANARY}")
        await platform.delete(ada, room, first)
        team = platform.room(f"{CANARY} team")
        await platform.say(ada, team, f"to nobody: {CANARY}")
        await platform.say(ada, team, f"to you: {CANARY}", mention=True)
        await lab.answer(team)
    await lab.idle()


@pytest.fixture
async def talking(variant: str, tmp_path: Path, log: Log) -> AsyncIterator[Lab]:
    async with open_lab_with_model(variant, tmp_path) as (lab, _):
        yield lab


@EVERY_CONNECTION
async def test_no_text_and_no_secret_is_logged(talking: Lab, log: Log) -> None:
    await converse(talking)
    log.is_clean(secret_values(talking.app.settings))


@EVERY_CONNECTION
async def test_no_text_is_logged_when_the_platform_refuses_fails_and_disconnects(
    talking: Lab, log: Log
) -> None:
    method = SEND[talking.platform.platform]
    kinds: tuple[FaultKind, ...] = ("server_error", "drop_before", "drop_after", "server_error")
    for kind in kinds:
        talking.platform.faults.add(Fault(method, kind))
    await talking.platform.drop_connections()
    await talking.platform.wait_connected()
    await converse(talking)
    log.is_clean(secret_values(talking.app.settings))


class Gossip:
    """Extensions that fail with what people wrote in their errors."""

    async def track(self, row: UsageRow) -> None:
        raise ValueError(f"cannot track {CANARY}")

    async def check_access(self, person: PersonId, place: Place) -> Decision:
        raise KeyError(CANARY)

    async def audit(self, event: str, person: PersonId, place: Place, decision: Decision) -> None:
        raise RuntimeError(f"{NAME} did {CANARY}")


@EVERY_CONNECTION
async def test_no_text_is_logged_in_errors(
    variant: str, tmp_path: Path, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> Decision:
        raise ValueError(f"cannot answer {CANARY}")

    async with open_lab(variant, tmp_path) as lab:
        extensions, gossip = lab.app.services.extensions, Gossip()
        force(extensions, "usage_tracker", gossip)
        force(extensions, "audit_logger", gossip)
        ada = lab.platform.person(NAME)
        room = lab.platform.direct(ada)
        await lab.platform.say(ada, room, CANARY)
        await lab.answer(room)
        monkeypatch.setattr("gateway.turn.pipeline.TURN", (broken,))
        await lab.platform.say(ada, room, CANARY)
        assert "Something went wrong" in (await lab.answer(room, after=1)).text
        force(extensions, "access_controller", gossip)
        await lab.platform.say(ada, room, CANARY)
        await log.has("access_controller_failed")
        await lab.idle()
        adapter = next(iter(lab.app.services.connected.values())).adapter

        async def refuse(*_: object) -> None:
            raise FormatRejected(f'unsupported start tag "{CANARY}"')

        monkeypatch.undo()
        monkeypatch.setattr(adapter, "send", refuse)
        force(extensions, "access_controller", type(extensions)().access_controller)
        await lab.platform.say(ada, room, CANARY)
        await log.has("dead_letter")
        await lab.idle()
        secrets = secret_values(lab.app.settings)
    log.is_clean(secrets)
    assert "FormatRejected" in str(log.about("dead_letter"))
    written = {json.loads(line)["event"] for line in log.text.splitlines()}
    assert {"tracking_failed", "stage_failed", "audit_failed", "dead_letter"} <= written


async def test_one_correlation_id_covers_a_message_from_arrival_to_the_last_attempt(
    tmp_path: Path, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise KeyError(CANARY)

    async with open_lab("telegram-polling", tmp_path) as lab:
        adapter = lab.app.services.connected["telegram", "main"].adapter
        lab.platform.faults.add(Fault("sendMessage", "server_error"))
        monkeypatch.setattr("gateway.turn.pipeline.TURN", (broken,))
        monkeypatch.setattr(adapter, "send", broken)
        ada = lab.platform.person(NAME)
        message = await lab.platform.say(ada, lab.platform.direct(ada), CANARY)
        await lab.reasons(message)
        await log.has("dead_letter")
        (trace,) = [t for t in await lab.app.decisions() if t.message_id == message]
        await lab.idle()
    events = [log.about(name) for name in ("stage_failed", "send_failed", "dead_letter")]
    ids = {record["turn"] for records in events for record in records}
    assert all(events)
    assert ids == {trace.id}
    update = [call for call in lab.platform.calls if call.method == "getUpdates"]
    assert update
    assert trace.id not in (message, correlation_id(message))
