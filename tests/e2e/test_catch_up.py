"""Messages on Discord without a connected gateway are answered by the next one."""

import random
from pathlib import Path

from simulators.discord import DiscordSimulator
from tests.e2e.harness import Lab, app_on, by_bot, simulated
from tests.support.waiting import eventually


async def test_messages_sent_while_the_gateway_was_down_are_answered_once_and_in_order(
    tmp_path: Path,
) -> None:
    sim = DiscordSimulator()
    rooms = [sim.direct(sim.person(name)) for name in ("Ada", "Ben", "Cleo")]
    async with simulated({"discord": sim}) as port:
        async with app_on({"discord": sim}, tmp_path, port) as app:
            for room in rooms:
                await sim.say(sim.person(room.title), room, f"hello from {room.title}")
                await Lab(app, sim).answer(room)
            await Lab(app, sim).idle()
        for number in range(3):
            for room in rooms:
                await sim.say(sim.person(room.title), room, f"question {number}")
        async with app_on({"discord": sim}, tmp_path, port) as app:
            lab = Lab(app, sim)
            questions = [f"question {number}" for number in range(3)]

            async def all_stored() -> bool:
                return sorted(t for t in await lab.stored() if t in questions) == sorted(
                    questions * 3
                )

            await eventually(all_stored)
            before = {room.id: len(await lab.quiet(room)) for room in rooms}
        async with app_on({"discord": sim}, tmp_path, port) as app:
            lab = Lab(app, sim)
            random.shuffle(rooms)
            for room in rooms:
                assert len(await lab.quiet(room)) == before[room.id], "nothing is answered twice"
            assert len(by_bot(sim.shown(rooms[0]))) >= 2
