"""`parley why`: the decisions about a message, from the database of a gateway."""

from datetime import UTC, datetime
from pathlib import Path

from gateway.immutable import replace
from gateway.policy.decision import Decision
from gateway.ports.clock import SystemClock
from gateway.ports.traces import Trace
from gateway.stores.feedback import Feedback, Thumbs
from parley.cli.why import describe
from parley.config import from_mapping
from parley.wiring.storage import Storage
from tests.parley.cli.kit import parley

REFUSED = Trace(
    id="t1",
    message_id="4711",
    platform="telegram",
    account="main",
    conversation="default:telegram:main::-100:",
    kind="message",
    at=datetime(2026, 11, 21, 9, 30, tzinfo=UTC),
    decisions=(
        Decision("invocation", True, "mention"),
        Decision("access", False, "channel_blocked", "on access.blocked_channels"),
    ),
    outcome="denied",
    milliseconds=3.4,
)


def test_a_trace_lists_the_decisions_in_order() -> None:
    assert describe(REFUSED).splitlines() == [
        "message 4711 on telegram, 2026-11-21 09:30:00 UTC",
        "  conversation default:telegram:main::-100:",
        "  turn t1 (the log names it)",
        "  yes  invocation  mention",
        "  NO   access      channel_blocked (on access.blocked_channels)",
        "  -> denied, 3 ms",
        "  The section `access` of the configuration decides on this.",
    ]


def test_a_question_without_an_answer_ends_with_the_next_step() -> None:
    decisions = (Decision("access", True, "open"), Decision("model", True, "refused", "m"))
    call = ("model", "m", 100_000, 50_000, "ModelRefused 401 key_refused")
    trace = replace(REFUSED, decisions=decisions, outcome="refused", durations=(call,))
    lines = describe(trace).splitlines()
    assert "  yes  access  open" in lines
    assert "  NO   model   refused (m)" in lines
    assert "model.api_key" in lines[-1]


def test_a_person_without_an_approval_is_found_by_the_next_step() -> None:
    decision = Decision("access", False, "not_approved", "pairing: code_made")
    lines = describe(replace(REFUSED, decisions=(decision,))).splitlines()
    assert "  NO   access  not_approved (pairing: code_made)" in lines
    assert "parley access list" in lines[-1]


async def test_the_trace_of_a_message_is_read_from_the_database(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/data/parley.db"
    storage = Storage(from_mapping({"database": {"url": url}}), SystemClock())
    await storage.start()
    await storage.stores.traces.add(REFUSED)
    at = datetime.now(UTC)
    await storage.stores.feedback.put(Feedback("there", "a", "t", "t1", 1, at))
    for person in ("b", "c"):
        await storage.stores.feedback.put(Feedback("there", person, "t", "t1", -1, at))
    known = await parley("why", "4711", cwd=tmp_path)
    unknown = await parley("why", "4712", cwd=tmp_path)
    await storage.stop()
    assert (known.status, known.out) == (0, describe(REFUSED, Thumbs(1, 2)) + "\n")
    assert "  feedback: 1 👍, 2 👎" in known.out.splitlines()
    assert unknown.status == 1
    assert "Message 4712 has no trace" in unknown.err
