"""`parley recall "query"`: the memories that a question finds, with their rank in each search."""

from collections.abc import Iterator, Mapping
from typing import Final

from memory.ports.recall import Query, Recalled, Recollection
from memory.service.handle import MemoryHandle
from parley.cli.memory_access import with_memory
from parley.cli.options import AsJson, Config, Person, QueryText, SearchLimit
from parley.cli.terminal import plain, show
from parley.config import Settings

NOTHING: Final = "No memory matches."
NOTES: Final[Mapping[str, str]] = {
    "no_model": "by words only: there is no model for vectors, `parley doctor` says why",
    "model_failed": "by words only: the model for vectors failed, see above",
    "model_slow": "by words only: the model for vectors took too long",
    "model_paused": "by words only: the model for vectors is paused after a failure",
    "exact": "by words only: the question asks for exact words",
    "reranker_failed": "without the reranker, which failed",
}


def recall(
    query: QueryText,
    person: Person = "",
    limit: SearchLimit = 20,
    config: Config = None,
    as_json: AsJson = False,
) -> int:
    """Print the candidates, best first; 1 when there are none."""

    async def job(handle: MemoryHandle, _: Settings) -> Recollection:
        return await handle.read.recall(Query(query, handle.request.at, limit=limit))

    recollection = with_memory(person, config, job, load_models=True)
    show(map(_as_values, recollection.results), _as_lines(recollection), as_json=as_json)
    return 0 if recollection.results else 1


def _as_values(one: Recalled) -> Mapping[str, object]:
    return {
        "id": one.id,
        "score": round(one.score, 4),
        "source_scores": {search: round(score, 4) for search, score in one.source_scores.items()},
        "source_ranks": dict(one.source_ranks),
        "label": one.label,
        "at": one.record.provenance.at,
        "kind": one.record.kind.value,
        "content": one.record.content,
    }


def _as_lines(recollection: Recollection) -> Iterator[str]:
    """Two lines for each memory: its text, and its rank in each search. Then how recall worked."""
    for place, one in enumerate(recollection.results, 1):
        day = one.record.provenance.at.date().isoformat()
        role = one.record.role or one.record.kind.value
        yield f"{place:>3}. {one.score:.3f}  {day}  {role}  {plain(one.record.content)}"
        searches = [
            f"{search} #{rank} ({one.source_scores[search]:.3f})"
            for search, rank in sorted(one.source_ranks.items())
        ]
        trust = f"; {one.label}" if one.label else ""
        yield f"     {', '.join(searches) or 'beside another one'}{trust}"
    if not recollection.results:
        yield NOTHING
    yield _candidates(recollection)
    yield from (NOTES.get(note, note) for note in recollection.notes)
    stages = ", ".join(f"{stage.name} {stage.ms:.1f}" for stage in recollection.stages)
    yield f"{recollection.ms:.1f} ms: {stages}"


def _candidates(recollection: Recollection) -> str:
    """The number of candidates, and why some of them are not shown."""
    searches = " and ".join(recollection.searches) or "nowhere"
    text = f"{recollection.candidates} candidates from {searches}"
    if recollection.left_out:
        text += f", {recollection.left_out} beyond the limits"
    if recollection.repeats:
        text += f", {recollection.repeats} only repeat a question"
    return text
