"""Attacks on the documentation of the local listener: it is open to everybody who reaches the port,
so it must serve its own files, and nothing else, to anybody."""

import asyncio
import html
import re
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import NamedTuple

import pytest

from parley.documentation.files import files
from parley.documentation.render import page
from parley.documentation.routes import DocumentationPages
from parley.http.local_listener import LocalListener

LOCAL = "localhost"
SECRET = "a-token-of-decent-length"
OUTSIDE = (
    "/docs/../pyproject.toml",
    "/docs/..%2fpyproject.toml",
    "/docs/%2e%2e/pyproject.toml",
    "/docs/%252e%252e%252fpyproject.toml",
    "/docs/..%5c..%5cpyproject.toml",
    "/docs/reference/..%2f..%2f..%2fetc/passwd",
    "/docs/%2fetc%2fpasswd",
    "/docs//etc/passwd",
    "/docs/C:%5cWindows%5cwin.ini",
    "/docs/index.md%00.png",
    "/docs/index.md/",
    "/docs/./index.md",
    "/docs/INDEX.MD",
    "/docs/index%2emd%3b.png",
    "/docs/index.md%20",
    "/docs/%ff%fe.md",
    "/docs/\u2025/pyproject.toml",
    "/docs/render.py",
    "/docs/__init__.py",
    "/docs/images",
    "/docs/images/",
    "/docs/a/b/c/d/e.md",
    "/docs/" + "a/" * 500,
    "/docs/" + "%2e%2e%2f" * 300 + "etc/passwd",
    "/docs/" + "x" * 6_000,
)


class Answer(NamedTuple):
    status: int
    head: str
    body: str


@pytest.fixture
async def listener() -> AsyncIterator[LocalListener]:
    served = LocalListener(token=SECRET)
    served.add_routes(DocumentationPages().routes())
    await served.start()
    yield served
    await served.stop()


async def asked(listener: LocalListener, target: str, *more: str, method: str = "GET") -> Answer:
    """Send a request as it is written here, which no client library changes."""
    fields = more or (f"Host: {LOCAL}",)
    lines = [f"{method} {target} HTTP/1.1", *fields, "Connection: close", "", ""]
    reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
    try:
        writer.write("\r\n".join(lines).encode())
        raw = b""
        with suppress(ConnectionError):
            async with asyncio.timeout(20):
                raw = await reader.read()
    finally:
        writer.close()
    head, _, body = raw.decode("utf-8", "replace").partition("\r\n\r\n")
    return Answer(int(head.split(" ")[1]) if head else 0, head, body)


@pytest.mark.parametrize("target", OUTSIDE, ids=lambda target: target[:40])
async def test_no_path_leads_to_another_file(listener: LocalListener, target: str) -> None:
    answer = await asked(listener, target)
    assert answer.status in {400, 401, 404, 414, 431}, answer.head
    assert not re.search(r"root:|\[project\]|<h1|def page", answer.body)
    assert (await asked(listener, "/docs/")).status == 200


async def test_a_page_of_another_site_reads_nothing_of_the_program(listener: LocalListener) -> None:
    """A site whose name leads to this machine sends its own name as the host."""
    for host in ("attacker.example", "127.0.0.1.attacker.example", "localhost.attacker.example"):
        answer = await asked(listener, "/docs/", f"Host: {host}", "Origin: http://attacker.example")
        assert "access-control-allow" not in answer.head.lower()
        assert "cross-origin-resource-policy: same-origin" in answer.head.lower()
        assert "set-cookie" not in answer.head.lower()
        assert SECRET not in answer.head + answer.body
        beside = await asked(listener, "/docs/../", f"Host: {host}")
        assert beside.status in {400, 401, 403, 404}
    for hosts in ((), ("Host: a", "Host: b"), ("Host: ",), ("Host: local host",)):
        answer = await asked(listener, "/docs/", *(hosts or ("X: no host",)))
        assert answer.status == 400, hosts


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "FOO"])
async def test_nothing_can_be_written(listener: LocalListener, method: str) -> None:
    answer = await asked(listener, "/docs/index.md", method=method)
    assert answer.status in {400, 405, 501}
    assert "<h1" not in answer.body


async def test_what_the_request_says_is_in_no_page(listener: LocalListener) -> None:
    mark = "zqx<script>alert(1)</script>"
    quoted = "zqx%3Cscript%3Ealert(1)%3C/script%3E"
    for target in (f"/docs/{quoted}", f"/docs/index.md?{quoted}={quoted}", f"/docs/?q={quoted}"):
        answer = await asked(listener, target, f"Host: {LOCAL}", f"Referer: {mark}")
        assert "zqx" not in answer.body + answer.head


async def test_the_pages_run_no_scripts_and_send_the_reader_nowhere(
    listener: LocalListener,
) -> None:
    for path in ("index.md", "explanation/threat-model.md"):
        answer = await asked(listener, f"/docs/{path}")
        policy = re.search(r"content-security-policy: (.*)", answer.head.lower())
        assert policy is not None
        assert "default-src 'none'" in policy[1]
        assert "script-src 'self'" in policy[1]
        assert not re.search(r"<script|javascript:|\son\w+=", answer.body)
        assert "referrer-policy: no-referrer" in answer.head.lower()


def test_hostile_markdown_of_a_page_stays_text() -> None:
    """A file of the folder may come from anybody who changes the installation's documentation."""
    text = (
        "# <img src=x onerror=alert(1)>\n\n<script>alert(1)</script>\n\n"
        "[a](javascript:alert(1)) [b](vbscript:x) [c](data:text/html,<b>x</b>)\n\n"
        "[d](../../../etc/passwd) ![e](javascript:alert(2))\n\n"
        "```\n</code></pre><script>alert(3)</script>\n```\n"
    )
    shown = page("how-to/x", text)
    body = shown.partition("<main")[2]
    assert "<script" not in shown
    assert "<img src=x" not in shown
    for link in re.findall(r'(?:href|src)="([^"]*)"', body):
        assert (
            not html.unescape(link).strip().lower().startswith(("javascript", "vbscript", "data"))
        )
        assert "etc/passwd" not in link


async def test_many_requests_at_once_do_not_hold_the_program(listener: LocalListener) -> None:
    largest = max(files(), key=lambda path: files()[path].stat().st_size * path.endswith(".md"))
    began = time.monotonic()
    answers = await asyncio.gather(*(asked(listener, f"/docs/{largest}") for _ in range(60)))
    assert {answer.status for answer in answers} <= {200, 429, 503}
    assert answers[0].status == 200
    assert time.monotonic() - began < 20
