"""The running program against its own description, asked by schemathesis with a token.

Every check it has: no failure of the server, no status, header, type or schema that is not
described, nothing valid refused, nothing invalid taken, no token ignored, nothing to be had after
it was deleted.
"""

import asyncio
import json
import sys
from pathlib import Path

import pytest
from starlette.responses import JSONResponse

from memory.model.record import Draft, Kind
from parley.console.api import PREFIX as CONSOLE
from parley.console.routes import ROUTES
from parley.http.api import PREFIX
from tests.parley.http.api.kit import Program, running, settings_in

BY_DAY = ("--max-examples", "5", "--seed", "20261121", "--phases", "fuzzing,stateful")
"""The third phase, each limit of each parameter, takes twice the time of these two."""
CONFIG = """
[checks.positive_data_acceptance]
# 409: it is there already. 422: a text of which nothing can be kept, such as one of blanks.
expected-statuses = ["2xx", "401", "403", "404", "409", "422"]
[checks.negative_data_rejection]
# Its own, and 413: a body that is too long for the listener.
expected-statuses = [
    "400", "401", "403", "404", "405", "406", "409", "413", "415", "422", "428", "429", "5xx",
]
"""


async def run_schemathesis(program: Program, folder: Path, *options: str) -> tuple[int, str]:
    """Its exit status and what it wrote. It asks as the operator, who has chosen a project."""
    olga = program.api_client("olga")
    await olga.in_room()
    handle = await olga.in_private()
    await program.app.memory.commands.run("project", "1", olga.caller(handle.request.place))
    for thing in ("boat", "kite", "drum", "lamp", "harp"):
        await handle.write.infer(Draft(f"Olga owns a {thing}.", Kind.FACT))
    config = folder / "schemathesis.toml"
    config.write_text(CONFIG, "utf-8")
    process = await asyncio.create_subprocess_exec(
        str(Path(sys.executable).with_name("schemathesis")),
        *(
            "--config-file",
            str(config),
            "run",
            program.app.local.base_url + PREFIX + "/openapi.json",
        ),
        *("--header", f"Authorization: Bearer {olga.token}", "--checks", "all", "--no-color"),
        *options,
        cwd=folder,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        out, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode is not None
    return process.returncode, out.decode()


@pytest.mark.timeout(600)
async def test_every_endpoint_conforms_to_the_description(program: Program, tmp_path: Path) -> None:
    status, reply = await run_schemathesis(program, tmp_path, *BY_DAY)
    assert status == 0, reply


@pytest.mark.nightly
async def test_every_endpoint_conforms_in_many_generated_requests(
    program: Program, tmp_path: Path
) -> None:
    status, reply = await run_schemathesis(program, tmp_path, "--max-examples", "300")
    assert status == 0, reply


@pytest.mark.nightly
async def test_a_violation_of_the_description_is_detected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from parley.http.api import errors  # noqa: PLC0415 - what is broken here

    monkeypatch.setattr(errors, "refusal", _with_another_form)
    async with running(settings_in(tmp_path)) as program:
        status, reply = await run_schemathesis(
            program, tmp_path, "--max-examples", "1", "--phases", "coverage"
        )
    assert status == 1
    assert "Response violates schema" in reply


def _with_another_form(refused: object) -> object:
    return JSONResponse({"wrong": True}, refused.status)  # type: ignore[attr-defined]


async def test_the_description_contains_every_endpoint(program: Program) -> None:
    response = await program.api_client("ada")("GET", "/openapi.json")
    assert response.json["openapi"] == "3.1.0"
    paths = response.json["paths"]
    console: dict[str, list[str]] = {}
    for route in ROUTES:
        console.setdefault(f"{CONSOLE}{route.path}", []).append(route.method.lower())
    assert {path: sorted(methods) for path, methods in paths.items()} == {
        **{path: sorted(methods) for path, methods in console.items()},
        "/api/v1/openapi.json": ["get"],
        "/api/v1/brain": ["get"],
        "/api/v1/brain/soul": ["get", "put"],
        "/api/v1/brain/soul/versions": ["get"],
        "/api/v1/brain/soul/restore": ["post"],
        "/api/v1/brain/bible": ["get", "put"],
        "/api/v1/brain/bible/versions": ["get"],
        "/api/v1/brain/bible/restore": ["post"],
        "/api/v1/brain/heartbeat": ["get"],
        "/api/v1/brain/memories": ["get", "post"],
        "/api/v1/brain/export": ["get"],
        "/api/v1/brain/import": ["post"],
        "/api/v1/brain/decisions": ["get"],
        "/api/v1/usage": ["get"],
        "/api/v1/brain/memories/{id}": ["delete", "get"],
        "/api/v1/brain/memories/{id}/restore": ["post"],
        "/api/v1/brain/memories/{id}/settle": ["post"],
        "/api/v1/brain/choices": ["get", "put"],
        "/api/v1/brain/reviews": ["get"],
        "/api/v1/brain/reviews/{id}/approve": ["post"],
        "/api/v1/brain/reviews/{id}/reject": ["post"],
        "/api/v1/brain/agents": ["get", "post"],
        "/api/v1/brain/agents/{id}": ["delete", "get"],
        "/api/v1/brain/agents/{id}/sessions": ["post"],
        "/api/v1/brain/agents/{id}/take-back": ["post"],
        "/api/v1/brain/handoffs": ["get"],
        "/api/v1/brain/handoffs/{id}/reject": ["post"],
        "/api/v1/brain/pools": ["get"],
        "/api/v1/brain/pools/{id}": ["delete", "get"],
        "/api/v1/brain/invitations": ["get"],
        "/api/v1/brain/invitations/{id}/decline": ["post"],
        "/api/v1/brain/pools/{id}/leave": ["post"],
        "/api/v1/brain/pools/{id}/unshare": ["post"],
        "/api/v1/brain/pools/{id}/update": ["post"],
        "/api/v1/brain/sessions/{id}": ["delete", "post"],
    }
    named = response.json["components"]["schemas"]
    used = {
        part.partition('"')[0]
        for part in json.dumps(response.json).split("#/components/schemas/")[1:]
    }
    assert used <= set(named)
    for methods in paths.values():
        for operation in methods.values():
            assert {"401", "403", "429", "503"} < set(operation["responses"])
