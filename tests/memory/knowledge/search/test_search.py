"""Search finds what fits, ranks it by the rules, and reads nothing else, on both databases."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from db import Statement
from memory.knowledge.access import KnowledgeAccess
from memory.knowledge.model import ChunkHit, FileKind
from tests.memory.knowledge.search.conftest import COMMIT, Library
from tests.support.property_cases import cases

ROUTER = '''"""Sends requests to handlers."""


class RequestRouter:
    def add_route(self, pattern, handler):
        """Register a handler for a pattern."""
        self.routes.append((pattern, handler))
'''
USE = """from app.router import RequestRouter

router = RequestRouter()
router.add_route("/", home)
other = RequestRouter()
more = RequestRouter()
"""
FILES = {
    "app/router.py": ROUTER,
    "app/main.py": USE,
    "app/billing.py": "def charge_customer(card):\n    return gateway.charge(card)\n",
    "tests/test_router.py": "def test_request_router():\n    RequestRouter().add_route('/', f)\n",
    "docs/routing.md": "# Routing\n\nHow the request router finds the handler of a request.\n",
}
ADR = "# {0}\n\n## Status\n\n{1}\n\n## Context\n\nMessages have to wait.\n\n## Decision\n\n{2}\n"
DECISIONS = {
    "docs/adr/0001-use-a-table-as-queue.md": ADR.format(
        "Use a table as queue", "Superseded by [2](0002-use-a-broker.md)", "A queue in a table."
    ),
    "docs/adr/0002-use-a-broker.md": ADR.format(
        "Use a broker", "Accepted", "The queue is a broker."
    ),
}


async def test_a_hit_tells_where_it_stands(library: Library) -> None:
    await library.add(FILES)
    hit = (await library.find("register a handler for a pattern"))[0]
    assert (hit.repository.id, hit.path, hit.branch, hit.commit) == (
        "r1", "app/router.py", "main", COMMIT,
    )  # fmt: skip
    assert (hit.first_line, hit.last_line) == (1, 7)
    assert hit.text == ROUTER
    assert hit.kind is FileKind.CODE


async def test_a_symbol_is_found_where_it_is_defined_before_where_it_is_used(
    library: Library,
) -> None:
    await library.add(FILES)
    assert (await library.paths("RequestRouter"))[:2] == ["app/router.py", "app/main.py"]
    assert (await library.paths("request_router"))[0] == "app/router.py"
    assert (await library.paths("how does a request router work"))[0] == "app/router.py"


async def test_a_qualified_symbol_is_found_in_its_class(library: Library) -> None:
    await library.add(
        {
            "a.py": "class First:\n    def run_it(self):\n        pass\n",
            "b.py": "class Second:\n    def run_it(self):\n        pass\n",
        }
    )
    assert (await library.paths("Second.run_it"))[0] == "b.py"
    assert (await library.paths("First::run_it()"))[0] == "a.py"


async def test_parts_of_identifiers_are_found(library: Library) -> None:
    await library.add(FILES)
    assert (await library.paths("charging customers"))[0] == "app/billing.py"


@pytest.mark.parametrize("asked", ["app/billing.py", "billing.py", "see ./app/billing.py please"])
async def test_a_path_is_found(library: Library, asked: str) -> None:
    await library.add(FILES)
    assert (await library.paths(asked))[0] == "app/billing.py"


async def test_tests_stand_below_sources_unless_they_are_asked_for(library: Library) -> None:
    await library.add(FILES)
    plain = await library.paths("request router add route")
    assert plain.index("app/router.py") < plain.index("tests/test_router.py")
    assert (await library.paths("test of the request router"))[0] == "tests/test_router.py"


async def test_documents_stand_above_code_where_an_explanation_is_asked_for(
    library: Library,
) -> None:
    await library.add(FILES)
    question = "request router finds the handler of a request"
    assert (await library.paths(f"documentation: {question}"))[0] == "docs/routing.md"
    assert (await library.paths(question, FileKind.DOCUMENT)) == ["docs/routing.md"]


async def test_a_superseded_decision_stands_below_and_says_by_what(library: Library) -> None:
    await library.add(DECISIONS)
    hits = await library.find("use a table as queue for messages", FileKind.DECISION)
    answers = {hit.path: (hit.status, hit.superseded_by) for hit in hits}
    old, new = DECISIONS
    assert [hit.path for hit in hits] == [new, old]
    assert answers == {old: ("superseded", new), new: ("accepted", "")}


async def test_a_decision_is_superseded_where_only_the_newer_one_says_so(library: Library) -> None:
    texts = {
        "docs/adr/0001-a.md": ADR.format("Queue in a table", "Accepted", "A table."),
        "docs/adr/0002-b.md": ADR.format("Queue", "Accepted, supersedes ADR-1", "A broker."),
    }
    await library.add(texts)
    hits = await library.find("queue in a table", FileKind.DECISION)
    assert {hit.path: hit.superseded_by for hit in hits} == {
        "docs/adr/0001-a.md": "docs/adr/0002-b.md",
        "docs/adr/0002-b.md": "",
    }


async def test_kinds_services_and_topics_filter(library: Library) -> None:
    report = "# Queue stood still\n\nServices: {0}\n\nThe queue was full.\n"
    await library.add(
        FILES
        | {
            "incidents/2024-01-02.md": report.format("Billing, Mail"),
            "incidents/2024-03-04.md": report.format("Search"),
            "docs/security/queue.md": "# Queue\n\nThe queue is encrypted.\n",
        }
    )
    assert set(await library.paths("queue", FileKind.INCIDENT)) == {
        "incidents/2024-01-02.md", "incidents/2024-03-04.md",
    }  # fmt: skip
    assert await library.paths("queue", services=("mail",)) == ["incidents/2024-01-02.md"]
    assert await library.paths("queue", services=(" MAIL ",)) == ["incidents/2024-01-02.md"]
    assert await library.paths("queue", topics=("security",)) == ["docs/security/queue.md"]
    assert await library.paths("queue", FileKind.CODE) == []


async def test_a_path_that_is_named_is_filtered_as_well(library: Library) -> None:
    await library.add(FILES)
    assert await library.paths("app/billing.py", FileKind.DOCUMENT) == []
    outside = KnowledgeAccess("default", public=True)
    assert await library.paths("app/billing.py", access=outside) == []


async def test_a_path_of_several_branches_is_one_hit_of_the_followed_one(
    library: Library,
) -> None:
    await library.add({"a.py": "queue = 'old'\n"}, branch="aside", followed=False)
    await library.add({"a.py": "queue = 'new'\n"}, branch="main", followed=True)
    await library.add({"a.py": "queue = 'next'\n", "b.py": "queue\n"}, branch="x", followed=False)
    hits = await library.find("queue")
    assert [(hit.path, hit.branch) for hit in hits if hit.path == "a.py"] == [("a.py", "main")]
    assert {hit.path for hit in hits} == {"a.py", "b.py"}
    assert [hit.text for hit in hits if hit.path == "a.py"] == ["queue = 'new'\n"]


@pytest.mark.parametrize(
    "access",
    [
        KnowledgeAccess("other", ("slack:main:T1",), public=False, member=True),
        KnowledgeAccess("default", (), public=False, member=True),
        KnowledgeAccess("default", ("slack:main:T1",), public=False, member=False),
        KnowledgeAccess("default", ("slack:main:T1",), "slack:main:C9", public=True, member=True),
    ],
    ids=["tenant", "project", "guest", "room"],
)
async def test_what_may_not_be_read_is_not_found(library: Library, access: KnowledgeAccess) -> None:
    await library.add(FILES | DECISIONS)
    for question in ("RequestRouter", "app/router.py", "queue", "why a broker"):
        assert await library.find(question, access=access) == []


async def test_a_named_path_that_may_not_be_read_takes_no_place(library: Library) -> None:
    await library.add({"a.py": "queue\n"}, id="r1", private=False)
    await library.add({"queue.py": "queue\n"}, id="r2", private=True)
    guest = KnowledgeAccess("default", ("slack:main:T1",))
    assert await library.paths("queue.py", access=guest, limit=1) == ["a.py"]


def scored(hits: list[ChunkHit]) -> list[tuple[str, float]]:
    return [(hit.path, hit.score) for hit in hits]


async def test_other_repositories_do_not_change_the_scores(library: Library) -> None:
    await library.add(FILES, id="r1", private=False)
    guest = KnowledgeAccess("default", ("slack:main:T1",))
    before = scored(await library.find("request router handler", access=guest))
    await library.add(
        {f"{number}.py": f"handler{number} request router handler\n" for number in range(50)},
        id="r2",
        private=True,
    )
    assert scored(await library.find("request router handler", access=guest)) == before
    assert scored(await library.find("request router handler")) != before


async def test_a_forgotten_repository_leaves_nothing_in_the_index(library: Library) -> None:
    await library.add(FILES, id="r1")
    await library.add(FILES, id="r2")
    assert await library.repositories.forget("r2")
    assert {hit.repository.id for hit in await library.find("request router")} == {"r1"}
    assert await library.repositories.forget("r1")
    assert await library.find("request router") == []
    rows = await library.database.fetch(Statement("SELECT count(*) FROM knowledge_words"))
    totals = await library.database.fetch(
        Statement(
            "SELECT coalesce(sum(chunks), 0), coalesce(sum(words), 0) FROM knowledge_word_totals"
        )
    )
    assert [tuple(map(int, row)) for row in [*rows, *totals]] == [(0,), (0, 0)]


async def test_an_index_that_was_emptied_is_filled_again(library: Library) -> None:
    await library.add(FILES)
    await library.repositories.forget("r1")
    await library.add(FILES)
    assert (await library.paths("RequestRouter"))[0] == "app/router.py"


async def test_the_limit_bounds_the_hits(library: Library) -> None:
    await library.add({f"{number}.py": f"queue = {number}\n" for number in range(80)})
    assert len(await library.find("queue", limit=3)) == 3
    assert len(await library.find("queue", limit=10_000)) == 50
    assert len(await library.find("queue", limit=-1)) == 1


async def test_a_filter_finds_what_stands_behind_many_better_matches(library: Library) -> None:
    texts = {f"src/{number}.py": f"queue queue {number}\n" for number in range(900)}
    await library.add(texts | {"services/mail/a.py": "filler " * 200 + "queue\n"})
    assert await library.paths("queue", services=("mail",)) == ["services/mail/a.py"]


@pytest.mark.parametrize("asked", ["", "  ", "?!", "\x00", "'\"", "部署", "unheard"])
async def test_a_question_without_matches_finds_nothing(library: Library, asked: str) -> None:
    await library.add(FILES)
    assert await library.find(asked) == []


HOSTILE = st.text(max_size=80) | st.lists(
    st.sampled_from(["'", '"', "*", "OR", "NEAR(", ")", ":", "\\", "=", "~", "&", "|", "!", "%",
                     "_", "$x", "é", "部", "\x00", "\ud800", "a/b/c", "x.py", "A::b()", "-- ;"]),
    max_size=30,
).map(" ".join)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=cases(60))
@given(asked=HOSTILE)
async def test_no_question_is_query_syntax(library: Library, asked: str) -> None:
    await library.find(asked)
    await library.find(asked, services=(asked,), topics=(asked,))


async def test_any_text_is_indexed_and_removed(library: Library) -> None:
    texts: dict[str, Any] = {
        f"{number}.md": text
        for number, text in enumerate(
            ["\x00 a", "\ud800 b", "' \" \\ :*", "部署 c", "=x ~y z:1", "é" * 500]
        )
    }
    await library.add(texts)
    assert await library.paths("部署") == ["3.md"]
    assert await library.repositories.forget("r1")
