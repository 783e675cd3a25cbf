"""The arguments of `parley run` that deployment files may use."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

OPTIONS: Final = {"--config", "--role", "--platform"}


def is_known(arguments: Sequence[str]) -> bool:
    """Return True if `parley` accepts these arguments."""
    named = {argument for argument in arguments if argument.startswith("--")}
    roles = [b for a, b in pairwise(arguments) if a == "--role"]
    return arguments[0] == "run" and named <= OPTIONS and set(roles) <= {"adapter", "worker"}
