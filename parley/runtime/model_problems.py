"""The state of the models in words: which one fails, since when, with which status, how many people
waited, and what to do; what was found out about their servers."""

from collections.abc import Iterable, Mapping
from typing import Final

from gateway.policy.model_failures import said_step_of, words_of
from gateway.ports import ModelFailure, ModelFinding
from gateway.text import NO_TEXT, Moment, Text, counted, joined, text, verbatim

MAX_FINDINGS: Final = 20


def problems_of(
    failures: Iterable[ModelFailure], findings: Iterable[ModelFinding]
) -> Mapping[str, Text]:
    """Return what needs an operator, by name: models that fail, and findings with a setting that
    settles them."""
    problems: dict[str, Text] = {f"model: {one.model}": sentence_of(one) for one in failures}
    settled = [one for one in findings if one.setting][:MAX_FINDINGS]
    return problems | {
        f"model finding {number}: {one.model}": verbatim(_finding(one))
        for number, one in enumerate(settled, 1)
    }


def notes_of(findings: Iterable[ModelFinding]) -> tuple[str, ...]:
    """Return the findings that no setting changes."""
    return tuple(_finding(one) for one in findings if not one.setting)[:MAX_FINDINGS]


def sentence_of(failure: ModelFailure) -> Text:
    """Return a failing model in words, with the next step, without a full stop."""
    model: Text = verbatim(failure.model)
    if failure.server:
        model = text("{model} at {server}", model=model, server=verbatim(failure.server))
    request = f" (request {failure.request_id})" if failure.request_id else ""
    status = verbatim(f"HTTP {failure.status}, ") if failure.status else NO_TEXT
    said = text(
        "{model} has given no answer since {since} ({error}): {calls}, the last at {last}; "
        "{people}. The last message: {message}.",
        model=model,
        since=Moment(failure.since),
        error=joined((status, words_of(failure.kind))),
        calls=counted("{count} failed call", "{count} failed calls", count=failure.calls),
        last=Moment(failure.last),
        people=counted("{count} person waited", "{count} people waited", count=failure.people),
        message=verbatim(failure.message.rstrip(".") + request),
    )
    return joined((said, said_step_of(failure.kind)), " ")


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
    said = f"{finding.model}{where}: {finding.text.rstrip('.')}"
    return f"{said}. Setting: {finding.setting}" if finding.setting else said
