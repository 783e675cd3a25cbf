"""Asks a Parley that runs on this machine for its state, for `parley doctor`."""

from collections.abc import Mapping
from typing import Final

from parley.cli.doctor.checks import Finding
from parley.cli.running_program import fetch, request_to
from parley.config import Settings
from parley.http.listener import tried

NAME: Final = "running"


def check_running(settings: Settings) -> list[Finding]:
    """The readiness that the local listener reports; one finding per problem or unready part."""
    if settings.server.port == 0:
        return []
    request = request_to(settings, "/readyz")
    try:
        state = fetch(request)
    except (OSError, ValueError):
        return _not_running(settings, f"no Parley answers on {request.host}")
    if state.get("ready") is True:
        return [Finding("ok", NAME, "it is ready"), *_notes(state.get("problems"))]
    return _unready(state)


def _not_running(settings: Settings, detail: str) -> list[Finding]:
    """Findings about ports that other programs use."""
    local, public = settings.server, settings.webhooks
    conflict = tried(local.host, local.port)
    if conflict:
        advice = "Choose another server.port, or stop the program that uses it."
        return [Finding("broken", NAME, f"{detail}, and {conflict}", advice)]
    findings = [Finding("ok", NAME, detail)]
    conflict = tried(public.host, public.port)
    if conflict:
        advice = "Choose another webhooks.port, or stop the program that uses it."
        findings.append(Finding("note", "public listener", conflict, advice))
    return findings


def _notes(problems: object) -> list[Finding]:
    """Problems that do not stop the program, such as work in quarantine."""
    named = problems if isinstance(problems, dict) else {}
    return [
        Finding(
            "note",
            f"{NAME}: {part}",
            str(problem),
            "See docs/operations.md and the log of the program.",
        )
        for part, problem in named.items()
    ]


def _unready(state: Mapping[str, object]) -> list[Finding]:
    parts, problems = state.get("parts"), state.get("problems")
    if not isinstance(parts, dict):
        advice = "Something else may use server.port, or server.token differs from the running one."
        return [
            Finding("note", NAME, "the program on server.port does not report its state", advice)
        ]
    texts = problems if isinstance(problems, dict) else {}
    return [
        Finding(
            "broken", f"{NAME}: {part}", f"{status}. {texts.get(part, '')}".rstrip(), "See its log."
        )
        for part, status in parts.items()
        if status != "ready"
    ]
