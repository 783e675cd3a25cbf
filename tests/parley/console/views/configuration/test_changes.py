"""Changes of the configuration: checked, stored, applied, undone, recorded, and never a lockout."""

import re
from pathlib import Path

import pytest
import yaml

from gateway.llm.prices import Price
from gateway.policy.access import AccessPolicy
from gateway.turn.services import CurrentPolicies
from parley.config.overrides import Overlaid
from parley.console.views.configuration.page import OWN_ACCESS
from parley.wiring.live_configuration import LiveConfiguration
from tests.parley.console.kit import OWNER, Console, console_in, console_settings
from tests.parley.console.talk import Talk, direct
from tests.parley.console.views.configuration.kit import change, listed, told, value_of
from tests.parley.http.api.kit import postgres_settings_in
from tests.support.servers import PostgresServer
from tests.support.waiting import eventually

SCRIPT = "<script>alert(1)</script>"


async def test_a_change_holds_at_once_and_is_undone_with_one_press(either_console: Console) -> None:
    oona, services = await either_console.visitor("oona"), either_console.app.services
    assert "Nothing was changed here" in (await oona.get("/configuration")).text
    page = await change(oona, "access.blocked_users", "web:eve\n web:mallory ", 0)
    assert page.status == 200
    assert "Saved as version 1." in page.text
    assert services.policies.access.blocked_users == {"web:eve", "web:mallory"}
    assert (await either_console.visitor("ada")).person == "ada"
    assert (await either_console.program.api_client("eve")("GET", "/console/account")).status == 403
    assert value_of(await listed(either_console), "access.blocked_users") == (
        "web:eve\nweb:mallory",
        "override",
    )
    assert (await change(oona, "limits.user_per_minute", "9", 1)).status == 200
    assert services.policies.limits.user_per_minute == 9
    undone = await oona.post("/configuration/undo", {"based_on": "2"})
    assert "Saved as version 3." in undone.text
    assert services.policies.limits.user_per_minute != 9
    assert services.policies.access.blocked_users == {"web:eve", "web:mallory"}
    await oona.post("/configuration/undo", {"based_on": "3"})
    assert services.policies.access.blocked_users == frozenset()
    assert (await oona.post("/configuration/undo", {"based_on": "4"})).status == 422
    history = (await oona.get("/configuration/versions")).text
    assert "back to version 1" in history
    assert "back to the file" in history
    restored = await oona.post("/configuration/restore", {"based_on": "4", "version": "2"})
    assert "Saved as version 5." in restored.text
    assert services.policies.limits.user_per_minute == 9


async def test_of_two_tabs_the_loser_keeps_its_text(either_console: Console) -> None:
    one, two = await either_console.visitor("oona"), await either_console.visitor("oona")
    assert (await change(one, "assistant.persona", "Be brief.", 0)).status == 200
    lost = await change(two, "assistant.persona", "Be <b>kind</b>.", 0)
    assert lost.status == 409
    assert "was changed meanwhile" in lost.text
    assert "Be &lt;b&gt;kind&lt;/b&gt;." in lost.text
    assert either_console.app.services.assistant.general.persona == "Be brief."
    late = {"key": "assistant.persona", "value": "x", "based_on": 0}
    answer = await told(either_console, "oona", late)
    assert (answer.status, answer.code, answer.where) == (409, "conflict", "body.based_on")
    for path in ("undo", "restore"):
        fields = {"based_on": "0", **({"version": "0"} if path == "restore" else {})}
        assert (await two.post(f"/configuration/{path}", fields)).status == 409


