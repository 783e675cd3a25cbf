"""Export and erasure in the running console."""

import csv
import io
import json
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from gateway.languages.formats import zone_sign
from memory.model.record import Kind
from tests.parley.console.kit import Console
from tests.parley.console.views.memory.kit import remember

FORMULA = '=HYPERLINK("http://evil.example";"tea")'


async def test_everything_is_exported_in_three_forms(either_console: Console) -> None:
    await remember(either_console, "ada", "I drink *green* tea.", Kind.PREFERENCE)
    await remember(either_console, "ada", FORMULA)
    await remember(either_console, "eve", "I drink coffee.")
    ada = await either_console.visitor("ada")
    page = (await ada.get("/memory/data")).text
    assert "memories, including stored chat messages" in page
    lines = (await ada.get("/memory/export")).text.splitlines()
    stored = [json.loads(line) for line in lines]
    assert "I drink *green* tea." in {one.get("content") for one in stored}
    assert any(one.get("table") == "console_sessions" for one in stored)
    answer = await ada.get("/memory/export?form=csv")
    assert "attachment" in answer.headers["Content-Disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert {row["text"] for row in rows} == {"I drink *green* tea.", f"'{FORMULA}"}
    text = (await ada.get("/memory/export?form=md")).text
    assert r"> I drink \*green\* tea." in text
    assert "## Preference" in text
    for shown in (answer.text, text, "\n".join(lines)):
        assert "coffee" not in shown


async def test_exports_for_people_have_the_times_of_the_viewer(console: Console) -> None:
    await remember(console, "ada", "I drink green tea.")
    stored, shown = {}, {}
    for zone in ("Pacific/Kiritimati", "America/St_Johns"):
        ada = await console.visitor("ada", zone=zone)
        answer = await ada.get("/memory/export?form=csv")
        (row,) = csv.DictReader(io.StringIO(answer.text))
        stored[zone] = at = datetime.fromisoformat(row["stored_at"])
        assert at.utcoffset() == at.astimezone(ZoneInfo(zone)).utcoffset()
        day = datetime.now(ZoneInfo(zone)).date()
        name = answer.headers["Content-Disposition"]
        assert any(f"parley-{day - timedelta(one)}.csv" in name for one in (0, 1))
        shown[zone] = text = (await ada.get("/memory/export?form=md")).text
        assert f"Times are those of the time zone {zone}." in text
        assert f"_{at:%Y-%m-%d %H:%M} {zone_sign(at.astimezone(ZoneInfo(zone)))}, " in text
        header = json.loads((await ada.get("/memory/export")).text.splitlines()[0])
        assert header["zone"] == zone
    assert len(set(stored.values())) == 1
    assert len(set(shown.values())) == 2


async def test_an_erasure_needs_the_phrase_and_ends_everything(either_console: Console) -> None:
    await remember(either_console, "ada", "I drink green tea.")
    await remember(either_console, "eve", "I drink coffee.")
    ada, other_browser = [await either_console.visitor("ada") for _ in range(2)]
    eve = await either_console.visitor("eve")
    await ada.post("/memory/tokens/create", {"name": "laptop"})
    for wrong in ("", "erase", "yes"):
        refused = await ada.post("/memory/data/erase", {"confirm": wrong})
        assert refused.status == 409
        assert "Nothing was erased." in refused.text
    assert "green tea" in (await other_browser.get("/memory/entries")).text
    done = await ada.post("/memory/data/erase", {"confirm": " Erase  Everything "})
    assert "is erased" in done.text
    assert "You are signed out" in done.text
    assert (await ada.get("/memory/entries")).status == 401
    assert (await other_browser.get("/memory/entries")).status == 401
    assert "coffee" in (await eve.get("/memory/entries")).text
    again = await either_console.visitor("ada")
    assert "The assistant has no memory about you yet" in (await again.get("/memory/entries")).text
    assert "laptop-" not in (await again.get("/memory/tokens")).text
