"""`parley recall "query"`: what is remembered about something, and what each arm said of it."""

import sys
from collections.abc import Mapping, Sequence

from memory.handle import MemoryHandle
from memory.recall.provenance import Recalled
from memory.recall.query import Query
from parley.cli.memory_access import Wanted, with_memory
from parley.cli.memory_shown import plain, print_json
from parley.settings import Settings

NOTHING = "Nothing fits."


def run(wanted: Wanted, query: str, limit: int) -> int:
    """Print the candidates, best first; 1 when there are none."""

    async def job(handle: MemoryHandle, _: Settings) -> list[Recalled]:
        return await handle.look_up(Query(query, handle.occasion.at, limit=limit))

    found = with_memory(wanted, job)
    if wanted.as_json:
        print_json([line_of(one) for one in found])
    elif found:
        sys.stdout.writelines(f"{line}\n" for line in described(found))
    else:
        sys.stdout.write(f"{NOTHING}\n")
    return 0 if found else 1


def line_of(one: Recalled) -> Mapping[str, object]:
    """A candidate as a JSON object."""
    return {
        "id": one.id,
        "score": round(one.score, 4),
        "source_scores": {arm: round(score, 4) for arm, score in one.source_scores.items()},
        "source_ranks": dict(one.source_ranks),
        "label": one.label,
        "at": one.record.provenance.at.isoformat(),
        "kind": one.record.kind.value,
        "content": one.record.content,
    }


def described(found: Sequence[Recalled]) -> list[str]:
    """Two lines for each: what it is, and where the arms had it."""
    lines = []
    for place, one in enumerate(found, 1):
        day = one.record.provenance.at.date().isoformat()
        told = one.record.role or one.record.kind.value
        lines.append(f"{place:>3}. {one.score:.3f}  {day}  {told}  {plain(one.record.content)}")
        arms = [
            f"{arm} #{rank} ({one.source_scores[arm]:.3f})"
            for arm, rank in sorted(one.source_ranks.items())
        ]
        trust = f"; {one.label}" if one.label else ""
        lines.append(f"     {', '.join(arms) or 'beside another one'}{trust}")
    return lines
