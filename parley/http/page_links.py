"""Login links to the pages of a running program, for people who hold `server.token`."""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from gateway.ports.http_routes import LocalRequest, LocalResponse, LocalRoute
from gateway.ports.rights import LOCAL_PAGES

PATH: Final = "/page-links"


def page_link_routes(links: Callable[[], Sequence[str]]) -> Iterable[LocalRoute]:
    """The route that makes new links; `links` returns one for each page."""

    async def make(_request: LocalRequest) -> LocalResponse:
        body = json.dumps({"links": list(links())}).encode()
        return LocalResponse(body, content_type="application/json")

    yield LocalRoute("POST", PATH, make, LOCAL_PAGES)
