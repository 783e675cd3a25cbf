"""Plays the steps of a new user with the container files, from the clone to an answer and a
restart."""

import json
import os
import re
import shutil
import ssl
import stat
import subprocess
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx

from deploy.check.compose import Compose
from deploy.check.container import Container
from deploy.check.image import Builder, Image
from deploy.check.steps import ROOT, Report, megabytes, program, require, step

HOST_USER: Final = 1000
"""The user of this machine that owns the clone."""
SECONDS: Final = 60.0
CODE: Final = re.compile(r"OWNER-[A-Z0-9-]+")
UNPRIVILEGED: Final = "0000000000000000"


class Deployment:
    """A clone with its containers, volumes and images in one folder."""

    def __init__(self, folder: Path) -> None:
        self.report = Report()
        self._folder = folder
        self.project = folder / "clone"
        self.volumes = folder / "volumes"
        self._runs = 0

    def clone(self) -> None:
        """Copy the files of the repository, as they are in this checkout."""
        self.report.typed("git clone … parley && cd parley")
        with step("clone") as details:
            listed = [program("git"), "ls-files", "-co", "--exclude-standard", "-z"]
            names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout
            files = [name for name in names.decode().split("\0") if name]
            for name in filter(lambda one: (ROOT / one).is_file(), files):
                target = self.project / name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, target)
            for path in [self.project, *self.project.rglob("*")]:
                os.chown(path, HOST_USER, HOST_USER)
            details += [f"{len(files)} files", f"{megabytes(self.project):.1f} MB"]

    def build(self, target: str = "") -> Image:
        """Play the Dockerfile."""
        chosen = f"PARLEY_IMAGE={target} " if target else ""
        self.report.typed(f"{chosen}docker compose build")
        layers = self._folder / f"layers-{target or 'standard'}"
        layers.mkdir()
        return Builder(self.project, layers).build(target)

    def container(
        self, image: Image, name: str, *, user: str = "", command: Sequence[str] = ()
    ) -> Container:
        """A container of a service."""
        compose = Compose(self.project)
        self._runs += 1
        return Container(
            image=image,
            service=compose.services[name],
            environment=compose.environment(name),
            project=self.project,
            volumes=self.volumes,
            layer=self._folder / f"container-{self._runs}",
            user=user,
            command=command,
        )


def configure(deployment: Deployment, image: Image) -> None:
    """`parley init` in the image, as the owner of the clone."""
    user = f"{HOST_USER}:{HOST_USER}"
    options = ("--platform", "web", "--yes")
    deployment.report.typed(
        'docker compose run --rm -u "$(id -u):$(id -g)" init ' + " ".join(options)
    )
    command = [*Compose(deployment.project).services["init"]["command"], *options]
    with step("init in the image") as details:
        with deployment.container(image, "init", user=user, command=command) as init:
            require(init.wait(SECONDS) == 0, f"init failed\n{init.log}")
        config = deployment.project / "config" / "parley.yaml"
        mode = stat.S_IMODE(config.stat().st_mode)
        require(mode & stat.S_IROTH, f"{config} has mode {mode:o}: the image cannot read it")
        secrets = list(deployment.project.rglob(".env"))
        require(len(secrets) <= 1, f"there are several .env: {secrets}")
        details += [f"mode {mode:o}", f"{len(secrets)} .env"]


