"""The table at the end of a run."""

from types import SimpleNamespace

from tests.attacks.report import PROPERTY, Tried, summary, tried_in


def report(told: str, longrepr: str = "", when: str = "call") -> SimpleNamespace:
    """Return a report of pytest about a test."""
    return SimpleNamespace(user_properties=[(PROPERTY, told)], when=when, longrepr=longrepr)


def test_outcomes_are_read_as_failed_or_successful_attacks() -> None:
    stats = {
        "passed": [report("a[slack]|tool|x"), SimpleNamespace(user_properties=[], when="call")],
        "xfailed": [report("b[slack]|member|y|z")],
        "failed": [report("c[slack]|tool|x"), report("d[slack]|tool|x", "[XPASS(strict)] it")],
        "skipped": [report("e[slack]|tool|x")],
    }
    assert list(tried_in(stats)) == [
        Tried("a[slack]", "tool", "x", through=False),
        Tried("b[slack]", "member", "y|z", through=True),
        Tried("c[slack]", "tool", "x", through=True),
        Tried("d[slack]", "tool", "x", through=False),
    ]


def test_each_attacker_and_each_successful_attack_has_a_line() -> None:
    tried = [Tried("a[slack]", "tool", "x", through=False), Tried("a[web]", "tool", "x", True)]
    head, tool, every, through = summary(tried)
    assert head.split() == ["attacker", "attacks", "tries", "got", "through"]
    assert tool.split() == ["tool", "1", "2", "1"]
    assert every.split() == ["all", "1", "2", "1"]
    assert through == "got through: a[web]: x"
    assert summary([]) == []
