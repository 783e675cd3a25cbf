"""Sessions in the running program: links, cookies, forms, and attempts to misuse them."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from db import Statement
from parley.config import Settings
from parley.console.security import NAME
from parley.console.sessions import csrf_of
from tests.parley.console.kit import Console, console_in, console_settings, person_named
from tests.support.databases import new_database
from tests.support.servers import PostgresServer


async def test_a_link_signs_in_once(console: Console) -> None:
    link, ada, eve = await console.link("ada"), console.stranger(), console.stranger()
    assert "/console/sign-in#" in link
    assert (await ada.use(link)).location == "/console/overview"
    assert (await ada.get("/overview")).status == 200
    replayed = await eve.use(link)
    assert replayed.status == 401
    assert "does not work" in replayed.text
    assert not eve.cookies


async def test_the_preview_of_a_link_uses_nothing(console: Console) -> None:
    link, ada = await console.link("ada"), console.stranger()
    path = link.partition("/console")[2]
    for _ in range(3):
        page = await console.stranger().get(path)
        assert page.status == 200
        assert "Set-Cookie" not in page.headers
    assert (await ada.use(link)).status == 303


async def test_the_cookie_is_bound_to_this_site(console: Console) -> None:
    page = await console.stranger().use(await console.link("ada"))
    parts = {part.strip() for part in page.headers["Set-Cookie"].split(";")[1:]}
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= parts
    assert "Secure" not in parts
    stranger, link = console.stranger(), await console.link("ada")
    over_https = await stranger.request(
        "POST",
        "/sign-in",
        data={"link": link.partition("#")[2]},
        headers={"X-Forwarded-Proto": "https"},
    )
    cookie = over_https.headers["Set-Cookie"]
    assert cookie.startswith(f"__Host-{NAME}=")
    assert "; Secure" in cookie


async def test_a_session_id_that_somebody_else_chose_is_never_used(console: Console) -> None:
    victim = console.stranger()
    victim.cookies[NAME] = "chosen-by-the-attacker"
    await victim.use(await console.link("ada"))
    assert victim.secret != "chosen-by-the-attacker"
    attacker = console.stranger()
    attacker.cookies[NAME] = "chosen-by-the-attacker"
    assert (await attacker.get("/overview")).status == 401


async def test_a_second_sign_in_of_a_browser_ends_the_first(console: Console) -> None:
    browser = await console.visitor("ada")
    first = browser.secret
    await browser.use(await console.link("eve"))
    assert browser.secret != first
    stolen = console.stranger()
    stolen.cookies[NAME] = first
    assert (await stolen.get("/overview")).status == 401


async def test_a_stolen_session_ends_from_another_browser(console: Console) -> None:
    ada, thief = await console.visitor("ada"), console.stranger()
    thief.cookies = dict((await console.visitor("ada")).cookies)
    assert (await thief.get("/account")).status == 200
    assert (await ada.post("/account/end-other-sessions")).status == 303
    assert (await thief.get("/account")).status == 401
    assert (await ada.get("/account")).status == 200


async def test_people_cannot_end_sessions_of_others(console: Console) -> None:
    ada, eve = await console.visitor("ada"), await console.visitor("eve")
    sessions = console.app.console_sessions
    [own] = await sessions.of_person("default", person_named("ada"))
    assert (await eve.post(f"/account/sessions/{own.id}/end")).status == 404
    assert (await ada.get("/account")).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
async def test_requests_of_other_sites_change_nothing(
    console: Console, headers: dict[str, str]
) -> None:
    ada = await console.visitor("ada")
    token = await ada.csrf()
    for path, fields in (
        ("/account/theme", {"theme": "dark", "csrf": token}),
        ("/sign-out", {"csrf": token}),
        ("/sign-in", {"link": (await console.link("eve")).partition("#")[2]}),
    ):
        page = await ada.request("POST", path, data=fields, headers=headers)
        assert page.status == 403, path
        assert "Set-Cookie" not in page.headers
    assert "web:main:ada" in (await ada.get("/account")).text


async def test_a_form_needs_the_token_of_its_session(console: Console) -> None:
    ada, eve = await console.visitor("ada"), await console.visitor("eve")
    for token in ("", "0" * 64, await eve.csrf()):
        page = await ada.request("POST", "/account/theme", data={"csrf": token, "theme": "dark"})
        assert page.status == 403
    assert (await ada.csrf()) == csrf_of(ada.secret)


async def test_nothing_changes_on_a_get(console: Console) -> None:
    ada = await console.visitor("ada")
    for path in ("/sign-out", "/account/theme", "/account/end-other-sessions"):
        assert (await ada.get(f"{path}?theme=dark&csrf={await ada.csrf()}")).status == 405


async def test_two_tabs_share_a_session_and_its_end(console: Console) -> None:
    first = await console.visitor("ada")
    second = console.stranger()
    second.cookies = dict(first.cookies)
    token = await second.csrf()
    assert token == await first.csrf()
    answers = await asyncio.gather(
        first.post("/account/theme", {"theme": "dark"}),
        second.post("/account/theme", {"theme": "light"}),
    )
    assert [one.status for one in answers] == [303, 303]
    out = await first.post("/sign-out")
    assert "Max-Age=0" in out.headers["Set-Cookie"]
    assert (await second.get("/account")).status == 401
    late = await second.request("POST", "/account/theme", data={"csrf": token, "theme": "dark"})
    assert late.status == 401


async def test_a_session_begun_in_one_process_works_in_another(tmp_path: Path) -> None:
    settings = console_settings(tmp_path)
    async with console_in(settings) as console:
        link = await console.link("ada")
        used = await console.visitor("eve")
    async with console_in(settings) as console:
        ada, eve = console.stranger(), console.stranger()
        assert (await ada.use(link)).status == 303
        eve.cookies = dict(used.cookies)
        assert (await eve.get("/overview")).status == 200


@pytest.mark.xdist_group("postgres")
async def test_two_processes_share_links_sessions_and_their_end(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    url = new_database(postgres)

    def of_process(name: str) -> Settings:
        return console_settings(
            tmp_path,
            database={"url": url},
            storage={"url": f"sqlite:///{tmp_path}/{name}.db"},
            server={"port": 0, "token_key": "k" * 40},
        )

    async with console_in(of_process("one")) as one, console_in(of_process("two")) as two:
        link = await one.link("ada")
        here, there = one.stranger(), two.stranger()
        used = await asyncio.gather(here.use(link), there.use(link))
        assert sorted(page.status for page in used) == [303, 401]
        winner = here if here.cookies else there
        elsewhere = (two if winner is here else one).stranger()
        elsewhere.cookies = dict(winner.cookies)
        token = await winner.csrf()
        theme = {"csrf": token, "theme": "dark"}
        assert (await elsewhere.request("POST", "/account/theme", data=theme)).status == 303
        assert 'data-theme="dark"' in (await winner.get("/account")).text
        assert (await elsewhere.post("/sign-out")).status == 303
        assert (await winner.get("/account")).status == 401
        replayed = await winner.request("POST", "/account/theme", data=theme)
        assert replayed.status == 401


async def test_over_https_a_cookie_that_another_host_can_set_is_ignored(console: Console) -> None:
    ada = await console.visitor("ada")
    assert (await ada.get("/account")).status == 200
    assert (await ada.get("/account", X_Forwarded_Proto="https")).status == 401
    bound = console.stranger()
    bound.cookies = {f"__Host-{NAME}": ada.secret}
    assert (await bound.get("/account", X_Forwarded_Proto="https")).status == 200


async def test_an_expired_session_is_signed_out(console: Console) -> None:
    ada, eve = await console.visitor("ada"), await console.visitor("eve")
    database = console.app.storage.long_lived
    hours = round(timedelta(hours=13).total_seconds() * 1_000_000)
    for change in (
        f"UPDATE console_sessions SET seen_at = seen_at - {hours} WHERE person = 'web:main:ada'",
        "UPDATE console_sessions SET until = made_at WHERE person = 'web:main:eve'",
    ):
        await database.change(Statement(change), {})
    for visitor in (ada, eve):
        page = await visitor.get("/overview")
        assert page.status == 401
        assert "not signed in" in page.text


async def test_a_person_who_is_not_served_any_more_is_signed_out(tmp_path: Path) -> None:
    async with console_in(console_settings(tmp_path)) as console:
        ada = await console.visitor("ada")
    blocked = console_settings(tmp_path, access={"blocked_users": ["web:ada"]})
    async with console_in(blocked) as console:
        visitor = console.stranger()
        visitor.cookies = dict(ada.cookies)
        assert (await visitor.get("/overview")).status == 403
        assert (await visitor.get("/overview")).status == 401


async def test_the_operator_of_the_command_line_is_an_owner(console: Console) -> None:
    local = await console.visitor("local")
    page = await local.get("/account")
    assert "owner" in page.text
    assert "console:local:operator" in page.text


async def test_every_page_has_the_strict_headers(console: Console) -> None:
    ada = await console.visitor("ada")
    for visitor, path in ((ada, "/overview"), (console.stranger(), "/sign-in"), (ada, "/nothing")):
        page = await visitor.get(path)
        policy = page.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "require-trusted-types-for 'script'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert page.headers["Cache-Control"] == "no-store"
        assert page.headers["Referrer-Policy"] == "same-origin"
        assert page.headers["X-Content-Type-Options"] == "nosniff"
        assert page.headers["Cross-Origin-Opener-Policy"] == "same-origin"
        nonce = policy.partition("'nonce-")[2].partition("'")[0]
        assert page.text.count("<script") == page.text.count(f'<script nonce="{nonce}" src="/')
    again = await ada.get("/overview")
    assert nonce not in again.headers["Content-Security-Policy"]


async def test_a_link_from_another_site_is_followed_once_more_from_here(console: Console) -> None:
    page = await console.stranger().get("/account", Sec_Fetch_Site="cross-site")
    assert page.status == 200
    assert 'id="again"' in page.text
    own = await console.stranger().get("/account", Sec_Fetch_Site="same-origin")
    assert own.status == 401


async def test_the_console_can_be_off(tmp_path: Path) -> None:
    settings = console_settings(tmp_path, console={"enabled": False})
    async with console_in(settings) as console:
        assert (await console.stranger().get("/sign-in")).status == 404
        assert "console" not in {spec.name for spec in console.app.services.commands}


async def test_static_files_are_kept_and_need_no_session(console: Console) -> None:
    page = (await console.stranger().get("/sign-in")).text
    paths = [part.partition('"')[0] for part in page.split('="/console/static')[1:]]
    assert len(paths) >= 4
    for path in paths:
        file = await console.stranger().get(f"/static{path}")
        assert file.status == 200
        assert "immutable" in file.headers["Cache-Control"]


async def test_the_account_names_the_browser_and_keeps_its_identification(
    console: Console,
) -> None:
    agent = "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0"
    visitor = console.stranger()
    secret = (await console.link("ada")).partition("#")[2]
    await visitor.request(
        "POST", "/sign-in", data={"link": secret, "zone": "UTC"}, headers={"User-Agent": agent}
    )
    page = (await visitor.get("/account")).text
    assert f'<span title="{agent}">Firefox on Linux</span>' in page
    assert page.count("Mozilla") == 1
