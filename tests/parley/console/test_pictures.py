"""Pictures of messages and of people in the console: who sees them, and what is shown without."""

import asyncio
from typing import Final

import pytest

from gateway.errors import Permanent, Transient
from gateway.message import Attachment
from gateway.outbound import pictures
from gateway.outbound.pictures import AT_ONCE, MAX_PICTURE, MAX_PORTRAIT
from parley.console.security import NAME
from parley.testing.contract.features import PNG
from tests.parley.console.kit import OPERATOR, OTHER, OWNER, PERSON, Console, page_of
from tests.parley.console.pictures import Gives, gives, picture
from tests.parley.console.talk import ROOM, World, direct

SVG: Final = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
HTML: Final = b"<!doctype html><script>alert(1)</script>"


@pytest.fixture
def platform(console: Console, monkeypatch: pytest.MonkeyPatch) -> Gives:
    return gives(console, monkeypatch)


async def status(console: Console, name: str, path: str) -> int:
    return (await raw(console, name, path))[0]


async def raw(console: Console, name: str, path: str) -> tuple[int, dict[str, str], bytes]:
    visitor = await console.visitor(name)
    cookie = {"Cookie": f"{NAME}={visitor.secret}"} if name else {}
    url = f"{visitor.base}/console{path}"
    async with visitor.http.get(url, headers=cookie, allow_redirects=False) as answer:
        return answer.status, dict(answer.headers), await answer.read()


def of(turn: str, number: int | str = 0) -> str:
    return f"/conversations/{turn}/pictures/{number}"


async def test_a_picture_is_shown_from_the_console_alone(
    console: Console, world: World, platform: Gives
) -> None:
    turn = await world.talk(ROOM, PERSON, "look", files=(picture(name='a"<b>.png'),))
    page = await page_of(console, OPERATOR, turn)
    assert f'<img src="/console{of(turn)}" alt="Picture: a&#34;&lt;b&gt;.png"' in page.text
    assert "img-src 'self' data:" in page.headers["Content-Security-Policy"]
    assert platform.asked == []
    code, headers, body = await raw(console, OPERATOR, of(turn))
    assert (code, body, headers["Content-Type"]) == (200, PNG, "image/png")
    assert headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "private, max-age=300"
    await raw(console, OPERATOR, of(turn))
    assert platform.asked == ["p"]


async def test_a_picture_has_the_rights_of_its_text(
    console: Console, world: World, platform: Gives
) -> None:
    secret = await world.talk(direct(PERSON), PERSON, "mine", files=(picture(),))
    shared = await world.talk(ROOM, PERSON, "ours", files=(picture(),))
    assert await status(console, PERSON, of(secret)) == 200
    for name in (OPERATOR, OWNER, OTHER):
        assert await status(console, name, of(secret)) == 404
    assert [await status(console, name, of(shared)) for name in (OPERATOR, PERSON, OTHER)] == [
        *(200, 200, 404)
    ]
    for path in (of(secret), of(shared)):
        assert await status(console, "", path) == 401
    assert of(secret) not in (await page_of(console, OPERATOR, secret)).text
    assert of(secret) in (await page_of(console, PERSON, secret)).text


async def test_another_tenant_has_no_picture(
    console: Console, world: World, platform: Gives
) -> None:
    turn = await world.talk(ROOM, PERSON, "ours", tenant="acme", files=(picture(),))
    assert await status(console, OPERATOR, of(turn)) == 404
    assert platform.asked == []


@pytest.mark.parametrize("number", [1, 999, 9999, "x", "-1", "%00"])
async def test_a_number_without_a_picture_is_not_found(
    console: Console, world: World, platform: Gives, number: int | str
) -> None:
    turn = await world.talk(ROOM, PERSON, "look", files=(picture(),))
    assert await status(console, OPERATOR, of(turn, number)) == 404
    assert platform.asked == []


