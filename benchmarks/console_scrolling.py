"""Scrolling through the console in Chromium: the list of conversations and a long conversation.

An operator opens each, turns the wheel to the end of the page, and follows the link to the next
page. The page itself measures the time between animation frames from its begin on, and the tasks
that hold its thread for more than 50 ms. `benchmarks.console` runs this over its large database.
A stall without a long task is one of the machine.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from playwright.async_api import Page, expect

from tests.parley.console.kit import Console
from tests.parley.demo.browser import launched, window

PAGES: Final = 10
"""Pages of each list."""
STEP: Final = 240
"""Pixels of a turn of the wheel, about what a mouse sends."""
MAX_TURNS: Final = 400
STALL_MS: Final = 100.0
"""A longer time between two frames is a stall."""
MEASURE: Final = """
    window.gaps = []; window.tasks = [];
    let last = performance.now();
    const frame = (now) => { gaps.push(now - last); last = now; requestAnimationFrame(frame); };
    requestAnimationFrame(frame);
    new PerformanceObserver((list) => {
        for (const one of list.getEntries()) tasks.push(one.duration);
    }).observe({ type: "longtask", buffered: true });
"""
FRAME: Final = (
    "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
)
AT_END: Final = "() => scrollY + innerHeight >= document.documentElement.scrollHeight - 1"


@dataclass(slots=True)
class Scrolled:
    """The pages of a list: milliseconds between frames until a page is shown, and from then on; and
    of long tasks."""

    pages: int = 0
    opening: list[float] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
    tasks: list[float] = field(default_factory=list)

    def row(self, name: str) -> dict[str, object]:
        """The result as a row of the benchmark."""
        ordered = sorted(self.gaps)
        return {
            "scrolled": name,
            "pages": self.pages,
            "frames": len(ordered),
            "frame_p99_ms": round(ordered[int(0.99 * (len(ordered) - 1))], 1),
            "longest_frame_ms": round(ordered[-1], 1),
            "stalls": sum(gap > STALL_MS for gap in ordered),
            "longest_frame_while_opening_ms": round(max(self.opening), 1),
            "long_tasks": len(self.tasks),
            "longest_task_ms": round(max(self.tasks, default=0.0), 1),
        }


async def scroll(console: Console, operator: str, turn: str) -> Sequence[dict[str, object]]:
    """Return a row for the list of conversations, and one for the conversation of a turn."""
    base = f"{console.app.local.base_url}/console"
    async with launched(), window(console.app.local.base_url) as opened:
        page = opened.page
        await page.goto(await console.link(operator))
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
        await page.add_init_script(MEASURE)
        listed = await _through(page, f"{base}/conversations", "Next page")
        talk = await _through(page, f"{base}/conversations/{turn}", "Earlier messages")
    return listed.row("conversations"), talk.row("one conversation")


async def _through(page: Page, address: str, following: str) -> Scrolled:
    result = Scrolled()
    await page.goto(address)
    while True:
        await page.evaluate(FRAME)
        result.opening += await page.evaluate("gaps.splice(0)")
        for _ in range(MAX_TURNS):
            await page.mouse.wheel(0, STEP)
            await page.evaluate(FRAME)
            if await page.evaluate(AT_END):
                break
        result.pages += 1
        result.gaps += await page.evaluate("gaps")
        result.tasks += await page.evaluate("tasks")
        link = page.get_by_role("link", name=following)
        if result.pages == PAGES or not await link.count():
            return result
        await link.click()
        await page.wait_for_load_state()
