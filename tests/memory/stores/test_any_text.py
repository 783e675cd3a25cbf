"""No text of a person is too strange to be stored, searched or filtered by."""

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memory.model.record import new_id
from memory.ports.memories import Filter, MemoryStore
from memory.text.terms import index_terms, query_terms
from tests.memory.stores.records import access, record, store
from tests.support.property_cases import cases

ANY_TEXT = st.text(max_size=60)
SYNTAX = st.lists(
    st.sampled_from(
        ['"', "'", "*", "^", ":", "(", ")", "{", "}", "-", "+", "NEAR(", "AND", "OR", "NOT", "&",
         "|", "!", "<->", "content", "partitions", "tea", "\\", "\0", "%", "½", "⑴", "ŉ", "\ud800"]
    ),
    max_size=12,
).map(" ".join)  # fmt: skip
CONTROLLED = settings(
    deadline=None,
    max_examples=cases(150),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@CONTROLLED
@given(text=ANY_TEXT | SYNTAX)
@example(text="partitions : x")
@example(text='" OR "a')
async def test_any_text_can_be_searched_for(memories: MemoryStore, text: str) -> None:
    await memories.find(access(), Filter(text=text, tags=(text,), after_id=text))
    await memories.find(access(), Filter(text=text))
    await memories.get(access(text), text)


@CONTROLLED
@given(text=st.text(st.characters(codec="utf-8"), min_size=1, max_size=60) | SYNTAX)
async def test_any_text_is_stored_and_found_by_its_words(memories: MemoryStore, text: str) -> None:
    person = new_id()
    kept = record(f"x{text} tea", person, tags=(text,))
    await store(memories, kept)
    matches = await memories.find(access(person), Filter(text="tea"))
    assert [match.record.id for match in matches] == [kept.id]
    assert await memories.find(access("nobody"), Filter(text=text)) == []


@given(text=ANY_TEXT | SYNTAX)
def test_a_search_text_is_never_syntax(text: str) -> None:
    for word in [*index_terms(text).split(), *(term.text for term in query_terms(text))]:
        assert word[0] not in "-_./:@+#~="
        assert not set(word) & set("\"'*^(){}&|!<>\\ ")
