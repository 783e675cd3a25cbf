"""The states of the web page and of the demo's page: to look at, and for axe."""

import struct
import zlib
from collections.abc import AsyncIterator
from typing import Final

from playwright.async_api import FilePayload, Page, Route, expect

LONG_WORD: Final = "Donaudampfschifffahrtsgesellschaftskapitän" * 4
LONG_CODE: Final = "x" * 120 + "\n" + "\n".join(f"line {number}" for number in range(80))
PLATFORMS: Final = ("discord", "slack", "telegram", "whatsapp")
_SIDE: Final = 640
"""Pixels of the picture."""


def picture(name: str = "diagram.png") -> FilePayload:
    """Return a file with a picture of stripes."""
    row = b"\0" + bytes(value % 256 for place in range(_SIDE) for value in (place, 90, 200))
    header = struct.pack(">IIBBBBB", _SIDE, _SIDE // 2, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(row * (_SIDE // 2))), (b"IEND", b""))
    data = b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in parts
    )
    return {"name": name, "mimeType": "image/png", "buffer": b"\x89PNG\r\n\x1a\n" + data}


async def chat_states(page: Page, url: str) -> AsyncIterator[str]:
    """Bring the web page from one state to the next; each has a name."""
    await page.goto(f"{url}/chat/")
    await expect(page.locator("#new")).to_be_attached()
    await expect(page.locator("#empty")).to_be_visible()
    yield "empty"
    await page.set_input_files("#files", [picture(), picture(f"{LONG_WORD[:90]}.png")])
    await expect(page.locator("#attached li")).to_have_count(2)
    await page.fill("#text", f"Show me a table\n{LONG_WORD}")
    yield "written"
    await page.click("#send")
    await _answered(page, 1)
    for number, wish in enumerate(("Show me everything you can", "/clear"), start=2):
        await page.fill("#text", wish)
        await page.press("#text", "Enter")
        await _answered(page, number)
    await expect(page.locator(".buttons button").first).to_be_visible()
    yield "buttons"
    await page.evaluate("document.querySelector('#log').scrollTop = 0")
    yield "conversation"
    await page.locator(".mine").first.locator(".foot button").first.click()
    await page.fill("#text", f"say: ```py\n{LONG_CODE}\n```")
    yield "reply"
    await page.press("#text", "Enter")
    await _answered(page, 4)
    yield "code"
    await page.locator(".mine").last.locator(".foot button").last.click()
    await expect(page.locator(".gone")).to_have_count(1)
    await page.set_input_files("#files", {"name": "none.txt", "mimeType": "", "buffer": b""})
    await expect(page.locator("#problem")).to_be_visible()
    yield "problem"
    if await page.locator("#menu").is_visible():
        await page.click("#menu")
        await expect(page.locator("#close-list")).to_be_visible()
        yield "list"
        await page.click("#close-list")
    async for state in _unreachable(page):
        yield state


async def _answered(page: Page, count: int) -> None:
    await expect(page.locator(".theirs:not(.live)")).to_have_count(count)
    await expect(page.locator("#stop")).to_be_hidden()


async def _unreachable(page: Page) -> AsyncIterator[str]:
    """Let every request of the page to the program be refused, and open a conversation."""

    async def refuse(route: Route) -> None:
        await route.fulfill(status=503, json={"error": "the store cannot be read now"})

    await page.route("**/chat/api/**", refuse)
    await page.evaluate("location.hash = '#chat-0123456789abcdef'")
    await expect(page.locator("#offline")).to_be_visible()
    yield "offline"
    await page.unroute("**/chat/api/**")


async def demo_states(page: Page, url: str, platform: str, person: str) -> AsyncIterator[str]:
    """Bring the demo's page from one state to the next on a platform; each has a name."""
    at = f"{url}/#platform={platform}&room=%s&person=%s"
    await page.goto(at % ("direct", person))
    await page.locator("#log > li").first.wait_for()
    yield "opened"
    await page.set_input_files("#files", picture())
    await page.fill("#text", f"show me everything you can {LONG_WORD}")
    await page.click("#send")
    await expect(page.locator(".bot").first).to_be_visible()
    await expect(page.locator("#decisions .outcome.good").first).to_be_attached()
    await page.fill("#text", "/clear")
    await page.press("#text", "Enter")
    await expect(page.locator(".buttons button").first).to_be_visible()
    yield "conversation"
    await page.locator("#faults summary").click()
    yield "faults"
    await page.keyboard.press("Escape")
    large = {"name": f"{LONG_WORD}.bin", "mimeType": "", "buffer": bytes(2_000_001)}
    await page.set_input_files("#files", large)  # type: ignore[arg-type]  # as documented
    await expect(page.locator("#problem")).to_be_visible()
    yield "problem"
    await _tab(page, "places")
    yield "places"
    await _tab(page, "why")
    yield "decisions"
    await page.click("#tab-requests")
    await page.locator(".call summary").first.click()
    yield "requests"
    await page.goto("about:blank")
    await page.goto(at % ("general", person))
    await page.locator("#log > li").first.wait_for()
    yield "room"


async def _tab(page: Page, name: str) -> None:
    """Show a part of the page, where it is not shown beside the others."""
    if await page.locator("#tabs").is_visible():
        await page.click(f"#tabs [data-tab={name}]")
