"""The page of a login link in a browser."""

from gateway.ports.http_routes import LocalRequest, LocalResponse, LocalRoute
from gateway.ports.rights import LOCAL_PAGES
from parley.http.local_listener import LocalListener
from parley.http.login_links import LOG_IN
from tests.parley.demo.browser import IN_CHROMIUM, check_views, window

pytestmark = IN_CHROMIUM
TOKEN = "a-token-of-decent-length"


async def referer(request: LocalRequest) -> LocalResponse:
    """A page that shows from where the browser says it comes."""
    said = f"<link rel=icon href=data:,><p>from {request.headers.get('referer')}"
    return LocalResponse(said.encode(), content_type="text/html")


async def test_a_login_link_asks_before_it_is_used_and_leaves_no_code_behind() -> None:
    made = LocalListener(token=TOKEN)
    made.add_routes([LocalRoute("GET", "/chat/", referer, LOCAL_PAGES)])
    await made.start()
    link = made.login_link("/chat/")
    code = link.partition("#")[2]
    async with window(made.base_url) as opened:
        page, said = opened.page, []
        page.on("request", lambda request: said.append((request.url, request.headers)))
        await page.goto(link)
        await page.get_by_text("This link signs this browser in, once.").wait_for()
        assert not await page.get_by_label("Code of the link").is_visible()
        assert page.url == made.base_url + LOG_IN
        await check_views(page)
        await page.get_by_role("button").click()
        await page.wait_for_url("**/chat/")
        assert "from None" in await page.content()
        assert code not in str(said)
        await page.go_back()
        assert code not in page.url
        await page.goto(link)
        await page.get_by_role("button").click()
        await page.get_by_text("This login link does not work").wait_for()
        # The refused link, and the icon that its page does not have.
        assert [one for one in opened.complaints if "the server responded with" not in one] == []
        await page.goto(made.base_url + LOG_IN)
        assert await page.get_by_label("Code of the link").is_visible()
        assert not await page.get_by_text("This link signs this browser in").is_visible()
    await made.stop()
