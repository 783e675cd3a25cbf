"""The review queue in the running console: decisions, changed texts, history."""

import re

from memory.model.record import Draft, Kind, Scope
from tests.parley.console.kit import Console, Page, Visitor
from tests.parley.console.talk import Talk, direct
from tests.parley.console.views.memory.kit import in_project, shared, waiting
from tests.parley.http.api.kit import PROJECT


async def test_a_person_approves_rejects_and_changes_what_waits(either_console: Console) -> None:
    keep = await waiting(either_console, "ada", "Ada plays the cello.")
    drop = await waiting(either_console, "ada", "Ada dislikes rain.")
    change = await waiting(either_console, "ada", "Ada lives in Berlin.")
    ada = await either_console.visitor("ada")
    page = (await ada.get("/memory/reviews")).text
    assert "I concluded it myself, without a source." in page
    assert "It is stored now." in (await ada.post(f"/memory/reviews/{keep}/approve")).text
    rejected = await ada.post(f"/memory/reviews/{drop}/reject", {"reason": "wrong"})
    assert "It is discarded" in rejected.text
    changed = await ada.post(
        f"/memory/reviews/{change}/edit", {"text": "Ada lives in a village near Berlin."}
    )
    assert "The changed text is stored." in changed.text
    assert "Nothing waits for your decision" in changed.text
    assert changed.text.count('data-label="By">you') == 3
    assert "wrong" in changed.text
    assert "edited" in changed.text
    assert "rain" not in changed.text  # the text is deleted with the decision
    listed = (await ada.get("/memory/entries")).text
    assert "cello" in listed
    assert "village near Berlin" in listed
    assert "rain" not in listed
    assert (await ada.post(f"/memory/reviews/{keep}/approve")).status == 404


async def test_a_refused_text_changes_nothing_and_stays_on_the_page(console: Console) -> None:
    entry = await waiting(console, "ada", "Ada plays the cello.")
    ada = await console.visitor("ada")
    secret = "sk-ant-api03-" + "A1b2C3d4" * 12
    page = await ada.post(f"/memory/reviews/{entry}/edit", {"text": secret})
    assert page.status == 422
    assert "Ada plays the cello." in page.text
    assert "It is stored now." in (await ada.post(f"/memory/reviews/{entry}/approve")).text


async def test_nobody_else_sees_or_decides_a_private_entry(console: Console) -> None:
    entry = await waiting(console, "ada", "Ada plays the cello.")
    for name in ("eve", "olga", "oona", "local"):
        other = await console.visitor(name)
        assert "cello" not in (await other.get("/memory/reviews")).text
        for action, fields in (("approve", {}), ("reject", {}), ("edit", {"text": "x y z"})):
            assert (await other.post(f"/memory/reviews/{entry}/{action}", fields)).status == 404
    assert "cello" in (await (await console.visitor("ada")).get("/memory/reviews")).text


async def test_operators_decide_for_a_project_that_they_are_not_in(
    either_console: Console,
) -> None:
    ada = await in_project(either_console, "ada")
    result = await ada.write.remember(
        Draft("We sell green tea.", Kind.DECISION, scope=Scope.PROJECT)
    )
    assert result.for_operators, result
    await ada.documents.write("bible", "We open on Monday.")
    oona, eve = [await either_console.visitor(name) for name in ("oona", "eve")]
    overview = (await oona.get("/overview")).text
    assert "2 proposals for projects are waiting for an operator&#39;s decision." in overview
    assert "/memory/reviews?project=web%3Amain%3Aguild" in overview
    assert "proposals" not in (await eve.get("/overview")).text
    first = (await oona.get("/memory/reviews")).text
    assert "2 waiting" in first
    assert "green tea" not in first
    queue = (await oona.get(f"/memory/reviews?project={PROJECT}")).text
    assert "We sell green tea." in queue
    assert re.search(r"Added: </span>.*We open on Monday", queue)
    assert (await eve.get(f"/memory/reviews?project={PROJECT}")).status == 404
    fields = {"project": PROJECT, "text": "We sell black tea."}
    done = await oona.post(f"/memory/reviews/{result.review_id}/edit", fields)
    assert "The changed text is stored." in done.text
    member = await either_console.visitor("ada")
    shared = (await member.get("/memory/entries?of=project")).text
    assert "We sell black tea." in shared
    history = (await member.get("/memory/reviews")).text
    assert "oona" not in history


async def test_a_decision_keeps_the_operator_who_erased_their_account(console: Console) -> None:
    ada = await in_project(console, "ada")
    result = await ada.write.remember(Draft("We sell tea.", Kind.DECISION, scope=Scope.PROJECT))
    await in_project(console, "olga")
    olga, oona = await console.visitor("olga"), await console.visitor("oona")
    await olga.post(f"/memory/reviews/{result.review_id}/reject", {"project": PROJECT})
    shown = f"/memory/reviews?project={PROJECT}"
    assert 'data-label="By">you' in (await olga.get(shown)).text
    assert "web:main:olga" in (await oona.get(shown)).text
    await Talk(console.app)(direct("olga"), "olga", "Hello?")
    named = (await oona.get(shown)).text
    assert re.search(r'data-label="By">\s*<a [^>]+><bdi[^>]*>Olga</bdi></a>', named)
    await olga.post("/memory/data/erase", {"confirm": "erase everything"})
    after = (await oona.get(shown)).text
    assert "web:main:olga" in after
    assert "Olga" not in after


async def test_a_memory_says_who_approved_it_or_that_nobody_is_recorded(
    either_console: Console,
) -> None:
    ada = await in_project(either_console, "ada")
    result = await ada.write.remember(Draft("We sell tea.", Kind.DECISION, scope=Scope.PROJECT))
    stored = await shared(either_console, "We open on Monday.")
    await Talk(either_console.app)(direct("olga"), "olga", "Hello?")
    olga, oona = [await either_console.visitor(name) for name in ("olga", "oona")]
    done = await olga.post(f"/memory/reviews/{result.review_id}/approve", {"project": PROJECT})
    found = re.search(r"entries/(mem-[0-9a-f-]+)", (await _listed(olga, "tea")).text)
    assert found is not None, done.text
    one = f"/memory/entries/{found[1]}?project={PROJECT}"
    assert re.search(r"<dt>Approved by</dt><dd>you · <time", (await olga.get(one)).text)
    by_name = r"Approved by</dt><dd>\s*<a [^>]+><bdi[^>]*>Olga</bdi></a>.*olga</bdi>"
    assert re.search(by_name, (await oona.get(one)).text)
    member = await either_console.visitor("ada")
    assert "olga" not in (await member.get(one)).text
    none = (await oona.get(f"/memory/entries/{stored}?project={PROJECT}")).text
    assert "<dt>Approved by</dt><dd>no decision is recorded</dd>" in none


async def _listed(visitor: Visitor, word: str) -> Page:
    return await visitor.get(f"/memory/entries?of=project&project={PROJECT}&q={word}")
