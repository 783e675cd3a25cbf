"""`parley logs`: everything about one message in time order, from the stores of a program that ran,
and `--last` instead of its id."""

import asyncio
import json
import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path

import yaml

from gateway.policy.decision import Decision
from gateway.ports.queues import SendState
from gateway.ports.traces import Trace
from memory.ports.audit import AuditEntry, Link
from parley.cli.why import lines_of
from parley.maintenance.message_log import MessageLog, entries_of
from simulators.base import Fault
from simulators.telegram import TelegramSimulator
from tests.parley.cli.kit import parley, read_until, started
from tests.support.patience import PATIENCE

AT = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
TRACE = Trace(
    id="t1",
    message_id="4711",
    platform="telegram",
    account="main",
    conversation='["default", "telegram", "main", "", "-100", ""]',
    kind="message",
    at=AT,
    decisions=(
        Decision("invocation", True, "mention"),
        Decision("access", True, "open"),
        Decision("tool", True, "memory_search", data={"seconds": 0.25}),
        Decision("model", True, "answered", "claude"),
        Decision("late", True, "noted"),
    ),
    outcome="answered",
    milliseconds=2_000.0,
    durations=(
        ("queue", "waited", -30_000, 30_000, "ok"),
        ("stage", "check_access", 1_000, 500, "open"),
        ("model", "claude", 10_000, 900_000, "ok"),
        ("stage", "generate", 2_000, 1_500_000, "answered"),
    ),
)


def after(milliseconds: float) -> datetime:
    return AT + timedelta(milliseconds=milliseconds)


def test_everything_stands_in_time_order_with_its_duration() -> None:
    sends = (SendState("t1:0", "dead", 3, "Permanent: 403", after(1_990), after(2_500)),)
    entry = AuditEntry("security_event", "t", "p", after(1_000), (("event", "tool_used"),))
    log = MessageLog(TRACE, sends, (Link(7, entry, "", ""),))
    head, *lines = lines_of(log)
    assert head == "message 4711 on telegram, turn t1"
    assert [line.strip().partition(" ")[2] for line in lines] == [
        "09:29:59.970  queue       waited 30 ms, ok",
        "09:30:00.001  invocation  mention",
        "09:30:00.001  access      open, 0.5 ms",
        "09:30:00.002  tool        memory_search, 250.0 ms",
        "09:30:00.002  model       answered (claude), 1500.0 ms",
        "09:30:00.010  model       claude 900 ms, ok",
        "09:30:01.000  audit       7 security_event event=tool_used",
        "09:30:01.990  outbox      t1:0 queued",
        "09:30:02.000  late        noted",
        "09:30:02.000  outcome     answered, 2000 ms in all",
        "09:30:02.500  outbox      t1:0 not delivered, 3 attempts; last error: Permanent: 403",
    ]


def test_a_refusal_is_marked_and_an_old_trace_has_no_durations() -> None:
    refused = Trace(
        **{
            **{name: getattr(TRACE, name) for name in TRACE.__slots__},
            "durations": (),
            "decisions": (Decision("access", False, "channel_blocked"),),
        }
    )
    texts = [entry.text for entry in entries_of(MessageLog(refused, (), ()))]
    assert texts == ["NO: channel_blocked", "answered, 2000 ms in all"]


async def test_a_message_of_a_running_program_is_followed_to_its_delivery(tmp_path: Path) -> None:
    telegram = TelegramSimulator()
    await telegram.start()
    ada = telegram.person("Ada")
    room = telegram.direct(ada)
    (tmp_path / "config").mkdir()
    sections = {
        "platforms": {"telegram": telegram.settings()},
        "server": {"port": 0},
        "webhooks": {"port": 0},
    }
    (tmp_path / "config" / "parley.yaml").write_text(yaml.safe_dump(sections))
    async with started("run", cwd=tmp_path) as process:
        await read_until(process.stdout, "ready gateway")
        telegram.faults.add(Fault("sendMessage", "rate_limit", retry_after=0.1))
        message_id = await telegram.say(ada, room, "an unusual-word")
        await telegram.wait_for(room, lambda shown: len(shown) == 2, PATIENCE)
        # The receipt is stored after people see the answer.
        async with asyncio.timeout(PATIENCE):
            while " sent," not in (log := await parley("logs", "--last", cwd=tmp_path)).out:
                assert log.status == 0, log.err
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(PATIENCE):
            await process.communicate()
    await telegram.stop()
    # Memory stores the turn in the background, and its audit entry may come last.
    log = await parley("logs", "--last", cwd=tmp_path)
    lines = log.out.splitlines()
    assert lines[0].startswith(f"message {message_id} on telegram, turn ")
    parts = [line.split()[2] for line in lines[1:]]
    assert parts[:2] == ["queue", "invocation"]
    assert {"access", "limits", "model", "render", "outbox", "outcome"} <= set(parts)
    assert [line for line in lines if "sent, 2 attempts; last error: " in line]
    assert "unusual" not in log.out

    person, chat = f"telegram:main:{ada.id}", f"telegram:main:{room.id}"
    by_id = await parley("logs", message_id, "--json", cwd=tmp_path)
    values = [json.loads(line) for line in by_id.out.splitlines()]
    assert [one["part"] for one in values] == parts
    for options in (["--person", person], ["--chat", chat]):
        assert (await parley("logs", "--last", *options, cwd=tmp_path)).out == log.out
        why = await parley("why", "--last", *options, cwd=tmp_path)
        assert why.out == (await parley("why", message_id, cwd=tmp_path)).out


async def test_the_last_message_needs_a_clear_choice(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "parley.db").touch()
    for command in ("why", "logs"):
        for arguments, status, reply in (
            ((), 2, "give the id of a message, or --last"),
            (("1", "--last"), 2, "give the id of a message, or --last"),
            (("1", "--chat", "a:b:c"), 2, "--person and --chat need --last"),
            (("--last", "--chat", "a:b:c", "--person", "a:b:c"), 2, "give one of"),
            (("--last", "--chat", "C0123"), 1, "write PLATFORM:ACCOUNT:CHANNEL"),
            (("--last", "--person", "ada"), 1, "A person is written"),
            (("--last",), 1, "No message was decided on yet."),
            (("--last", "--chat", "slack:main:C1"), 1, "No message in slack:main:C1 has a trace."),
            (("--last", "--person", "slack:main:U1"), 1, "found with --chat only"),
            (("4712",), 1, "Message 4712 has no trace."),
        ):
            ended = await parley(command, *arguments, cwd=tmp_path)
            assert (ended.status, ended.out) == (status, ""), (command, arguments, ended)
            assert reply in " ".join(ended.err.replace("│", "").split()), (arguments, ended.err)
