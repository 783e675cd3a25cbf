"""The pages of the documentation that the program makes itself."""

from pathlib import Path
from typing import Final

from docs_site.reference.adapter_methods import adapter_methods
from docs_site.reference.command_line import command_line
from docs_site.reference.extensions import extensions
from docs_site.reference.http_api import http_api
from docs_site.reference.languages import languages
from docs_site.reference.metrics import metrics
from docs_site.reference.prices import prices
from docs_site.reference.rights import rights
from parley.config.reference_page import with_reference

ROOT: Final = Path(__file__).parents[2]
_CONFIGURATION: Final = "docs/reference/configuration.md"


def pages() -> dict[str, str]:
    """The text of each page, by its path in the repository."""
    configuration = (ROOT / _CONFIGURATION).read_text("utf-8")
    return {
        _CONFIGURATION: with_reference(configuration),
        "docs/reference/adapter-methods.md": adapter_methods(),
        "docs/reference/command-line.md": command_line(),
        "docs/reference/extensions.md": extensions(),
        "docs/reference/http-api.md": http_api(),
        "docs/reference/languages.md": languages(),
        "docs/reference/metrics.md": metrics(),
        "docs/reference/prices.md": prices(),
        "docs/reference/rights.md": rights(),
    }
