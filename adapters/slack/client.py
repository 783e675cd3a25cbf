"""Slack's own Web API client, set up to send every request exactly once."""

import ipaddress
import json
import logging
import urllib.request
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp
from msgspec import Struct
from slack_sdk.web.async_client import AsyncWebClient

from adapters.shared.http import read_body
from adapters.slack.errors import AnswerTooLarge
from gateway.errors import BadInput

LOG: Final = logging.getLogger("slack_sdk")
"""The log of Slack's libraries; below WARNING they would write messages into it."""

REQUEST_SECONDS: Final = 20.0
CONNECT_SECONDS: Final = 5.0
MAX_ANSWER: Final = 3 * 1024 * 1024
"""Bytes of an answer; the densest known JSON of messages takes 23 ms a megabyte to parse."""

_SLACK_HOSTS: Final = ("slack.com", "slack-files.com", "slack-gov.com")


class BoundedResponse(aiohttp.ClientResponse):
    """A response whose JSON has at most `MAX_ANSWER` bytes: its parsing holds the event loop."""

    async def json(self, **_options: Any) -> Any:
        """The parsed body. Raises `AnswerTooLarge`, and what aiohttp raises."""
        if not self.content_type.endswith("json"):
            raise aiohttp.ContentTypeError(self.request_info, self.history, headers=self.headers)
        try:
            return json.loads(await read_body(self, MAX_ANSWER, "the answer"))
        except BadInput as error:
            self.close()
            raise AnswerTooLarge(f"Slack: {error}") from error


class SlackClient(Struct, frozen=True):
    """The Web API of one account, and the HTTP session for files and response addresses."""

    web: AsyncWebClient
    session: aiohttp.ClientSession
    base_url: str

    def owns(self, url: str) -> bool:
        """True for an address that may receive the token: Slack's, or the configured server's."""
        return is_slack(url, self.base_url)

    async def close(self) -> None:
        """Close every connection."""
        await self.session.close()


def open_client(token: str, base_url: str) -> SlackClient:
    """A client with connections of its own; the core decides about repetitions."""
    LOG.setLevel(logging.WARNING)
    timeout = aiohttp.ClientTimeout(total=REQUEST_SECONDS, connect=CONNECT_SECONDS)
    session = aiohttp.ClientSession(timeout=timeout, response_class=BoundedResponse)
    web = AsyncWebClient(
        token=token, base_url=base_url, session=session, retry_handlers=[], logger=LOG
    )
    web.proxy = proxy_for(base_url, web.proxy)
    return SlackClient(web, session, base_url)


def proxy_for(url: str, proxy: str | None) -> str | None:
    """The proxy for `url`. The library reads it from the environment, but ignores NO_PROXY."""
    host = urlsplit(url).hostname or ""
    if not proxy or host == "localhost" or urllib.request.proxy_bypass(host):
        return None
    try:
        return None if ipaddress.ip_address(host).is_loopback else proxy
    except ValueError:
        return proxy


def is_slack(url: str, base_url: str) -> bool:
    """True for an address of Slack, or of the server at `base_url`."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if is_home(url, base_url):
        return True
    return parts.scheme == "https" and any(
        host == known or host.endswith(f".{known}") for known in _SLACK_HOSTS
    )


def is_home(url: str, base_url: str) -> bool:
    """True for an address of the server at `base_url`."""
    parts, home = urlsplit(url), urlsplit(base_url)
    return (parts.scheme, parts.netloc) == (home.scheme, home.netloc)
