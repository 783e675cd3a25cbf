"""The Helm chart: values, their schema, and their use in the templates."""

import json
import re
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy.check.chart import CASES, CHART, REFUSED, Renderer, merged
from deploy.check.steps import CheckFailed
from parley.config import load
from parley.config.reference_page import own_platforms
from parley.http.access_layers import open_paths
from parley.http.health_endpoints import Health, HealthEndpoints, Readiness

ROOT = Path(__file__).parents[2]
VALUES: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
SCHEMA: dict[str, Any] = json.loads((CHART / "values.schema.json").read_text("utf-8"))
TEMPLATES = {path.name: path.read_text("utf-8") for path in (CHART / "templates").iterdir()}
TEXT = "\n".join(TEMPLATES.values())
USED = set(re.findall(r"\.Values\.([a-zA-Z.]+)", TEXT))
WHOLE = {"config", "resources", "podAnnotations", "nodeSelector", "tolerations", "affinity"}
"""Values that the templates hand on as they are."""


def leaves(values: dict[str, Any], path: str = "") -> Iterator[str]:
    """The paths of all values; those of `WHOLE` count as one."""
    for key, value in values.items():
        here = f"{path}.{key}" if path else key
        if isinstance(value, dict) and value and here not in WHOLE:
            yield from leaves(value, here)
        else:
            yield here


def known(schema: dict[str, Any], path: str = "") -> Iterator[str]:
    """The paths that a schema describes."""
    for key, below in schema.get("properties", {}).items():
        here = f"{path}.{key}" if path else key
        if "properties" in below and here not in WHOLE:
            yield from known(below, here)
        else:
            yield here


def test_templates_use_every_value_and_only_those_that_exist() -> None:
    assert set(leaves(VALUES)) == USED


def test_the_schema_describes_every_value_and_refuses_others() -> None:
    assert set(known(SCHEMA)) - {"global"} == set(leaves(VALUES))
    assert SCHEMA["additionalProperties"] is False


def test_no_value_is_a_credential() -> None:
    credential = re.compile(r"(password|token|api_?key|secret)$", re.IGNORECASE)
    named = {path for path in leaves(VALUES) if credential.search(path)}
    assert named == {"existingSecret", "ingress.tlsSecret"}
    assert not any(name in TEMPLATES for name in ("secret.yaml", "secrets.yaml"))
    assert not re.search(r"kind: Secret\b", TEXT)


def test_the_configuration_in_the_values_loads(tmp_path: Path) -> None:
    path = tmp_path / "parley.yaml"
    path.write_text(yaml.safe_dump(VALUES["config"]))
    env = {"PARLEY_SERVER__HOST": "0.0.0.0", "PARLEY_SERVER__KEY_FOLDER": "/data/keys"}
    assert [one.platform for one in load(path, env, own_platforms()).accounts()] == ["web"]


def test_probes_ask_for_the_open_paths_and_containers_have_no_rights() -> None:
    pod = TEMPLATES["_helpers.tpl"]
    matches = set(re.findall(r"httpGet: \{path: (\S+), port: local\}", pod))
    opened = open_paths(HealthEndpoints(Health, lambda: Readiness(True)).routes())
    assert len(matches) == len(opened)
    assert all(any(one.match(path) for one in opened) for path in matches)
    for line in (
        "runAsNonRoot: true",
        "automountServiceAccountToken: false",
        "readOnlyRootFilesystem: true",
        "allowPrivilegeEscalation: false",
        "capabilities: {drop: [ALL]}",
        "seccompProfile: {type: RuntimeDefault}",
    ):
        assert line in pod


def test_an_adapter_is_never_there_twice() -> None:
    for line in TEMPLATES["deployments.yaml"].splitlines():
        if '"adapter' in line and "include" in line:
            assert '"replicas" 1 "strategy" "Recreate"' in line


def test_processes_that_share_work_have_the_same_keys() -> None:
    (names,) = re.findall(r"range list (\"PARLEY_.*?) }}", TEXT)
    assert set(names.replace('"', "").split()) == {
        *("PARLEY_STORAGE__URL", "PARLEY_DATABASE__URL", "PARLEY_SERVER__TOKEN"),
        *("PARLEY_SERVER__TOKEN_KEY", "PARLEY_MEMORY__AUDIT_KEY"),
    }


def test_the_version_is_that_of_the_program() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text("utf-8"))
    if "version" in project:
        assert chart["appVersion"] == project["version"]
    assert chart["apiVersion"] == "v2"


def test_values_are_merged_as_helm_does() -> None:
    assert merged({"a": {"b": 1, "c": 2}}, {"a": {"c": 3}, "d": 4}) == {
        "a": {"b": 1, "c": 3},
        "d": 4,
    }
    assert merged({"a": [1, 2]}, {"a": [3]}) == {"a": [3]}


@pytest.mark.skipif(shutil.which("helm") is None, reason="needs helm; see make check-deploy")
def test_every_set_of_values_renders() -> None:
    renderer = Renderer(None)
    for over in CASES.values():
        assert all(yaml.safe_load_all(renderer.render(over)))
    for text, over in REFUSED.items():
        with pytest.raises(CheckFailed, match=text):
            renderer.render(over)
