"""`parley recall "query"`: what is remembered about something, and what each arm said of it."""

import sys
from collections.abc import Iterator, Mapping
from typing import Final

from memory.model.recollection import Recalled, Recollection
from memory.ports.recall import Query
from memory.service.handle import MemoryHandle
from parley.cli.memory_access import PersonOptions, with_memory
from parley.cli.memory_table import plain, print_json
from parley.config import Settings

NOTHING: Final = "Nothing fits."
NOTES: Final[Mapping[str, str]] = {
    "no_model": "by words only: there is no model for vectors, `parley doctor` says why",
    "model_failed": "by words only: the model for vectors failed, see above",
    "model_slow": "by words only: the model for vectors took too long",
    "model_resting": "by words only: the model for vectors is left alone after a failure",
    "exact": "by words only: the question asks for these very words",
    "reranker_failed": "without the reranker, which failed",
}


def run(wanted: PersonOptions, query: str, limit: int) -> int:
    """Print the candidates, best first; 1 when there are none."""

    async def job(handle: MemoryHandle, _: Settings) -> Recollection:
        return await handle.read.recall(Query(query, handle.request.at, limit=limit))

    found = with_memory(wanted, job, by_meaning=True)
    if wanted.as_json:
        print_json([sender_for(one) for one in found.results])
    else:
        sys.stdout.writelines(f"{line}\n" for line in described(found))
    return 0 if found.results else 1


def sender_for(one: Recalled) -> Mapping[str, object]:
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


def described(found: Recollection) -> Iterator[str]:
    """Two lines for each: what it is, and where the arms had it. Then how it was looked for."""
    for place, one in enumerate(found.results, 1):
        day = one.record.provenance.at.date().isoformat()
        told = one.record.role or one.record.kind.value
        yield f"{place:>3}. {one.score:.3f}  {day}  {told}  {plain(one.record.content)}"
        arms = [
            f"{arm} #{rank} ({one.source_scores[arm]:.3f})"
            for arm, rank in sorted(one.source_ranks.items())
        ]
        trust = f"; {one.label}" if one.label else ""
        yield f"     {', '.join(arms) or 'beside another one'}{trust}"
    if not found.results:
        yield NOTHING
    yield _looked_at(found)
    yield from (NOTES.get(note, note) for note in found.notes)
    stages = ", ".join(f"{stage.name} {stage.ms:.1f}" for stage in found.stages)
    yield f"{found.ms:.1f} ms: {stages}"


def _looked_at(found: Recollection) -> str:
    """How many candidates there were, and what became of those that are not shown."""
    text = f"{found.candidates} candidates from {' and '.join(found.arms) or 'nowhere'}"
    if found.left_out:
        text += f", {found.left_out} beyond the limits"
    if found.repeats:
        text += f", {found.repeats} only repeat the question or another one"
    return text
