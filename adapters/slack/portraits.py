"""The pictures of people. Slack names their addresses, which need no token: its own, or those of
Gravatar for people who have not uploaded one."""

from typing import Final

from slack_sdk.errors import SlackApiError

from adapters.shared.http import check_status, read_body
from adapters.shared.json_readers import as_mapping, mapping, text
from adapters.slack.client import SlackClient, is_home
from adapters.slack.directory import NOT_A_MEMBER
from adapters.slack.errors import code_of, delivery_errors
from gateway.errors import Permanent, Transient, UsageError
from safety.http import client as outbound
from safety.http.addresses import AllowedHost

MAX_URL: Final = 2_000
SECONDS: Final = 10.0
HOSTS: Final = (
    *("avatars.slack-edge.com", "a.slack-edge.com", "secure.gravatar.com"),
    *("i0.wp.com", "i1.wp.com", "i2.wp.com"),
)
"""Slack's pictures, and Gravatar's with the hosts to which it redirects."""
POLICY: Final = outbound.OutboundPolicy(tuple(AllowedHost(host) for host in HOSTS), timeout=SECONDS)


async def fetch(client: SlackClient, user: str, limit: int) -> bytes:
    """The picture of a person in 72 pixels, empty for an unknown one. Raises `BadInput` and
    `DeliveryError`."""
    with delivery_errors(sends=False):
        try:
            answer = await client.web.users_info(user=user)
        except SlackApiError as error:
            if code_of(error) in NOT_A_MEMBER:
                return b""
            raise
    profile = mapping(mapping(as_mapping(answer.data), "user"), "profile")
    url = text(profile, "image_72", MAX_URL)
    if not url:
        return b""
    if is_home(url, client.base_url):
        return await _from_home(client, url, limit)
    return await _guarded(url, limit)


async def _from_home(client: SlackClient, url: str, limit: int) -> bytes:
    """Fetch from the configured server, which may be on this machine."""
    with delivery_errors(sends=False):
        async with client.session.get(url, proxy=client.web.proxy, allow_redirects=False) as answer:
            check_status("Slack", answer.status, answer.headers, repeatable=True)
            if answer.status != 200:
                raise Permanent(f"Slack: the picture was answered with status {answer.status}")
            return await read_body(answer, limit, "the picture")


async def _guarded(url: str, limit: int) -> bytes:
    try:
        answer = await outbound.GuardedClient(POLICY).request("GET", url, max_bytes=limit)
    except outbound.TooLarge as error:
        raise UsageError(f"Slack: the picture has more than {limit} bytes") from error
    except (outbound.TimedOut, outbound.Unreachable) as error:
        raise Transient(f"Slack: the picture did not arrive: {error}") from error
    except outbound.OutboundError as error:
        raise Permanent(f"Slack: the picture is not fetched: {error}") from error
    if answer.status != 200:
        raise Permanent(f"Slack: the picture was answered with status {answer.status}")
    return answer.body
