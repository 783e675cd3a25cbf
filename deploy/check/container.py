"""Runs a service of Compose without an engine: namespaces, the image's user, a read-only root.

Not played: cgroups (limits of processes and memory), seccomp, and the way out to other networks.
"""

import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from deploy.check.image import Image
from deploy.check.network import Network
from deploy.check.steps import ROOT, CheckFailed, program, require

ADDRESS: Final = "172.30.0.2"
"""The container's address in its own network namespace."""
STOP_SECONDS: Final = 40
START_SECONDS: Final = 60.0
DEVICES: Final = ("null", "zero", "full", "random", "urandom")
PROXY: Final = """
import asyncio, socket, sys
async def pump(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()
async def serve(reader, writer):
    try:
        to_reader, to_writer = await asyncio.open_connection(sys.argv[2], int(sys.argv[3]))
    except OSError:
        return writer.close()
    await asyncio.gather(pump(reader, to_writer), pump(to_reader, writer), return_exceptions=True)
async def main():
    server = await asyncio.start_server(serve, sock=socket.socket(fileno=int(sys.argv[1])))
    await server.serve_forever()
asyncio.run(main())
"""


@dataclass
class Container:
    """One run of a service. `volumes` is the folder of named volumes."""

    image: Image
    service: Mapping[str, Any]
    environment: Mapping[str, str]
    project: Path
    volumes: Path
    layer: Path
    user: str = ""
    command: Sequence[str] = ()
    ports: dict[int, int] = field(default_factory=dict)
    """The published ports of this machine, by the port in the container."""
    network: Network | None = None
    address: str = ADDRESS
    _process: "subprocess.Popen[bytes] | None" = None
    _proxies: "list[subprocess.Popen[bytes]]" = field(default_factory=list)

    def __post_init__(self) -> None:
        """Fill in what the image leaves open."""
        self.user = self.user or self.image.user
        self.command = self.command or self.service.get("command") or self.image.command
        for folder in (self.layer / "upper", self.layer / "work", self.layer / "root"):
            folder.mkdir(parents=True)

    def __enter__(self) -> Self:
        """Start it and publish its ports."""
        log = (self.layer / "log").open("wb")
        flags = ("--mount", "--pid", "--net", "--uts", "--ipc", "--fork", "--kill-child")
        self._process = subprocess.Popen(
            [program("unshare"), *flags, "/bin/sh", "-c", self._script()],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        if self.network is not None:
            self.network.attach(self._child(), self.address)
        for port in self.service.get("ports", []):
            self._publish(port)
        return self

    def on(self, network: Network, name: str) -> Self:
        """Put it on a network under a name, before its start."""
        self.network, self.address = network, network.address_for(name)
        return self

    def __exit__(self, *_: object) -> None:
        """Kill what is left."""
        for process in [*self._proxies, *filter(None, [self._process])]:
            if process.poll() is None:
                process.kill()
            process.wait()

    @property
    def log(self) -> str:
        """Everything it wrote so far."""
        return (self.layer / "log").read_text("utf-8", "replace")

    @property
    def _started(self) -> "subprocess.Popen[bytes]":
        if self._process is None:
            raise CheckFailed("it is not started")
        return self._process

    def stop(self) -> int:
        """Send SIGTERM to its first process, as `docker compose stop` does; the exit status."""
        os.kill(self.first_process, signal.SIGTERM)
        return self.wait(STOP_SECONDS)

    def wait(self, seconds: float) -> int:
        """Wait for its end; the exit status. Raises `CheckFailed`."""
        try:
            return self._started.wait(seconds)
        except subprocess.TimeoutExpired:
            raise CheckFailed(f"it still runs after {seconds:.0f} s\n{self.log}") from None

    @property
    def first_process(self) -> int:
        """Its process 1, as this machine numbers it, once it has entered its root. Raises
        `CheckFailed` where it has ended."""
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            child = self._child()
            with suppress(OSError):
                if os.readlink(f"/proc/{child}/root") != "/":
                    return child
            time.sleep(0.02)
        raise CheckFailed(f"its process does not start\n{self.log}")

    def _child(self) -> int:
        """The first process in its namespaces."""
        process = self._started
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            require(process.poll() is None, f"it ended\n{self.log}")
            with suppress(OSError):
                path = Path(f"/proc/{process.pid}/task/{process.pid}/children")
                if children := path.read_text().split():
                    return int(children[0])
            time.sleep(0.02)
        raise CheckFailed(f"its process is not found\n{self.log}")

    def execute(self, *command: str) -> "subprocess.CompletedProcess[str]":
        """`docker compose exec`: run a command in it, as its user."""
        target = str(self.first_process)
        enter = [program("nsenter"), "-t", target, "-m", "-n", "-p", "-u", "-i", "-r"]
        return subprocess.run(
            [*enter, *self._as_user(command)], capture_output=True, text=True, check=False
        )

    def healthy(self) -> None:
        """Wait until the health check of the image succeeds. Raises `CheckFailed`."""
        until = time.monotonic() + START_SECONDS
        while self.execute(*self.image.health).returncode != 0:
            require(time.monotonic() < until, f"its health check fails\n{self.log}")
            time.sleep(0.2)

    def _as_user(self, command: Sequence[str]) -> list[str]:
        """The command with the environment and user of the container, without capabilities."""
        user, _, group = self.user.partition(":")
        variables = {"HOME": "/data", "HOSTNAME": "parley", **self.image.environment}
        variables |= self.environment
        given = [f"{name}={text}" for name, text in variables.items()]
        more = self.service.get("group_add", [])
        groups = f"--groups={','.join(more)}" if more else "--clear-groups"
        rights = (groups, "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs")
        return [
            *("/usr/bin/env", "-i", f"--chdir={self.image.folder}", *given),
            *("setpriv", f"--reuid={user}", f"--regid={group or user}", *rights, *command),
        ]

    def _script(self) -> str:
        """Sets up the mounts and becomes the command."""
        root = self.layer / "root"
        overlay = f"upperdir={self.layer}/upper,workdir={self.layer}/work"
        lines = [
            "set -e",
            f"mount -t overlay container -o lowerdir={self.image.lower},{overlay} {root}",
            *(f"mount -t tmpfs none {root}{hidden}" for hidden in (ROOT, "/root", "/home")),
            f"mount -t proc proc {root}/proc",
            *self._devices(root),
            *self._mounts(root),
            *(f"mount -t tmpfs none {root}{_place(one)}" for one in self.service["tmpfs"]),
            *(f"chmod 1777 {root}{_place(one)}" for one in self.service["tmpfs"]),
            *self._interfaces(root),
        ]
        if self.service.get("read_only"):
            lines.append(f"mount -o remount,ro {root}")
        command = shlex.join(self._as_user([*self.image.entry, *self.command]))
        return "\n".join([*lines, f"exec chroot {root} {command}"])

    def _interfaces(self, root: Path) -> list[str]:
        """The address, on a network or for itself, and the names of the others."""
        lines = ["ip link set lo up"]
        if self.network is None:
            return [*lines, f"ip addr add {self.address}/32 dev lo"]
        hosts = self.layer / "hosts"
        known = {"localhost": "127.0.0.1", **self.network.addresses}
        hosts.write_text("".join(f"{address} {name}\n" for name, address in known.items()))
        return [
            *lines,
            f"mount --bind {hosts} {root}/etc/hosts",
            "until ip link show eth0 >/dev/null 2>&1; do sleep 0.05; done",
            f"ip addr add {self.address}/24 dev eth0",
            "ip link set eth0 up",
        ]

    def _devices(self, root: Path) -> list[str]:
        lines = [f"mount -t tmpfs -o mode=755 none {root}/dev"]
        for name in DEVICES:
            lines += [f"touch {root}/dev/{name}", f"mount --bind /dev/{name} {root}/dev/{name}"]
        return [*lines, f"mkdir -m 1777 {root}/dev/shm"]  # noqa: S108 - the container's own

    def _mounts(self, root: Path) -> list[str]:
        lines: list[str] = []
        for mount in self.service.get("volumes", []):
            target = root / mount["target"].removeprefix("/")
            if mount["type"] == "volume":
                source = self._volume(mount["source"], mount["target"])
            else:
                source = self.project / mount["source"]
                require(source.exists(), f"bind source path does not exist: {source}")
            lines += _point(source, target)
            lines.append(f"mount --bind {source} {target}")
            if mount.get("read_only"):
                lines.append(f"mount -o remount,bind,ro {target}")
        return lines

    def _volume(self, name: str, target: str) -> Path:
        """The folder of a named volume; a new one gets owner and mode of the image's folder."""
        folder = self.volumes / name
        if not folder.exists():
            folder.mkdir(parents=True)
            for layer in self.image.layers:
                original = layer / target.removeprefix("/")
                if original.exists():
                    state = original.stat()
                    os.chown(folder, state.st_uid, state.st_gid)
                    folder.chmod(state.st_mode & 0o7777)
                    break
        return folder

    def _publish(self, text: str) -> None:
        """A forwarder like docker-proxy: it listens on this machine, and connects from inside."""
        address, _, inside = text.split(":")
        listening = socket.create_server((address, 0))
        self.ports[int(inside)] = listening.getsockname()[1]
        self.first_process  # noqa: B018 - the namespace exists from here on
        arguments = [str(listening.fileno()), self.address, inside]
        network = f"--net=/proc/{self._started.pid}/ns/net"
        self._proxies.append(
            subprocess.Popen(
                [program("nsenter"), network, sys.executable, "-c", PROXY, *arguments],
                pass_fds=[listening.fileno()],
            )
        )
        listening.close()


def _place(tmpfs: str) -> str:
    return tmpfs.partition(":")[0]


def _point(source: Path, target: Path) -> list[str]:
    if source.is_dir():
        return [f"mkdir -p {target}"]
    return [f"mkdir -p {target.parent}", f"touch {target}"]
