"""The documentation in Chromium."""

from parley.documentation.routes import DocumentationPages
from parley.http.local_listener import LocalListener
from tests.parley.demo.browser import IN_CHROMIUM, check_views, window

pytestmark = IN_CHROMIUM


async def test_pages_are_accessible_and_fit_the_window() -> None:
    listener = LocalListener()
    listener.add_routes(DocumentationPages().routes())
    await listener.start()
    try:
        async with window(listener.base_url) as opened:
            for name in ("", "reference/platforms/whatsapp.md", "reference/configuration.md"):
                await opened.page.goto(f"{listener.base_url}/docs/{name}")
                await check_views(opened.page)
            assert opened.complaints == []
    finally:
        await listener.stop()
