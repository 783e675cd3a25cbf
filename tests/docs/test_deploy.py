"""The files that the page on running Parley gives are sound, and fit the program."""

import configparser
import re
import shutil
import subprocess
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from parley.config import load
from parley.config.reference_page import own_platforms
from parley.http.local_listener import OPEN_PATHS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "deploy.md").read_text("utf-8")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
OPTIONS = {"--config", "--role", "--platform"}


def block(language: str) -> str:
    (found,) = (text for kind, text in BLOCK.findall(PAGE) if kind == language)
    return str(found)


def manifests(kind: str) -> list[dict]:  # type: ignore[type-arg]
    return [m for m in yaml.safe_load_all(block("yaml")) if m["kind"] == kind]


def containers() -> Iterator[dict]:  # type: ignore[type-arg]
    for deployment in manifests("Deployment"):
        yield from deployment["spec"]["template"]["spec"]["containers"]


def is_known(arguments: list[str]) -> bool:
    """Return True if `parley` accepts these arguments."""
    named = {argument for argument in arguments if argument.startswith("--")}
    roles = [b for a, b in pairwise(arguments) if a == "--role"]
    return arguments[0] == "run" and named <= OPTIONS and set(roles) <= {"adapter", "worker"}


def test_the_systemd_unit_is_hardened_and_starts_parley() -> None:
    unit = configparser.RawConfigParser(strict=False)
    unit.optionxform = str  # type: ignore[assignment,method-assign]  # names keep their case
    unit.read_string(block("ini"))
    service = unit["Service"]
    program, *arguments = service["ExecStart"].split()
    assert program.endswith("/parley")
    assert is_known(arguments)
    for name in ("NoNewPrivileges", "ProtectHome", "PrivateTmp", "RestrictNamespaces"):
        assert service[name] == "yes"
    assert service["ProtectSystem"] == "strict"
    assert service["CapabilityBoundingSet"] == ""


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
def test_systemd_accepts_every_line_of_the_unit(tmp_path: Path) -> None:
    path = tmp_path / "parley.service"
    text = re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", block("ini"), flags=re.MULTILINE)
    path.write_text(text)
    told = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert [line for line in told.stderr.splitlines() if "parley.service" in line] == []


def test_the_kubernetes_manifests_are_restricted() -> None:
    assert {m["kind"] for m in yaml.safe_load_all(block("yaml"))} == {
        "ConfigMap",
        "Secret",
        "Deployment",
    }
    for deployment in manifests("Deployment"):
        spec = deployment["spec"]
        assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"]
        assert spec["template"]["spec"]["securityContext"]["runAsNonRoot"] is True
        if "adapter" in deployment["metadata"]["name"]:
            assert (spec["replicas"], spec["strategy"]) == (1, {"type": "Recreate"})
    for container in containers():
        assert is_known(container["args"])
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        ports = {port["name"] for port in container["ports"]}
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            asked = container[probe]["httpGet"]
            assert asked["path"] in OPEN_PATHS
            assert asked["port"] in ports


def test_the_configuration_in_the_manifests_loads(tmp_path: Path) -> None:
    (config,), (secret,) = manifests("ConfigMap"), manifests("Secret")
    path = tmp_path / "parley.yaml"
    path.write_text(config["data"]["parley.yaml"])
    for container in containers():
        env = secret["stringData"] | {item["name"]: item["value"] for item in container["env"]}
        settings = load(path, env, own_platforms())
        assert settings.storage_url.startswith("redis://")
        assert settings.database.url.startswith("postgresql://")
        assert {account.platform for account in settings.accounts()} == {"slack"}


def test_the_proxies_forward_the_webhooks_only() -> None:
    caddy, nginx = (text for kind, text in BLOCK.findall(PAGE) if not kind)
    for text in (caddy, nginx):
        assert text.count("{") == text.count("}")
        assert "127.0.0.1:8080" in text
        assert "8081" not in text
        assert "404" in text
