"""A memory backend that keeps each statement as a Markdown file."""

from collections.abc import Mapping
from pathlib import Path

from parley_memory_markdown.markdown_memory import BriefingMarkdownMemory, MarkdownMemory

OPTIONS = ("folder", "brief")


def backend(options: Mapping[str, str]) -> MarkdownMemory:
    """The backend of the options `folder` (required), and `brief`: "own" to write the brief by
    itself. Raises `ValueError` for other options."""
    unknown = sorted(set(options) - set(OPTIONS))
    if unknown:
        raise ValueError(f"there is no option {unknown[0]!r}; known are {', '.join(OPTIONS)}")
    if not options.get("folder"):
        raise ValueError("the option folder is missing: the folder of the Markdown files")
    if options.get("brief", "") not in ("", "own"):
        raise ValueError('the option brief is "own", or left out')
    kind = BriefingMarkdownMemory if options.get("brief") else MarkdownMemory
    return kind(Path(options["folder"]))
