"""Parts of a prompt for tests: by hand, and at random."""

from datetime import UTC, datetime

from hypothesis import strategies as st

from gateway.immutable import replace
from gateway.ports.prompt_blocks import (
    BlockSection,
    ContextParts,
    DialogueTurn,
    KnowledgeItem,
    Task,
)

AT = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
OWN = "You are Parley. Be brief."

words = st.text(alphabet=st.characters(codec="utf-8"), max_size=60)
texts = st.lists(words, max_size=12).map(". ".join)


def item(number: int, text: str, source: str = "") -> KnowledgeItem:
    return KnowledgeItem(f"k{number}", text, source or f"ADR-{number:03}", 0.9, at=AT)


def dialogue(*said: str) -> tuple[DialogueTurn, ...]:
    """Questions and answers in turn."""
    return tuple(
        DialogueTurn(f"m{index // 2}", "assistant" if index % 2 else "user", text, AT)
        for index, text in enumerate(said)
    )


@st.composite
def parts(draw: st.DrawFn) -> ContextParts:
    """Anything that a prompt may be made from, markup and all scripts included."""
    made = ContextParts(
        own=OWN,
        skills=draw(st.sampled_from(["", "Remember what people tell you. " * 8])),
        personal=(
            BlockSection("soul", draw(texts), 0.4),
            BlockSection("brief", draw(texts), 0.6),
        ),
        project=(
            BlockSection("bible", draw(texts), 0.5),
            BlockSection("heartbeat", draw(texts), 0.2),
            BlockSection("shared", draw(texts), 0.3),
        ),
        task=draw(st.none() | st.builds(Task, texts, words)),
        summary=draw(texts),
        turns=dialogue(*draw(st.lists(texts, max_size=12))),
        knowledge=tuple(
            item(number, text, source)
            for number, (text, source) in enumerate(
                draw(st.lists(st.tuples(texts, words), max_size=12))
            )
        ),
    )
    return made if draw(st.booleans()) else replace(made, knowledge=())
