"""The page on operating Parley says what the program does."""

import re

from prometheus_client.parser import text_string_to_metric_families

from gateway.observe.gauges import GaugeReadings, Gauges
from gateway.observe.metrics import Metrics
from gateway.stores.redis.client import RedisClient
from gateway.stores.redis.keys import Keys
from gateway.stores.schema import SCHEMA
from tests.parley.cli.kit import ROOT

PAGE = ROOT / "docs" / "operations.md"
METRIC = re.compile(r"`(parley_[a-z_]+)`")
CREATED = re.compile(r"CREATE TABLE (\w+)")


def table(text: str) -> set[str]:
    """The metrics in the first column of the table of figures."""
    rows = [line for line in text.splitlines() if line.startswith("| `parley_")]
    return {name for row in rows for name in METRIC.findall(row.split("|")[1])}


def test_every_metric_is_documented_and_every_documented_one_exists() -> None:
    metrics = Metrics({"slack"})
    metrics.registry.register(Gauges(GaugeReadings))
    families = text_string_to_metric_families(metrics.page().decode())
    exist = {
        f"{family.name}_total" if family.type == "counter" else family.name
        for family in families
        if family.name.startswith("parley_")
    }
    assert table(PAGE.read_text("utf-8")) == exist


def kept(text: str, column: int) -> set[str]:
    """Return the names in a column of the table of lifetimes."""
    section = text.partition("## What is kept")[2].partition("\n## ")[0]
    rows = [line.split("|") for line in section.splitlines() if line.startswith("| ")]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row[column])}


def test_every_table_and_key_is_listed_with_its_retention() -> None:
    text = PAGE.read_text("utf-8")
    made = " ".join(statement for step in SCHEMA.steps for statement in step)
    assert kept(text, 1) == set(CREATED.findall(made))
    attributes = {"inbox_prefix": "inbox"}
    client = RedisClient("redis://127.0.0.1:1")
    names = {attributes.get(name, name) for name in {*dir(Keys), *vars(Keys(client))}}
    assert kept(text, 2) == {name for name in names if not name.startswith("_")}
