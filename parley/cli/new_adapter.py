"""`parley new-adapter NAME`: a repository for an adapter of one's own, with green tests."""

import keyword
import re
import shlex
import sys
from collections.abc import Mapping
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Final

import typer

from gateway.errors import BadInput
from gateway.platforms import PLATFORM_NAME
from parley.config.sections import OWN_PLATFORMS
from parley.python_environment import DISTRIBUTION, own_requirement

TEMPLATE: Final = "adapter_template"
SUFFIX: Final = ".txt"
PLACEHOLDER: Final = re.compile(r"@(name|NAME|Title|Class|version)@")
BAD_NAME: Final = (
    "{name!r} cannot be the name of a platform: 2 to 30 lower-case letters and digits, the first "
    "one a letter, for example matrix."
)
TAKEN: Final = "Parley itself has the platform {name}. Choose another name."
EXISTS: Final = "{folder} exists already. Choose another folder with --folder, or remove it."
DONE: Final = """\
{count} files in {folder}. Next:
  cd {folder}
  {python} -m venv .venv
  .venv/bin/pip install {parley} -e '.[test]'
  .venv/bin/python -m pytest
README.md says what to replace, and `parley docs how-to/write-an-adapter` explains each part.
"""


def new_adapter(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The name of the platform, such as matrix.")
    ],
    folder: Annotated[
        Path | None,
        typer.Option("--folder", help="The new folder. Default: ./parley-adapter-NAME."),
    ] = None,
) -> int:
    """Write the repository into a new folder. Raises `BadInput` for a name that cannot be used, and
    for a folder that exists."""
    check_name(name)
    target = folder or Path(f"parley-adapter-{name}")
    if target.exists():
        raise BadInput(EXISTS.format(folder=target))
    written = write_template(name, target)
    commands = {
        "folder": shlex.quote(str(target)),
        "python": shlex.quote(sys.executable),
        "parley": own_requirement("testing"),
    }
    sys.stdout.write(DONE.format(count=written, **commands))
    return 0


def check_name(name: str) -> None:
    """Raise `BadInput` for a name that is no platform's, or one of Parley's own."""
    if not PLATFORM_NAME.fullmatch(name) or not name[0].isalpha() or keyword.iskeyword(name):
        raise BadInput(BAD_NAME.format(name=name[:80]))
    if name in OWN_PLATFORMS:
        raise BadInput(TAKEN.format(name=name))


def write_template(name: str, target: Path) -> int:
    """Write every file with the name filled in; returns how many. Raises `BadInput`."""
    values = {
        "name": name,
        "NAME": name.upper(),
        "Title": name.capitalize(),
        "Class": name.capitalize(),
        "version": version(DISTRIBUTION).partition("+")[0],
    }
    try:
        return _write(files("parley.cli").joinpath(TEMPLATE), target, values)
    except OSError as error:
        raise BadInput(f"{target} cannot be written: {error.strerror}.") from error


def _write(source: Traversable, target: Path, values: Mapping[str, str]) -> int:
    target.mkdir(parents=True)
    written = 0
    for item in sorted(source.iterdir(), key=lambda one: one.name):
        if item.is_dir():
            folder = f"parley_{values['name']}" if item.name == "package" else item.name
            written += _write(item, target / folder, values)
        elif item.name.endswith(SUFFIX):
            name = item.name.removesuffix(SUFFIX).replace("gitignore", ".gitignore")
            text = PLACEHOLDER.sub(lambda match: values[match[1]], item.read_text("utf-8"))
            (target / name).write_text(text, "utf-8")
            written += 1
    return written
