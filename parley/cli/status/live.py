"""Reads the state of the running program: `/readyz` and `/metrics` of its local listener."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from gateway.errors import BadInput
from parley.cli.running_program import address_of, body_of, request_to
from parley.cli.status.report import AccountStatus, LiveState
from parley.config import Settings

STATE: Final = "parley_connection_state"
SINCE: Final = "parley_connected_timestamp_seconds"
LAST: Final = "parley_last_event_timestamp_seconds"
STRANGE: Final = (
    "The program on {address} does not report its state: something else uses server.port, or "
    "server.token differs from that of the running program."
)


def live_state(settings: Settings) -> LiveState | None:
    """The state, None if no program answers. Raises `BadInput` for an answer of another program."""
    try:
        ready = body_of(request_to(settings, "/readyz"))
        metrics = body_of(request_to(settings, "/metrics"))
    except OSError:
        return None
    try:
        state = json.loads(ready)
        parts, problems = state["parts"], state.get("problems", {})
        figures = read_metrics(metrics.decode())
    except (ValueError, KeyError, TypeError):
        raise BadInput(STRANGE.format(address=address_of(settings))) from None
    accounts = sorted({account for account, _ in figures[STATE]})
    return LiveState(
        state.get("ready") is True,
        tuple(
            AccountStatus(
                name,
                str(parts.get(name, "unknown")),
                _time(figures[SINCE].get((name, ""))),
                _time(figures[LAST].get((name, ""))),
                str(problems.get(name, "")),
            )
            for name in accounts
        ),
        tuple((name, str(at)) for name, at in parts.items() if name not in accounts),
        tuple((name, str(problem)) for name, problem in problems.items()),
    )


def read_metrics(page: str) -> Mapping[str, Mapping[tuple[str, str], float]]:
    """The values of the three metrics by account and state. Raises `ValueError` for other text."""
    from prometheus_client.parser import (  # noqa: PLC0415 - only for a program that runs
        text_string_to_metric_families,
    )

    found: dict[str, dict[tuple[str, str], float]] = {STATE: {}, SINCE: {}, LAST: {}}
    for family in text_string_to_metric_families(page):
        if family.name in found:
            for sample in family.samples:
                labels = sample.labels
                found[family.name][labels["account"], labels.get("state", "")] = sample.value
    return found


def _time(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
