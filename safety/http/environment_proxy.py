"""Reads the proxy of the environment for an address: `HTTPS_PROXY`, `NO_PROXY` and their like."""

from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass


def proxy_of(url: str) -> str | None:
    """Return the proxy that the environment sets for an address; None without one.

    It is passed to aiohttp explicitly, because aiohttp's `trust_env` starts two threads for each
    request.
    """
    parts = urlsplit(url)
    if proxy_bypass(parts.hostname or ""):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")
