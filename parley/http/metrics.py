"""The page that Prometheus fetches."""

from collections.abc import Callable

from aiohttp import web

PATH = "/metrics"


def metrics_route(page: Callable[[], bytes], content_type: str) -> web.RouteDef:
    """Serves `page()` on the local listener, to whoever may enter there."""

    async def metrics(_request: web.Request) -> web.Response:
        return web.Response(body=page(), headers={"Content-Type": content_type})

    return web.get(PATH, metrics)
