"""The linters of the files: hadolint, a typed reader of Compose files, systemd-analyze."""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

import yaml

from deploy.check.compose import Compose
from deploy.check.steps import ROOT, CheckFailed, say, step

UNIT: Final = ROOT / "deploy" / "systemd" / "parley.service"
IGNORED: Final = ("DL3008",)
"""hadolint's wish for versions of Debian's packages: old ones vanish from the archive."""
EXPOSURE: Final = 15
"""Tenths of the exposure that systemd-analyze computes, at most."""
READ_COMPOSE: Final = (
    "import compose_spec, sys; "
    "print(len(compose_spec.PyCompose.from_yaml(sys.stdin.read()).service_names()))"
)


def lint(tools: Path) -> None:
    """Run the linters. Raises `CheckFailed`."""
    with step("hadolint Dockerfile"):
        ignored = [word for rule in IGNORED for word in ("--ignore", rule)]
        _run([str(tools / "bin" / "hadolint"), *ignored, str(ROOT / "Dockerfile")])
    with step("compose-spec docker-compose.yml") as details:
        document = Compose(ROOT).document
        for service in document["services"].values():
            # Docker Compose knows the profile "" (no --profile), the package does not.
            service["profiles"] = [name or "none" for name in service["profiles"]]
        text = yaml.safe_dump(document)
        services = _run([str(tools / "bin" / "python"), "-c", READ_COMPOSE], text).strip()
        details.append(f"{services} services")
    lint_unit()


def lint_unit() -> None:
    """`systemd-analyze verify` of the unit, where it is installed. Raises `CheckFailed`."""
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        say("  --           systemd-analyze is not installed: the unit is not checked by systemd")
        return
    with (
        step("systemd-analyze verify and security") as details,
        tempfile.TemporaryDirectory() as folder,
    ):
        path = Path(folder) / UNIT.name
        text = UNIT.read_text("utf-8")
        path.write_text(re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", text, flags=re.MULTILINE))
        completed = subprocess.run(
            [analyze, "verify", "--man=no", str(path)], capture_output=True, text=True, check=False
        )
        about = [line for line in completed.stderr.splitlines() if UNIT.name in line]
        if about:
            raise CheckFailed("\n".join(about))
        security = [analyze, "security", "--offline=true", f"--threshold={EXPOSURE}", str(path)]
        details.append(_run(security).rpartition("→ ")[2].strip())


def _run(command: list[str], given: str = "") -> str:
    ended = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise CheckFailed(f"{' '.join(command)}\n{ended.stdout[-4000:]}{ended.stderr[-4000:]}")
    return ended.stdout
