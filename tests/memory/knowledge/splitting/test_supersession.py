"""Which decision records replace which, in the forms that public repositories use.

The forms come from adr-tools, MADR 2 to 4, log4brains, PEPs, RFCs, KEPs and records in public
repositories that were found by a search for "superseded in part by" and the like.
"""

import pytest

from memory.knowledge.model import FileKind
from memory.knowledge.splitting import split_file

REPLACED = {
    "Superseded by ADR-0004": "ADR-0004",
    "superseded by 0062": "0062",
    "Superseded by: D-026": "D-026",
    "Superseded by [ADR-0017](0017-x.md)": "0017-x.md",
    "superseded by [20200101-use-a-log](20200101-use-a-log.md)": "20200101-use-a-log.md",
    "Accepted, superseded by ADR-4": "ADR-4",
    "Accepted on 2 May 2023, superseded by ADR-4 on 2024-05-06": "ADR-4",
    "Deprecated (superseded by ADR-4)": "ADR-4",
    "~~Accepted~~ Superseded by #4": "#4",
    "This decision has been superseded by ADR 4.": "ADR 4",
    "This ADR is now fully superseded by ADR 4": "ADR 4",
    "ADR-0003 was superseded by ADR-0004": "ADR-0004",
    "Superseded, see ADR-4": "ADR-4",
    "Superseded (see [ADR 4](./0004-b.md))": "0004-b.md",
    "Superceded by ADR 4": "ADR 4",
    "Accepted. Later replaced by docs/adr/0004-log.md.": "0004-log.md",
    "Accepted 2024-01-02 (superseded by ADR 4)": "ADR 4",
    "⚠️ Superseded by ADR-4, which was superseded by ADR-9": "ADR-4",
    "Superseded by ADR-4 (refines ADR-2)": "ADR-4",
    "Superseded by ADR-4: see ADR-2 for the history": "ADR-4",
    "**Superseded** by ADR-4 because of ADR-2": "ADR-4",
    "Accepted\n\nAmends ADR-2\n\nSuperseded by ADR-4": "ADR-4",
    "Accepted in 2023, but superseded by ADR-4 in 2024": "ADR-4",
}
STANDING = (
    "Refines 38 (which superseded 32)",
    "Accepted. Refines 38 (which superseded 32)",
    "Accepted; refines ADR-38, which superseded ADR-32",
    "Accepted (extends ADR-38 (superseded by ADR-40))",
    "Partially superseded by ADR-4",
    "Accepted, partially superseded by ADR-0144/0147/0149",
    "Superseded in part by ADR 4",
    "Accepted. Superseded in part by [ADR-4](0004-b.md)",
    "Partly superseded by [0018](0018-keycloak.md) — registration page retained",
    "Superseded by ADR 4 for logging only",
    "Superseded by ADR-4 (in part)",
    "Superseded by ADR-4 except for the retention rules",
    "Accepted; the retention rules are superseded by ADR-4",
    "Accepted, section 2 superseded by ADR-4",
    "May be superseded by ADR-4",
    "Accepted (might be superseded by ADR-4)",
    "Accepted, to be superseded by ADR-4 next year",
    "Accepted. Will be superseded by ADR-4 once it is accepted",
    "Accepted, not superseded by ADR-4",
    "Accepted. Superseded by: none",
    "Accepted. Superseded by: n/a",
    "Superseded by ADR-4 (proposed)",
    "Superseded by ADR-4 if that is accepted",
    "Superseded by ADR-4, once ADR-4 is approved",
    "Accepted. ADR-38 was superseded by ADR-40",
    "Accepted; supersedes ADR-1 (superseded by ADR-2)",
    "Accepted <!-- superseded by ADR-0005 -->",
    "~~Superseded by ADR-4~~ Accepted again",
    "{proposed | rejected | accepted | deprecated | superseded by ADR-0123}",
    "[proposed | rejected | accepted | deprecated | … | superseded by [ADR-0005](0005-x.md)]",
    "Amended by ADR-4",
    "Accepted, clarified by ADR-4",
)


def record(status: str, below: str = "") -> str:
    title = "# 3. Use a queue\n\n## Status"
    return f"{title}\n\n{status}\n\n## Context\n\n{below}\n\n## Decision\n\nQueue.\n"


@pytest.mark.parametrize(("status", "by"), REPLACED.items())
def test_a_status_names_the_record_that_replaces_this_one(status: str, by: str) -> None:
    split = split_file("docs/adr/0003-queue.md", record(status))
    assert (split.status, split.superseded_by) == ("superseded", by)


@pytest.mark.parametrize("status", STANDING)
def test_a_status_about_a_part_a_plan_or_another_record_replaces_nothing(status: str) -> None:
    split = split_file("docs/adr/0003-queue.md", record(status))
    assert split.superseded_by == ""
    assert split.status != "superseded"


