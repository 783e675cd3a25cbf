"""Attacks through the real client libraries and the simulators against a running program.

Each row of `tests/attacks/rows/` is tried on one of its platforms with one of the engines; the
name of the row decides which. `make nightly` tries every row on all of its platforms with either.
The table at the end of a run counts what got through.
"""

from collections.abc import Callable, Iterator
from typing import Final

import pytest
from _pytest.mark.structures import ParameterSet

from tests.attacks.awaiting import AWAITING
from tests.attacks.conftest import Theatre
from tests.attacks.report import PROPERTY
from tests.attacks.rows.every import ATTACKS
from tests.attacks.scene import GotThrough, Scene
from tests.attacks.table import Attack
from tests.support.by_day import BY_DAY, ENGINES, one_of

BOTH: Final = ("open", "repositories")
Record = Callable[[str, object], None]


def _by_day(attack: Attack) -> tuple[str, str]:
    """The platform and the engine on which a row is tried for each change."""
    engine = one_of(BY_DAY, f"{attack.id} engine") if attack.kind in BOTH else "sqlite"
    return one_of(attack.on, attack.id), engine


def _tries() -> Iterator[ParameterSet]:
    for attack in ATTACKS:
        by_day = _by_day(attack)
        # Limits are kept in the hot state, which both engines share here.
        for engine in ENGINES if attack.kind in BOTH else ("sqlite",):
            for platform in attack.on:
                nightly = attack.long or (platform, engine) != by_day
                marks = [pytest.mark.xdist_group(f"attacks-{engine}")]
                marks += [pytest.mark.nightly] if nightly else []
                name = f"{attack.id}[{platform}]"
                number_of = AWAITING.get(name, AWAITING.get(attack.id))
                if number_of is not None:
                    reason = f"finding {number_of}"
                    marks.append(pytest.mark.xfail(strict=True, raises=GotThrough, reason=reason))
                identity = f"{attack.id}-{platform}-{engine}"
                yield pytest.param(attack, platform, engine, marks=marks, id=identity)


@pytest.mark.asyncio(loop_scope="package")
@pytest.mark.parametrize(("attack", "platform", "engine"), list(_tries()))
async def test_the_attack_fails(
    attack: Attack, platform: str, engine: str, theatre: Theatre, record_property: Record
) -> None:
    record_property(PROPERTY, f"{attack.id}[{platform}]|{attack.attacker}|{attack.goal}")
    scene = Scene(await theatre.stage(engine, attack.kind), platform)
    scene.begin()
    for step in attack.steps:
        await step(scene)
    scene.judge()


def test_every_attack_has_a_unique_id() -> None:
    ids = [attack.id for attack in ATTACKS]
    assert len(set(ids)) == len(ids)


def test_known_successful_attacks_name_existing_attacks_and_platforms() -> None:
    known = {attack.id for attack in ATTACKS}
    known |= {f"{attack.id}[{platform}]" for attack in ATTACKS for platform in attack.on}
    assert set(AWAITING) <= known
