"""The dashboard and the alert rules use only metrics that a running program exports."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from promql_parser import (
    AggregateExpr,
    BinaryExpr,
    Expr,
    Matcher,
    MatchOp,
    VectorSelector,
    parse,
    walk,
)

from gateway.errors import FormatRejected
from simulators.base import Fault
from simulators.telegram import TelegramSimulator
from tests.docs.test_pages import headings
from tests.e2e.harness import Lab, running
from tests.support.waiting import eventually

ROOT = Path(__file__).parents[2]
DASHBOARD = json.loads((ROOT / "deploy" / "grafana" / "parley.json").read_text("utf-8"))
GROUPS = yaml.safe_load((ROOT / "deploy" / "grafana" / "alerts.yaml").read_text("utf-8"))["groups"]
RULES: list[dict[str, Any]] = [rule for group in GROUPS for rule in group["rules"]]
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
TARGETS = [(panel["title"], target) for panel in PANELS for target in panel["targets"]]
PAGE = (ROOT / "docs" / "how-to" / "monitor.md").read_text("utf-8")
METRICS = (ROOT / "docs" / "reference" / "metrics.md").read_text("utf-8")

BY_SCRAPE = {"job", "instance"}
"""Labels that Prometheus adds."""
BY_PROMETHEUS = {"up"}
"""Metrics that Prometheus makes for each process that it scrapes."""
NOT_IN_TRAFFIC = {
    *("parley_shared_events_waiting", "parley_shared_sends_waiting", "parley_shared_dead_letters"),
    *("parley_shared_workers", "parley_reconnects_total", "parley_recall_candidates_total"),
    "parley_role_last_seen_seconds",
    *(
        "parley_answers_without_memory_total",
        "parley_duplicates_total",
        "parley_not_addressed_total",
    ),
    "parley_data_loss_timestamp_seconds",
    *("parley_model_failed_calls_total", "parley_model_failing_people"),
    "parley_model_failing_since_timestamp_seconds",
    *("parley_other_events_total", "parley_connection_proof_age_seconds"),
}
"""Metrics without a sample in the traffic of this test, whose labels the documentation has."""
VALUES_ELSEWHERE = {
    *(("part", "webhooks"), ("outcome", "refused"), ("role", "worker"), ("role", "adapter"))
}
"""Values that the traffic of this test does not produce."""


@dataclass
class Exported:
    """Label names by metric, and the values of each label."""

    labels: dict[str, set[str]] = field(default_factory=dict)
    values: dict[str, set[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> "Exported":
        result = cls()
        for family in text_string_to_metric_families(text):
            names = {
                "counter": [f"{family.name}_total"],
                "histogram": [f"{family.name}_{part}" for part in ("bucket", "sum", "count")],
            }.get(family.type, [family.name])
            for name in names:
                result.labels.setdefault(name, set())
            for sample in family.samples:
                result.labels.setdefault(sample.name, set()).update(sample.labels)
                for label, value in sample.labels.items():
                    result.values.setdefault(label, set()).add(value)
        return result


def documented_labels(metric: str) -> set[str]:
    """The labels of a metric in the reference, which the program writes."""
    for row in METRICS.splitlines():
        if row.startswith(f"| `{metric}` |"):
            return set(re.findall(r"`(\w+)`", row.split("|")[3]))
    return set()


def parsed(expression: str) -> Expr:
    """An expression of Grafana or Prometheus. Raises `ValueError` with the place of a mistake."""
    text = expression.replace("$__rate_interval", "5m").replace("$job", ".*")
    return parse(text.replace("$instance", ".*"))


def selectors(expression: Expr) -> list[VectorSelector]:
    results: list[VectorSelector] = []

    def visit(node: Expr) -> None:
        if isinstance(node, VectorSelector):
            results.append(node)

    walk(expression, visit)
    return results


def grouped(expression: Expr) -> list[tuple[set[str], list[VectorSelector]]]:
    """The labels of each aggregation, with the metrics below it."""
    results: list[tuple[set[str], list[VectorSelector]]] = []

    def visit(node: Expr) -> None:
        if isinstance(node, AggregateExpr):
            labels = set(node.modifier.labels) if node.modifier is not None else set()
            results.append((labels, selectors(node.expr)))

    walk(expression, visit)
    return results


def wrong_in(expression: str, exported: Exported) -> Iterator[str]:
    """Everything in an expression that a program does not export."""
    tree = parsed(expression)
    for selector in selectors(tree):
        name = selector.name or ""
        if name in BY_PROMETHEUS:
            continue
        if name not in exported.labels:
            yield f"no metric {name}"
            continue
        for matcher in selector.matchers.matchers:
            yield from _wrong_matcher(name, matcher, exported)
    for labels, below in grouped(tree):
        for selector in below:
            missing = labels - _labels_of(selector.name or "", exported)
            yield from (f"{selector.name} has no label {label}" for label in missing)


def _wrong_matcher(name: str, matcher: Matcher, exported: Exported) -> Iterator[str]:
    if matcher.name not in _labels_of(name, exported):
        yield f"{name} has no label {matcher.name}"
    elif matcher.op == MatchOp.Equal and matcher.name not in BY_SCRAPE:
        known = matcher.value in exported.values.get(matcher.name, ())
        if not known and (matcher.name, matcher.value) not in VALUES_ELSEWHERE:
            yield f"{name}: no value {matcher.value} of {matcher.name}"


def _labels_of(name: str, exported: Exported) -> set[str]:
    own = exported.labels.get(name, set())
    if not own and name in NOT_IN_TRAFFIC:
        own = documented_labels(name)
    return own | BY_SCRAPE


def result_labels(expression: str, exported: Exported) -> set[str]:
    """The labels of a result: of its outermost aggregation, or of the metric."""
    tree = parsed(expression)
    while isinstance(tree, BinaryExpr):
        tree = tree.lhs if selectors(tree.lhs) else tree.rhs
    groups = grouped(tree)
    if groups:
        return groups[0][0]
    return {label for one in selectors(tree) for label in _labels_of(one.name or "", exported)}


CONFIGURATION: dict[str, object] = {
    "limits": {"user_per_minute": 4},
    "budgets": {
        "user_per_day": 0.5,
        "workspace_per_day": 5,
        "prices": {"offline": {"input": 50, "output": 50}},
    },
    "mcp": {"servers": {"far": {"url": "http://127.0.0.1:9/mcp"}}},
    "model": {"provider": "offline", "name": "offline"},
}


async def scraped(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """`/metrics` of a program with answers, a refusal, failed sends, memories and costs."""
    telegram = TelegramSimulator()
    async with (
        running({"telegram": telegram}, folder, CONFIGURATION) as app,
        aiohttp.ClientSession() as http,
    ):
        lab, ada, ben = Lab(app, telegram), telegram.person("Ada"), telegram.person("Ben")
        room = telegram.direct(ada)
        await telegram.say(ada, room, "remember that I prefer tabs")
        await lab.answers(room, 1)
        await telegram.say(ada, room, "do I like tabs or spaces better?")
        await lab.answers(room, 2)
        telegram.faults.add(Fault("sendMessage", "server_error"))
        for number in range(4):
            await telegram.say(ada, room, f"question {number}")
        await lab.answers(room, 4)
        await lab.idle()

        async def refuse(*_: object) -> None:
            raise FormatRejected("no such format")

        monkeypatch.setattr(next(iter(app.services.connected.values())).adapter, "send", refuse)
        await telegram.say(ben, telegram.direct(ben), "hello")

        async def page() -> str:
            async with http.get(app.local.base_url + "/metrics") as answer:
                return await answer.text()

        async def undelivered() -> bool:
            return "parley_dead_letters_total{" in await page()

        await eventually(undelivered)
        return await page()


async def test_every_expression_fits_what_a_running_program_exports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exported = Exported.of(await scraped(tmp_path, monkeypatch))
    without_samples = {
        name
        for name, labels in exported.labels.items()
        if name.startswith("parley_") and not labels and documented_labels(name)
    }
    assert without_samples <= NOT_IN_TRAFFIC
    expressions = [target["expr"] for _, target in TARGETS] + [rule["expr"] for rule in RULES]
    assert [wrong for one in expressions for wrong in wrong_in(one, exported)] == []
    for title, target in TARGETS:
        shown = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
        assert shown <= result_labels(target["expr"], exported), title
    for rule in RULES:
        texts = " ".join(rule["annotations"].values())
        shown = set(re.findall(r"\$labels\.(\w+)", texts))
        assert shown <= result_labels(rule["expr"], exported), rule["alert"]


def test_a_wrong_expression_is_found() -> None:
    exported = Exported({"parley_up": {"part"}}, {"part": {"storage"}})
    assert list(wrong_in("parley_down == 0", exported)) == ["no metric parley_down"]
    assert list(wrong_in('parley_up{role="x"}', exported)) == ["parley_up has no label role"]
    assert list(wrong_in('parley_up{part="x"}', exported)) == ["parley_up: no value x of part"]
    assert list(wrong_in("sum by (role) (parley_up)", exported)) == ["parley_up has no label role"]
    with pytest.raises(ValueError, match="parenthesis"):
        parsed("sum by (")


def test_every_documented_metric_is_on_the_dashboard() -> None:
    used = {
        re.sub(r"_(bucket|sum|count)$", "", one.name or "")
        for _, target in TARGETS
        for one in selectors(parsed(target["expr"]))
    }
    listed = {
        name
        for row in METRICS.splitlines()
        if row.startswith("| `parley_")
        for name in re.findall(r"`(parley_[a-z_]+)`", row.split("|")[1])
    }
    assert listed - used == set()


def test_panels_have_their_own_place_and_a_source_to_choose() -> None:
    cells: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        own = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not own & cells, panel["title"]
        cells |= own
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(ids) == len(set(ids))
    assert {panel["datasource"]["uid"] for panel in PANELS} == {"${datasource}"}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule["alert"]))
def test_an_alert_says_what_happened_and_what_to_do(rule: dict[str, Any]) -> None:
    assert rule["labels"]["severity"] in {"info", "warning", "critical"}
    notes = rule["annotations"]
    assert set(notes) == {"summary", "description", "runbook"}
    page, _, heading = notes["runbook"].partition("#")
    assert heading in headings(ROOT / page)
    assert f"| `{rule['alert']}` |" in PAGE


def test_every_documented_alert_exists() -> None:
    assert re.findall(r"^\| `(Parley\w+)` \|", PAGE, re.MULTILINE) == [r["alert"] for r in RULES]
