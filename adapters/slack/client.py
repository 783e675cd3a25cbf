"""Slack's own Web API client, set up so that nothing is repeated behind our back."""

import ipaddress
import logging
import urllib.request
from typing import Final
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

LOG: Final = logging.getLogger("slack_sdk")
"""What Slack's libraries have to say; below WARNING they would write messages into the log."""

REQUEST_SECONDS: Final = 20.0
CONNECT_SECONDS: Final = 5.0

_SLACK_HOSTS: Final = ("slack.com", "slack-files.com", "slack-gov.com")


def open_session() -> aiohttp.ClientSession:
    """The connections of one account, kept open between requests."""
    timeout = aiohttp.ClientTimeout(total=REQUEST_SECONDS, connect=CONNECT_SECONDS)
    return aiohttp.ClientSession(timeout=timeout)


def open_client(token: str, base_url: str, session: aiohttp.ClientSession) -> AsyncWebClient:
    """A client that sends every request exactly once: what to repeat is decided elsewhere."""
    LOG.setLevel(logging.WARNING)
    client = AsyncWebClient(
        token=token, base_url=base_url, session=session, retry_handlers=[], logger=LOG
    )
    client.proxy = proxy_for(base_url, client.proxy)
    return client


def proxy_for(url: str, proxy: str | None) -> str | None:
    """The proxy to use for `url`. The library takes it from the environment, but not NO_PROXY."""
    host = urlsplit(url).hostname or ""
    if not proxy or host == "localhost" or urllib.request.proxy_bypass(host):
        return None
    try:
        return None if ipaddress.ip_address(host).is_loopback else proxy
    except ValueError:
        return proxy


def is_slack(url: str, base_url: str) -> bool:
    """True for addresses of Slack, or of the configured server: only they may see the token."""
    parts, home = urlsplit(url), urlsplit(base_url)
    host = parts.hostname or ""
    if (parts.scheme, parts.netloc) == (home.scheme, home.netloc):
        return True
    return parts.scheme == "https" and any(
        host == known or host.endswith(f".{known}") for known in _SLACK_HOSTS
    )
