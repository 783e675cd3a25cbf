"""Documents are split at headings; decisions and incidents are recognised with their state."""

from datetime import date

import pytest

from memory.knowledge.model import FileKind
from memory.knowledge.splitting import split_file

NYGARD = """# 3. Use a queue

Date: 2024-05-06

## Status

{}

## Context

Much to send.

## Decision

A queue.

## Consequences

Less waiting.
"""


def test_chunks_name_the_headings_above_them() -> None:
    body = "word " * 100
    text = f"# Guide\n{body}\n## Install\n{body}\n### On Linux\n{body}\n## Use\n{body}\n"
    split = split_file("docs/guide.md", text)
    assert [chunk.heading for chunk in split.chunks] == [
        "Guide", "Guide > Install", "Guide > Install > On Linux", "Guide > Use",
    ]  # fmt: skip
    assert (split.kind, split.title, split.language) == (FileKind.DOCUMENT, "Guide", "markdown")


@pytest.mark.parametrize(
    ("path", "text", "title"),
    [
        ("a.md", "Title\n=====\n\nText\n----\n", "Title"),
        ("a.md", "```\n# no\n```\n# [Yes](b.md) **it** `is`\n", "Yes it is"),
        ("a.md", "---\ntitle: Named\n---\n# Other\n", "Named"),
        ("a.md", "---\ntitle: [broken\n---\n# Other\n", "Other"),
        ("a.rst", "Title\n=====\n\nPart\n----\n", "Title"),
        ("a.adoc", "= Title\n\n== Part\n", "Title"),
        ("a.org", "* Title\n** Part\n", "Title"),
        ("a.txt", "# no heading\n", ""),
        ("a.md", "- one\n---\n- two\n", ""),
    ],
)
def test_titles(path: str, text: str, title: str) -> None:
    assert split_file(path, text).title == title


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("docs/adr/0003-queue.md", FileKind.DECISION),
        ("architecture/adr-017-queue.md", FileKind.DECISION),
        ("docs/adr/README.md", FileKind.DOCUMENT),
        ("docs/adr/template.md", FileKind.DOCUMENT),
        ("docs/adr/example.py", FileKind.CODE),
        ("ops/postmortems/2024-01-02-queue.md", FileKind.INCIDENT),
        ("docs/queue-post-mortem.md", FileKind.INCIDENT),
        ("AGENTS.md", FileKind.INSTRUCTIONS),
        ("docs/queue.md", FileKind.DOCUMENT),
        ("queue.yaml", FileKind.CODE),
    ],
)
def test_the_path_tells_the_kind(path: str, kind: FileKind) -> None:
    assert split_file(path, "# A title\n\nText.\n").kind is kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (NYGARD.format("Accepted"), FileKind.DECISION),
        ("# A\n## Context and Problem Statement\n## Decision Outcome\n", FileKind.DECISION),
        ("# A\n## Impact\n## Timeline (UTC)\n## Root cause\n", FileKind.INCIDENT),
        ("# A\n## Impact\n## Timeline\n", FileKind.DOCUMENT),
    ],
)
def test_headings_tell_the_kind_where_the_path_does_not(text: str, kind: FileKind) -> None:
    assert split_file("notes/a.md", text).kind is kind


@pytest.mark.parametrize(
    ("said", "status", "by"),
    [
        ("Accepted", "accepted", ""),
        ("✅ Accepted on Monday", "accepted", ""),
        ("**Deprecated**", "deprecated", ""),
        ("> may be accepted or rejected\n\nproposed", "proposed", ""),
        ("Superseded by [4. Use a log](0004-use-a-log.md#x)", "superseded", "0004-use-a-log.md"),
        ("Accepted, superseded by ADR-0004", "superseded", "ADR-0004"),
        ("Replaced by docs/adr/0004-log.md.", "superseded", "0004-log.md"),
        ("Superseded [0019](0019-use-go.md)", "superseded", "0019-use-go.md"),
        ("Waiting for the board of directors", "waiting for the", ""),
        ("", "", ""),
    ],
)
def test_the_status_of_a_decision(said: str, status: str, by: str) -> None:
    split = split_file("docs/adr/0003-queue.md", NYGARD.format(said))
    assert (split.status, split.superseded_by, split.date) == (status, by, date(2024, 5, 6))


