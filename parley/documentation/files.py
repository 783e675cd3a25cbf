"""The files of the documentation: in the installed package, or in `docs/` of a checkout."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

INSTALLED: Final = Path(__file__).with_name("pages")
CHECKOUT: Final = Path(__file__).resolve().parents[2] / "docs"
START: Final = "index"
KINDS: Final = ("tutorials", "how-to", "reference", "explanation")
"""The folders of pages: to learn, to do, to look up, to understand."""
SUFFIX: Final = ".md"
PICTURES: Final = MappingProxyType({".png": "image/png", ".svg": "image/svg+xml"})


@cache
def files() -> Mapping[str, Path]:
    """Every page and picture by its path, such as `reference/status.md`; empty if the
    installation lacks them."""
    folder = next((one for one in (INSTALLED, CHECKOUT) if one.is_dir()), None)
    if folder is None:
        return MappingProxyType({})
    wanted = (one for one in sorted(folder.rglob("*")) if one.suffix in {SUFFIX, *PICTURES})
    return MappingProxyType({one.relative_to(folder).as_posix(): one for one in wanted})


def pages() -> Iterator[tuple[str, str]]:
    """The name and the title of each page, such as `reference/status`, in the order of names."""
    for path, file in files().items():
        if path.endswith(SUFFIX):
            yield path.removesuffix(SUFFIX), title_of(file.read_text("utf-8"))


def page_named(name: str) -> Path | None:
    """The file of a page, with or without its suffix; None for none."""
    name = name.strip().strip("/").removeprefix("docs/").removesuffix(SUFFIX) or START
    return files().get(f"{name}{SUFFIX}")


def title_of(text: str) -> str:
    """The first heading of a page."""
    return next((line[2:].strip() for line in text.splitlines() if line.startswith("# ")), "")
