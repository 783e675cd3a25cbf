"""Missing optional libraries are found without importing them, and their command is named."""

import sys
import tomllib
from pathlib import Path

import pytest

from gateway.errors import LibraryMissing
from parley.config import from_mapping
from parley.python_environment import LIBRARIES, explained, install_advice, install_command, missing
from parley.wiring.libraries import missing_libraries

ROOT = Path(__file__).parents[2]
RECEIPT = """
[tool]
requirements = [{ name = "parley-gateway", path = "/w/parley.whl" }, { name = "numpy" }]
"""


def test_every_extra_of_the_distribution_is_known() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert set(project["optional-dependencies"]) >= set(LIBRARIES)


def test_missing_modules_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = ("no_such_module", "json", "no_such.package")
    monkeypatch.setattr("parley.python_environment.LIBRARIES", {"openai": modules})
    assert missing("openai") == ("no_such_module", "no_such.package")


def test_each_setting_that_needs_a_missing_library_is_named_with_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "parley.python_environment.LIBRARIES", {"openai": ("a1",), "otel": ("b2", "c3")}
    )
    memory = {"embedding_provider": "openai", "embedding": {"api_key": "k"}}
    settings = from_mapping({"memory": memory, "observe": {"otlp_endpoint": "http://127.0.0.1:9"}})
    results = {problem.path: problem for problem in missing_libraries(settings)}
    assert set(results) == {"memory.embedding_provider", "observe.otlp_endpoint"}
    assert (
        "needs the library a1, which is not installed" in results["memory.embedding_provider"].text
    )
    assert "needs the libraries b2 and c3, which are" in results["observe.otlp_endpoint"].text
    assert results["memory.embedding_provider"].advice == install_advice("openai")


def test_every_extra_that_an_error_names_has_a_command() -> None:
    error = LibraryMissing("memory.embedding_provider", ("openai", "numpy"), "openai")
    text = explained(error)
    assert text == (
        "memory.embedding_provider: needs the libraries openai and numpy, which are not installed."
        f" Run: {install_command('openai')}"
    )


class TestToolOfUv:
    """The command for an environment that `uv tool` or `uvx` made."""

    @pytest.fixture(autouse=True)
    def _prefix(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "prefix", str(tmp_path))

    def test_the_command_keeps_the_source_and_the_installed_packages(self, tmp_path: Path) -> None:
        (tmp_path / "uv-receipt.toml").write_text(RECEIPT)
        command = install_command("parquet")
        assert command.startswith("uv tool install --with numpy --with 'pyarrow")
        assert command.endswith(" /w/parley.whl")

    @pytest.mark.parametrize("receipt", ["", "[tool", "tool = 1", "[tool]\nrequirements = [3]"])
    def test_the_command_names_the_distribution_if_the_receipt_is_unreadable(
        self, tmp_path: Path, receipt: str
    ) -> None:
        (tmp_path / "uv-receipt.toml").write_text(receipt)
        assert install_command("parquet").endswith("' parley-gateway")

    def test_the_command_for_a_single_run_runs_once_with_the_libraries(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "prefix", str(tmp_path / "uv" / "archive-v0" / "x1"))
        command = install_command("parquet")
        assert command.startswith("uvx --with 'pyarrow")
        assert command.endswith("--from parley-gateway parley")