def test_the_front_matter_of_a_decision() -> None:
    text = (
        '---\nstatus: "superseded by [ADR-0005](0005-b.md)"\ndate: 2023-01-02\n'
        "supersedes: ADR-0002\ntags: [Queues, Cost]\n---\n# A\n"
    )
    split = split_file("docs/decisions/0003-a.md", text)
    assert (split.status, split.superseded_by) == ("superseded", "0005-b.md")
    assert (split.supersedes, split.date) == (("ADR-0002",), date(2023, 1, 2))
    assert split.topics == ("queues", "cost")


def test_a_list_gives_status_and_supersession_as_older_madr_does() -> None:
    text = (
        "# A\n\n* Status: accepted\n* Date: 2020-03-04\n\n"
        "Supersedes [B](0001-b.md) and [C](0002-c.md).\n"
    )
    split = split_file("adr/0003-a.md", text)
    assert (split.status, split.supersedes) == ("accepted", ("0001-b.md", "0002-c.md"))


def test_text_about_other_things_supersedes_nothing() -> None:
    text = NYGARD.format("Accepted") + "\nThe old pump will be replaced by 3 new ones.\n"
    split = split_file("adr/0003-a.md", text)
    assert (split.status, split.superseded_by, split.supersedes) == ("accepted", "", ())


def test_an_incident_names_its_services_date_and_status() -> None:
    text = "# Queue stood still\n\n**Services affected:** Queue, Mail\nStatus: Resolved\n"
    split = split_file("services/billing/incidents/2024-01-02-queue.md", text)
    assert split.services == ("queue", "mail", "billing")
    assert (split.date, split.status) == (date(2024, 1, 2), "resolved")


def test_folders_tell_services_and_topics() -> None:
    assert split_file("services/billing/src/a.py", "").services == ("billing",)
    assert split_file("docs/security/keys/rotation.md", "# A\n").topics == ("security", "keys")
    assert split_file("docs/adr/0001-a.md", "# A\n").topics == ()


@pytest.mark.parametrize(
    "block",
    [
        "title: No\na: " + "[" * 45 + "]" * 45,
        "a: &a [*a]",
        "title: No\na: &a [x, x]\nb: &b [*a, *a]\nstatus: !!pairs [c: *b]",
        "title: No\na: &a {x: 1}\nb: {<<: [*a, *a]}",
        "a: " + "[" * 3_000,
        "a: 2024-13-45",
        "- a",
        "a: !!python/object:os.system x",
        "? [status]\n: b",
        "- status\n- b",
    ],
)
def test_front_matter_that_cannot_be_read_has_no_fields(block: str) -> None:
    split = split_file("docs/adr/1-a.md", f"---\n{block}\n---\n# A\n")
    assert (split.kind, split.title) == (FileKind.DECISION, "A")


@pytest.mark.parametrize(
    "value",
    [
        *('!!int ""', '!!float ""', "!!bool x", "!!timestamp x", "!!binary é", "!!null x"),
        *("1:1:1", "2024-99-99", "!other x", '"\\ud800"', "9e999"),
        pytest.param(f"0x{'f' * 3_900}", id="a number of 4,700 digits"),
    ],
)
def test_a_value_of_front_matter_is_text_whatever_its_type(value: str) -> None:
    split = split_file("docs/adr/1-a.md", f"---\ntopic: {value}\nstatus: accepted\n---\n# A\n")
    assert (split.status, split.title) == ("accepted", "A")


def test_words_of_front_matter_stay_as_they_are_written() -> None:
    block = "tags: [yes, on, 010, 1_000, ~]\nService-Names: x\nservice: null\ncomponents: {a: b}"
    split = split_file("docs/adr/1-a.md", f"---\n{block}\n---\n# A\n")
    assert (split.topics, split.services) == (("yes", "on", "010", "1_000"), ())
