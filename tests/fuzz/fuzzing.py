"""Coverage-guided fuzzing of one target: `python -m tests.fuzz.fuzzing TARGET --seconds 60`.

Needs atheris, which has wheels for Linux on x86-64 only. `--keep` minimises what was found to cover
more than the kept corpus and writes it there. The status is 0 for no finding; for one it is 77, and
the input is in `--findings FOLDER`.
"""

import argparse
import contextlib
import copy
import importlib
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import atheris

from tests.fuzz.target import paths_in, put

PACKAGES: Final = ["db", "adapters", "gateway", "memory", "safety", "parley"]
INPUT_SECONDS: Final = 10
"""One input that takes longer ends the run: exponential work has no other end."""
MEMORY_MB: Final = 2_048
FINDING: Final = 77
JUNK: Final[tuple[Any, ...]] = (
    None, True, 0, -1, 1.5, 2**70, "", "x", "-1", "0", " ", "\ud83d", "\x00", "<@1>", "/x",
    "a" * 300,
    [], {}, [[]], {"a": []}, "9" * 30, "message", "1790000000.000100",
)  # fmt: skip


def changed(data: bytes, most: int, seed: int) -> bytes:
    """A JSON document with something else in one of its places; bytes changed where it is none."""
    luck = random.Random(seed)
    try:
        value = json.loads(data)
        places = list(paths_in(value))
    except (ValueError, RecursionError):
        places = []
    if not places or luck.random() < 0.2:
        return bytes(atheris.Mutate(data, most))
    for _ in range(luck.randint(1, 3)):
        path = luck.choice(places)
        with contextlib.suppress(LookupError, TypeError):
            put(value, path, copy.deepcopy(luck.choice(JUNK)))
    made = json.dumps(value).encode()
    return made if len(made) <= most else data[:most]


def fuzz(name: str, module: str, folder: Path, findings: Path, seconds: int, runs: int) -> None:
    """Run the fuzzer in this process, which ends with it. Only the target's own module of
    `targets/` is imported, because instrumenting the rest takes longer than a short run."""
    with atheris.instrument_imports(include=PACKAGES):
        targets = importlib.import_module(f"tests.fuzz.targets.{module}").TARGETS
    target = next(one for one in targets if one.name == name)
    options = [
        f"-max_total_time={seconds}",
        f"-runs={runs}",
        f"-timeout={INPUT_SECONDS}",
        f"-rss_limit_mb={MEMORY_MB}",
        f"-artifact_prefix={findings}/",
        "-max_len=4096",
        "-print_final_stats=1",
        "-verbosity=0",
    ]
    more: dict[str, Callable[..., bytes]] = {}
    if target.as_json:
        more["custom_mutator"] = changed
    atheris.Setup([sys.argv[0], *options, str(folder)], target.run, **more)
    atheris.Fuzz()


def main() -> int:
    """Run one target in a process of its own, with its kept corpus."""
    parser = argparse.ArgumentParser()
    parser.add_argument("target")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--runs", type=int, default=-1)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--findings", type=Path, default=Path())
    parser.add_argument("--module", help=argparse.SUPPRESS)
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside is not None:
        fuzz(given.target, given.module, given.inside, given.findings, given.seconds, given.runs)
        return 0
    return _guarded(given)


def _guarded(given: argparse.Namespace) -> int:
    # Here, because what the other process imports has to be imported under instrumentation.
    corpus = importlib.import_module("tests.fuzz.corpus")
    every = importlib.import_module("tests.fuzz.targets.every")
    target = every.TARGETS[given.target]
    with tempfile.TemporaryDirectory(prefix="parley-fuzz-") as folder:
        place = Path(folder)
        for number, data in enumerate(corpus.kept(target)):
            (place / f"kept-{number:05d}").write_bytes(data)
        command = [
            *(sys.executable, "-m", "tests.fuzz.fuzzing", given.target),
            *("--seconds", str(given.seconds), "--runs", str(given.runs)),
            *("--findings", str(given.findings), "--inside", folder),
            *("--module", every.MODULES[given.target]),
        ]
        done = subprocess.run(command, check=False, timeout=given.seconds + 120)
        if given.keep and done.returncode == 0:
            results = [file.read_bytes() for file in place.iterdir()]
            sys.stdout.write(
                f"{given.target}: {corpus.keep(target, minimised(target, results))} kept\n"
            )
        return done.returncode


def minimised(target: Any, inputs: list[bytes]) -> list[bytes]:
    """Those inputs that reach lines of the program which no shorter one reaches."""
    reached: set[tuple[str, int]] = set()
    chosen: list[bytes] = []
    roots = tuple(f"/{package}/" for package in PACKAGES)
    for data in sorted(set(inputs), key=lambda one: (len(one), one)):
        lines: set[tuple[str, int]] = set()

        def trace(frame: Any, event: str, _: Any, lines: set[tuple[str, int]] = lines) -> Any:
            name = frame.f_code.co_filename
            if not any(root in name for root in roots):
                return None
            if event == "line":
                lines.add((name, frame.f_lineno))
            return trace

        sys.settrace(trace)
        try:
            target.run(data)
        finally:
            sys.settrace(None)
        if lines - reached:
            reached |= lines
            chosen.append(data)
    return chosen


if __name__ == "__main__":
    sys.exit(main())