@pytest.mark.parametrize(
    "given",
    [SVG, HTML, b"GIF8", PNG + bytes(MAX_PICTURE), Permanent("deleted"), b""],
    ids=["svg", "html", "cut", "large", "deleted", "empty"],
)
async def test_what_is_no_picture_is_a_line_with_its_name(
    console: Console, world: World, platform: Gives, given: bytes | Exception
) -> None:
    platform.files["p"] = given
    turn = await world.talk(ROOM, PERSON, "look", files=(picture(name="me&nu.png"),))
    code, headers, body = await raw(console, OPERATOR, of(turn))
    assert (code, headers["Content-Type"]) == (200, "image/svg+xml")
    assert b"me&amp;nu.png" in body
    assert b"script" not in body
    assert headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    page = await page_of(console, OPERATOR, turn)
    assert of(turn) not in page.text
    gone = isinstance(given, Permanent) or not given
    words = "No longer available" if gone else "This picture cannot be shown"
    assert f">me&amp;nu.png</bdi> · {words}" in page.text
    assert words.encode() in body
    await raw(console, OPERATOR, of(turn))
    assert len(platform.asked) == 1


@pytest.mark.parametrize("file", [picture(size=50_000_000), picture(mime="image/svg+xml")])
async def test_what_its_message_shows_to_be_unfit_is_not_fetched(
    console: Console, world: World, platform: Gives, file: Attachment
) -> None:
    turn = await world.talk(ROOM, PERSON, "look", files=(file,))
    assert "This picture cannot be shown" in (await page_of(console, OPERATOR, turn)).text
    _, headers, _ = await raw(console, OPERATOR, of(turn))
    assert headers["Content-Type"] == "image/svg+xml"
    assert platform.asked == []


async def test_a_file_without_a_reference_is_named_as_before(
    console: Console, world: World, platform: Gives
) -> None:
    files = (picture(""), Attachment("document", "d", "plan.pdf", "application/pdf"))
    turn = await world.talk(ROOM, PERSON, "look", files=files)
    page = await page_of(console, OPERATOR, turn)
    assert "picture: menu.png" in page.text
    assert "file: plan.pdf" in page.text
    assert await status(console, OPERATOR, of(turn)) == 404
    assert await status(console, OPERATOR, of(turn, 1)) == 404


@pytest.mark.parametrize("given", [None, Transient("busy")])
async def test_a_platform_that_does_not_answer_is_asked_again(
    console: Console,
    world: World,
    platform: Gives,
    monkeypatch: pytest.MonkeyPatch,
    given: Exception | None,
) -> None:
    monkeypatch.setattr(pictures, "SECONDS", 0.2)
    platform.files["p"] = given
    turn = await world.talk(ROOM, PERSON, "look", files=(picture(),))
    code, headers, body = await raw(console, OPERATOR, of(turn))
    assert (code, headers["Cache-Control"]) == (200, "no-store")
    assert b"Not loaded" in body
    assert of(turn) in (await page_of(console, OPERATOR, turn)).text


async def test_the_page_does_not_wait_for_two_hundred_pictures(
    console: Console, world: World, platform: Gives, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "SECONDS", 0.3)
    platform.files |= dict.fromkeys((f"p{number}" for number in range(200)), None)
    turns = [
        await world.talk(
            ROOM, PERSON, "look", files=tuple(picture(f"p{10 * at + n}") for n in range(10))
        )
        for at in range(20)
    ]
    visitor = await console.visitor(OPERATOR)
    page = await visitor.get(f"/conversations/{turns[-1]}")
    assert platform.asked == []
    assert page.text.count('<img src="/console/conversations/') == 200
    asked = [visitor.get(of(turn, number)) for turn in turns for number in range(10)]
    got = await asyncio.gather(*asked)
    assert all("Not loaded" in one.text for one in got)
    assert (platform.most_at_once, platform.at_once) == (AT_ONCE, 0)
    assert (await visitor.get("/overview")).status == 200


