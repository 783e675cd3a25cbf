"""Does recall find it? Shares of what answers a question among the first 5, 10 and 20.

    python -m benchmarks.recall --own                        chats that were written for Parley
    python -m benchmarks.recall --locomo locomo.json         conversations, questions, evidence
    python -m benchmarks.recall --cranfield cranfield.json   documents, queries, grades
    python -m benchmarks.recall --speed 10000                made memories, times only
    python -m benchmarks.recall --speed 10000 --locomo locomo.json
                                                             times only, as one person's memories

    --json             the last line is {"recall@5": ..., "ndcg@10": ..., "p95_ms": ..., ...}
    --without-models   by words alone
    --models DIR       the folder of `parley models pull`, data/models
    --compare          each search alone, reciprocal ranks, each ingredient taken away
    --unanswerable     questions about unknown subjects: how many return nothing
    --held-out         weights chosen on all collections but the one that is measured

    python -m benchmarks.recall --leave-one-corpus-out locomo.json cranfield.json
                                                             weights chosen on two of the three
                                                             corpora, measured on the third

Everything is a record in a SQLite file, and every question goes through the retriever that the
gateway uses, one at a time. nDCG counts every answer the same.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import fmean

if not __package__:
    # As a script: the folder of this file has a `safety` that is not ours to import.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks.recollection.corpora import Corpus, cranfield, locomo, own
from benchmarks.recollection.filled import Library, library
from benchmarks.recollection.held_out import corpora_left_out, held_out
from benchmarks.recollection.made import made, together
from benchmarks.recollection.measures import summary
from benchmarks.recollection.models import Remembered, found_in
from benchmarks.recollection.runs import Answered, ablations, answered, by_kind, returned
from benchmarks.recollection.unanswerable import unanswerable
from gateway.immutable import replace
from memory.ports.recall import Embedder
from memory.recall.rules import RecallRules


def main() -> int:
    """Print the requested measurement; return 2 when there is no data."""
    arguments = _arguments()
    try:
        groups = _by_corpus(arguments)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        print(f"cannot read the collection: {error!r}", file=sys.stderr)
        return 2
    if not all(any(corpus.questions for corpus in corpora) for corpora in groups.values()):
        print("the collection has no question with an answer in it", file=sys.stderr)
        return 2
    asyncio.run(_measure(arguments, groups))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recall")
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--locomo", type=Path, metavar="PATH")
    source.add_argument("--cranfield", type=Path, metavar="PATH")
    source.add_argument("--own", action="store_true", help="the default")
    source.add_argument(
        "--leave-one-corpus-out", nargs=2, type=Path, metavar=("LOCOMO", "CRANFIELD")
    )
    parser.add_argument("--speed", type=_count, metavar="N")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--models", type=Path, metavar="DIR")
    parser.add_argument("--without-models", action="store_true")
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--unanswerable", action="store_true")
    return parser.parse_args()


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least one memory is needed")
    return number


def _by_corpus(options: argparse.Namespace) -> dict[str, list[Corpus]]:
    """The collections by the corpus that they belong to."""
    if options.leave_one_corpus_out:
        chats, documents = options.leave_one_corpus_out
        return {"locomo": locomo(chats), "cranfield": cranfield(documents), "own": own()}
    return {"": _corpora(options)}


def _corpora(options: argparse.Namespace) -> list[Corpus]:
    if options.speed and not (options.locomo or options.cranfield or options.own):
        return [made(options.speed)]
    if options.locomo:
        corpora = locomo(options.locomo)
    else:
        corpora = cranfield(options.cranfield) if options.cranfield else own()
    return [together(corpora, options.speed)] if options.speed and corpora else corpora


async def _measure(options: argparse.Namespace, groups: Mapping[str, Sequence[Corpus]]) -> None:
    local = None if options.without_models else found_in(options.models)
    if local is None and not options.without_models:
        print("no model on this machine: by words alone (parley models pull)", file=sys.stderr)
    try:
        filling = None if local is None else Remembered(local)
        if options.leave_one_corpus_out:
            await _leave_one_out(groups, filling)
            return
        async with library(groups[""], filling) as full:
            if options.held_out:
                for line in await held_out(full, filling):
                    print(line)
            if options.compare:
                await _compare(full, filling)
            if options.unanswerable:
                await _unanswerable(full, filling)
            await _default(full, local, as_json=options.json)
    finally:
        if local is not None:
            await local.close()


async def _leave_one_out(groups: Mapping[str, Sequence[Corpus]], embedder: Embedder | None) -> None:
    async with AsyncExitStack() as open_ones:
        full = {
            name: await open_ones.enter_async_context(library(corpora, embedder))
            for name, corpora in groups.items()
        }
        for line in await corpora_left_out(full, embedder):
            print(line)


async def _compare(full: Library, embedder: Embedder | None) -> None:
    print(f"{'':30} recall@5  recall@10  recall@20  ndcg@10")
    for name, rules in ablations(RecallRules()).items():
        figures = summary([one.measured for one in await answered(full, embedder, rules)])
        row = "".join(f"{value:10.3f}" for key, value in figures.items() if "@" in key)
        print(f"{name:30}{row}", flush=True)


async def _unanswerable(full: Library, embedder: Embedder | None) -> None:
    rules = RecallRules()
    strict = await returned(
        replace(full, corpora=tuple(unanswerable(full.corpora))), embedder, rules
    )
    chance = replace(rules, searches=replace(rules.searches, certain=0.0, certain_together=0.0))
    loose = await returned(
        replace(full, corpora=tuple(unanswerable(full.corpora))), embedder, chance
    )
    print(f"{'unanswerable':14} questions  empty without the bound  with it  results  with it")
    for kind in dict.fromkeys(ask.kind for ask, _ in strict):
        before = [results for ask, results in loose if ask.kind == kind]
        after = [results for ask, results in strict if ask.kind == kind]
        print(
            f"{kind:14} {len(after):9}  {before.count(0) / len(before):23.3f}"
            f"  {after.count(0) / len(after):7.3f}  {fmean(before):7.1f}  {fmean(after):7.1f}"
        )


async def _default(full: Library, embedder: Embedder | None, *, as_json: bool) -> None:
    if embedder is not None:
        await embedder.embed(["warm"])
    answers = await answered(full, embedder, RecallRules())
    figures: dict[str, object] = dict(summary([one.measured for one in answers]))
    figures |= {
        "searches": sorted({search for one in answers for search in one.searches}),
        "questions": len(answers),
        "documents": sum(len(corpus.documents) for corpus in full.corpora),
    }
    for group in _groups(answers):
        print(group)
    print(json.dumps(figures) if as_json else _figures_line(figures))


def _groups(answers: Sequence[Answered]) -> list[str]:
    return [
        f"{kind or 'all':14} {len(of):4}  " + _figures_line(dict(summary(of)))
        for kind, of in by_kind(answers).items()
    ]


def _figures_line(figures: dict[str, object]) -> str:
    return "  ".join(f"{name} {value}" for name, value in figures.items())


if __name__ == "__main__":
    sys.exit(main())
