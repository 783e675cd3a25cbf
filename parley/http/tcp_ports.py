"""Ports of this machine, and the reasons why a listener cannot have one."""

import asyncio
import errno
import os
import socket

from gateway.errors import StartError


def refusal(host: str, port: int, error: OSError) -> str:
    """Why it is not possible, in words; without the address that asyncio puts into its own."""
    known = error.errno in errno.errorcode
    reason = os.strerror(error.errno) if known and error.errno else error.strerror or str(error)
    return f"cannot listen on {host}:{port} ({reason})"


def unusable(listener: str, section: str, host: str, port: int, error: OSError) -> StartError:
    """The error of a listener that does not get its port; `section` of the configuration has it."""
    return StartError(
        f"{listener}: {refusal(host, port, error)}.",
        f"Choose another {section}.port, or stop the program that uses it.",
    )


def port_of(server: asyncio.Server | None, configured: int) -> int:
    """The port in use; the configured one while nothing listens."""
    return int(server.sockets[0].getsockname()[1]) if server is not None else configured


def tried(host: str, port: int) -> str:
    """The reason why a listener could not begin there now; empty where it could."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        return refusal(host, port, error)
    return ""
