"""The process that recognises speech: its start, its end, its limits, one recording at a time."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.ports.speech import Clip, SpeechError
from gateway.speech import local
from gateway.speech.local import LocalRecogniser, missing
from tests.support.clock import FakeClock

CHILD = (sys.executable, str(Path(__file__).with_name("fake_child.py")))


def clip(order: str, seconds: float | None = None) -> Clip:
    return Clip(b"OggS\n" + order.encode(), seconds=seconds)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def recogniser(clock: FakeClock, tmp_path: Path) -> AsyncIterator[LocalRecogniser]:
    made = LocalRecogniser(tmp_path, clock, most_seconds=5.0, command=CHILD)
    yield made
    await made.close()


async def problem_of(recogniser: LocalRecogniser, given: Clip) -> str:
    with pytest.raises(SpeechError) as failed:
        await recogniser.recognise(given)
    return failed.value.problem


async def test_the_process_starts_with_the_first_recording_and_stays(
    recogniser: LocalRecogniser,
) -> None:
    assert recogniser.process_id is None
    assert (await recogniser.recognise(clip("good morning"))).text == "good morning"
    first = recogniser.process_id
    await recogniser.recognise(clip("and again"))
    assert recogniser.process_id == first


async def test_it_ends_after_a_while_without_recordings(
    recogniser: LocalRecogniser, clock: FakeClock
) -> None:
    await recogniser.recognise(clip("one"))
    first = recogniser.process_id
    await clock.advance(local.IDLE_SECONDS + 1)
    assert recogniser.process_id is None
    await recogniser.recognise(clip("two"))
    assert recogniser.process_id not in (None, first)


async def test_a_recording_that_takes_too_long_kills_it(
    recogniser: LocalRecogniser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "BASE_SECONDS", 0.3)
    monkeypatch.setattr(local, "FACTOR", 0.0)
    await recogniser.recognise(clip("one"))
    assert await problem_of(recogniser, clip("hang")) == "too_slow"
    assert recogniser.process_id is None
    monkeypatch.setattr(local, "BASE_SECONDS", 10.0)
    assert (await recogniser.recognise(clip("two"))).text == "two"


@pytest.mark.parametrize("order", ["die", "nonsense"])
async def test_a_process_that_breaks_is_started_anew(
    recogniser: LocalRecogniser, order: str
) -> None:
    assert await problem_of(recogniser, clip(order)) == "failed"
    assert (await recogniser.recognise(clip("two"))).text == "two"


async def test_a_stopped_turn_leaves_no_answer_for_the_next_one(
    recogniser: LocalRecogniser,
) -> None:
    await recogniser.recognise(clip("one"))
    stopped = asyncio.create_task(recogniser.recognise(clip("wait for me")))
    await asyncio.sleep(0.05)
    stopped.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stopped
    assert (await recogniser.recognise(clip("two"))).text == "two"


async def test_recordings_wait_for_each_other_up_to_a_number(
    recogniser: LocalRecogniser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "MAX_WAITING", 2)
    many = [asyncio.create_task(recogniser.recognise(clip(f"wait {n}"))) for n in range(6)]
    done = await asyncio.gather(*many, return_exceptions=True)
    heard = [one.text for one in done if not isinstance(one, BaseException)]
    assert heard[:2] == ["wait 0", "wait 1"]
    refused = [one.problem for one in done if isinstance(one, SpeechError)]
    assert refused
    assert set(refused) == {"busy"}


async def test_the_process_gets_no_secret(
    recogniser: LocalRecogniser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    heard = await recogniser.recognise(clip("environment"))
    assert "OPENAI_API_KEY" not in heard.text
    assert "PATH" in heard.text


async def test_problems_of_the_process_are_those_of_the_recording(
    recogniser: LocalRecogniser,
) -> None:
    assert await problem_of(recogniser, clip("long")) == "too_long"
    assert await problem_of(recogniser, clip("")) == "silent"
    assert await problem_of(recogniser, Clip(b"#EXTM3U\nhttp://a.example/x")) == "unreadable"


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "LIBRARIES", ("json",))
    assert missing(tmp_path) == f"{tmp_path} has no model.bin"
    for name in local.FILES:
        (tmp_path / name).write_bytes(b"x")
    assert missing(tmp_path) == ""
    monkeypatch.setattr(local, "LIBRARIES", ("no_such_library",))
    assert missing(tmp_path) == "the library no_such_library is not installed"
