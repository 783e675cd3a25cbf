"""The description of a tool."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it. `schema` is the JSON Schema (an object) of its arguments.

    `side_effects` and `secrets` decide, with role and audience, who may use it. `open_world`: its
    results can come from anywhere, as those of a web search. `alone`: after its call the model's
    service runs no tool of its own in the turn.
    """

    name: str
    """The name by which the model calls it."""
    description: str
    """The text from which the model learns when and how to use it."""
    schema: Mapping[str, object] = field(hash=False)
    side_effects: bool = True
    secrets: bool = False
    open_world: bool = True
    alone: bool = False
