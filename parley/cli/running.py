"""What a Parley that runs on this machine says of itself, for `parley doctor`."""

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Final

from parley.cli.checks import Finding
from parley.config import Settings
from parley.http.tcp_ports import tried

SECONDS: Final = 3.0
MAX_ANSWER: Final = 100_000
NAME: Final = "running"
LOCAL: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - where to ask, not to listen


def running(settings: Settings) -> list[Finding]:
    """Ask the local listener whether it is ready; one finding per problem or unready part."""
    server = settings.server
    if server.port == 0:
        return []
    host = LOCAL.get(server.host, server.host)
    address = f"http://[{host}]" if ":" in host else f"http://{host}"
    request = urllib.request.Request(f"{address}:{server.port}/readyz")  # noqa: S310 - always http
    if server.token is not None:
        request.add_header("Authorization", f"Bearer {server.token.get_secret_value()}")
    try:
        told = _asked(request)
    except (OSError, ValueError):
        return _nobody(settings, f"no Parley answers on {host}:{server.port}")
    if told.get("ready") is True:
        return [Finding("ok", NAME, "it is ready"), *_notes(told.get("problems"))]
    return _unready(told)


def _nobody(settings: Settings, told: str) -> list[Finding]:
    """Nothing runs, or what should is kept from its ports by other programs."""
    local, public = settings.server, settings.webhooks
    taken = tried(local.host, local.port)
    if taken:
        advice = "Choose another server.port, or stop the program that has it."
        return [Finding("broken", NAME, f"{told}, and {taken}", advice)]
    found = [Finding("ok", NAME, told)]
    taken = tried(public.host, public.port)
    if taken:
        advice = "For a platform with webhooks: another webhooks.port, or stop what has this one."
        found.append(Finding("note", "public listener", taken, advice))
    return found


def _asked(request: urllib.request.Request) -> Mapping[str, object]:
    # Never through a proxy: the token is meant for this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=SECONDS) as answer:
            body = answer.read(MAX_ANSWER)
    except urllib.error.HTTPError as error:
        with error:
            body = error.read(MAX_ANSWER)
    told = json.loads(body)
    return told if isinstance(told, dict) else {}


def _notes(problems: object) -> list[Finding]:
    """Problems that do not keep the program from its work, such as work in quarantine."""
    named = problems if isinstance(problems, dict) else {}
    return [
        Finding("note", f"{NAME}: {part}", str(problem), "See docs/operations.md, and its log.")
        for part, problem in named.items()
    ]


def _unready(told: Mapping[str, object]) -> list[Finding]:
    parts, problems = told.get("parts"), told.get("problems")
    if not isinstance(parts, dict):
        advice = "Something else may use server.port, or server.token differs from the running one."
        return [Finding("note", NAME, "what answers there does not say how it is", advice)]
    words = problems if isinstance(problems, dict) else {}
    return [
        Finding(
            "broken", f"{NAME}: {part}", f"{state}. {words.get(part, '')}".rstrip(), "See its log."
        )
        for part, state in parts.items()
        if state != "ready"
    ]