@pytest.mark.parametrize("status", STANDING)
def test_a_line_with_such_a_status_replaces_nothing(status: str) -> None:
    split = split_file(
        "docs/adr/0003-queue.md", f"# 3. Use a queue\n\n* Status: {status}\n\nText.\n"
    )
    assert split.superseded_by == ""
    assert split.status != "superseded"


@pytest.mark.parametrize(
    ("line", "by"),
    [
        ("> **Superseded by [ADR-0044](../11-adr/0044-ops.md)** (per-field ops)", "0044-ops.md"),
        ("- Superseded by: 0062", "0062"),
        ("Superseded-By: 517", "517"),
        ("| Superseded by | ADR-5 |", "ADR-5"),
        ("Obsoleted by: RFC 7230, 7231", "RFC 7230"),
        ("NOTE: This ADR has been superseded by ADR-17.", "ADR-17"),
        ("> **Superseded in part by [ADR-0044](../11-adr/0044-ops.md) (per-field ops).**", ""),
        ("- Superseded in part by:\n  [ADR-0015](0015-x.md), for what the agent does", ""),
        ("- Superseded by: None", ""),
        ("Queues of ADR 2 were superseded by those of ADR 5.", ""),
        ("The clause about cost is superseded by ADR 5.", ""),
        ("Facts of one round may be superseded by round 5.", ""),
    ],
)
def test_a_line_beside_the_status_is_read_the_same(line: str, by: str) -> None:
    split = split_file("docs/adr/0003-queue.md", record("Accepted", line))
    assert split.superseded_by == by


@pytest.mark.parametrize(
    ("status", "replaced"),
    [
        ("Accepted, supersedes [ADR-0007](0007-content.md)", ("0007-content.md",)),
        ("Accepted\n\nSupersedes ADR-1 and ADR-2", ("ADR-1", "ADR-2")),
        ("Accepted. Supersedes 1, 2 and 4", ("1", "2", "4")),
        ("Accepted\nSupersedes ADR-1 on 2024-05-06", ("ADR-1",)),
        ("Accepted, replaces ADR-1, see ADR-2", ("ADR-1",)),
        ("Accepted, supersedes ADR-1 in part", ()),
        ("Accepted, partially supersedes ADR-1", ()),
        ("Accepted, supersedes section 2 of ADR-1", ()),
        ("Accepted, supersedes ADR-1's rule for logs", ()),
        ("Accepted, does not supersede ADR-1", ()),
        ("Accepted. Refines ADR-1, which supersedes ADR-2", ()),
        ("Proposed, supersedes ADR-1", ()),
        ("Draft. Supersedes ADR-1", ()),
        ("Rejected. Supersedes ADR-1", ()),
        ("Under discussion, supersedes ADR-1", ()),
        ("In review\n\nSupersedes ADR-1", ()),
        ("Work in progress; supersedes ADR-1", ()),
        ("Pending approval, supersedes ADR-1", ()),
    ],
)
def test_a_record_in_force_names_those_that_it_replaces(
    status: str, replaced: tuple[str, ...]
) -> None:
    split = split_file("docs/adr/0003-queue.md", record(status))
    assert split.supersedes == replaced


@pytest.mark.parametrize("status", ["proposed", "draft", "rejected", "Withdrawn", "provisional"])
def test_front_matter_of_a_record_that_is_not_in_force_replaces_nothing(status: str) -> None:
    text = f"---\nstatus: {status}\nsupersedes: [ADR-1, ADR-2]\n---\n# A\n"
    assert split_file("docs/adr/0003-queue.md", text).supersedes == ()
    text = text.replace(status, "accepted")
    assert split_file("docs/adr/0003-queue.md", text).supersedes == ("ADR-1", "ADR-2")


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("docs/adr/0053-template-strategy.md", FileKind.DECISION),
        ("docs/adr/0012-use-template-repositories.md", FileKind.DECISION),
        ("docs/adr/email-templates.md", FileKind.DECISION),
        ("docs/decisions/adr-7-templating.md", FileKind.DECISION),
        ("docs/adr/template.md", FileKind.DOCUMENT),
        ("docs/adr/adr-template.md", FileKind.DOCUMENT),
        ("docs/adr/adr-template-bare-minimal.md", FileKind.DOCUMENT),
        ("docs/adr/0000-template.md", FileKind.DOCUMENT),
        ("docs/adr/NNNN-adr-template.md", FileKind.DOCUMENT),
        ("docs/adr/templates/0001-any.md", FileKind.DOCUMENT),
        ("docs/adr/decision-record-template-by-michael-nygard.md", FileKind.DOCUMENT),
    ],
)
def test_a_template_is_no_decision_and_a_decision_about_templates_is(
    path: str, kind: FileKind
) -> None:
    title = "# {short title}" if "nygard" in path else "# Templates"
    assert split_file(path, f"{title}\n\nStatus: accepted\n").kind is kind
