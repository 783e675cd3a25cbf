"""The page on the retention of data matches the program."""

import re

from gateway.stores.redis.client import RedisClient
from gateway.stores.redis.keys import Keys
from gateway.stores.schema import SCHEMA
from tests.parley.cli.kit import ROOT

PAGE = ROOT / "docs" / "reference" / "data-retention.md"
CREATED = re.compile(r"CREATE TABLE (\w+)")
RENAMED = re.compile(r"ALTER TABLE (\w+) RENAME TO")


def kept(text: str, column: int) -> set[str]:
    """Return the names in a column of the table of lifetimes."""
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| ")]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row[column])}


def test_every_table_and_key_is_listed_with_its_retention() -> None:
    text = PAGE.read_text("utf-8")
    made = " ".join(statement for step in SCHEMA.steps for statement in step)
    renamed = set(RENAMED.findall(made))
    assert kept(text, 1) == set(CREATED.findall(made)) - renamed
    attributes = {"inbox_prefix": "inbox"}
    client = RedisClient("redis://127.0.0.1:1")
    names = {attributes.get(name, name) for name in {*dir(Keys), *vars(Keys(client))}}
    assert kept(text, 2) == {name for name in names if not name.startswith("_")}
