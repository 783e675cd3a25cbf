"""`parley context`: the parts of the prompt for a message."""

from datetime import UTC, datetime
from pathlib import Path

from gateway.policy.decision import Decision
from gateway.ports.clock import SystemClock
from gateway.ports.traces import Trace
from parley.cli.why import describe_prompt, figures_of
from parley.config import from_mapping
from parley.wiring.storage import Storage
from tests.parley.cli.kit import parley


def block(
    kind: str,
    tokens: int,
    budget: int,
    needed: int,
    allotted: int,
    *losses: tuple[str, str, int],
) -> dict[str, object]:
    missing = [{"what": what, "why": why, "tokens": number} for what, why, number in losses]
    sizes = {"tokens": tokens, "budget": budget, "needed": needed, "allotted": allotted}
    return {"kind": kind, **sizes, "losses": missing}


FIGURES = {
    "window": 8_192,
    "reserved": 3_192,
    "blocks": [
        block("system", 412, 500, 412, 500),
        block("project", 1_010, 1_000, 1_400, 1_012, ("bible", "cut", 390)),
        block("task", 0, 500, 0, 500),
        block("history", 60, 1_000, 900, 70, ("turns", "left_out", 840)),
        block(
            *("knowledge", 1_890, 2_000, 2_600, 2_000),
            *(("mem-1", "left_out", 700), ("mem-2", "left_out", 10)),
        ),
    ],
}
ANSWERED = Trace(
    id="t1",
    message_id="4711",
    platform="telegram",
    account="main",
    conversation="default:telegram:main::-100:",
    kind="message",
    at=datetime(2026, 11, 21, 9, 30, tzinfo=UTC),
    decisions=(
        Decision("context", True, "window", "4 of 8 messages"),
        Decision("context", True, "blocks", data=FIGURES),
    ),
    outcome="answered",
    milliseconds=900.0,
)


def test_the_blocks_are_shown_with_missing_parts_and_warnings() -> None:
    (figures,) = figures_of(ANSWERED)

    assert describe_prompt(ANSWERED, figures).splitlines() == [
        "message 4711 on telegram, 2026-11-21 09:30:00 UTC, a window of 8192",
        "  block       tokens  budget  used",
        "  system         412     500   82%",
        "  project       1010    1000  101%  of 1400 needed, 1012 allotted",
        "  task             0     500    0%",
        "  history         60    1000    6%  of 900 needed, 70 allotted",
        "  knowledge     1890    2000   94%  of 2600 needed, 2000 allotted",
        "  total         3372    5000",
        "  reserved for question, answer and safety: 3192; left beside the blocks: 4820",
        "  missing in project: bible, 390 tokens: cut at a sentence",
        "  missing in history: turns, 840 tokens: omitted, it did not fit",
        "  missing in knowledge: mem-1, 700 tokens: omitted, it did not fit",
        "  missing in knowledge: mem-2, 10 tokens: omitted, it did not fit",
        "  [WARNING] History block is very short - context may be lost",
        (
            "  [WARNING] Older turns were dropped without a summary: raise context.max_tokens, "
            "or use a model with a larger window"
        ),
        (
            "  [WARNING] Project block was shortened: make its documents shorter, or use a model "
            "with a larger window"
        ),
    ]


async def test_the_figures_are_read_from_the_database(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/data/parley.db"
    storage = Storage(from_mapping({"database": {"url": url}}), SystemClock())
    await storage.start()
    await storage.stores.traces.add(ANSWERED)
    known = await parley("context", "4711", cwd=tmp_path)
    unknown = await parley("context", "4712", cwd=tmp_path)
    await storage.stop()

    assert (known.status, known.out) == (
        0,
        describe_prompt(ANSWERED, figures_of(ANSWERED)[0]) + "\n",
    )
    assert unknown.status == 1
    assert "Message 4712 has no stored prompt" in unknown.err
