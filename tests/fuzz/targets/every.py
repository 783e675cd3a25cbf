"""All targets."""

from collections.abc import Mapping
from typing import Final

from tests.fuzz.target import Target
from tests.fuzz.targets import models, platforms, program, remembering, rendering, safety

_ALL: Final = (platforms, models, rendering, safety, remembering, program)
TARGETS: Final[Mapping[str, Target]] = {
    target.name: target for module in _ALL for target in module.TARGETS
}
MODULES: Final[Mapping[str, str]] = {
    target.name: module.__name__.rpartition(".")[2] for module in _ALL for target in module.TARGETS
}
"""The module of `targets/` that each target stands in."""
