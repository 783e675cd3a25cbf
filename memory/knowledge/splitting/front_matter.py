"""The YAML block that begins some documents, between two lines of three hyphens."""

from collections.abc import Mapping, Sequence
from typing import Final

import yaml

MAX_LINES: Final = 100
MAX_SIZE: Final = 4_000
"""Characters of a block that is read."""
MAX_BRACKETS: Final = 40
"""Opening brackets of a block that is read: the reader's time grows with the square of nesting."""
MAX_VALUES: Final = 20
MAX_VALUE: Final = 200
NULL: Final = "tag:yaml.org,2002:null"
"""The kind of a value that is not there."""


class _Loader(yaml.SafeLoader):
    """A parser without aliases, with which a few lines hold any number of values."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("an alias")
        return super().compose_node(parent, index)


def front_matter(lines: Sequence[str]) -> tuple[Mapping[str, tuple[str, ...]], int]:
    """The fields of the block, with names in small letters and "_" for "-" and " ", each with its
    texts, and the line after the block. What cannot be read has no fields."""
    if not lines or lines[0].strip() != "---":
        return {}, 0
    for number, line in enumerate(lines[1 : MAX_LINES + 1], 1):
        if line.strip() in {"---", "..."}:
            return _fields("".join(lines[1:number])), number + 1
    return {}, 0


def _fields(block: str) -> dict[str, tuple[str, ...]]:
    if len(block) > MAX_SIZE or block.count("[") + block.count("{") > MAX_BRACKETS:
        return {}
    try:
        read = yaml.compose(block, _Loader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    if not isinstance(read, yaml.MappingNode):
        return {}
    return {
        name.value.lower().replace("-", "_").replace(" ", "_")[:MAX_VALUE]: _texts(value)
        for name, value in read.value[:MAX_LINES]
        if isinstance(name, yaml.ScalarNode)
    }


def _texts(node: yaml.Node) -> tuple[str, ...]:
    """The scalars of a node as they are written: making values of their types can fail."""
    nodes = node.value[:MAX_VALUES] if isinstance(node, yaml.SequenceNode) else [node]
    return tuple(
        one.value[:MAX_VALUE].strip()
        for one in nodes
        if isinstance(one, yaml.ScalarNode) and one.tag != NULL
    )
