"""A network of containers: a bridge in a namespace of its own, without a way to this machine."""

import subprocess
from dataclasses import dataclass, field
from typing import Final, Self

from deploy.check.steps import program

PREFIX: Final = "172.30.0."
FIRST: Final = 10
"""The last number of the first container's address."""


@dataclass
class Network:
    """A context manager; `addresses` has the address of each name."""

    addresses: dict[str, str] = field(default_factory=dict)
    _router: "subprocess.Popen[bytes] | None" = None

    def __enter__(self) -> Self:
        """Make the bridge."""
        script = "ip link add bridge type bridge && ip link set bridge up && exec sleep 3600"
        command = [program("unshare"), "--net", "/bin/sh", "-c", script]
        self._router = subprocess.Popen(command)
        return self

    def __exit__(self, *_: object) -> None:
        """Remove it: its namespace ends with its process."""
        if self._router is not None:
            self._router.kill()
            self._router.wait()

    def address_for(self, name: str) -> str:
        """A new address, which the other containers find by this name."""
        address = f"{PREFIX}{FIRST + len(self.addresses)}"
        self.addresses[name] = address
        return address

    def attach(self, pid: int, address: str) -> None:
        """Connect the namespace of a process, which sees the connection as `eth0`."""
        assert self._router is not None  # noqa: S101 - a context manager
        own = f"port{address.rpartition('.')[2]}"
        script = (
            f"until ip link show bridge >/dev/null 2>&1; do sleep 0.05; done; "
            f"ip link add {own} type veth peer name eth0 netns {pid} && "
            f"ip link set {own} master bridge && ip link set {own} up"
        )
        inside = [program("nsenter"), f"--net=/proc/{self._router.pid}/ns/net"]
        subprocess.run([*inside, "/bin/sh", "-c", script], check=True)
