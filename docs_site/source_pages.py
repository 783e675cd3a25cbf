"""Pages with the text of a file, or with the names in a folder, of the repository."""

import ast
from pathlib import Path, PurePosixPath
from typing import Final

_HIDDEN: Final = "---\nsearch:\n  exclude: true\n---\n\n"
_FENCE: Final = "~" * 12
_LANGUAGES: Final = {".py": "python", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml"}


def source_page(root: Path, source: PurePosixPath) -> str:
    """The page for a file or folder. The search of the site does not find it."""
    body = _folder(root / source) if (root / source).is_dir() else _text(root / source)
    return f"{_HIDDEN}# {source}\n\n{body}\n"


def _text(file: Path) -> str:
    language = _LANGUAGES.get(file.suffix, "text")
    return f"{_FENCE} {language}\n{file.read_text('utf-8').rstrip()}\n{_FENCE}"


def _folder(folder: Path) -> str:
    named = [file for file in sorted(folder.iterdir()) if not file.name.startswith((".", "__"))]
    rows = [f"| `{file.name}` | {_first_line(file)} |" for file in named]
    return "\n".join(["| Name | Purpose |", "|---|---|", *rows])


def _first_line(file: Path) -> str:
    """The first line of the text in which a module or package says its purpose."""
    module = file / "__init__.py" if file.is_dir() else file
    if module.suffix != ".py" or not module.exists():
        return ""
    text = ast.get_docstring(ast.parse(module.read_text("utf-8"))) or ""
    return text.partition("\n\n")[0].replace("\n", " ").replace("|", "\\|")
