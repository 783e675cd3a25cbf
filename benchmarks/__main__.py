"""`make bench`: every benchmark, one after the other. Each line is JSON; ratios are what counts.

python -m benchmarks                     all of them, some minutes
python -m benchmarks startup gateway     only these
python -m benchmarks soak                ten minutes, in `make nightly`, never among all of them
python -m benchmarks outages twice       six minutes and two, there as well
python -m benchmarks million             six minutes of a million memories in PostgreSQL, as well
python -m benchmarks agents              some minutes of 100,000 shared memories, as well
python -m benchmarks workers             some minutes of several processes; not in `make nightly`
python -m benchmarks platforms           some minutes of all four platforms; not in `make nightly`
python -m benchmarks first_hour          every sentence of a new user's setup; not in `make nightly`
python -m benchmarks console_questions   ten questions to the console; not in `make nightly`
"""

import subprocess
import sys
from typing import Final

ALL: Final = (
    *("startup", "gateway", "latency", "growth", "keeping"),
    *("faults", "refusals", "drops", "model_faults", "safety", "memory_write", "vectors", "recall"),
    "documents",
)
LONG: Final = (
    "soak",
    "outages",
    "twice",
    "million",
    "agents",
    "workers",
    "platforms",
    "first_hour",
    "console_questions",
)


def main() -> int:
    """Run what was asked for; 1 when one of them failed."""
    chosen = sys.argv[1:] or list(ALL)
    unknown = [name for name in chosen if name not in ALL + LONG]
    if unknown:
        print(
            f"no benchmark {', '.join(unknown)}; there are {', '.join(ALL + LONG)}", file=sys.stderr
        )
        return 2
    failed = 0
    for name in chosen:
        print(f"# {name}", flush=True)
        failed |= subprocess.run(
            [sys.executable, "-m", f"benchmarks.{name}"], check=False
        ).returncode
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
