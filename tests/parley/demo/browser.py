"""Chromium for the tests of our pages, and its error messages.

All such tests of a process run on one event loop, that of its browser.
"""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, Literal

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect

from tests.support.patience import PATIENCE

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser") if (path := shutil.which(name))), ""
)
IN_CHROMIUM = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM, reason="Chromium is not installed"),
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.usefixtures("chromium"),
    pytest.mark.xdist_group("chromium"),
]
"""The marks of a module whose tests open windows."""

DISABLED_FEATURES: Final = (
    # A window opens a process with the two pages of its address bar, and one to be ready.
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "SpareRendererForSitePerProcess"),
    # Those that Playwright disables: Chromium reads the last of several such arguments only.
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades"),
    *("HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "PaintHolding"),
    *("ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect"),
    *("OptimizationHints", "NetworkTimeServiceQuerying", "AimEnabled", "PreconnectToSearch"),
)
DESKTOP = (1280, 800)
TELEPHONE = (390, 844)
_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-fake-device-for-media-stream",  # a microphone that beeps
    f"--disable-features={','.join(DISABLED_FEATURES)}",
)


@dataclass
class Window:
    """A page, and every complaint and every request to elsewhere that it made."""

    page: Page
    context: BrowserContext
    origin: str
    complaints: list[str] = field(default_factory=list)

    def watch(self) -> None:
        """Note console errors, exceptions, and requests that leave this machine."""

        def on_console(message: object) -> None:
            kind, text = getattr(message, "type", ""), getattr(message, "text", "")
            if kind in ("error", "warning"):
                self.complaints.append(f"{kind}: {text}")

        def on_request(request: object) -> None:
            url = str(getattr(request, "url", ""))
            if not url.startswith((self.origin, "data:", "blob:")):
                self.complaints.append(f"asks {url}")

        self.page.on("console", on_console)
        self.page.on("pageerror", lambda error: self.complaints.append(f"exception: {error}"))
        self.page.on("request", on_request)


_LAUNCHED: list[Browser] = []
"""The browser of this process."""


@asynccontextmanager
async def launched() -> AsyncIterator[None]:
    """Have a browser for `window`, which takes seconds of the processor to start."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=_ARGUMENTS)
        expect.set_options(timeout=1000 * PATIENCE)
        _LAUNCHED.append(browser)
        yield
        _LAUNCHED.remove(browser)
        await browser.close()


@asynccontextmanager
async def window(
    origin: str, size: tuple[int, int] = DESKTOP, *, dark: bool = False
) -> AsyncIterator[Window]:
    """A window that shares no cookies, stored data or files with others; nothing is loaded yet."""
    width, height = size
    context = await _LAUNCHED[0].new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if dark else "light",
        has_touch=size == TELEPHONE,
    )
    context.set_default_timeout(1000 * PATIENCE)
    opened = Window(await context.new_page(), context, origin)
    opened.watch()
    try:
        yield opened
    finally:
        await context.close()


async def speak(opened: Window, language: str) -> None:
    """Let the browser prefer a language."""
    await opened.context.set_extra_http_headers({"Accept-Language": f"{language}-XX,en;q=0.5"})


ABOVE_MINOR: Final = ("moderate", "serious", "critical")


async def accessibility_findings(page: Page) -> list[str]:
    """The findings of axe-core above minor on the page, one line each."""
    result = (await Axe().run(page)).response["violations"]
    return [
        f"{one['impact']}: {one['id']}: {[node['target'] for node in one['nodes']][:4]}"
        for one in result
        if one["impact"] in ABOVE_MINOR
    ]


OPEN_ALL: Final = "for (const one of document.querySelectorAll('main details')) one.open = true"
Scheme = Literal["dark", "light"]
VIEWS: Final[tuple[tuple[tuple[int, int], Scheme], ...]] = ((TELEPHONE, "dark"), (DESKTOP, "light"))
"""Each size and each theme once: sizes change no colours, and themes no places."""


async def check_views(page: Page) -> None:
    """Find nothing above minor and nothing wider than the page, in both sizes and themes, with
    everything unfolded. The page is then wide and light."""
    await page.evaluate(OPEN_ALL)
    for (width, height), scheme in VIEWS:
        await page.set_viewport_size({"width": width, "height": height})
        await page.emulate_media(color_scheme=scheme)
        overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert overflow <= 0, (page.url, width)
        found = await accessibility_findings(page)
        assert found == [], (page.url, width, scheme, found)
