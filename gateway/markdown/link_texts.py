"""Links whose text names another address than the one that they open: they show both."""

import contextlib
import itertools
import re
import unicodedata
from collections.abc import Iterator
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

from gateway.immutable import replace
from gateway.markdown.tree import Inline, Run, inline_text, shown_address

_SCHEME: Final = re.compile(r"(?:https?|ftp)://")
_BETWEEN_WORDS: Final = re.compile(r"[^\w.:/@-]")
_MAX_WORD: Final = 300
_PATH: Final = re.compile(r"[/?#]")
_TOKEN: Final = re.compile(r"[\w.\-]+")
_DOTS: Final = re.compile(r"(?<=[a-z0-9])[。｡](?=[a-z0-9])")
"""Browsers take these for dots."""
_NUMBERS: Final = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_LAST_LABEL: Final = re.compile(r"[^\W\d_][\w\-]+")
_DIGITS: Final = re.compile(r"\D")
_MIN_DIGITS: Final = 5
"""Digits from which a text is read as a telephone number."""
_FILES: Final = frozenset(
    {
        *("bat", "bin", "cfg", "class", "conf", "cpp", "css", "csv", "doc", "docx", "exe", "gif"),
        *("hpp", "htm", "html", "ico", "ini", "ipynb", "jar", "java", "jpeg", "jpg", "js"),
        *("json", "jsx", "lock", "log", "lua", "mjs", "odt", "pdf", "php", "png", "ppt", "pptx"),
        *("rb", "sql", "svg", "swift", "tar", "tex", "tgz", "tmp", "toml", "ts", "tsx", "txt"),
        *("vue", "wav", "xls", "xlsx", "xml", "yaml", "yml"),
    }
)
"""Endings of files that no name of a server has (data.iana.org/TLD/tlds-alpha-by-domain.txt)."""
_NAMES: Final = frozenset(
    {
        *("app", "bank", "biz", "cloud", "club", "com", "dev", "edu", "example", "finance"),
        *("gov", "info", "int", "live", "mil", "mobi", "net", "online", "org", "page", "pro"),
        *("shop", "site", "store", "tech", "test", "top", "xyz"),
    }
)
"""Common endings of servers, besides those of two letters: no part of a program."""


def with_true_addresses(runs: Inline) -> Inline:
    """Return the runs with the true address behind each link whose text names another one; such a
    text is no link."""
    if not any(run.link for run in runs):
        return runs
    out: list[Run] = []
    whole, end = inline_text(runs), 0
    for link, group in itertools.groupby(runs, key=lambda run: run.link):
        linked = tuple(group)
        start, end = end, end + len(inline_text(linked))
        text = whole[start:end]
        if link and text != link:  # what touches the text is read as part of it
            before = _BETWEEN_WORDS.split(whole[max(0, start - _MAX_WORD) : start])[-1]
            text = before + text + _BETWEEN_WORDS.split(whole[end : end + _MAX_WORD])[0]
        if not (link and _misleads(text, link)):
            out += linked
            continue
        true = _without_user(link)
        out += (replace(run, link="") for run in linked)
        out += (Run(" ("), Run(shown_address(true), link=true), Run(")"))
    return tuple(out)


def _misleads(text: str, link: str) -> bool:
    """Return True if a reader expects another address than `link`."""
    scheme, _, rest = link.partition(":")
    words = _plain(text)
    match scheme.lower():
        case "tel":
            digits = _DIGITS.sub("", text)
            return len(digits) >= _MIN_DIGITS and not _DIGITS.sub("", rest).endswith(digits[1:])
        case "mailto":
            address = _plain(unquote(rest.partition("?")[0]))
            return address not in words and any(_hosts(words))
        case "http" | "https" if not any(sign in words for sign in (".", "://")):
            if "@" not in link and "\\" not in link:
                return False
        case "http" | "https":
            pass
        case _:
            return False  # no platform makes a link of it
    try:
        parts = urlsplit(link)
        host = _canonical(parts.hostname or "")
    except ValueError:
        return True
    if "\\" in link or not host:
        return True
    named = {_canonical(name) for name in _hosts(words)}
    named |= {_canonical(name) for name in _hosts(_plain(unquote(_user(parts))))}
    return any(name != host and not _is_file(name, parts) for name in named) or _other_page(
        words, parts
    )


def _plain(text: str) -> str:
    """Return a text as it looks: without hidden characters and variants of letters."""
    if text.isascii():
        return text.casefold()
    shown = (char for char in text if unicodedata.category(char) != "Cf")
    return _DOTS.sub(".", unicodedata.normalize("NFKC", "".join(shown)).casefold())


def _hosts(words: str) -> Iterator[str]:
    """Yield what looks like the name of a server, but not in the path of an address."""
    for word in words.split():
        before, scheme, address = _split(word)
        if scheme:
            server = _PATH.split(address)[0]
            name = server.rpartition("@")[2]
            yield name[1:].partition("]")[0] if name.startswith("[") else name.partition(":")[0]
            yield from _names(before)
            yield from _names(server)
        else:
            yield from list(_names(_PATH.split(word)[0])) or _names(word)


def _split(word: str) -> tuple[str, str, str]:
    found = _SCHEME.search(word)
    return (word[: found.start()], found[0], word[found.end() :]) if found else (word, "", "")


def _names(text: str) -> Iterator[str]:
    for token in _TOKEN.finditer(text):
        name = token[0].strip(".-_")
        labels = name.split(".")
        is_name = _LAST_LABEL.fullmatch(labels[-1]) or _NUMBERS.fullmatch(name)
        if is_name and len(labels) > 1 and all(labels) and labels[-1] not in _FILES:
            yield name


def _canonical(name: str) -> str:
    """Return the name of a server as a browser looks it up, without `www.`."""
    with contextlib.suppress(UnicodeError):
        name = name.encode("idna").decode()
    return name.lower().strip(".").removeprefix("www.")


def _is_file(name: str, parts: SplitResult) -> bool:
    """Return True if a name is a file or a part of a program that the address names as well."""
    ending = name.rpartition(".")[2]
    path = unquote(f"{parts.path}#{parts.fragment}").casefold()
    if len(ending) > 2 and ending not in _NAMES:
        return name in path
    return len(ending) == 2 and name == parts.path.casefold().rpartition("/")[2]


def _other_page(words: str, parts: SplitResult) -> bool:
    """Return True if the text is a whole address of the same server, and another page of it."""
    text = words.strip().rstrip("….")
    if not _SCHEME.match(text) or any(map(str.isspace, text)):
        return False
    try:
        shown = urlsplit(text)
    except ValueError:
        return True
    return not _page(parts).startswith(_page(shown))


def _page(parts: SplitResult) -> str:
    return _plain(unquote(f"{parts.path.rstrip('/')}?{parts.query}").rstrip("?"))


def _user(parts: SplitResult) -> str:
    return parts.netloc.rpartition("@")[0]


def _without_user(link: str) -> str:
    """Return the address without the part before the name of its server that poses as one."""
    try:
        parts = urlsplit(link)
    except ValueError:
        return link
    if not any(_hosts(_plain(unquote(_user(parts))))):
        return link
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
