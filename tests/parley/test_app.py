"""The whole program: a start resumes work and a stop finishes it, also if a part fails."""

import asyncio
import os
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import ClassVar

import pytest
from structlog.testing import capture_logs

from gateway.conversation import key_of
from gateway.errors import StartError
from gateway.inbound.conversation_queues import MAX_COLLECTED, MAX_WAITING
from gateway.inbound.dispatcher import MAX_CONTROL_TASKS
from gateway.message import MessageReceived, Outbound, Receipt
from gateway.outbound.retry_decision import REPEAT_NOTE
from gateway.people import Audience
from gateway.ports import AccountSettings, AdapterContext, EventSink
from gateway.ports.observer import CombinedObserver, SendAttempt
from gateway.ports.queues import InboxEntry
from parley.app import MAX_UNFINISHED, App
from parley.cli.serve import serve
from parley.config import Settings, SettingsError, from_mapping
from parley.runtime.supervisor import Supervisor
from tests.support.adapter import RecordingAdapter
from tests.support.gateway import Model
from tests.support.immutable import force
from tests.support.messages import message, place
from tests.support.patience import PATIENCE
from tests.support.program import running_app
from tests.support.waiting import eventually

ROOM = place("C1", Audience.DIRECT, platform="web")


class Account(RecordingAdapter):
    """The one account of these tests."""

    platform = "web"
    made: "Account"

    def __init__(self, settings: AccountSettings, context: AdapterContext) -> None:
        super().__init__()
        self.hangs_in = ""
        self.begun = asyncio.Event()
        self.let_go = asyncio.Event()
        Account.made = self

    async def connect(self, sink: EventSink) -> None:
        if self.hangs_in == "connect":
            self.begun.set()
            await self.let_go.wait()
        await super().connect(sink)

    async def send(self, outbound: Outbound) -> Receipt:
        if self.hangs_in == "send":
            self.begun.set()
            await self.let_go.wait()
        return await super().send(outbound)

    async def ask(self, message_id: str = "m1") -> None:
        assert self.sink is not None
        await self.sink(event(message_id))


def event(message_id: str) -> MessageReceived:
    now = datetime.now(UTC)  # the program's own clock: an old message is not answered
    return MessageReceived(
        f"e-{message_id}", message(message_id=message_id, at=ROOM, timestamp=now)
    )


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return from_mapping(
        {
            "model": {"provider": "offline"},
            "platforms": {"web": {"enabled": True}},
            "database": {"url": f"sqlite:///{tmp_path}/parley.db"},
            "server": {"port": 0},
            "webhooks": {"port": 0},
            "limits": {"user_per_minute": 0},
        }
    )


@pytest.fixture(autouse=True)
def one_account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parley.wiring.accounts.adapter_class", lambda manifest: Account)


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[App]:
    made = App(settings)
    yield made
    await made.stop(0)


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield taken.getsockname()[1]


async def test_it_answers_and_leaves_no_resources_behind(app: App) -> None:
    before = asyncio.all_tasks()
    await app.start()
    await Account.made.ask()
    await eventually(app.settled)
    assert len(Account.made.sent) == 1
    await app.stop()
    assert asyncio.all_tasks() == before
    await app.stop()


async def test_the_token_calibration_survives_a_restart(app: App, settings: Settings) -> None:
    await app.start()
    for n in range(3):
        await Account.made.ask(f"m{n}")
        await eventually(app.settled)
    learned = app.services.calibrations.latest("offline")
    await app.stop()

    async with running_app(App(settings), drain=0) as again:
        assert learned.samples == 3
        assert again.services.calibrations.latest("offline") == learned


async def test_an_embedding_program_can_observe_each_answer(settings: Settings) -> None:
    class Watcher(CombinedObserver):
        sent: ClassVar[list[SendAttempt]] = []

        def attempted(self, attempt: SendAttempt) -> None:
            self.sent.append(attempt)

    async with running_app(App(settings, observers=[Watcher()])) as app:
        await Account.made.ask()
        await eventually(app.settled)
    assert [attempt.outbound.place for attempt in Watcher.sent] == [ROOM]


async def test_stop_works_before_start(app: App) -> None:
    await app.stop()


async def test_ready_is_reported_only_while_messages_are_accepted(app: App) -> None:
    assert not app.readiness().ready
    await app.start()
    assert app.readiness().ready
    Account.made.hangs_in = "send"
    await Account.made.ask()
    await Account.made.begun.wait()
    stopping = asyncio.create_task(app.stop(5))
    await asyncio.sleep(0)
    assert not app.readiness().ready
    Account.made.let_go.set()
    await stopping
    assert not app.readiness().ready


async def test_shutdown_finishes_running_turns(app: App) -> None:
    await app.start()
    model = Model()
    force(app.services, "provider", model)
    await Account.made.ask()
    await eventually(lambda: model.requests)
    stopping = asyncio.create_task(app.stop(10))
    await asyncio.sleep(0.05)
    model.open.set()
    await stopping
    assert Account.made.texts == ["answer"]


