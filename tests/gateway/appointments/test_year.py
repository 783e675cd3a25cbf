"""Two simulated months with kills, outages and people who move, in both databases."""

import random
from datetime import timedelta

import pytest

from benchmarks.appointments import SOON, START, Figures, expected, judged, planned, simulate
from tests.support.databases import Engine


@pytest.mark.both_engines
async def test_nothing_is_lost_doubled_or_late_outside_an_outage(engine: Engine) -> None:
    figures = await simulate(engine, people=40, days=60, seed=3, rate=0.01)
    assert figures.holds, figures
    assert figures.kills > 20
    assert figures.late_in_outage > 5
    assert figures.on_time > 500


def test_what_is_wrong_is_found() -> None:
    plans = planned(5, 60, random.Random(1))
    until = START + timedelta(days=60) - SOON
    keys = {(plan.appointment.id, name): at for plan in plans for name, at in expected(plan, until)}
    right = {key: [at] for key, at in keys.items()}
    assert judged(Figures("none"), plans, right, (), until).holds
    first = min(right)
    lost = {key: times for key, times in right.items() if key != first}
    assert judged(Figures("none"), plans, lost, (), until).lost == 1
    twice = right | {first: right[first] * 2}
    assert judged(Figures("none"), plans, twice, (), until).double == 1
    late = right | {first: [right[first][0] + timedelta(minutes=5)]}
    assert judged(Figures("none"), plans, late, (), until).late == 1
    early = right | {first: [right[first][0] - timedelta(minutes=1)]}
    assert judged(Figures("none"), plans, early, (), until).late == 1
    assert judged(Figures("none"), plans, right | {("x", "1"): [until]}, (), until).unexpected == 1
