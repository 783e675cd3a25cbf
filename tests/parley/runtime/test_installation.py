"""The state of an installation follows from the reports of its processes."""

from datetime import UTC, datetime, timedelta

import pytest

from gateway.ports import ModelFailure, ModelFinding
from gateway.ports.processes import (
    AccountReport,
    ModelReport,
    ProcessReport,
    ProcessRole,
    SeenProcess,
)
from gateway.text import text, verbatim
from parley.runtime.installation import MISSING, READY, STARTING, installation_of, last_seen
from parley.runtime.process_reports import MAX_WORDS, stored

ACCOUNTS = ("slack", "telegram")
LONG = 1000.0
NOW = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)


def process(
    name: str,
    role: ProcessRole,
    *accounts: str,
    age: float = 2.0,
    watching: float = LONG,
    ended: bool = False,
    state: str = READY,
    host: str = "",
    configured: tuple[str, ...] = ACCOUNTS,
) -> SeenProcess:
    served = tuple(AccountReport(each, state, "" if state == READY else "why") for each in accounts)
    report = ProcessReport(host or name, role, accounts=served, configured=configured)
    return SeenProcess(name, report, age, watching, ended)


WORKER = process("w", "worker")
ADAPTER = process("a", "adapter", *ACCOUNTS)


def states(*seen: SeenProcess, configured: tuple[str, ...] = ACCOUNTS) -> dict[str, str]:
    return {part.name: part.state for part in installation_of(seen, configured, NOW).parts}


def test_everything_is_served_by_processes_that_report() -> None:
    expected = {"workers": READY, "slack": READY, "telegram": READY}
    assert states(WORKER, ADAPTER) == expected
    assert states(process("all", "all", *ACCOUNTS)) == expected
    now = installation_of((WORKER, ADAPTER), ACCOUNTS, NOW)
    assert (now.complete, now.workers, now.running, now.problems) == (True, 1, 2, {})


@pytest.mark.parametrize(("age", "state"), [(14.0, READY), (16.0, MISSING)])
def test_a_worker_that_does_not_report_is_missing_after_15_seconds(age: float, state: str) -> None:
    assert states(ADAPTER, process("w", "worker", age=age))["workers"] == state


def test_a_dead_part_is_named_with_its_last_process_and_the_next_step() -> None:
    now = installation_of((ADAPTER, process("host-7", "worker", age=40.0)), ACCOUNTS, NOW)
    problem = str(now.problems["workers"])
    for said in ("host-7", "40 seconds", "died or hangs", "wait", "parley run --role worker"):
        assert said in problem
    assert not now.complete


def test_a_regular_end_is_said_differently_and_not_at_once() -> None:
    just = process("w", "worker", age=5.0, ended=True)
    assert states(ADAPTER, just)["workers"] == STARTING
    now = installation_of((ADAPTER, process("w", "worker", age=300.0, ended=True)), ACCOUNTS, NOW)
    assert "stopped 5 minutes ago" in str(now.problems["workers"])
    assert "died" not in str(now.problems["workers"])


def test_one_of_two_workers_is_enough() -> None:
    dead = process("dead", "worker", age=60.0)
    now = installation_of((ADAPTER, WORKER, dead), ACCOUNTS, NOW)
    assert (now.complete, now.workers) == (True, 1)


def test_a_dead_adapter_is_missing_with_each_of_its_accounts() -> None:
    dead = process("a", "adapter", *ACCOUNTS, age=60.0)
    assert states(WORKER, dead) == {"workers": READY, "slack": MISSING, "telegram": MISSING}
    one = process("s", "adapter", "slack")
    assert states(WORKER, dead, one) == {"workers": READY, "slack": READY, "telegram": MISSING}


def test_nothing_is_missing_before_processes_had_time_to_report() -> None:
    fresh = process("a", "adapter", "slack", watching=3.0)
    expected = {"workers": STARTING, "slack": READY, "telegram": STARTING}
    assert states(fresh) == expected
    later = process("a", "adapter", "slack", watching=16.0)
    assert states(later) == {"workers": MISSING, "slack": READY, "telegram": MISSING}
    assert "No worker runs" in str(installation_of((later,), ACCOUNTS, NOW).problems["workers"])


