"""The page on operating Parley says what the program does."""

import re
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from gateway.observe.gauges import Gauges, Now
from gateway.observe.metrics import Metrics
from tests.parley.cli.kit import ROOT

PAGE = ROOT / "docs" / "operations.md"
METRIC = re.compile(r"`(parley_[a-z_]+)`")
LINK = re.compile(r"\[[^\]]*\]\(([^)#]+)[^)]*\)")


def table(text: str) -> set[str]:
    """The metrics in the first column of the table of figures."""
    rows = [line for line in text.splitlines() if line.startswith("| `parley_")]
    return {name for row in rows for name in METRIC.findall(row.split("|")[1])}


def test_every_figure_is_described_and_every_described_one_exists() -> None:
    metrics = Metrics({"slack"})
    metrics.registry.register(Gauges(Now))
    families = text_string_to_metric_families(metrics.page().decode())
    exist = {
        f"{family.name}_total" if family.type == "counter" else family.name
        for family in families
        if family.name.startswith("parley_")
    }
    assert table(PAGE.read_text("utf-8")) == exist


def test_links_lead_somewhere() -> None:
    targets = LINK.findall(PAGE.read_text("utf-8"))
    assert [t for t in targets if not (Path(PAGE).parent / t).exists()] == []