async def test_the_picture_of_a_person_is_seen_by_whoever_sees_the_name(
    console: Console, world: World, platform: Gives
) -> None:
    platform.people[PERSON] = PNG
    path = f"/person/picture?person=web:main:{PERSON}"
    assert [(await raw(console, name, path))[2] for name in (OPERATOR, PERSON)] == [PNG, PNG]
    assert platform.asked == [PERSON]
    code, headers, body = await raw(console, OTHER, path)
    assert (code, headers["Content-Type"], body[:6]) == (200, "image/gif", b"GIF89a")
    assert await status(console, "", path) == 401
    assert platform.asked == [PERSON]


async def test_a_person_without_a_known_name_has_no_picture(
    console: Console, world: World, platform: Gives
) -> None:
    platform.people["nobody"] = PNG
    for person in (
        "web:main:nobody",
        "&person=" * 300,
        "telegram:main:1",
        "",
        "web:main:" + "x" * 400,
        "%00",
    ):
        _, headers, _ = await raw(console, OPERATOR, f"/person/picture?person={person}")
        assert headers["Content-Type"] == "image/gif"
    assert platform.asked == []


async def test_pages_ask_for_pictures_of_people_where_a_platform_has_them(
    console: Console, world: World, platform: Gives
) -> None:
    asks = f"/console/person/picture?person=web%3Amain%3A{PERSON}"
    for path in (
        f"/conversations/{world.room_ada}",
        "/conversations",
        "/person?person=web:main:ada",
    ):
        page = await (await console.visitor(OPERATOR)).get(path)
        assert f'<img src="{asks}" alt=""' in page.text, path
        assert 'aria-hidden="true">A<img' in page.text


async def test_pages_without_such_a_platform_have_initials_alone(
    console: Console, world: World
) -> None:
    page = await page_of(console, OPERATOR, world.room_ada)
    assert 'aria-hidden="true">A</span>' in page.text
    assert "/person/picture" not in page.text


@pytest.mark.parametrize("given", [SVG, HTML, bytes(MAX_PORTRAIT + 1), Transient("busy"), b""])
async def test_without_a_picture_of_a_person_the_initials_are_seen(
    console: Console, world: World, platform: Gives, given: bytes | Exception
) -> None:
    platform.people[PERSON] = given
    path = f"/person/picture?person=web:main:{PERSON}"
    for _ in range(2):
        code, headers, body = await raw(console, OPERATOR, path)
        assert (code, headers["Content-Type"], body[:6]) == (200, "image/gif", b"GIF89a")
    assert len(platform.asked) == 1


async def test_nothing_stays_of_an_erased_person(
    console: Console, world: World, platform: Gives
) -> None:
    platform.people[PERSON] = PNG
    turn = await world.talk(ROOM, PERSON, "look", files=(picture(),))
    paths = (of(turn), f"/person/picture?person=web:main:{PERSON}")
    assert [(await raw(console, OPERATOR, path))[2] for path in paths] == [PNG, PNG]
    persons = (f"web:main:{PERSON}",)
    for holder in (*console.app.storage.personal, console.app.pictures):
        await holder.erase("default", persons)
    assert await status(console, OPERATOR, paths[0]) == 404
    assert (await raw(console, OPERATOR, paths[1]))[1]["Content-Type"] == "image/gif"
    assert PNG not in kept_bytes(console)
    assert len(platform.asked) == 2


def kept_bytes(console: Console) -> list[bytes]:
    """The pictures that the program holds in memory."""
    both = (console.app.pictures._messages, console.app.pictures._portraits)
    found = [kept.found for cache in both for kept in cache._kept.values()]
    return [one.data for one in found if isinstance(one, pictures.Picture)]


async def test_the_export_names_a_picture_and_not_its_reference(
    console: Console, world: World, platform: Gives
) -> None:
    await world.talk(direct(PERSON), PERSON, "look", files=(picture("https://cdn.example/s3cret"),))
    persons = (f"web:main:{PERSON}",)
    rows: list[dict[str, object]] = []
    for holder in console.app.storage.personal:
        rows += await holder.export("default", persons)
    assert [row["files"] for row in rows if row.get("files")] == [
        [{"name": "menu.png", "type": "image/png"}]
    ]
    assert "s3cret" not in str(rows)
