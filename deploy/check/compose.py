"""Reads docker-compose.yml as Docker Compose does: variables, profiles, services."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

VARIABLE: Final = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


class Compose:
    """The services and volumes of a file; `environment` replaces its variables."""

    def __init__(self, folder: Path, environment: Mapping[str, str] | None = None) -> None:
        values = environment or {}
        text = (folder / "docker-compose.yml").read_text("utf-8")
        whole = VARIABLE.sub(lambda match: values.get(match[1], "") or match[2] or "", text)
        self.document: dict[str, Any] = yaml.safe_load(whole)
        self.folder = folder
        self.services: dict[str, dict[str, Any]] = self.document["services"]

    def of_profile(self, profile: str = "") -> list[str]:
        """The services that `up` starts; without a profile those that name the empty one."""
        return [
            name
            for name, service in self.services.items()
            if profile in service.get("profiles", [profile])
        ]

    def environment(self, name: str) -> dict[str, str]:
        """The variables of the env files and of the service, which come last."""
        from dotenv import dotenv_values  # noqa: PLC0415 - only files that exist are read

        environment: dict[str, str] = {}
        for entry in self.services[name].get("env_file", []):
            path = self.folder / entry["path"]
            if path.exists() or entry["required"]:
                environment |= {key: value or "" for key, value in dotenv_values(path).items()}
        environment |= self.services[name].get("environment", {})
        return environment
