"""The state of the models in words: which one fails, since when, with which status, how many people
waited, and what to do; what was found out about their servers."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

from gateway.policy.model_failures import step_of, words_of
from gateway.ports import ModelFailure, ModelFinding

MAX_FINDINGS: Final = 20


def problems_of(
    failures: Iterable[ModelFailure], findings: Iterable[ModelFinding]
) -> Mapping[str, str]:
    """Return what needs an operator, by name: models that fail, and findings with a setting that
    settles them."""
    problems = {f"model: {one.model}": sentence_of(one) for one in failures}
    settled = [one for one in findings if one.setting][:MAX_FINDINGS]
    return problems | {
        f"model finding {number}: {one.model}": _finding(one)
        for number, one in enumerate(settled, 1)
    }


def notes_of(findings: Iterable[ModelFinding]) -> tuple[str, ...]:
    """Return the findings that no setting changes."""
    return tuple(_finding(one) for one in findings if not one.setting)[:MAX_FINDINGS]


def sentence_of(failure: ModelFailure) -> str:
    """Return a failing model in words, with the next step, without a full stop."""
    where = f" at {failure.server}" if failure.server else ""
    error = words_of(failure.kind)
    status = f"HTTP {failure.status}, {error}" if failure.status else error
    calls = f"{failure.calls:,} failed call{'s' * (failure.calls != 1)}"
    people = f"{failure.people:,} {'person' if failure.people == 1 else 'people'} waited"
    request = f" (request {failure.request_id})" if failure.request_id else ""
    message = failure.message.rstrip(".")
    return (
        f"{failure.model}{where} has given no answer since {_time(failure.since)} ({status}): "
        f"{calls}, the last at {_time(failure.last)}; {people}. "
        f"The last message: {message}{request}. {step_of(failure.kind)}"
    )


def values_of(failure: ModelFailure) -> Mapping[str, object]:
    """Return a failing model for programs: times in ISO 8601."""
    return {
        "model": failure.model,
        "server": failure.server,
        "since": failure.since.isoformat(),
        "last": failure.last.isoformat(),
        "status": failure.status,
        "kind": failure.kind,
        "message": failure.message,
        "request_id": failure.request_id,
        "failed_calls": failure.calls,
        "people": failure.people,
    }


def _finding(finding: ModelFinding) -> str:
    where = f" at {finding.server}" if finding.server else ""
    text = f"{finding.model}{where}: {finding.text.rstrip('.')}"
    return f"{text}. Setting: {finding.setting}" if finding.setting else text


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"