async def test_shutdown_ends_in_time_and_the_next_start_continues(
    app: App, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.outbound.deliverer.SEND_SECONDS", 0.05)
    await app.start()
    Account.made.hangs_in = "send"
    await Account.made.ask("m1")
    await Account.made.begun.wait()
    force(app.services, "provider", Model())
    await Account.made.ask("m2")
    await asyncio.wait_for(app.stop(0.2), PATIENCE)
    assert Account.made.sent == []
    again = App(settings)
    await again.start()
    await eventually(again.settled)
    note, *answers = Account.made.sent  # nobody knows whether the first one had arrived
    assert note.part is not None
    assert (note.part.text, note.reply_to_id) == (REPEAT_NOTE.english, "m1")
    assert [sent.reply_to_id for sent in answers] == ["m1", "m2"]
    await again.stop()


def test_a_start_resumes_everything_that_one_run_can_have_accepted() -> None:
    at_work = 1_000 * MAX_COLLECTED + MAX_CONTROL_TASKS  # with the most workers.concurrency
    assert MAX_WAITING + at_work < MAX_UNFINISHED


async def test_events_of_a_removed_account_are_kept_and_reported(app: App) -> None:
    await app.storage.start()
    for number, platform in enumerate(("elsewhere", "web")):
        sent_message = message(message_id="m1", at=place("C1", Audience.DIRECT, platform=platform))
        conversation = str(key_of("default", sent_message.place))
        entry = InboxEntry(
            f"i{number}", conversation, MessageReceived("e1", sent_message), datetime.now(UTC)
        )
        await app.storage.stores.inbox.add(entry, timedelta(0))
    await app.storage.stop()
    with capture_logs() as logs:
        await app.start()
    assert "accounts_missing" in [line["event"] for line in logs]
    await eventually(app.settled)
    left = await app.services.stores.inbox.unfinished(10)
    assert [entry.event.place.platform for entry in left] == ["elsewhere"]
    assert len(Account.made.sent) == 1


@pytest.mark.parametrize("failure", ["raises", "hangs"])
async def test_a_part_that_fails_to_close_does_not_keep_the_others_open(
    settings: Settings, failure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def close(supervisor: Supervisor) -> None:
        if failure == "raises":
            raise RuntimeError("cannot close")
        await asyncio.Event().wait()

    monkeypatch.setattr("parley.app.CLOSE_SECONDS", 2.0)
    real = Supervisor.stop
    with monkeypatch.context() as patched:
        patched.setattr(Supervisor, "stop", close)
        app = App(settings)
        await app.start()
        with capture_logs() as logs:
            await app.stop()
    await real(app.supervisor)
    assert "part_not_closed" in [line["event"] for line in logs]
    with pytest.raises(Exception, match="not open"):
        await app.services.stores.inbox.unfinished(1)


async def test_parts_close_in_the_order_of_a_message_and_stores_last(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[object] = []

    async def record(close: Callable[[], Awaitable[object]]) -> None:
        closed.append(getattr(close, "func", close))
        await close()

    monkeypatch.setattr("parley.app._close", record)
    app = App(settings)
    await app.start()
    await app.stop()
    services = app.services
    assert app.repositories is not None
    assert closed == [
        app._dispatcher.stop,
        services.deliverer.stop,
        services.indicators.drain,
        services.indicators.stop,
        app.supervisor.stop,
        *(job.stop for job in app.jobs.active),
        app.console_jobs.stop,
        app.playgrounds.stop,
        app.memory.close,
        app.repositories.close,
        app.models.close,
        app.webhooks.stop,
        app.local.stop,
        app.speech.close,
        services.toolbox.close,
        services.provider.close,
        app._window_search.stop,
        app.health.stop,
        app._save_calibrations,
        app.security.stop,
        app.storage.stop,
    ]
    await app.stop()
    assert closed[-1] == app.storage.stop


async def test_a_signal_ends_the_program_also_while_an_account_hangs(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Hanging(Account):
        def __init__(self, settings: AccountSettings, context: AdapterContext) -> None:
            super().__init__(settings, context)
            self.hangs_in = "connect"

    monkeypatch.setattr("parley.wiring.accounts.adapter_class", lambda manifest: Hanging)
    serving = asyncio.create_task(serve(settings))
    await eventually(lambda: hasattr(Account, "made") and isinstance(Account.made, Hanging))
    await Account.made.begun.wait()
    os.kill(os.getpid(), signal.SIGTERM)
    assert await asyncio.wait_for(serving, PATIENCE) == 0
    assert "ready" not in capsys.readouterr().out


async def test_a_signal_after_ready_ends_the_program(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    serving = asyncio.create_task(serve(settings))
    out = ""
    async with asyncio.timeout(PATIENCE):
        while "ready gateway" not in out:
            await asyncio.sleep(0.01)
            out += capsys.readouterr().out
    os.kill(os.getpid(), signal.SIGTERM)
    assert await asyncio.wait_for(serving, PATIENCE) == 0
    ready = [line for line in out.splitlines() if line.startswith("ready")]
    assert [line.split()[1] for line in ready] == ["web", "gateway"]


async def test_a_start_error_is_raised_and_everything_is_closed(
    settings: Settings, taken_port: int
) -> None:
    taken = settings.model_copy(
        update={"server": settings.server.model_copy(update={"port": taken_port})}
    )
    before = asyncio.all_tasks()
    with pytest.raises(StartError, match="cannot listen"):
        await serve(taken)
    assert asyncio.all_tasks() == before


async def test_a_program_whose_budget_would_let_no_model_answer_does_not_start(
    tmp_path: Path,
) -> None:
    model = {"provider": "openai", "name": "m", "base_url": "http://127.0.0.1:9/v1"}
    settings = from_mapping(
        {
            "model": model,
            "budgets": {"user_per_day": 1},
            "database": {"url": f"sqlite:///{tmp_path}/parley.db"},
            "server": {"port": 0},
        }
    )
    with pytest.raises(SettingsError, match="has no price for m"):
        async with running_app(App(settings)):
            pass
