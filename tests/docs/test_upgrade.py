"""The page on upgrades names the tables of this release."""

import re
from pathlib import Path

from gateway.stores.schema import SCHEMA as GATEWAY
from memory.knowledge.schema import SCHEMA as KNOWLEDGE
from memory.schema import SCHEMA as MEMORY

PAGE = Path(__file__).parents[2] / "docs/upgrade.md"
ROW = re.compile(r"^\| \d+\.\d+\.\d+ \| (\d+) \| (\d+) \| (\d+) \|$", re.MULTILINE)


def test_the_last_release_of_the_table_has_the_steps_of_the_program() -> None:
    rows = ROW.findall(PAGE.read_text("utf-8"))

    assert [int(steps) for steps in rows[-1]] == [
        len(schema.steps) for schema in (GATEWAY, MEMORY, KNOWLEDGE)
    ]
