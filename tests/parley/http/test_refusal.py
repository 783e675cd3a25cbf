"""A refused request: a page in a browser, JSON for a program."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.text import verbatim
from parley.http.access import Reason
from parley.http.refusal import MAX_ACCEPT, prefers_html, refusal_body

BROWSER = (
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8,"
    "application/signed-exchange;v=b3;q=0.7"
)
REASONS = Reason.__args__  # type: ignore[attr-defined] # the values of a Literal


@pytest.mark.parametrize(
    "accept",
    [
        BROWSER,
        "text/html",
        "TEXT/HTML",
        "text/html, application/json;q=0.9",
        "application/json;q=0.5, text/html;q=0.6",
        "application/xhtml+xml",
    ],
)
def test_a_browser_gets_a_page(accept: str) -> None:
    assert prefers_html(accept)


@pytest.mark.parametrize(
    "accept",
    [
        "",
        "*/*",
        "application/json",
        "application/json, text/html",
        "text/html;q=0.5, application/json",
        "text/html;q=0",
        "text/html;q=much",
        "text/html;q=nan",
        "text/html;q=7",
        "text/plain, */*",
        "text/*",
        " " * MAX_ACCEPT + "text/html",
    ],
)
def test_everything_else_gets_json(accept: str) -> None:
    assert not prefers_html(accept)
    body = refusal_body("token_wrong", verbatim("Get a new link."), accept)
    assert body.content_type == "application/json"
    assert json.loads(body.text) == {"error": "token_wrong", "advice": "Get a new link."}


@given(st.text(max_size=3_000))
def test_no_header_breaks_the_choice(accept: str) -> None:
    assert prefers_html(accept) in {True, False}


@pytest.mark.parametrize("reason", ["token_wrong", "token_missing", "forwarded_without_token"])
def test_the_page_about_a_login_link_says_how_to_get_a_new_one(reason: str) -> None:
    body = refusal_body(reason, verbatim("unused"), BROWSER)
    assert body.content_type == "text/html"
    assert '<pre dir="ltr">parley page</pre>' in body.text
    assert "login link" in body.text
    assert "unused" not in body.text


def test_a_used_link_is_explained() -> None:
    text = refusal_body("token_wrong", verbatim(""), BROWSER).text
    assert "<h1>This login link does not work</h1>" in text
    assert "was used already, is too old, or is incomplete" in text


@pytest.mark.parametrize("reason", REASONS)
def test_every_page_is_complete_without_scripts_and_styles(reason: str) -> None:
    """The content security policy of the listener allows none in the page."""
    page = refusal_body(reason, verbatim('Use "this" <host>.'), BROWSER).text
    assert page.startswith('<!doctype html>\n<html lang="en" dir="ltr">')
    assert re.search(r"<title>[^<]+</title>", page)
    assert not re.search(r"<script|<style|style=|javascript:|<link|<img", page)
    assert "{" not in page
    if "<pre " not in page:
        assert "Use &quot;this&quot; &lt;host&gt;." in page
