"""Gauges that are read when the metrics page is requested."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct, field
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from gateway.background_tasks import stop_task
from gateway.ports import Liveness, ModelFailure, ServerState
from gateway.ports.queues import QueueDepths

EVERY: Final = 0.25
"""Seconds between two measurements."""
WINDOW: Final = 10.0
"""Seconds over which the worst lag is reported."""
STALLED: Final = 5.0
"""Seconds of lag from which the program counts as stalled."""


class EventLoopMonitor:
    """Measures how late the loop resumes a sleep."""

    def __init__(self) -> None:
        self._lags: deque[float] = deque(maxlen=round(WINDOW / EVERY))
        self._task: asyncio.Task[None] | None = None

    @property
    def lag(self) -> float:
        """The worst lag of the last `WINDOW` seconds, in seconds."""
        return max(self._lags, default=0.0)

    @property
    def stalled(self) -> bool:
        """True if the lag was `STALLED` or more."""
        return self.lag >= STALLED

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="loop-watch")

    async def stop(self) -> None:
        """Safe to call twice, and before `start`."""
        task, self._task = self._task, None
        await stop_task(task)

    async def _run(self) -> None:
        # The loop's own time, not an injected clock's: this measures the real loop.
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + EVERY
            await asyncio.sleep(EVERY)
            self._lags.append(max(0.0, loop.time() - due))


SHARED: Final = {
    "events_waiting": ("events", "Accepted events that no process has finished, in Redis."),
    "sends_waiting": ("sends", "Sends that no platform confirmed yet, in Redis."),
    "dead_letters": ("dead", "Dead letters, in Redis."),
    "workers": ("workers", "Running workers, in Redis; without any, all messages wait."),
}
"""Gauges of the shared store: the field of `QueueDepths` and the help text, by name."""
CONNECTED: Final = "Unix time since which an account is connected."
LAST_EVENT: Final = "Unix time of the last event of an account, whoever it was meant for."
DATA_LOSS: Final = (
    "Unix time at which a loss of stored data was noticed, for eight days: empty, replaced, older, "
    "evicted (Redis), restored (all), database."
)
STATES: Final = ("starting", "ready", "unresponsive", "reconnecting", "failed", "stopped")


class GaugeReadings(Struct, frozen=True):
    """The current values of all gauges.

    `waiting`, `running` and `aside` are turns, `oldest` the seconds for which the oldest of them
    has waited, `unsent` sends, `unwritten` pieces of work that wait
    for the database, `loop_lag` is in seconds. `connections` has the state of each account,
    `reconnects` its lost connections, `proofs` its last proof of life; `connected_at` is the time
    since which it is connected, `last_events` that of its last event. `parts` tells if each store
    and listener is up. `shared` is None in a single process. `quarantined` is work that is not
    started any more, `losses` has the time of the latest data loss of each kind, `tool_servers`
    are the MCP servers, `budgets` the configured limits in dollars. `models` are those that fail,
    `failed_calls` counts by model and status.
    """

    waiting: int = 0
    oldest: float = 0.0
    running: int = 0
    aside: int = 0
    unsent: int = 0
    unwritten: int = 0
    loop_lag: float = 0.0
    connections: Mapping[str, str] = field(default_factory=dict)
    reconnects: Mapping[str, int] = field(default_factory=dict)
    proofs: Mapping[str, Liveness] = field(default_factory=dict)
    connected_at: Mapping[str, datetime] = field(default_factory=dict)
    last_events: Mapping[str, datetime] = field(default_factory=dict)
    parts: Mapping[str, bool] = field(default_factory=dict)
    shared: QueueDepths | None = None
    quarantined: int = 0
    losses: Mapping[str, datetime] = field(default_factory=dict)
    tool_servers: Sequence[ServerState] = ()
    budgets: Mapping[str, float] = field(default_factory=dict)
    disks: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    roles: Sequence[tuple[str, str, float]] = ()
    models: Sequence[ModelFailure] = ()
    failed_calls: Mapping[tuple[str, str], int] = field(default_factory=dict)


class Gauges(Collector):
    """A collector for the readings of `look`."""

    def __init__(self, look: Callable[[], GaugeReadings]) -> None:
        self._look = look

    def collect(self) -> Iterable[Metric]:
        """Yield all gauges; called by the registry for every page."""
        now = self._look()
        yield _one("parley_turns_queued", "Messages that wait for their turn.", now.waiting)
        yield _one(
            "parley_turns_oldest_seconds", "Age of the message that waits longest.", now.oldest
        )
        yield _one("parley_turns_running", "Turns that are being processed.", now.running)
        yield _one(
            "parley_turns_waiting_for_model", "Turns that wait to call the model again.", now.aside
        )
        yield _one("parley_outbox_waiting", "Sends that wait or are retried.", now.unsent)
        yield _one("parley_database_waiting", "Operations that wait for SQLite.", now.unwritten)
        yield _one(
            "parley_event_loop_lag_seconds",
            "The longest delay of the last ten seconds.",
            now.loop_lag,
        )
        yield _one(
            "parley_quarantined", "Quarantined work, read every five minutes.", now.quarantined
        )
        yield _connections(now)
        lost = CounterMetricFamily(
            "parley_reconnects", "Connections that were lost and restored.", labels=["account"]
        )
        for account, times in now.reconnects.items():
            lost.add_metric([account], times)
        yield lost
        age = GaugeMetricFamily(
            "parley_connection_proof_age_seconds",
            "Seconds since a connection last proved that it receives events.",
            labels=["account"],
        )
        for account, proof in now.proofs.items():
            age.add_metric([account], proof.seconds_since)
        yield age
        yield _times("parley_connected_timestamp_seconds", CONNECTED, now.connected_at)
        yield _times("parley_last_event_timestamp_seconds", LAST_EVENT, now.last_events)
        up = GaugeMetricFamily(
            "parley_up", "1 for a store or listener that works.", labels=["part"]
        )
        for part, works in now.parts.items():
            up.add_metric([part], works)
        yield up
        yield _times("parley_data_loss_timestamp_seconds", DATA_LOSS, now.losses, "kind")
        yield _budgets(now.budgets)
        yield from _tool_servers(now.tool_servers)
        yield from _shared(now.shared)
        yield from _disks(now.disks)
        yield _roles(now.roles)
        yield from _models(now)


def _models(now: GaugeReadings) -> Iterable[Metric]:
    calls = CounterMetricFamily(
        "parley_model_failed_calls",
        "Failed calls of a model, by the HTTP status, or the kind of an error without one.",
        labels=["model", "status"],
    )
    for (model, status), number in now.failed_calls.items():
        calls.add_metric([model, status], number)
    yield calls
    since = GaugeMetricFamily(
        "parley_model_failing_since_timestamp_seconds",
        "Unix time since which every call of a model has failed; no sample while it answers.",
        labels=["model", "status"],
    )
    people = GaugeMetricFamily(
        "parley_model_failing_people",
        "People who waited for a model that has failed since then; no sample while it answers.",
        labels=["model", "status"],
    )
    for failure in now.models:
        labels = [failure.model, str(failure.status or failure.kind)]
        since.add_metric(labels, failure.since.timestamp())
        people.add_metric(labels, failure.people)
    yield since
    yield people


def _budgets(limits: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(
        "parley_budget_limit_dollars",
        "The configured limit of one person or workspace.",
        labels=["account"],
    )
    for account, dollars in limits.items():
        family.add_metric([account], dollars)
    return family


def _tool_servers(states: Sequence[ServerState]) -> Iterable[Metric]:
    up = GaugeMetricFamily(
        "parley_mcp_server_up", "1 for an MCP server that is connected.", labels=["server"]
    )
    failures = CounterMetricFamily(
        "parley_mcp_server_failures",
        "Failed attempts to connect to an MCP server, and lost connections.",
        labels=["server"],
    )
    refused = CounterMetricFamily(
        "parley_mcp_answers_refused",
        "Answers of an MCP server that were refused because of their size or form.",
        labels=["server"],
    )
    for state in states:
        up.add_metric([state.name], state.connected)
        failures.add_metric([state.name], state.failures)
        refused.add_metric([state.name], state.refused)
    yield up
    yield failures
    yield refused


def _shared(depths: QueueDepths | None) -> Iterable[Metric]:
    for name, (field_name, meaning) in SHARED.items():
        family = GaugeMetricFamily(f"parley_shared_{name}", meaning)
        if depths is not None:
            family.add_metric([], getattr(depths, field_name))
        yield family


def _roles(roles: Sequence[tuple[str, str, float]]) -> Metric:
    family = GaugeMetricFamily(
        "parley_role_last_seen_seconds",
        "Seconds since a process last reported that it serves a role or account, in Redis.",
        labels=["role", "account"],
    )
    for role, account, seconds in roles:
        family.add_metric([role, account], seconds)
    return family


def _disks(disks: Mapping[str, tuple[int, int]]) -> Iterable[Metric]:
    free = GaugeMetricFamily(
        "parley_disk_free_bytes", "Free space on the disk of a folder.", labels=["folder"]
    )
    size = GaugeMetricFamily(
        "parley_disk_size_bytes", "Size of the disk of a folder.", labels=["folder"]
    )
    for folder, (free_bytes, size_bytes) in disks.items():
        free.add_metric([folder], free_bytes)
        size.add_metric([folder], size_bytes)
    yield free
    yield size


def _connections(now: GaugeReadings) -> Metric:
    family = GaugeMetricFamily(
        "parley_connection_state", "1 for the current state.", labels=["account", "state"]
    )
    for account, state in now.connections.items():
        for each in STATES:
            family.add_metric([account, each], state == each)
    return family


def _times(
    name: str, meaning: str, times: Mapping[str, datetime], label: str = "account"
) -> Metric:
    family = GaugeMetricFamily(name, meaning, labels=[label])
    for of, at in times.items():
        family.add_metric([of], at.timestamp())
    return family


def _one(name: str, meaning: str, value: float) -> Metric:
    return GaugeMetricFamily(name, meaning, value=value)
