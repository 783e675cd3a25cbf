"""The pages on running Parley: the proxies, and the values of the chart."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
HOW_TO = ROOT / "docs" / "how-to"
PROXY = (HOW_TO / "put-a-proxy-in-front.md").read_text("utf-8")
KUBERNETES = (HOW_TO / "run-on-kubernetes.md").read_text("utf-8")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
CHART = ROOT / "deploy" / "helm" / "parley"


def test_the_proxies_forward_the_webhooks_only() -> None:
    caddy, nginx = (text for kind, text in BLOCK.findall(PROXY) if kind in {"caddyfile", "nginx"})
    for text in (caddy, nginx):
        assert text.count("{") == text.count("}")
        assert "127.0.0.1:8080" in text
        assert "8081" not in text
        assert "404" in text


def test_the_documented_values_are_those_of_the_chart() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
    rows = [line.split("|")[1] for line in KUBERNETES.splitlines() if line.startswith("| `")]
    assert rows
    for row in rows:
        group = ""
        for name in re.findall(r"`([\w.]+)`", row):
            group = name.partition(".")[0] or group
            below = values[group]
            key = name.partition(".")[2]
            assert not key or key in below, name


def test_the_secret_of_the_page_has_every_key_that_the_chart_requires() -> None:
    helpers = (CHART / "templates" / "_helpers.tpl").read_text("utf-8")
    (required,) = re.findall(r"range list (\"PARLEY_.*?) }}", helpers)
    for name in required.replace('"', "").split():
        assert f"--from-literal={name}=" in KUBERNETES
