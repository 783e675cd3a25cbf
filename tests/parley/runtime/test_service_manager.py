"""Messages to systemd, over a socket as it makes them."""

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from parley.runtime.service_manager import ServiceManager


@pytest.mark.parametrize(
    ("address", "variable"),
    [
        (lambda folder: str(folder / "notify"), str),
        (lambda folder: f"\0{folder}", lambda address: f"@{address[1:]}"),
    ],
)
def test_the_service_manager_gets_ready_watchdog_and_stopping_messages(
    address: Callable[[Path], str], variable: Callable[[str], str], tmp_path: Path
) -> None:
    where = address(tmp_path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(where)
        manager = ServiceManager.of({"NOTIFY_SOCKET": variable(where)})
        manager.ready()
        manager.alive()
        manager.stopping()
        manager.close()
        manager.close()
        manager.alive()
        listening.setblocking(False)
        answers = [listening.recv(100) for _ in range(3)]
        assert answers == [b"READY=1", b"WATCHDOG=1", b"STOPPING=1"]
        with pytest.raises(BlockingIOError):
            listening.recv(100)


@pytest.mark.parametrize("env", [{}, {"NOTIFY_SOCKET": ""}, {"NOTIFY_SOCKET": "relative"}])
def test_without_a_socket_nothing_is_sent(env: dict[str, str]) -> None:
    manager = ServiceManager.of(env)
    manager.ready()
    assert manager._socket is None


def test_a_missing_socket_does_not_stop_the_program(tmp_path: Path) -> None:
    manager = ServiceManager.of({"NOTIFY_SOCKET": str(tmp_path / "gone")})
    manager.ready()
    manager.close()
