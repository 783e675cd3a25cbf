"""Every parser and renderer handles any input; the largest inputs have a time limit.

`make test` runs the stored corpus, every earlier finding, and a few hundred mutated inputs. `make
nightly` runs atheris, which searches for further inputs by their coverage.
"""

import json
import random
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.corpus import FOLDER, kept, regressions
from tests.fuzz.target import Target, TooSlow, of_text, on_text, paths_in, put, text_of, timed
from tests.fuzz.targets.every import TARGETS
from tests.support.property_cases import cases

SECONDS = 60
"""Of atheris, for each target."""
ROOT = Path(__file__).parents[2]
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False),
    st.text(max_size=20),
    st.lists(st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=5), st.integers(), max_size=3),
)

AWAITING: dict[str, int] = {}
"""Targets with a known finding, and its number: their tests have to fail until it is mended."""


SLOW = {name: 3 for name in TARGETS if name.startswith("render-")}
"""Targets whose largest inputs take longer than they may, on the loop or off it."""


def _each(awaiting: Mapping[str, int], *, strict: bool) -> pytest.MarkDecorator:
    """One test for each target."""
    rows = []
    for name in TARGETS:
        number = awaiting.get(name)
        reason = f"finding {number}"
        marks = [pytest.mark.xfail(strict=strict, reason=reason)] if number is not None else []
        rows.append(pytest.param(name, marks=marks))
    return pytest.mark.parametrize("name", rows)


each = _each(AWAITING, strict=True)
each_at_night = _each(AWAITING, strict=False)
each_in_time = _each(SLOW, strict=False)


@st.composite
def inputs(draw: st.DrawFn, target: Target) -> bytes:
    """A kept input with something changed, or bytes of any kind."""
    data = draw(st.sampled_from(kept(target)))
    if target.as_json and draw(st.integers(0, 9)):
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            return data
        for _ in range(draw(st.integers(1, 3))):
            places = list(paths_in(value))
            if places:
                path = random.Random(draw(st.integers(0, 2**32))).choice(places)
                put(value, path, draw(JUNK))
        return json.dumps(value).encode()
    changed = bytearray(data)
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(changed)))
        changed[at:at] = draw(st.one_of(st.binary(max_size=8), st.text(max_size=8).map(str.encode)))
    return bytes(changed)


@each
def test_the_corpus_and_earlier_findings_pass(name: str) -> None:
    target = TARGETS[name]
    for data in (*kept(target), *regressions(target)):
        target.run(data)


@each
@settings(max_examples=cases(60), deadline=None)
@given(st.data())
def test_mutated_inputs_pass(name: str, data: st.DataObject) -> None:
    TARGETS[name].run(data.draw(inputs(TARGETS[name])))


@pytest.mark.nightly
@each_at_night
def test_atheris_finds_nothing(name: str, tmp_path: Path) -> None:
    pytest.importorskip("atheris", reason="atheris has no wheel for this machine")
    command = [sys.executable, "-m", "tests.fuzz.fuzzing", name]
    options = ["--seconds", str(SECONDS), "--findings", str(tmp_path)]
    done = subprocess.run(
        [*command, *options], check=False, capture_output=True, cwd=ROOT, timeout=SECONDS + 180
    )
    results = [file.read_bytes() for file in tmp_path.iterdir()]
    for data in results:
        timed(TARGETS[name], data)
    text = done.stderr.decode("utf-8", "replace")[-3_000:]
    # What fails under instrumentation only is the instrumentation's own slowness.
    assert done.returncode == 0 or results, text


@pytest.mark.nightly
@each_in_time
def test_the_largest_inputs_take_a_limited_time(name: str) -> None:
    target = TARGETS[name]
    if target.as_json:
        pytest.skip("its size is bounded before it is parsed")
    slow = []
    for data in kept(target):
        largest = bytes((255,)) + data[1:]
        try:
            timed(target, largest)
        except TooSlow as error:
            slow.append(str(error))
    assert not slow, "\n".join(slow[:3])


def test_an_input_that_takes_too_long_is_a_finding() -> None:
    slow = on_text("slow", lambda text: [sum(range(2_000)) for _ in text], "x")
    with pytest.raises(TooSlow):
        timed(slow, of_text("x" * 64, 250), tries=1)
    assert len(text_of(of_text("x" * 64, 250))) == 16_000


def test_the_corpus_is_small_and_belongs_to_targets() -> None:
    files = list(FOLDER.iterdir())
    assert {file.stem for file in files} <= {*TARGETS, "regressions"}
    assert sum(file.stat().st_size for file in files) < 500_000
