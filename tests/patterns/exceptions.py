"""Patterns that may take more than linear time, each with the reason why it is not reachable."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Exempt:
    """Refused patterns in a file whose source begins with `begins`; `reason` says who writes what
    they read, or how short it is."""

    file: str
    reason: str
    begins: str = ""


_SIMULATORS: Final = "stands for a platform in tests and demo; a deployment does not import it"
_HEADERS: Final = "reads one header of at most 8,190 bytes (aiohttp's and h11's own bound)"
_HTML: Final = (
    "raw HTML is off (`html: False` in gateway/markdown/syntax.py): the rule returns first"
)
_OPERATOR: Final = "reads what the operator or this program writes, never a message"

EXEMPT: Final = (
    Exempt("simulators/discord/markdown.py", _SIMULATORS),
    Exempt("simulators/slack/look.py", _SIMULATORS),
    Exempt("simulators/telegram/entities.py", _SIMULATORS),
    Exempt("simulators/whatsapp/format.py", _SIMULATORS),
    Exempt("aiohttp/_cookie_helpers.py", _HEADERS),
    Exempt("aiohttp/cookiejar.py", "reads dates of cookies, which no client here keeps"),
    Exempt("aiohttp/web_request.py", "reads the header Forwarded, which nothing here asks for"),
    Exempt("discord/app_commands/commands.py", "reads docstrings of this program's commands"),
    Exempt("discord/utils.py", "escapes Markdown, which gateway/render does instead"),
    Exempt("h11/_readers.py", "matches whole lines, which parley/http/strict_http.py checks first"),
    Exempt("httpx/_urlparse.py", "of python-telegram-bot's transport, which is not used"),
    Exempt("httpx2/_urlparse.py", "reads addresses of models that the operator configures"),
    Exempt("markdown_it/common/html_re.py", _HTML),
    Exempt("markdown_it/rules_block/html_block.py", _HTML),
    Exempt("pydantic/alias_generators.py", "reads names of fields in this program"),
    Exempt("pydantic/networks.py", "reads e-mail addresses with names, a type that is not used"),
    Exempt("python/email/_header_value_parser.py", _HEADERS),
    Exempt("python/email/header.py", _HEADERS),
    Exempt("python/http/cookies.py", _HEADERS),
)

NEVER_OUTSIDE: Final = {
    "_pytest": "of parley.testing, which the program does not import",
    "charset_normalizer": "of requests",
    "click": _OPERATOR,
    "cryptography": "reads keys that the operator configures",
    "docstring_parser": "of anthropic's tool runner, which is not used",
    "dotenv": _OPERATOR,
    "idna": "reads host names, at most 253 characters",
    "jinja2": "reads templates of this program; `urlize`, which reads values, is not used",
    "numpy": "reads types of arrays, which this program writes",
    "opentelemetry": "reads the operator's environment",
    "prometheus_client": "reads names of metrics, which this program writes",
    "psutil": "reads the system's own files",
    "psycopg": "reads statements of this program and answers of its database",
    "pygments": "colours tracebacks of the operator's commands",
    "redis": "reads answers of the operator's server",
    "requests": "of huggingface_hub",
    "rich": "prints the operator's commands",
    "sse_starlette": "of mcp's server side, which is not used",
    "typer": _OPERATOR,
    "urllib3": "of requests",
    "yaml": _OPERATOR,
    "configparser.py": _OPERATOR,
    "dataclasses.py": _OPERATOR,
    "difflib.py": _OPERATOR,
    "fractions.py": _OPERATOR,
    "gettext.py": _OPERATOR,
    "glob.py": _OPERATOR,
    "importlib": _OPERATOR,
    "inspect.py": _OPERATOR,
    "locale.py": _OPERATOR,
    "logging": _OPERATOR,
    "pickle.py": _OPERATOR,
    "platform.py": _OPERATOR,
    "shlex.py": _OPERATOR,
    "string.py": _OPERATOR,
    "textwrap.py": _OPERATOR,
    "tokenize.py": _OPERATOR,
    "warnings.py": _OPERATOR,
    "wsgiref": "of prometheus_client's server, which is not used",
}
"""Libraries, and parts of Python's own, whose patterns meet no text from outside."""

PENDING: Final[frozenset[str]] = frozenset()
"""Files whose refused patterns are known and are being mended."""
