"""The page on threats and the attack suite say the same."""

import re
from pathlib import Path
from typing import get_args

from tests.attacks.rows.every import ATTACKS
from tests.attacks.table import Attacker

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "explanation" / "threat-model.md").read_text("utf-8")
PATH = re.compile(r"`((?:adapters|gateway|memory|parley|safety|tests)/[\w./-]+)`")


def section(attacker: str) -> str:
    """Return the section about one kind of attacker."""
    _, _, rest = PAGE.partition(f"\n### {attacker.capitalize()}\n")
    return re.split(r"\n##", rest)[0]


def rows_of(attacker: str) -> set[str]:
    """The ids in the last column of an attacker's table."""
    cells = [line.split("|")[-2] for line in section(attacker).splitlines() if line.startswith("|")]
    return {name for cell in cells for name in re.findall(r"`([a-z0-9-]+)`", cell)}


def test_every_attacker_has_a_section_with_exactly_their_attacks() -> None:
    for attacker in get_args(Attacker):
        known = {
            attack.id.removesuffix(f"-{attack.kind}")  # of the same attack on several APIs
            for attack in ATTACKS
            if attack.attacker == attacker
        }
        assert rows_of(attacker) == known, attacker


def test_every_named_path_exists() -> None:
    named = PATH.findall(PAGE)
    assert len(named) > 50
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_readme_and_the_safety_page_link_to_the_page() -> None:
    assert "docs/explanation/threat-model.md" in (ROOT / "README.md").read_text("utf-8")
    assert "threat-model.md" in (ROOT / "docs" / "explanation" / "safety.md").read_text("utf-8")
