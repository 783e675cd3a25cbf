"""The address of a repository's remote, as people may see it."""

import re
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from memory.git.location import Location, read_small
from memory.git.process import Git

MAX_CONFIGURATION: Final = 256 * 1024
"""Bytes of the repository's configuration file."""
MAX_ADDRESS: Final = 500
"""Characters of an address."""
_SHORT_FORM: Final = re.compile(
    r"(?:[\w.-]{1,100}@)?([A-Za-z0-9.-]{1,200}):(?!//)([\w./~+-]{1,300})"
)
"""The short form of SSH, USER@HOST:PATH."""


async def remote_address(location: Location, git: Git) -> str:
    """Return the address of "origin" without credentials; "" without one.

    Git parses the repository's configuration as a file of data, without the files that it includes.
    """
    file = location.common_dir / "config"
    if read_small(file, MAX_CONFIGURATION) is None:
        return ""
    arguments = ("config", "--file", str(file), "--no-includes", "--get", "remote.origin.url")
    status, output = await git.output(*arguments, most=MAX_CONFIGURATION)
    return "" if status else without_credentials(output.decode("utf-8", "replace").strip())


def without_credentials(address: str) -> str:
    """Return an address of https, http, ssh or git without user, password, query and fragment.

    The short form of SSH becomes an address with ssh://. Everything else, such as a folder of this
    machine, gives "".
    """
    if len(address) > MAX_ADDRESS or not address.isprintable():
        return ""
    if short := _SHORT_FORM.fullmatch(address):
        return f"ssh://{short[1]}/{short[2].lstrip('/')}"
    try:
        parts = urlsplit(address)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return ""
    if parts.scheme not in {"https", "http", "ssh", "git"} or not parts.hostname:
        return ""
    return urlunsplit((parts.scheme, parts.hostname + port, parts.path, "", ""))
