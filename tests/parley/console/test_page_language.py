"""The language of a page: what its reader chose, what the browser asks for, what the platform told,
and the installation's."""

from gateway.text import ENGLISH
from memory.commands.link_texts import NOTHING_OPEN
from parley.console.sentences import html_of
from tests.parley.console.kit import OWNER, Console, Page, person_named
from tests.support.for_each import for_each

TENANT = "default"
SPANISH = {"accept_language": "es-MX, en;q=0.3"}


def is_in(page: Page, language: str, direction: str = "ltr") -> bool:
    return f'<html lang="{language}" dir="{direction}"' in page.text


async def test_a_choice_counts_more_than_the_browser_and_the_browser_more_than_the_platform(
    console: Console,
) -> None:
    readers, languages = console.app.services.readers, console.app.services.policies.languages
    oona, person = await console.visitor(OWNER), person_named(OWNER)
    assert is_in(await oona.get("/account"), "en")
    await readers.note(languages, TENANT, person, "fr")
    assert is_in(await oona.get("/account"), "fr")
    assert is_in(await oona.get("/account", **SPANISH), "es")
    await readers.choose(TENANT, person, "ar")
    assert is_in(await oona.get("/account", **SPANISH), "ar", "rtl")


async def test_the_pages_before_the_sign_in_are_in_the_language_of_the_browser(
    console: Console,
) -> None:
    visitor = await console.visitor(OWNER)
    visitor.cookies.clear()
    for path, status in (("/sign-in", 200), ("/overview", 401)):
        page = await visitor.get(path, **SPANISH)
        assert (page.status, is_in(page, "es")) == (status, True), path
        assert page.headers["Vary"] == "Accept-Language"
        assert is_in(await visitor.get(path), "en")


@for_each("header", ["xx", "de" * 400, ";q=1,,", "*", "de;q=nan", '"><script>'])
async def test_a_header_that_names_no_language_is_the_installations(
    console: Console, header: str
) -> None:
    visitor = await console.visitor(OWNER)
    assert is_in(await visitor.get("/account", accept_language=header), "en")


async def test_a_person_chooses_the_language_on_the_page_account(console: Console) -> None:
    readers, oona = console.app.services.readers, await console.visitor(OWNER)
    assert '<option value="" selected>' in (await oona.get("/account")).text
    assert (await oona.post("/account/language", {"language": "de"})).status == 303
    page = await oona.get("/account")
    assert is_in(page, "de")
    assert '<option value="de" lang="de" selected>Deutsch</option>' in page.text
    assert (await readers.known(TENANT, person_named(OWNER))).chosen == "de"
    assert (await oona.post("/account/language", {"language": "xx"})).status == 422
    assert is_in(await oona.get("/account"), "de")
    await oona.post("/account/language", {"language": ""})
    assert is_in(await oona.get("/account"), "en")


async def test_a_refusal_is_in_the_language_of_the_page(console: Console) -> None:
    oona, languages = await console.visitor(OWNER), console.app.services.policies.languages
    spanish = await languages.loaded("es")
    form = {"request": "00000000"}
    page = await oona.post("/memory/accounts/cancel", form, **SPANISH)
    assert (page.status, is_in(page, "es")) == (422, True)
    assert html_of(spanish, NOTHING_OPEN) in page.text
    assert html_of(ENGLISH, NOTHING_OPEN) not in page.text
