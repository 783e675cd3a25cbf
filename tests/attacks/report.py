"""The table of a run: attempted and successful attacks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

PROPERTY: Final = "attack"
"""Under this name a test's report carries the row's id, attacker and goal."""


@dataclass(frozen=True, slots=True)
class Tried:
    """The outcome of one try."""

    id: str
    attacker: str
    goal: str
    through: bool


def summary(tried: Iterable[Tried]) -> list[str]:
    """The lines of the table: a row for each kind of attacker, and each attack that got through."""
    rows: dict[str, list[Tried]] = {}
    for one in tried:
        rows.setdefault(one.attacker, []).append(one)
    if not rows:
        return []
    every = [one for match in rows.values() for one in match]
    lines = [f"{'attacker':<30}{'attacks':>8}{'tries':>8}{'got through':>13}"]
    for attacker, result in sorted(rows.items()):
        lines.append(_line(attacker, result))
    lines.append(_line("all", every))
    through = sorted({(one.id, one.goal) for one in every if one.through})
    lines += [f"got through: {name}: {goal}" for name, goal in through]
    return lines


def _line(name: str, found: Sequence[Tried]) -> str:
    attacks = len({one.id.partition("[")[0] for one in found})
    through = sum(one.through for one in found)
    return f"{name:<30}{attacks:>8}{len(found):>8}{through:>13}"


def tried_in(stats: Mapping[str, Sequence[Any]]) -> Iterator[Tried]:
    """The tries among the reports of a run, by their outcome in pytest's words."""
    for outcome, reports in stats.items():
        if outcome not in ("passed", "failed", "xfailed", "xpassed"):
            continue
        for report in reports:
            answers = dict(getattr(report, "user_properties", ())).get(PROPERTY)
            if answers is not None and report.when == "call":
                name, attacker, goal = str(answers).split("|", 2)
                held = outcome in ("passed", "xpassed") or _no_longer(report)
                yield Tried(name, attacker, goal, through=not held)


def _no_longer(report: Any) -> bool:
    """Return True if the test failed because the attack was expected to succeed and did not."""
    return "[XPASS(strict)]" in str(getattr(report, "longrepr", ""))
