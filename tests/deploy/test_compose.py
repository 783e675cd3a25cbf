"""The services of Docker Compose are closed, share their keys, and publish to this machine only."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from parley.config import load
from parley.config.reference_page import own_platforms
from tests.deploy.known_arguments import is_known

ROOT = Path(__file__).parents[2]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = [name for name, service in SERVICES.items() if "build" in service]
USER = "10001"

each = pytest.mark.parametrize("name", SERVICES)


def services_of(profile: str) -> set[str]:
    """The services that start with this profile; the empty one is that of no profile."""
    return {name for name, one in SERVICES.items() if profile in one.get("profiles", ["", profile])}


def image_environment() -> dict[str, str]:
    """The variables that the image sets."""
    lines = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
    words = " ".join(line.strip().removeprefix("ENV ").rstrip("\\") for line in lines).split()
    return dict(word.split("=", 1) for word in words if word.startswith("PARLEY_"))


def test_one_service_starts_without_a_profile_and_it_is_off_with_one() -> None:
    assert services_of("") == {"parley"}
    assert services_of("scale") == {"adapter", "worker", "keys", "redis", "postgres"}


@each
def test_a_service_has_no_rights_beyond_its_user(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["pids_limit"] > 0
    assert not {"privileged", "cap_add", "devices", "pid", "ipc"} & set(service)
    if name not in OURS:
        assert service["user"] == name


def test_the_image_runs_without_root_and_its_volume_belongs_to_that_user() -> None:
    text = (ROOT / "Dockerfile").read_text("utf-8")
    stages = text.split("\nFROM ")
    (base,) = [stage for stage in stages if " AS base\n" in stage]
    assert "USER 10001:10001" in base
    images = stages[stages.index(base) + 1 :]
    assert len(images) == 3
    assert all(stage.startswith("base AS ") and "USER " not in stage for stage in images)
    assert f"--uid {USER}" in text
    assert "install -d -o parley -g parley -m 0750 /data" in text
    assert "VOLUME /data" in text
    assert "HEALTHCHECK" in text


@each
def test_a_port_is_published_to_this_machine_only(name: str) -> None:
    for port in SERVICES[name].get("ports", []):
        address, outside, inside = port.split(":")
        assert address == "127.0.0.1"
        assert outside == inside


@each
def test_a_writable_mount_is_a_volume(name: str) -> None:
    for mount in SERVICES[name].get("volumes", []):
        if mount["type"] == "bind" and name != "init":
            assert mount["read_only"] is True
            assert mount["bind"] == {"create_host_path": False}
        elif mount["type"] == "volume":
            assert mount["source"] in COMPOSE["volumes"]


def test_the_stores_are_on_a_network_without_a_way_out() -> None:
    assert COMPOSE["networks"]["stores"] == {"internal": True}
    for name in ("redis", "postgres"):
        assert SERVICES[name]["networks"] == ["stores"]
        assert "ports" not in SERVICES[name]
        assert SERVICES[name]["healthcheck"]["test"]


def test_no_secret_stands_in_the_file_and_there_is_one_env_file() -> None:
    text = (ROOT / "docker-compose.yml").read_text("utf-8")
    assert {path for name in OURS for path in (SERVICES[name]["env_file"][0]["path"],)} == {
        "config/.env"
    }
    assert text.count("${") == text.count("${PARLEY_IMAGE:-standard}")
    for service in SERVICES.values():
        for variable, value in service.get("environment", {}).items():
            assert not variable.endswith(("PASSWORD", "TOKEN", "KEY"))
            assert "@" not in value or "parley@postgres" in value


def test_every_container_has_the_keys_of_the_volume() -> None:
    folder = image_environment()["PARLEY_SERVER__KEY_FOLDER"]
    assert folder == "/data/keys"
    for name in ("parley", "adapter", "worker", "keys"):
        assert {"type": "volume", "source": "parley", "target": "/data"} in SERVICES[name][
            "volumes"
        ]
    for name in ("adapter", "worker", "postgres"):
        waits = SERVICES[name]["depends_on"]["keys"]
        assert waits == {"condition": "service_completed_successfully"}
    server = SERVICES["postgres"]
    assert server["environment"]["POSTGRES_PASSWORD_FILE"] == "/run/parley/keys/postgres.password"
    assert USER in server["group_add"]
    assert SERVICES["worker"]["environment"]["PGPASSFILE"] == f"{folder}/postgres.pgpass"


@pytest.mark.parametrize("name", ["adapter", "worker"])
def test_a_scaled_process_is_started_with_arguments_that_parley_has(name: str) -> None:
    assert is_known(SERVICES[name]["command"])


@pytest.mark.parametrize("name", ["parley", "adapter", "worker"])
def test_the_environment_is_one_that_parley_accepts(name: str, tmp_path: Path) -> None:
    (tmp_path / "parley.yaml").write_text("platforms: {web: {enabled: true}}")
    given = {**image_environment(), **SERVICES[name]["environment"]}
    settings = load(tmp_path / "parley.yaml", given, own_platforms())
    assert settings.server.host == "0.0.0.0"
    assert settings.server.token is None
    assert settings.storage_url.startswith("sqlite:////data/" if name == "parley" else "redis://")


def test_the_image_has_the_files_of_the_context_only() -> None:
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert ignored[1] == "*"
    expected = {line[1:] for line in ignored if line.startswith("!")}
    copied = {
        word
        for line in (ROOT / "Dockerfile").read_text("utf-8").splitlines()
        if line.startswith("COPY ") and "--from" not in line
        for word in line.split()[1:-1]
    }
    assert copied == expected
    assert [name for name in expected if not (ROOT / name).exists()] == []
