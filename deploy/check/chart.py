"""Renders the Helm chart with several values, and checks the manifests."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from deploy.check.steps import ROOT, CheckFailed, require, step

CHART: Final = ROOT / "deploy" / "helm" / "parley"
RENDERER: Final = Path(__file__).parent / "render" / "main.go"
CACHE: Final = ROOT / ".venv" / "deploy-tools" / "go-cache"
KUBERNETES: Final = ("1.25", "1.37")
"""The oldest version that the chart supports, and the newest one of the schemas."""
OTHERS: Final = frozenset({"PodMonitor"})
"""Kinds of operators, which Kubernetes' own schemas do not contain."""
SECRET: Final = {"existingSecret": "parley"}
CASES: Final[Mapping[str, Mapping[str, object]]] = {
    "default": {},
    "scale": {"mode": "scale", **SECRET},
    "everything": {
        "mode": "scale",
        **SECRET,
        "scale": {"workers": 3, "adapters": ["slack", "telegram"]},
        "ingress": {"enabled": True, "host": "parley.example.org", "tlsSecret": "tls"},
        "networkPolicy": {
            "webhooksFrom": [{"namespaceSelector": {"matchLabels": {"name": "ingress"}}}],
            "localFrom": [{"podSelector": {"matchLabels": {"app": "prometheus"}}}],
        },
        "podMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
        "imagePullSecrets": [{"name": "registry"}],
        "nodeSelector": {"disk": "ssd"},
        "tolerations": [{"key": "chat", "operator": "Exists"}],
        "podAnnotations": {"team": "chat"},
    },
}
REFUSED: Final[Mapping[str, Mapping[str, object]]] = {
    "existingSecret": {"mode": "scale"},
    "ingress.host": {"ingress": {"enabled": True}},
}
"""Values that the templates refuse, by a part of the message."""


def merged(values: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Values with others over them, as Helm merges `-f`."""
    both = dict(values)
    for key, value in over.items():
        below = both.get(key)
        nested = isinstance(below, dict) and isinstance(value, dict)
        both[key] = merged(below, value) if nested else value  # type: ignore[arg-type] # a dict
    return both


class Renderer:
    """`helm template` where it is installed, otherwise Go's text/template."""

    def __init__(self, go: Path | None) -> None:
        """`go` is the Go command. Raises `CheckFailed` where neither is there."""
        self._helm = shutil.which("helm")
        self._go = go
        self._folder = tempfile.TemporaryDirectory(prefix="parley-chart-")
        if self._helm is None:
            require(go is not None, "neither helm nor go is installed")
            self._compile()

    @property
    def name(self) -> str:
        """The engine that renders."""
        return "helm" if self._helm else "Go's text/template (helm is not installed)"

    def render(self, over: Mapping[str, object]) -> str:
        """The manifests. Raises `CheckFailed` with the message of the template."""
        if self._helm:
            path = Path(self._folder.name) / "values.json"
            path.write_text(json.dumps(over))
            command = [self._helm, "template", "chat", str(CHART), "-f", str(path)]
            return _output(command, "")
        values = merged(yaml.safe_load((CHART / "values.yaml").read_text("utf-8")), over)
        chart = yaml.safe_load((CHART / "Chart.yaml").read_text("utf-8"))
        release = {"Name": "chat", "Namespace": "parley", "Service": "Helm"}
        shown = {key[0].upper() + key[1:]: value for key, value in chart.items()}
        data = {"Values": values, "Release": release, "Chart": shown}
        return _output([self._program, str(CHART)], json.dumps(data))

    @property
    def _program(self) -> str:
        return f"{self._folder.name}/render"

    def _compile(self) -> None:
        environment = {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=mod"}
        environment |= {"GOCACHE": str(CACHE), "GO111MODULE": "off"}
        environment |= {"CGO_ENABLED": "0"}
        subprocess.run(
            [str(self._go), "build", "-o", self._program, str(RENDERER)],
            env=environment,
            check=True,
        )


def check_chart(tools: Path) -> None:
    """Render every case and validate the manifests. Raises `CheckFailed`."""
    with step("chart: values") as details:
        for over in CASES.values():
            _validate_values(tools, over)
        details.append(f"{len(CASES)} sets fit values.schema.json")
    with step("chart: renderer") as details:
        renderer = Renderer(_go(tools))
        details.append(renderer.name)
    if lint := shutil.which("helm"):
        with step("helm lint"):
            _output([lint, "lint", "--strict", str(CHART)], "")
    for name, over in CASES.items():
        with step(f"chart: {name}") as details:
            details.append(_validated(renderer.render(over), tools))
    for text, over in REFUSED.items():
        try:
            renderer.render(over)
        except CheckFailed as failed:
            require(text in str(failed), f"the refusal does not name {text}: {failed}")
        else:
            raise CheckFailed(f"the chart accepts values without {text}")


def _validated(text: str, tools: Path) -> str:
    manifests = [one for one in yaml.safe_load_all(text) if one]
    ids = [(one["kind"], one["metadata"]["name"]) for one in manifests]
    require(len(ids) == len(set(ids)), f"two manifests have one name: {ids}")
    for one in manifests:
        if one["kind"] == "Deployment":
            _check_pod(one["spec"]["template"]["spec"])
    own = [one for one in manifests if one["kind"] not in OTHERS]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        yaml.safe_dump_all(own, file)
        file.flush()
        for version in KUBERNETES:
            command = [tools / "bin" / "kubernetes-validate", "--strict", "-k", version, file.name]
            _output([str(word) for word in command], "")
    return f"{len(own)} manifests fit Kubernetes {' and '.join(KUBERNETES)}"


def _check_pod(pod: Mapping[str, Any]) -> None:
    require(pod["automountServiceAccountToken"] is False, "a pod gets a token of the cluster")
    require(pod["securityContext"]["runAsNonRoot"] is True, "a pod may run as root")
    for container in pod["containers"]:
        rights = container["securityContext"]
        require(rights["readOnlyRootFilesystem"] is True, "the root of a pod can be written")
        require(rights["capabilities"] == {"drop": ["ALL"]}, "a pod has capabilities")


def _validate_values(tools: Path, over: Mapping[str, object]) -> None:
    values = merged(yaml.safe_load((CHART / "values.yaml").read_text("utf-8")), over)
    code = (
        "import json, jsonschema, sys; "
        "jsonschema.validate(json.load(sys.stdin), json.load(open(sys.argv[1])))"
    )
    command = [str(tools / "bin" / "python"), "-c", code, str(CHART / "values.schema.json")]
    _output(command, json.dumps(values))


def _go(tools: Path) -> Path | None:
    packaged = next(tools.glob("lib/python*/site-packages/go/bin/go"), None)
    installed = shutil.which("go")
    return Path(installed) if installed else packaged


def _output(command: list[str], given: str) -> str:
    ended = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise CheckFailed(f"{' '.join(command)}\n{ended.stdout[-3000:]}{ended.stderr[-3000:]}")
    return ended.stdout
