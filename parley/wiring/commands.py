"""Which commands are offered to people: the gateway's own, and memory's where there is one."""

from gateway.commands.catalogue import REGISTERED
from gateway.ports import CommandSpec
from memory.commands.command_set import SPECS


def offered_commands(*, with_memory: bool) -> tuple[CommandSpec, ...]:
    """What is registered with the platforms."""
    return (*REGISTERED, *SPECS) if with_memory else REGISTERED