@pytest.mark.xdist_group("postgres")
async def test_every_running_process_applies_a_change_by_itself(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    first = postgres_settings_in(tmp_path, postgres)
    first = first.model_copy(update={"access": console_settings(tmp_path).access})
    hot = {"url": f"sqlite:///{tmp_path}/two.db"}
    second = first.model_copy(update={"storage": first.storage.model_copy(update=hot)})
    async with console_in(first) as one, console_in(second) as two:
        eve = two.program.api_client("eve")
        assert (await eve("GET", "/console/account")).status == 200
        await change(await one.visitor("oona"), "access.blocked_users", "web:eve", 0)

        async def refused() -> bool:
            return (await eve("GET", "/console/account")).status == 403

        await eventually(refused)
        assert (
            await change(await two.visitor("oona"), "access.blocked_users", "", 1)
        ).status == 200
        await eventually(lambda: one.app.configuration.number == 2)
        assert one.app.services.policies.access.blocked_users == frozenset()


async def test_another_process_and_a_restart_use_the_overrides(either_console: Console) -> None:
    app = either_console.app
    oona = await either_console.visitor("oona")
    beside = LiveConfiguration(
        app.settings, CurrentPolicies(), app.storage.config_versions, app.services.clock
    )
    await beside.refresh()
    assert beside.number == 0
    await change(oona, "access.operators", "web:olga\nweb:ada", 0)
    await beside.refresh()
    assert beside.policies.value.roles.operators == {"web:olga", "web:ada"}
    first = beside.policies.value
    await beside.refresh()
    assert beside.policies.value is first
    # The other process changes it: this one sees it with the next round of its job.
    await beside.restore("command line", 1, 0)
    await app.configuration.refresh()
    assert app.services.policies.roles.operators == {"web:olga"}
    assert (await change(oona, "limits.user_per_minute", "8", 1)).status == 409


async def test_a_restart_keeps_the_overrides_and_ignores_an_unusable_one(tmp_path: Path) -> None:
    async with console_in(console_settings(tmp_path)) as console:
        oona = await console.visitor("oona")
        await change(oona, "access.blocked_users", "web:eve", 0)
        rule = {"name": "extra", "audiences": "direct", "based_on": "1"}
        servers = {"servers": {"extra": {"command": "true"}}}
        with_server = console_settings(tmp_path, mcp=servers)
        console.app.configuration.base = with_server
        assert (await oona.post("/configuration/tool", rule)).status == 200
    async with console_in(console_settings(tmp_path)) as console:
        assert console.app.services.policies.access.blocked_users == {"web:eve"}
        assert console.app.services.policies.tools.rules == {}
        problem = "1 override is ignored, because the value cannot be used: tools.extra"
        assert console.app.readiness().problems["overrides"] == problem
        assert console.app.readiness().ready
        oona = await console.visitor("oona")
        page = await oona.get("/configuration")
        assert "Changes without effect" in page.text
        assert "tools.extra" in page.text
        assert "names no server of mcp.servers, and no tool." in page.text
        assert problem in (await oona.get("/overview")).text
        assert 'aria-label="Use the file&#39;s value: tools.extra"' in page.text
        # Other changes are possible meanwhile, and it is removed like any other.
        assert (await change(oona, "limits.user_per_minute", "9", 2)).status == 200
        gone = {"key": "tools", "name": "extra", "based_on": "3"}
        assert (await oona.post("/configuration/revert", gone)).status == 200
        assert "Ignored overrides" not in (await oona.get("/configuration")).text


async def test_a_turn_sees_the_policies_with_which_it_began(console: Console) -> None:
    services = console.app.services
    begun = services.under(services.policies)
    await change(await console.visitor("oona"), "access.blocked_channels", "web:x", 0)
    assert services.policies.access == AccessPolicy(blocked_channels=frozenset({"web:x"}))
    assert begun.policies.access == AccessPolicy()


async def test_an_owner_cannot_remove_their_own_last_access(console: Console) -> None:
    oona, services = await console.visitor("oona"), console.app.services
    for key, value in (
        ("access.owners", "web:olga"),
        ("access.owners", ""),
        ("access.blocked_users", "web:oona"),
    ):
        refused = await change(oona, key, value, 0)
        assert refused.status == 409, key
        assert OWN_ACCESS.english in refused.text
    assert services.policies.roles.owners == {"web:oona"}
    assert (await change(oona, "access.owners", "web:oona\nweb:olga", 0)).status == 200
    olga = await console.visitor("olga")
    assert (await change(olga, "access.owners", "web:olga", 1)).status == 200
    assert (await oona.get("/configuration")).status == 403
    # An undo would take the access of the one who presses it.
    assert (
        await olga.post("/configuration/restore", {"based_on": "2", "version": "0"})
    ).status == 409
    local = await console.visitor("local")
    assert (
        await local.post("/configuration/restore", {"based_on": "2", "version": "0"})
    ).status == 200
    assert services.policies.roles.owners == {"web:oona"}


async def test_operators_see_the_configuration_and_change_nothing(console: Console) -> None:
    olga = await console.visitor("olga")
    page = await olga.get("/configuration")
    assert page.status == 200
    assert "Only owners change the configuration." in page.text
    assert "/configuration/change" not in page.text
    assert (await change(olga, "limits.user_per_minute", "9", 0)).status == 403
    ada = await console.visitor("ada")
    assert (await ada.get("/configuration")).status == 403
    assert (await ada.get("/configuration/export")).status == 403


INVALID = [
    ("limits.user_per_minute", "-1", "should be at least 0."),
    ("limits.user_per_minute", "many", "should be a whole number."),
    ("budgets.user_share", "2", "should be at most 1."),
    ("invocation.ignore_bots", "perhaps", "should be true or false."),
    ("access.default_role", "owner", "should be one of: member, guest."),
    ("access.owners", "webb:1\nweb:oona", "unknown platform webb"),
    ("assistant.persona", "word " * 1_999, "window"),
    ("budgets.user_per_day", "1", "has no price"),
]


CHOSEN = {"invocation.ignore_bots", "access.default_role"}
"""Keys whose form offers the words, so that an unknown one cannot stay in it."""


async def test_an_invalid_value_is_refused_and_kept_in_the_form(console: Console) -> None:
    live, oona = console.app.configuration, await console.visitor("oona")
    small = live.base.model.model_copy(update={"name": "unpriced", "window": 4_096})
    live.base = live.base.model_copy(update={"model": small})
    live.state = Overlaid(live.base)
    for key, value, problem in INVALID:
        refused = await change(oona, key, value, 0)
        assert refused.status == 422, (key, refused.text)
        assert problem in refused.text, key
        kept = value.splitlines()[0][:200].strip()
        assert kept in refused.text or key in CHOSEN, key
    assert live.number == 0


async def test_only_listed_keys_are_changed_here(console: Console) -> None:
    oona = await console.visitor("oona")
    for key in ("access.admission", "server.token", "assistant.channels", "tools", "tools.x", "x"):
        refused = await change(oona, key, "x", 0)
        assert refused.status == 422, key
    too_long = await change(oona, "assistant.persona", "x" * 50_001, 0)
    assert too_long.status == 422


async def test_entries_are_set_removed_and_returned_to_the_file(tmp_path: Path) -> None:
    channels = {"channels": {"web:general": {"persona": "From the file.", "model": "m"}}}
    async with console_in(console_settings(tmp_path, assistant=channels)) as console:
        oona, services = await console.visitor("oona"), console.app.services

        def persona(channel: str) -> str:
            return services.assistant.persona_in("web", channel).persona

        fields = {"name": "web:other", "persona": SCRIPT, "based_on": "0"}
        page = await oona.post("/configuration/persona", fields)
        assert page.status == 200
        assert SCRIPT not in page.text
        assert persona("other") == SCRIPT
        fields = {"name": "web:general", "persona": "Changed.", "based_on": "1"}
        await oona.post("/configuration/persona", fields)
        assert persona("general") == "Changed."
        assert services.assistant.persona_in("web", "general").model == ""
        gone = {"section": "assistant.channels", "name": "web:general", "based_on": "2"}
        assert "Removed here" in (await oona.post("/configuration/remove", gone)).text
        assert persona("general") == ""
        back = {"key": "assistant.channels", "name": "web:general", "based_on": "3"}
        await oona.post("/configuration/revert", back)
        assert persona("general") == "From the file."
        assert (await oona.post("/configuration/revert", {**back, "based_on": "4"})).status == 409
        rule = {"name": "set_task", "role": "operator", "audiences": "direct", "based_on": "4"}
        assert (await oona.post("/configuration/tool", rule)).status == 200
        assert services.policies.tools.rules["set_task"].role == "operator"
        unknown = await oona.post("/configuration/tool", {**rule, "name": "x__y", "based_on": "5"})
        assert unknown.status == 422
        silent = {"name": "web:quiet", "own": "true", "based_on": "5"}
        assert (await oona.post("/configuration/triggers", silent)).status == 200
        assert services.policies.invocation.rule_for("web", "quiet")[0] == ()
        price = {"name": "m", "input": "1", "output": "2.5", "cache_read": "", "based_on": "6"}
        price |= {"cache_write_hour": "4", "search": "14"}
        assert (await oona.post("/configuration/price", price)).status == 200
        assert services.prices["m"] == Price(1, 2.5, cache_write_hour=4, search=14)
        words = {"key": "invocation.triggers", "words": "mention", "based_on": "7"}
        assert (await oona.post("/configuration/choices", words)).status == 200
        assert services.policies.invocation.triggers == ("mention",)


async def test_a_change_is_in_the_audit_without_its_value(console: Console) -> None:
    await change(await console.visitor("oona"), "assistant.persona", "a hidden sentence", 0)
    links = await console.app.storage.memory.audit_on(b"").links(0, 100)
    (entry,) = [e.entry for e in links if ("what", "configuration_changed") in e.entry.details]
    assert entry.person == "web:main:oona"
    assert ("keys", "assistant.persona") in entry.details
    assert "hidden" not in str(entry.details)


async def test_the_export_is_a_configuration_without_secrets(tmp_path: Path) -> None:
    model = {"provider": "openai", "name": "m", "api_key": "sk-hidden-0123456789abcdef"}
    async with console_in(console_settings(tmp_path, model=model)) as console:
        oona = await console.visitor("oona")
        await change(oona, "access.blocked_users", "web:eve", 0)
        file = await oona.get("/configuration/export")
        assert "attachment" in file.headers["Content-Disposition"]
        values = yaml.safe_load(file.text)
        assert values["access"]["blocked_users"] == ["web:eve"]
        assert values["access"]["owners"] == ["web:oona"]
        assert "# Left out, because it is or may hold a secret: model.api_key" in file.text
        for page in (file, await oona.get("/configuration?show=all")):
            assert "sk-hidden" not in page.text


async def test_the_last_change_names_its_person(console: Console) -> None:
    await Talk(console.app)(direct(OWNER), OWNER, "Hello?")
    owner = await console.visitor(OWNER)
    await change(owner, "assistant.name", "Ada", 0)
    named = r"by\s*<a [^>]+><bdi[^>]*>Oona</bdi></a> <small class=\"id\"><bdi[^>]*>web:main:oona<"
    for path in ("/configuration", "/configuration/versions"):
        assert re.search(named, (await owner.get(path)).text), path
