"""The reference of the metrics, made from what the program registers."""

from typing import Final

from prometheus_client.core import Metric

from docs_site.reference.tables import code, table
from gateway.observe.gauges import GaugeReadings, Gauges
from gateway.observe.metrics import BOUNDS, Metrics

_HEAD: Final = """\
# Metrics

`/metrics` of the local listener has these metrics in the text format of Prometheus.
[Monitor Parley](../how-to/monitor.md#metrics) explains how to fetch them, and recommends
alerts. A label has few, fixed values: platforms, accounts, stages, reason codes, models. None
contains an id.
"""
_TAIL: Final = """\
The metrics `process_…` come from the Python client of Prometheus: memory, processor time and open
files.

A histogram has the suffixes `_bucket`, `_count` and `_sum`. Its buckets end at these seconds:
"""


def metrics() -> str:
    """The page as Markdown."""
    rows = [(code(_name(each)), each.type, _labels(each), each.documentation) for each in _own()]
    bounds = ", ".join(f"{bound:g}" for bound in BOUNDS)
    lines = [_HEAD, *table(("Metric", "Type", "Labels", "Meaning"), rows), "", _TAIL + bounds + "."]
    return "\n".join(lines) + "\n"


def _own() -> list[Metric]:
    """Every metric of the program, without those of the operating system; by name."""
    made = Metrics(())
    made.registry.register(Gauges(GaugeReadings))
    metrics = [each for each in made.registry.collect() if each.name.startswith("parley_")]
    return sorted(metrics, key=lambda each: each.name)


def _name(metric: Metric) -> str:
    return f"{metric.name}_total" if metric.type == "counter" else metric.name


def _labels(metric: Metric) -> str:
    return ", ".join(map(code, getattr(metric, "_labelnames", ())))
