"""The pictures of people, whose addresses may lead anywhere."""

import pytest

from gateway.errors import Permanent
from simulators.base import SimFile
from tests.adapters.slack.conftest import Rig

PICTURE = SimFile("me.png", "image/png", b"\x89PNG\r\n\x1a\n")


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:9/me.png",
        "http://169.254.169.254/latest/meta-data",
        "https://pictures.example/me.png",
        "https://avatars.slack-edge.com:8080/me.png",
        "file:///etc/passwd",
    ],
)
async def test_a_picture_of_another_host_is_not_fetched(rig: Rig, address: str) -> None:
    anna = rig.slack.person("Anna")
    rig.slack.world.portrait_addresses[anna.id] = address
    with pytest.raises(Permanent, match="not fetched"):
        await rig.adapter.portrait(anna.id, 1_000)


async def test_the_token_does_not_go_with_the_request_for_a_picture(rig: Rig) -> None:
    anna = rig.slack.person("Anna")
    rig.slack.show_portrait(anna, PICTURE)
    assert await rig.adapter.portrait(anna.id, 1_000) == PICTURE.data
    (sent,) = rig.slack.server.portrait_requests
    assert "Authorization" not in sent


async def test_a_redirect_of_the_configured_server_is_not_followed(rig: Rig) -> None:
    anna = rig.slack.person("Anna")
    base = rig.slack.server.base
    rig.slack.world.portrait_addresses[anna.id] = f"{base}/portraits/{anna.id}/redirect"
    with pytest.raises(Permanent, match="status 302"):
        await rig.adapter.portrait(anna.id, 1_000)
