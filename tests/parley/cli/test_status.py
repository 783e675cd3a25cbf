"""`parley status`: the state of a running program and of its stores, and what needs attention."""

import asyncio
import json
import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway.message import Outbound, Part, Place
from gateway.people import Audience
from gateway.policy.decision import Decision
from gateway.ports.clock import SystemClock
from gateway.ports.queues import Backlog
from gateway.ports.traces import Trace
from parley.cli.status.report import (
    AccountStatus,
    BudgetStatus,
    LiveState,
    StatusReport,
    StoredState,
    attention,
    failed_messages,
    features_of,
)
from parley.config import from_mapping
from parley.http.local_listener import LocalListener
from parley.wiring.storage import Storage
from simulators.telegram import TelegramSimulator
from tests.parley.cli.kit import parley, read_until, started
from tests.support.patience import PATIENCE
from tests.support.ports import free_port

AT = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
LONG_AGO = AT - timedelta(minutes=6)
WELL = StoredState(Backlog(), 0, 0, (), ())
LIVE = LiveState(True, (AccountStatus("telegram", "ready"),), (("storage", "ready"),))


def report(live: LiveState | None = LIVE, stored: StoredState | None = WELL) -> StatusReport:
    return StatusReport(AT, "No Parley answers.", live, stored, "no database")


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (report(), ""),
        (report(live=None), "No Parley answers."),
        (report(None, None), "The stores cannot be read: no database"),
        (report(LIVE, None), ""),
        (
            report(LiveState(False, (AccountStatus("slack", "unresponsive", problem="no ping"),))),
            "slack is unresponsive: no ping. `parley doctor` checks it.",
        ),
        (
            report(LiveState(False, (), (("storage", "unavailable"),), (("storage", "full"),))),
            "storage is unavailable. full",
        ),
        (report(LiveState(True, (), (), (("tools: wiki", "refused"),))), "tools: wiki: refused"),
        (report(stored=StoredState(Backlog(2, LONG_AGO), 0, 0, (), ())), "2 messages without"),
        (report(stored=StoredState(Backlog(2, AT), 0, 0, (), ())), ""),
        (report(stored=StoredState(Backlog(0, None, 1, LONG_AGO), 0, 0, (), ())), "1 send waiting"),
        (report(stored=StoredState(Backlog(dead=1), 0, 0, (), ())), "1 answer could not be"),
        (report(stored=StoredState(Backlog(), 2, 0, (), ())), "2 entries in quarantine"),
        (
            report(stored=StoredState(Backlog(), 0, 0, (), (), identity_conflicts=("whatsapp X",))),
            "whatsapp X",
        ),
        (
            report(
                stored=StoredState(
                    Backlog(), 0, 0, (BudgetStatus("workspace_per_day", "W1", 9, 10),), ()
                )
            ),
            "W1 used 90 % of budgets.workspace_per_day.",
        ),
        (
            report(
                stored=StoredState(Backlog(), 0, 0, (BudgetStatus("user_per_day", "a", 9, 9),), ())
            ),
            "",
        ),
    ],
)
def test_each_problem_is_named_with_its_next_step(found: StatusReport, said: str) -> None:
    needs = attention(found)
    assert bool(needs) == bool(said)
    assert any(said in need for need in needs) or not said, needs


def test_a_program_whose_state_cannot_be_read_is_no_problem() -> None:
    assert attention(StatusReport(AT, "server.port is 0", None, WELL, has_port=False)) == []


def test_failed_messages_of_a_day_are_listed_with_the_next_command() -> None:
    made = ("x1", "m1", "slack", "sales", "[]", "message")
    failed = (Decision("access", True, "open"), Decision("recall", False, "failed", "see the log"))
    fine = (Decision("model", True, "answered"),)
    traces = [
        Trace(*made, AT, failed, "refused:recall", 1.0),
        Trace(*made, AT, fine, "answered", 1.0),
        Trace(*made, AT - timedelta(days=2), failed, "refused:recall", 1.0),
    ]
    (problem,) = failed_messages(traces, AT - timedelta(days=1))
    assert (problem.where, problem.text) == (
        "message on slack/sales",
        "recall failed: `parley logs m1`",
    )