def test_after_an_outage_of_the_store_all_processes_get_time_to_report() -> None:
    first_again = process("a", "adapter", *ACCOUNTS, watching=1.0)
    assert states(first_again, process("w", "worker", age=70.0))["workers"] == STARTING


def test_without_any_running_process_everything_is_missing() -> None:
    now = installation_of((), ACCOUNTS, NOW)
    assert (now.running, now.complete) == (0, False)
    assert set(states().values()) == {MISSING}


def test_the_state_of_a_connection_is_that_of_its_process() -> None:
    unwell = process("a", "adapter", *ACCOUNTS, state="reconnecting")
    now = installation_of((WORKER, unwell), ACCOUNTS, NOW)
    assert states(WORKER, unwell)["slack"] == "reconnecting"
    assert str(now.problems["slack"]) == "why"
    assert states(WORKER, unwell, process("b", "adapter", "slack"))["slack"] == READY


def test_an_account_of_another_configuration_is_known_as_long_as_its_process_may_return() -> None:
    other = process("d", "adapter", "discord", age=60.0, configured=("discord",))
    assert states(WORKER, ADAPTER, other)["discord"] == MISSING
    ended = process("d", "adapter", "discord", age=60.0, ended=True, configured=("discord",))
    assert "discord" not in states(WORKER, ADAPTER, ended)


def test_a_renamed_account_is_forgotten_when_its_process_is_replaced() -> None:
    old = process("a1", "adapter", "old", age=60.0, host="box", configured=("old",))
    new = process("a2", "adapter", "slack", host="box", watching=50.0)
    assert "old" not in states(WORKER, new, old)
    elsewhere = process("a2", "adapter", "slack", host="another", watching=50.0)
    assert "old" in states(WORKER, elsewhere, old)


def test_the_metric_has_the_age_of_each_part_and_of_unseen_ones_the_time_of_watching() -> None:
    dead = process("w", "worker", age=60.0)
    now = installation_of((dead, process("a", "adapter", "slack", watching=90.0)), ACCOUNTS, NOW)
    assert last_seen(now) == [
        ("worker", "", 60.0),
        ("adapter", "slack", 2.0),
        ("adapter", "telegram", 90.0),
    ]


def test_a_model_that_fails_in_two_processes_is_named_once_with_the_sum_of_both() -> None:
    def seen(name: str, since: float, last: float, status: int) -> SeenProcess:
        failure = ModelFailure(
            "m", "https://x.org", NOW, NOW, "overloaded", status, calls=3, people=2
        )
        report = ModelReport("m", "https://x.org", None, failure, since, last)
        finding = ModelFinding("m", "https://x.org", "It takes no pictures")
        models = ProcessReport(name, "worker", models=(report,), findings=(finding,))
        return SeenProcess(name, models, 2.0, LONG)

    now = installation_of((seen("w", 60.0, 5.0, 503), seen("v", 90.0, 20.0, 529)), (), NOW)

    (failure,) = now.models
    assert (failure.calls, failure.people, failure.status) == (6, 4, 503)
    assert failure.since == NOW - timedelta(seconds=92)
    assert failure.last == NOW - timedelta(seconds=7)
    assert len(now.findings) == 1


def test_a_problem_keeps_its_sentence_on_its_way_through_the_store() -> None:
    lost = text("{platform} cannot be reached: {reason}.").of(
        platform=verbatim("Slack"), reason=text("no answer in time")
    )
    served = AccountReport("slack", "reconnecting", stored(lost))
    report = ProcessReport("host", "adapter", accounts=(served,), configured=("slack",))
    adapter = SeenProcess("a", report, age=1.0, watching=60.0)
    parts = {one.name: one for one in installation_of((WORKER, adapter), ("slack",), NOW).parts}
    assert parts["slack"].problem == lost


def test_a_very_long_problem_is_stored_in_english_and_cut() -> None:
    long = text("Telegram refused the settings: {reason}.", reason=verbatim("x" * 10_000))
    assert stored(long) == str(long)[:MAX_WORDS]
    assert stored(verbatim("")) == ""
