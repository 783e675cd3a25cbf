"""The documentation on the command line and on the local listener: every page, every link."""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urldefrag, urljoin, urlsplit

import aiohttp
import pytest

from parley.documentation.files import CHECKOUT, files, page_named, pages
from parley.documentation.routes import DocumentationPages
from parley.http.local_listener import LocalListener
from tests.parley.cli.kit import ROOT, parley

LINK = re.compile(r'(?:href|src)="([^"]+)"')
NAMED = re.compile(r"`parley docs ([a-z][\w/-]*)`")
PRODUCT = ("adapters", "db", "gateway", "memory", "parley", "safety")


@pytest.fixture
async def url() -> AsyncIterator[str]:
    listener = LocalListener(token="a-token-of-decent-length")
    listener.add_routes(DocumentationPages().routes())
    await listener.start()
    yield f"{listener.base_url}/docs"
    await listener.stop()


async def test_every_page_and_every_link_and_anchor_in_it_exists(url: str) -> None:
    loaded: dict[str, str] = {}
    waiting, missing = [f"{url}/"], []
    async with aiohttp.ClientSession() as http:
        while waiting:
            place = waiting.pop()
            if place in loaded:
                continue
            async with http.get(place) as answer:
                assert answer.status == 200, place
                is_page = answer.content_type == "text/html"
                loaded[place] = await answer.text() if is_page else ""
            links = (urljoin(place, one) for one in LINK.findall(loaded[place]))
            waiting += [urldefrag(one).url for one in links if one.startswith(url)]
    for place, text in loaded.items():
        for one in LINK.findall(text):
            target, anchor = urldefrag(urljoin(place, one))
            if anchor and target.startswith(url) and f'id="{anchor}"' not in loaded[target]:
                missing.append((place, one))
    assert missing == []
    reached = {urlsplit(one).path.removeprefix("/docs/").removesuffix(".md") for one in loaded}
    assert {name for name, _ in pages()} - {"index"} <= reached


async def test_what_is_no_page_is_not_served(url: str) -> None:
    async with aiohttp.ClientSession() as http:
        for path in ("nothing.md", "..%2f..%2fpyproject.toml", "a/..%2f..%2fREADME.md", "images"):
            async with http.get(f"{url}/{path}") as answer:
                assert answer.status == 404, path
        async with http.get(url, allow_redirects=False) as answer:
            assert answer.headers["Location"] == "/docs/"


async def test_the_command_prints_a_page_from_any_folder(tmp_path: Path) -> None:
    ended = await parley("docs", "reference/platforms/whatsapp", cwd=tmp_path)
    assert (ended.status, ended.err) == (0, "")
    assert ended.out == (CHECKOUT / "reference" / "platforms" / "whatsapp.md").read_text("utf-8")
    listed = await parley("docs", cwd=tmp_path)
    kinds = [line for line in listed.out.splitlines() if line and not line.startswith(" ")]
    assert [kind.partition(",")[0] for kind in kinds] == [
        *("Tutorials", "How-to guides", "Reference", "Explanation"),
    ]
    shown = [line.strip().rsplit("  ", 1) for line in listed.out.splitlines() if line[:1] == " "]
    every = {name: title for name, title in pages() if not name.endswith("index")}
    assert {name.strip(): title.strip() for title, name in shown} == every
    assert "http://127.0.0.1:8081/docs/" in listed.err
    unknown = await parley("docs", "reference/platforms/whatsap", cwd=tmp_path)
    assert unknown.status == 1
    assert "reference/platforms/whatsapp" in unknown.err


def test_messages_name_pages_that_exist_and_no_files_that_an_installation_lacks() -> None:
    assert len(files()) > len(list(pages())) > 50
    for package in PRODUCT:
        for file in (ROOT / package).rglob("*.py"):
            text = file.read_text("utf-8")
            assert [one for one in NAMED.findall(text) if page_named(one) is None] == [], file
