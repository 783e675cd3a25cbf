"""The profile `scale`: an answer through adapter, workers, Redis and PostgreSQL."""

import time
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from deploy.check.compose import Compose
from deploy.check.container import Container
from deploy.check.image import Image
from deploy.check.network import Network
from deploy.check.play import SECONDS, Deployment, ask, browser, keys_of, log_in
from deploy.check.stand_ins import postgres_image, redis_image
from deploy.check.steps import require, step

WORKERS: Final = 2


def play_scale(deployment: Deployment, image: Image, work: Path) -> None:
    """Start the profile on new volumes, ask on the page, and stop it. Raises `CheckFailed`."""
    deployment.volumes = deployment.volumes.with_name("scale-volumes")
    deployment.report.typed(f"docker compose --profile scale up -d --scale worker={WORKERS}")
    with step("keys"), deployment.container(image, "keys") as keys:
        require(keys.wait(SECONDS) == 0, f"keys failed\n{keys.log}")
    with ExitStack() as running:
        network = running.enter_context(Network())
        with step("redis and postgres are healthy"):
            for name, stand_in in (
                ("redis", redis_image(work)),
                ("postgres", postgres_image(work)),
            ):
                server = deployment.container(stand_in, name, user=stand_in.user)
                running.enter_context(server.on(network, name))
                _healthy(server, Compose(deployment.project).services[name]["healthcheck"]["test"])
        with step(f"adapter and {WORKERS} workers are healthy and ready") as details:
            names = ["adapter", *(f"worker-{number}" for number in range(WORKERS))]
            parts = [deployment.container(image, name.partition("-")[0]) for name in names]
            for name, part in zip(names, parts, strict=True):
                running.enter_context(part.on(network, name))
            for part in parts:
                part.healthy()
                _ready(part)
            details.append(f"{len(keys_of(deployment))} files of keys")
        adapter = parts[0]
        with browser(f"http://127.0.0.1:{adapter.ports[8081]}") as http:
            log_in(deployment, adapter, http, "adapter")
            with step("an answer through worker, Redis and PostgreSQL"):
                ask(http, "Hello!")
        with step("stopped by SIGTERM") as details:
            details.append(", ".join(f"{part.stop()}" for part in parts))


def _healthy(server: Container, test: list[str]) -> None:
    """Wait for a health check of the Compose file."""
    command = ["/bin/sh", "-c", test[1]] if test[0] == "CMD-SHELL" else test[1:]
    until = time.monotonic() + SECONDS
    while server.execute(*command).returncode != 0:
        require(time.monotonic() < until, f"{command} fails\n{server.log}")
        time.sleep(0.2)


def _ready(part: Container) -> None:
    """Ask /readyz inside the container."""
    code = (
        "import http.client as h, sys; c = h.HTTPConnection('127.0.0.1', 8081, timeout=4); "
        "c.request('GET', '/readyz'); sys.exit(c.getresponse().status != 200)"
    )
    until = time.monotonic() + SECONDS
    while part.execute("python", "-c", code).returncode != 0:
        require(time.monotonic() < until, f"it does not become ready\n{part.log}")
        time.sleep(0.2)
