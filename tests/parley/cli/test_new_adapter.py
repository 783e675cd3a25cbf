"""`parley new-adapter`: a repository whose tests are green as written."""

import os
import subprocess
import sys
import tomllib
from importlib.metadata import Distribution
from pathlib import Path

import pytest

from parley import python_environment
from parley.cli.new_adapter import TEMPLATE
from parley.config.sections import OWN_PLATFORMS
from tests.parley.cli.kit import ROOT, parley
from tests.support.patience import LAUNCH

PLUGINS = ("--disable-plugin-autoload", "-p", "pytest_asyncio.plugin", "-p", "parley.pytest_plugin")


async def test_the_tests_of_a_new_adapter_are_green(tmp_path: Path) -> None:
    ended = await parley("new-adapter", "matrix", cwd=tmp_path)
    assert (ended.status, ended.err) == (0, "")
    folder = tmp_path / "parley-adapter-matrix"
    assert f"files in {folder.name}. Next:" in ended.out
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *PLUGINS],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])},
        capture_output=True,
        text=True,
        timeout=LAUNCH,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-3_000:] + run.stderr
    passed = int(run.stdout.split(" passed")[0].split()[-1])
    assert passed >= 60, run.stdout


async def test_every_file_names_the_platform_and_none_is_left_out(tmp_path: Path) -> None:
    ended = await parley("new-adapter", "irc2", "--folder", "own/irc", cwd=tmp_path)
    assert ended.status == 0, ended.err
    folder = tmp_path / "own" / "irc"
    source = ROOT / "parley" / "cli" / TEMPLATE
    written = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    assert len(written) == len([path for path in source.rglob("*") if path.is_file()])
    assert {Path("pyproject.toml"), Path(".gitignore"), Path("parley_irc2/parse.py")} < written
    texts = [(folder / path).read_text("utf-8") for path in written]
    assert [text for text in texts if "@name@" in text or "@Class@" in text] == []
    project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["name"] == "parley-adapter-irc2"
    assert project["entry-points"]["parley.adapters"] == {"irc2": "parley_irc2.manifest:MANIFEST"}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("x", "'x' cannot be the name of a platform"),
        ("2irc", "'2irc' cannot be the name"),
        ("Matrix", "'Matrix' cannot be the name"),
        ("my-chat", "'my-chat' cannot be the name"),
        ("../evil", "'../evil' cannot be the name"),
        ("class", "'class' cannot be the name"),
        *((own, f"Parley itself has the platform {own}.") for own in OWN_PLATFORMS),
    ],
)
async def test_a_name_that_cannot_be_used_is_refused(tmp_path: Path, name: str, said: str) -> None:
    ended = await parley("new-adapter", name, cwd=tmp_path)
    assert (ended.status, ended.out) == (1, "")
    assert said in ended.err
    assert list(tmp_path.iterdir()) == []


async def test_nothing_is_overwritten(tmp_path: Path) -> None:
    kept = tmp_path / "parley-adapter-matrix" / "mine.py"
    kept.parent.mkdir()
    kept.write_text("mine")
    ended = await parley("new-adapter", "matrix", cwd=tmp_path)
    assert ended.status == 1
    assert "parley-adapter-matrix exists already." in ended.err
    assert [path.name for path in kept.parent.iterdir()] == ["mine.py"]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ('{"url": "file://FOLDER/parley.whl", "archive_info": {}}', "'FOLDER/parley.whl[testing]'"),
        ('{"url": "file://FOLDER", "dir_info": {"editable": true}}', "'FOLDER[testing]'"),
        ('{"url": "https://example.org/p.whl"}',
         "'parley-gateway[testing] @ https://example.org/p.whl'"),
        ('{"url": "file://FOLDER/gone.whl"}', "'parley-gateway[testing]==9.8'"),
        ("no JSON", "'parley-gateway[testing]==9.8'"),
        ("[]", "'parley-gateway[testing]==9.8'"),
        (None, "'parley-gateway[testing]==9.8'"),
    ],
)  # fmt: skip
def test_the_printed_command_installs_the_version_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str | None, words: str
) -> None:
    (tmp_path / "parley.whl").touch()
    found = source.replace("FOLDER", str(tmp_path)) if source else None

    class Installed:
        version = "9.8"

        def read_text(self, name: str) -> str | None:
            return found if name == "direct_url.json" else None

    monkeypatch.setattr(Distribution, "from_name", lambda _: Installed())
    assert python_environment.own_requirement("testing") == words.replace("FOLDER", str(tmp_path))