def browser(address: str) -> httpx.Client:
    """A client with cookies, straight to this machine."""
    plain = httpx.HTTPTransport(verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
    return httpx.Client(base_url=address, transport=plain, trust_env=False, timeout=10)


@contextmanager
def up(deployment: Deployment, image: Image) -> Iterator[tuple[Container, httpx.Client]]:
    """The default profile, once it is healthy and ready; ends like `docker compose stop`."""
    (name,) = Compose(deployment.project).of_profile()
    with deployment.container(image, name) as parley:
        with step("healthy and ready"):
            parley.healthy()
            address = f"http://127.0.0.1:{parley.ports[8081]}"
            with browser(address) as http:
                until = time.monotonic() + SECONDS
                while http.get("/readyz").status_code != 200:
                    require(time.monotonic() < until, f"it does not become ready\n{parley.log}")
                    time.sleep(0.2)
        with browser(address) as http:
            yield parley, http
        with step("stopped by SIGTERM") as details:
            status = parley.stop()
            require(status == 0, f"it ended with {status}\n{parley.log}")
            details.append(f"status {status}")


def check_confinement(parley: Container) -> None:
    """User, rights and writable places of the running process."""
    with step("user, rights, read-only root") as details:
        status = Path(f"/proc/{parley.first_process}/status").read_text("utf-8")
        facts = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        require(facts["Uid"].split() == ["10001"] * 4, f"it runs as {facts['Uid']}")
        for kind in ("CapEff", "CapPrm", "CapBnd", "CapInh"):
            require(facts[kind].strip() == UNPRIVILEGED, f"{kind} is {facts[kind]}")
        require(facts["NoNewPrivs"].strip() == "1", "it may gain rights")
        in_tmp = "/tmp/x"  # noqa: S108 - the container's own
        for path, writable in (("/x", False), ("/config/x", False), (in_tmp, True)):
            ended = parley.execute("touch", path)
            require((ended.returncode == 0) is writable, f"{path}: {ended.stderr}")
        ended = parley.execute("touch", "/config/parley.yaml")
        require(ended.returncode != 0, "the configuration can be written")
        details.append(f"uid {facts['Uid'].split()[0]}, no capabilities")


def log_in(
    deployment: Deployment, parley: Container, http: httpx.Client, service: str = "parley"
) -> None:
    """Check that requests without the token are refused; then use the link of `parley page` and
    the code of the owner."""
    with step("refused without the token"):
        for method, path in (("GET", "/chat/"), ("GET", "/metrics"), ("POST", "/page-links")):
            answer = http.request(method, path)
            require(answer.status_code == 401, f"{path} answers {answer.status_code}")
        require(http.get("/api/v1/memories").status_code == 401, "the API answers without a token")
        require(set(http.get("/readyz").json()) == {"ready"}, "/readyz names details")
    chosen = "" if service == "parley" else "--profile scale "
    deployment.report.typed(f"docker compose {chosen}exec {service} parley page")
    with step("the page, by its link"):
        ended = parley.execute("parley", "page")
        require(ended.returncode == 0, f"parley page: {ended.stderr}")
        code = ended.stdout.strip().partition("#")[2]
        answer = http.post("/log-in", data={"code": code}, follow_redirects=True)
        require(answer.status_code == 200, f"the page answers {answer.status_code}")
        require("<html" in answer.text, "the page is no page")
    deployment.report.typed(f"docker compose {chosen}exec {service} parley access owner-code")
    with step("the owner, by the code") as details:
        ended = parley.execute("parley", "access", "owner-code")
        require(ended.returncode == 0, f"parley access owner-code: {ended.stderr}")
        (code,) = CODE.findall(ended.stdout)
        details.append(json.dumps(ask(http, code)[:60]))


def lines_of(http: httpx.Client) -> list[dict[str, Any]]:
    """The lines of the conversation that the page shows."""
    lines: list[dict[str, Any]] = http.get("/chat/api/history").json()["lines"]
    return lines


def ask(http: httpx.Client, text: str) -> str:
    """Write on the page; the assistant's answer."""
    before = len(lines_of(http))
    action = {"type": "message", "id": str(uuid.uuid4()), "text": text}
    origin = {"Origin": str(http.base_url).rstrip("/")}
    answer = http.post("/chat/api/actions", json=action, headers=origin)
    require(answer.status_code in (200, 202, 204), f"the page answers {answer.text}")
    until = time.monotonic() + SECONDS
    while True:
        answers = [line for line in lines_of(http)[before:] if line["by"] == "assistant"]
        if answers and not answers[-1].get("writing"):
            return str(answers[-1].get("text") or answers[-1].get("html"))
        require(time.monotonic() < until, f"no answer within {SECONDS:.0f} s")
        time.sleep(0.1)


def keys_of(deployment: Deployment) -> dict[str, str]:
    """The key files of the volume."""
    folder = deployment.volumes / "parley" / "keys"
    return {path.name: path.read_text("ascii") for path in sorted(folder.iterdir())}


def check_shared_keys(deployment: Deployment, image: Image) -> None:
    """Containers that start at once with one volume have the same keys, also on a new volume."""
    kept = keys_of(deployment)
    with step("the keys of a second container are those of the first"):
        _run_keys(deployment, image, 1)
        now = keys_of(deployment)
        require({name: now[name] for name in kept} == kept, "a key changed")
        require("postgres.password" in now, "there is no password of PostgreSQL")
    with step("three containers at once make one set of keys") as details:
        deployment.volumes = deployment.volumes.with_name("new-volumes")
        _run_keys(deployment, image, 3)
        now = keys_of(deployment)
        password = now["postgres.password"].strip()
        require(now["postgres.pgpass"].strip().endswith(f":{password}"), "two passwords")
        details.append(f"{len(now)} files")


def _run_keys(deployment: Deployment, image: Image, number: int) -> None:
    containers = [deployment.container(image, "keys") for _ in range(number)]
    for one in containers:
        one.__enter__()
    for one in containers:
        require(one.wait(SECONDS) == 0, f"keys failed\n{one.log}")
        one.__exit__()


def play(deployment: Deployment, image: Image) -> None:
    """From the configuration to a restart and a second container. Raises `CheckFailed`."""
    configure(deployment, image)
    deployment.report.typed("docker compose up -d")
    with up(deployment, image) as (parley, http):
        check_confinement(parley)
        log_in(deployment, parley, http)
        with step("an answer on the page") as details:
            details.append(json.dumps(ask(http, "Hello!")[:60]))
            first = time.monotonic() - deployment.report.began
            ask(http, "remember that I prefer green tea")
        cookies, kept = dict(http.cookies), keys_of(deployment)
    deployment.report.typed("docker compose restart")
    with (
        up(deployment, image) as (parley, http),
        step("after the restart: the same keys, browser and memory"),
    ):
        require(keys_of(deployment) == kept, "a key changed")
        http.cookies.update(cookies)
        ask(http, "Are you still there?")
        known = parley.execute("parley", "memory", "people")
        require(known.returncode == 0, f"parley memory people: {known.stderr}")
        require(known.stdout.count("web:main:") == 1, f"not one person: {known.stdout}")
    check_shared_keys(deployment, image)
    size = sum(megabytes(layer) for layer in image.layers[:-1])
    figures = {"first answer after": f"{first:.0f} s", "image without its base": f"{size:.0f} MB"}
    deployment.report.summary(**figures)


def check_models(deployment: Deployment) -> None:
    """The images with models. Raises `CheckFailed`."""
    check_libraries(deployment, "models", ("fastembed", "numpy", "openai", "onnxruntime"))
    check_libraries(deployment, "voice", ("faster_whisper", "av", "numpy", "openai", "pypdfium2"))


def check_libraries(deployment: Deployment, target: str, modules: Sequence[str]) -> None:
    """The image of a target loads these modules. Raises `CheckFailed`."""
    image = deployment.build(target)
    command = ["-c", f"import {', '.join(modules)}; print({modules[0]}.__version__)"]
    image.entry = ["/venv/bin/python"]
    with (
        step(f"the libraries of the image `{target}`") as details,
        deployment.container(image, "keys", command=command) as ran,
    ):
        require(ran.wait(SECONDS) == 0, f"they do not load\n{ran.log}")
        details.append(f"{modules[0]} {ran.log.strip()}")
