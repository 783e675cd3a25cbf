"""The documentation on the local listener, below `/docs/`. It is the same in every installation, so
that everybody who reaches the port may read it."""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from gateway.ports.http_routes import LocalHandler, LocalRequest, LocalResponse, LocalRoute
from gateway.ports.rights import OPEN
from parley.documentation.files import PICTURES, START, SUFFIX, files

PREFIX: Final = "/docs"
STYLE: Final = Path(__file__).with_name("style.css")
HTML: Final = "text/html; charset=utf-8"
KEPT: Final = {"Cache-Control": "private, max-age=300"}


class DocumentationPages:
    """Serves the pages. A rendered page is kept: their number is fixed."""

    def __init__(self) -> None:
        self._rendered: dict[str, bytes] = {}

    def routes(self) -> Iterable[LocalRoute]:
        """The routes; none where the installation has no documentation."""
        if not files():
            return
        paths = ("", "/", "/{a}", "/{a}/{b}", "/{a}/{b}/{c}")
        handlers: tuple[LocalHandler, ...] = (_to_start, *(self._get for _ in paths[1:]))
        for path, handler in zip(paths, handlers, strict=True):
            yield LocalRoute("GET", f"{PREFIX}{path}", handler, OPEN)

    async def _get(self, request: LocalRequest) -> LocalResponse:
        path = "/".join(request.params.values()) or f"{START}{SUFFIX}"
        if path == STYLE.name:
            return LocalResponse(STYLE.read_bytes(), 200, "text/css; charset=utf-8", KEPT)
        file = files().get(path)
        if file is None:
            return LocalResponse(b"There is no such page. /docs/ lists all pages.", 404)
        if file.suffix in PICTURES:
            body = await asyncio.to_thread(file.read_bytes)
            return LocalResponse(body, 200, PICTURES[file.suffix], KEPT)
        if path not in self._rendered:
            self._rendered[path] = await asyncio.to_thread(_rendered, path, file)
        return LocalResponse(self._rendered[path], 200, HTML, KEPT)


async def _to_start(_request: LocalRequest) -> LocalResponse:
    return LocalResponse(status=303, headers={"Location": f"{PREFIX}/"})


def _rendered(path: str, file: Path) -> bytes:
    from parley.documentation.render import page  # noqa: PLC0415 - loaded with the first request

    return page(path.removesuffix(SUFFIX), file.read_text("utf-8")).encode()
