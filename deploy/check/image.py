"""Plays a Dockerfile: each stage is a writable layer (overlayfs) over this machine's own files.

The base image is this machine with a copy of the running Python at /usr/local. RUN steps run as
root in a mount namespace that hides the checkout, so only COPY brings files in.
"""

import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from deploy.check.dockerfile import Instruction, pairs, read_stages, substituted, words
from deploy.check.steps import ROOT, CheckFailed, megabytes, program, require, step

BUILD_SECONDS: Final = 900
BASE_PATH: Final = "/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"
PASSED_ON: Final = ("PIP_", "UV_", "SSL_", "HTTP_", "HTTPS_", "NO_PROXY", "http", "no_proxy")
"""Variables of this machine that a build sees, as a build behind a proxy does."""
PIP: Final = '#!/bin/sh\nexec /usr/local/bin/python -m pip "$@"\n'


@dataclass(slots=True)
class Image:
    """A finished stage: its layers, topmost first, and what the container starts."""

    layers: list[Path]
    environment: dict[str, str] = field(default_factory=dict)
    user: str = "0:0"
    folder: str = "/"
    volumes: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)
    entry: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)

    def child(self, layer: Path) -> "Image":
        """An image that begins with this one and has a layer of its own."""
        return Image(
            [layer, *self.layers],
            dict(self.environment),
            self.user,
            self.folder,
            list(self.volumes),
            list(self.health),
            list(self.entry),
            list(self.command),
            dict(self.labels),
        )

    @property
    def lower(self) -> str:
        """The layers as overlayfs names them, over this machine's files."""
        return ":".join([*map(str, self.layers), "/"])


class Builder:
    """Builds the stages of a Dockerfile in `work`; `context` is the folder of the build."""

    def __init__(self, context: Path, work: Path) -> None:
        self._context, self._work = context, work
        self._stages, self.last = read_stages(context / "Dockerfile")
        self._allowed = _allowed(context / ".dockerignore")
        self._built: dict[str, Image] = {}
        self._base = self._python()

    def build(self, target: str = "") -> Image:
        """Build a stage, with the stages it needs. Raises `CheckFailed`."""
        name = target or self.last
        if name not in self._built:
            stage = self._stages[name]
            below = self.build(stage.base) if stage.base in self._stages else self._base
            layer = self._work / name
            layer.mkdir()
            image = below.child(layer)
            with step(f"stage {name}") as details:
                for instruction in stage.steps:
                    self._play(image, instruction)
                details.append(f"{megabytes(layer):.0f} MB")
            self._built[name] = image
        return self._built[name]

    def _python(self) -> Image:
        """The base image: a copy of this interpreter, without packages but pip."""
        layer = self._work / "python-slim"
        source, local = Path(sys.base_prefix), layer / "usr" / "local"
        for part in ("lib", "include"):
            shutil.copytree(source / part, local / part, symlinks=True, ignore=_unused)
        (local / "bin").mkdir()
        shutil.copy2(Path(sys.executable).resolve(), local / "bin" / "python")
        (local / "bin" / "pip").write_text(PIP)
        (local / "bin" / "pip").chmod(0o755)
        environment = {"PATH": BASE_PATH, "HOME": "/root", "LD_LIBRARY_PATH": "/usr/local/lib"}
        return Image([layer], environment)

    def _play(self, image: Image, instruction: Instruction) -> None:
        text = substituted(instruction.text, image.environment)
        match instruction.name:
            case "ENV":
                image.environment |= pairs(text)
            case "ARG":
                name, _, value = instruction.text.partition("=")
                image.environment.setdefault(name, value)
            case "LABEL":
                image.labels |= pairs(text)
            case "WORKDIR":
                image.folder = text
            case "USER":
                image.user = text
            case "VOLUME":
                image.volumes.append(text)
            case "HEALTHCHECK":
                image.health = words(text)
            case "ENTRYPOINT":
                image.entry = words(text)
            case "CMD":
                image.command = words(text)
            case "COPY":
                self._copy(image, text.split())
            case "RUN":
                self._run(image, instruction.text)

    def _copy(self, image: Image, parts: list[str]) -> None:
        *sources, target = parts
        place = image.layers[0] / (Path(image.folder) / target).relative_to("/")
        if sources[0].startswith("--from="):
            other = self.build(sources.pop(0).removeprefix("--from="))
            (source,) = sources
            _in_view(other, f"cp -a {shlex.quote(source)} $OUT", place.parent)
            return
        place.mkdir(parents=True, exist_ok=True)
        for source in sources:
            require(source in self._allowed, f"COPY {source}: .dockerignore leaves it out")
            path = self._context / source
            whole = target.endswith("/") or len(sources) > 1
            if path.is_dir():
                unused = shutil.ignore_patterns("__pycache__", "*.pyc", ".env")
                shutil.copytree(path, place, dirs_exist_ok=True, ignore=unused)
            elif whole:
                shutil.copy2(path, place / path.name)
            else:
                place.rmdir()
                shutil.copy2(path, place)

    def _run(self, image: Image, command: str) -> None:
        require(image.user == "0:0", "RUN after USER is not played")
        _in_view(image, command, None)


def _unused(folder: str, names: list[str]) -> list[str]:
    """Everything of an installed Python that the base image does not have."""
    if Path(folder).name == "site-packages":
        return [name for name in names if not name.startswith("pip")]
    left_out = {"test", "tests", "idlelib", "turtledemo", "__pycache__"}
    return [name for name in names if name in left_out or name.endswith(".a")]


def _in_view(image: Image, command: str, out: Path | None) -> None:
    """Run a command as root in an image; what it writes stays in the top layer. With `out`, nothing
    but $OUT, this folder of the machine, can be written. Raises `CheckFailed`."""
    view = image.layers[0].with_name(f"{image.layers[0].name}.view")
    work = image.layers[0].with_name(f"{image.layers[0].name}.work")
    for folder in (view, work):
        folder.mkdir(exist_ok=True)
    top, *rest = image.layers
    lower = ":".join([*map(str, rest), "/"])
    environment = {
        name: value for name, value in os.environ.items() if name.startswith(PASSED_ON)
    } | image.environment
    script = [
        "set -e",
        f"mount -t overlay image -o lowerdir={lower},upperdir={top},workdir={work} {view}",
        f"mount -t tmpfs none {view}{ROOT}",
        f"mount -t proc proc {view}/proc",
        f"mount --rbind /dev {view}/dev",
    ]
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        script += [f"mkdir -p {view}/mnt/out", f"mount --bind {out} {view}/mnt/out"]
        environment["OUT"] = "/mnt/out"
    else:
        script.append(f"mkdir -p {view}{image.folder}")
    inner = f"cd {image.folder if out is None else '/'}\n{command}"
    variables = " ".join(f"{name}={shlex.quote(text)}" for name, text in environment.items())
    script.append(f"exec chroot {view} env -i {variables} /bin/sh -ec {shlex.quote(inner)}")
    ended = subprocess.run(
        [program("unshare"), "--mount", "/bin/sh", "-c", "\n".join(script)],
        capture_output=True,
        text=True,
        timeout=BUILD_SECONDS,
        check=False,
    )
    if ended.returncode != 0:
        raise CheckFailed(f"RUN {command}\n{ended.stdout[-2000:]}{ended.stderr[-4000:]}")


def _allowed(path: Path) -> set[str]:
    """The files and folders that .dockerignore lets in."""
    lines = [line.strip() for line in path.read_text("utf-8").splitlines()]
    require("*" in lines, f"{path.name}: begin with *, so that nothing enters by accident")
    return {line[1:] for line in lines if line.startswith("!")}