def test_features_are_those_that_are_switched_on() -> None:
    assert features_of(from_mapping({"documents": {"enabled": False}})) == ()
    service = {"base_url": "https://voice.example.org/v1"}
    sections: dict[str, Any] = {
        "voice": {"recogniser": "endpoint", **service, "speech": service},
        "appointments": {"enabled": True},
        "catchup": {"enabled": True},
    }
    assert features_of(from_mapping(sections)) == (
        *("documents", "voice (endpoint)", "speech", "appointments", "catchup"),
    )


def as_values(out: str) -> dict[str, Any]:
    values = json.loads(out)
    assert isinstance(values, dict)
    return values


async def test_a_running_program_and_then_its_stores_are_reported(tmp_path: Path) -> None:
    telegram = TelegramSimulator()
    await telegram.start()
    ada, port = telegram.person("Ada"), free_port()
    room = telegram.direct(ada)
    (tmp_path / "config").mkdir()
    sections = {
        "platforms": {"telegram": telegram.settings()},
        "budgets": {"workspace_per_day": 5},
        "server": {"port": port},
        "webhooks": {"port": 0},
    }
    (tmp_path / "config" / "parley.yaml").write_text(yaml.safe_dump(sections))
    async with started("run", cwd=tmp_path) as process:
        await read_until(process.stdout, "ready gateway")
        await telegram.say(ada, room, "hello")
        await telegram.wait_for(room, lambda shown: len(shown) == 2, PATIENCE)
        async with asyncio.timeout(PATIENCE):
            while (ended := await parley("status", cwd=tmp_path)).status:
                assert "1 send waiting" in ended.out, ended
        assert ended.out.startswith(f"Parley runs on http://127.0.0.1:{port}. It reports platforms")
        assert "telegram: ready for " in ended.out
        assert ", last event " in ended.out
        assert "queue        0 messages waiting\n" in ended.out
        assert "storage ready" in ended.out
        assert ended.out.endswith("Nothing needs attention.\n")
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(PATIENCE):
            await process.communicate()
    await telegram.stop()
    stopped = await parley("status", cwd=tmp_path)
    assert stopped.status == 1
    assert f"No Parley answers on http://127.0.0.1:{port}" in stopped.out
    assert "telegram: not running, last event" in stopped.out
    values = as_values((await parley("status", "--json", cwd=tmp_path)).out)
    assert (values["running"], values["stores"], values["quarantined"]) == (False, "ok", 0)
    (account,) = values["platforms"]
    assert (account["name"], account["state"]) == ("telegram", "not running")
    assert len(values["attention"]) == 1
    assert values["features"] == ["documents"]
    assert "features     documents\n" in stopped.out


async def test_a_dead_letter_is_a_last_error_without_its_text(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/data/parley.db"
    storage = Storage(from_mapping({"database": {"url": url}}), SystemClock())
    await storage.start()
    place = Place("telegram", "main", "42", Audience.DIRECT)
    await storage.stores.outbox.add([Outbound("a:0", place, Part("words", "words"))])
    await storage.stores.outbox.dead(["a:0"], "Permanent: 403 \x1b[31mblocked")
    await storage.stop()
    (tmp_path / "own.yaml").write_text("server: {port: 0}\n")
    ended = await parley("status", "-c", "own.yaml", cwd=tmp_path)
    assert ended.status == 1
    assert "answer on telegram: not delivered: Permanent: 403 [31mblocked" in ended.out
    assert "attention    1 answer could not be delivered: see `parley outbox list`." in ended.out
    assert "words" not in ended.out


async def test_another_program_on_the_port_is_told_apart(tmp_path: Path) -> None:
    listener = LocalListener(token="a-token-of-decent-length")
    await listener.start()
    (tmp_path / "own.yaml").write_text(f"server: {{port: {listener.port}}}\n")
    ended = await parley("status", "-c", "own.yaml", cwd=tmp_path)
    await listener.stop()
    assert ended.status == 1
    assert "does not report its state" in ended.out
    assert "server.token differs" in ended.out
