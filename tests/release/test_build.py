"""The check of the files in a wheel and in an sdist."""

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from release.build import (
    IN_SDIST,
    PACKAGED_EXAMPLE,
    check_sdist,
    check_wheel,
    packaged_files,
    source_files,
)
from release.steps import Failed

FILES = source_files()
IN_WHEEL = packaged_files()


def a_wheel(folder: Path, names: set[str]) -> Path:
    path = folder / "parley_gateway-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in {*names, "parley_gateway-0.1.0.dist-info/METADATA"}:
            archive.writestr(name, "")
    return path


def a_sdist(folder: Path, names: set[str]) -> Path:
    path = folder / "parley_gateway-0.1.0.tar.gz"
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(f"parley_gateway-0.1.0/{name}"), io.BytesIO())
    return path


def test_the_pages_the_tables_and_the_simulators_belong_to_the_sources() -> None:
    pages = {"adapters/web/assets/chat.html", "parley/demo/assets/demo.html"}
    tables = {"safety/secret_detection/issuers.json", "memory/text/stop_words.txt"}
    assert pages | tables | {"simulators/discord/simulator.py", "docs/index.md"} <= FILES
    assert {"parley/documentation/pages/reference/platforms/whatsapp.md"} <= IN_WHEEL
    assert not any(name.startswith(("tests/", "benchmarks/", "release/")) for name in FILES)


def test_complete_archives_are_accepted(tmp_path: Path) -> None:
    assert check_wheel(a_wheel(tmp_path, IN_WHEEL)) == len(FILES) + 1
    assert check_sdist(a_sdist(tmp_path, FILES | IN_SDIST)) == len(FILES) + len(IN_SDIST)


@pytest.mark.parametrize("extra", ["tests/conftest.py", "parley/notes.db"])
def test_a_file_that_does_not_belong_there_is_named(tmp_path: Path, extra: str) -> None:
    with pytest.raises(Failed, match=f"any.whl has {extra}"):
        check_wheel(a_wheel(tmp_path, IN_WHEEL | {extra}))
    with pytest.raises(Failed, match=f"tar.gz has {extra}"):
        check_sdist(a_sdist(tmp_path, FILES | IN_SDIST | {extra}))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(Failed, match=f"lacks {PACKAGED_EXAMPLE}"):
        check_wheel(a_wheel(tmp_path, IN_WHEEL - {PACKAGED_EXAMPLE}))
    with pytest.raises(Failed, match=r"lacks requirements/runtime\.lock"):
        check_sdist(a_sdist(tmp_path, (FILES | IN_SDIST) - {"requirements/runtime.lock"}))
