"""The endpoints `/healthz` and `/readyz` of the local listener."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from msgspec import Struct, field

from gateway.ports.http_routes import (
    LocalRequest,
    LocalResponse,
    LocalRoute,
    error_response,
    json_response,
)
from gateway.ports.rights import OPEN
from gateway.text import Unconverted

WANTED: Final = ("process", "installation")
BAD_QUERY: Final = "of: write /readyz, or /readyz?of=installation"


class Readiness(Struct, frozen=True):
    """The readiness of this process; `parts` has the state of each part, `problems` the reasons of
    failures. `installation` has the parts of all processes that share the work; `complete`: all of
    them are served. `models` fail, each with its figures; `notes` need nobody."""

    ready: bool
    parts: Mapping[str, str] = field(default_factory=dict)
    problems: Mapping[str, Unconverted] = field(default_factory=dict)
    installation: Mapping[str, str] = field(default_factory=dict)
    complete: bool = True
    models: Sequence[Mapping[str, object]] = ()
    notes: Sequence[str] = ()


class Health(Struct, frozen=True):
    """The health of the process; `loop_lag` is the delay of its loop in seconds."""

    well: bool = True
    loop_lag: float = 0.0


HealthCheck: TypeAlias = Callable[[], Health]
ReadyCheck: TypeAlias = Callable[[], Readiness]


class HealthEndpoints(Struct, frozen=True):
    """Answers with 200 or 503. Only a request with access to the pages learns the parts.

    `/readyz` is about this process: a load balancer that asks it must not take the last adapter
    away because no worker runs, since accepted messages wait. `/readyz?of=installation` is about
    all processes together.
    """

    health: HealthCheck
    ready: ReadyCheck

    def routes(self) -> tuple[LocalRoute, ...]:
        """Return the routes of both endpoints."""
        return (
            LocalRoute("GET", "/healthz", self.healthz, OPEN),
            LocalRoute("GET", "/readyz", self.readyz, OPEN),
        )

    async def healthz(self, _request: LocalRequest) -> LocalResponse:
        """Return the state of the process and the delay of its loop."""
        health = self.health()
        state = "ok" if health.well else "stalled"
        body = {"status": state, "loop_lag": round(health.loop_lag, 3)}
        return json_response(body, 200 if health.well else 503)

    async def readyz(self, request: LocalRequest) -> LocalResponse:
        """Return the readiness of this process, or of the whole installation."""
        wanted = request.query.get("of", "process")
        if wanted not in WANTED:
            return error_response(400, BAD_QUERY)
        state = self.ready()
        is_ready = state.ready and (wanted == "process" or state.complete)
        body: dict[str, object] = {"ready": is_ready}
        if request.trusted:
            body["parts"] = dict(state.parts)
            if state.installation:
                body["installation"] = dict(state.installation)
            if state.problems:
                body["problems"] = {name: str(said) for name, said in state.problems.items()}
            if state.models:
                body["models"] = [dict(model) for model in state.models]
            if state.notes:
                body["notes"] = list(state.notes)
        return json_response(body, 200 if is_ready else 503)
