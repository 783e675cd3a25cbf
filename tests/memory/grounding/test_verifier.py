"""Citations verified in real git folders and on real servers, and sources that are never
requested."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from ipaddress import ip_network
from pathlib import Path

import pytest
from aiohttp import web

from memory.grounding.citations import find_citations
from memory.grounding.verifier import (
    KEPT_INVALID,
    ConfiguredVerifier,
    GroundingSources,
    Repositories,
    keep_relevant,
    shared_words,
    verify_all,
)
from memory.grounding.web_sources import Tracker, as_text
from memory.ports.grounding import Checked, Reason, Verification, VerifyCitation
from safety.http.addresses import AllowedHost

LOOPBACK = frozenset({ip_network("127.0.0.0/8")})


# --- repositories ---------------------------------------------------------------------------------


def git(folder: Path, *arguments: str) -> str:
    clean = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    named = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    done = subprocess.run(
        ["git", *named, *arguments], cwd=folder, env=clean, check=True, capture_output=True
    )
    return done.stdout.decode().strip()


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("git") is None:
        pytest.skip("needs git on the path")
    folder = tmp_path_factory.mktemp("grounds") / "app"
    records = folder / "docs" / "ADRs"
    records.mkdir(parents=True)
    (records / "adr-003-Storage.md").write_text("# Storage\nWe use PostgreSQL for storage.")
    (records / "0012-cache.md").write_text("We use Redis.")
    (records / "README.md").write_text("no record")
    (records / "ADR-007-link.md").symlink_to("/etc/hostname")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "Store memories in PostgreSQL")
    return folder


async def test_a_commit_is_found_by_its_full_or_abbreviated_hash(repository: Path) -> None:
    whole = git(repository, "rev-parse", "HEAD")
    repositories = Repositories([repository], excerpts=True)
    for hexadecimal in (whole, whole[:7], whole[:12]):
        assert await repositories.commit(hexadecimal) == "Store memories in PostgreSQL\n"


async def test_other_git_objects_are_not_commits(repository: Path) -> None:
    repositories = Repositories([repository])
    for other in (git(repository, "rev-parse", "HEAD^{tree}"), "a1b2c3d4e5", "0" * 40):
        assert await repositories.commit(other) is None


@pytest.mark.parametrize(
    "hostile",
    ["HEAD", "--help", "-t", "a1b2c3d^{}", "a1b2c3d\n", "../a1b2c3d", "", "g" * 40, "a" * 41],
)
async def test_only_a_hash_is_passed_to_git(
    hostile: str, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asyncio, "create_subprocess_exec", None)
    assert await Repositories([repository]).commit(hostile) is None


async def test_a_folder_inside_another_repository_is_not_a_repository(repository: Path) -> None:
    inner = repository / "docs"
    assert await Repositories([inner]).commit(git(repository, "rev-parse", "HEAD")) is None


async def test_environment_variables_cannot_select_another_repository(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(repository / ".git"))
    assert await Repositories([tmp_path]).commit(git(repository, "rev-parse", "HEAD")) is None


@pytest.mark.parametrize(
    ("adr", "found"),
    [("ADR-003", True), ("ADR-012", True), ("ADR-004", False), ("ADR-007", False),
     ("ADR-../../x", False), ("ADR-*", False), ("ADR-", False)],
)  # fmt: skip
async def test_a_decision_record_is_a_file_with_its_number(
    repository: Path, adr: str, found: bool
) -> None:
    record = await Repositories([repository], excerpts=True).decision_record(adr)
    assert (record is not None) is found


async def test_a_decision_record_is_what_was_committed(repository: Path) -> None:
    record = repository / "docs" / "ADRs" / "adr-003-Storage.md"
    committed = record.read_text()
    new = record.with_name("adr-020-new.md")
    try:
        new.write_text("We use MongoDB.")
        record.write_text("We use MongoDB.")
        repositories = Repositories([repository], excerpts=True)
        assert await repositories.decision_record("ADR-020") is None
        assert await repositories.decision_record("ADR-003") == committed
    finally:
        new.unlink()
        record.write_text(committed)


async def test_symbolic_links_are_not_followed(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "docs").symlink_to(repository / "docs")
    (tmp_path / "adr").symlink_to(repository / "docs" / "ADRs")
    assert await Repositories([tmp_path]).decision_record("ADR-003") is None


async def test_without_git_a_commit_is_not_verified(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    verifier = ConfiguredVerifier(GroundingSources(repositories=(repository,)))
    assert await outcomes("commit a1b2c3d", verifier.verify) == [(False, Reason.FAILED)]


# --- pages and trackers ---------------------------------------------------------------------------


@dataclass
class Site:
    """A site and a tracker on loopback, with what was asked of them."""

    port: int = 0
    asked: list[str] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        self.asked.append(f"{request.method} {request.path}")
        self.tokens.append(request.headers.get("Authorization", ""))
        match request.path:
            case "/api" | "/repos/acme/app/issues/12":
                return web.Response(text="<p>The API uses <b>OAuth2</b> tokens</p>")
            case "/get-only" if request.method == "GET":
                return web.Response(body=b"x" * 1_000_000)
            case "/get-only":
                return web.Response(status=405)
            case "/moved":
                return web.Response(status=302, headers={"Location": "/api"})
            case "/away":
                return web.Response(status=302, headers={"Location": "http://evil.example/"})
            case "/slow":
                await asyncio.Event().wait()
        return web.Response(status=404)


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    state = Site()
    server = web.Server(state.answer)
    runner = web.ServerRunner(server, shutdown_timeout=0.1)
    await runner.setup()
    listening = web.TCPSite(runner, "127.0.0.1", 0)
    await listening.start()
    state.port = runner.addresses[0][1]
    yield state
    await runner.cleanup()


def sources(site: Site, *templates: str) -> GroundingSources:
    base = f"http://127.0.0.1:{site.port}"
    return GroundingSources(
        hosts=(AllowedHost.parse(f"127.0.0.1:{site.port}"),),
        trackers=tuple(Tracker(base + template) for template in templates),
        networks=LOOPBACK,
    )


async def outcomes(text: str, verify: VerifyCitation) -> list[tuple[bool, Reason]]:
    checked = await verify_all(find_citations(text), verify)
    return [(c.verification.valid, c.verification.reason) for c in checked]


@pytest.mark.parametrize(
    ("path", "reason", "asked"),
    [
        ("/api", Reason.EXISTS, ["HEAD /api"]),
        ("/get-only", Reason.EXISTS, ["HEAD /get-only", "GET /get-only"]),
        ("/moved", Reason.EXISTS, ["HEAD /moved", "HEAD /api"]),
        ("/gone", Reason.MISSING, ["HEAD /gone"]),
        ("/away", Reason.FAILED, ["HEAD /away"]),
    ],
)
async def test_a_page_of_a_listed_host_is_requested(
    site: Site, path: str, reason: Reason, asked: list[str]
) -> None:
    verifier = ConfiguredVerifier(sources(site))
    result = await outcomes(f"see http://127.0.0.1:{site.port}{path}", verifier.verify)
    assert result == [(reason is Reason.EXISTS, reason)]
    assert site.asked == asked


async def test_unlisted_hosts_are_never_requested(site: Site) -> None:
    nothing = GroundingSources(networks=LOOPBACK)
    text = f"http://127.0.0.1:{site.port}/api ADR-003 commit a1b2c3d #12 acme/app#12"
    result = await outcomes(text, ConfiguredVerifier(nothing).verify)
    assert result == [(False, Reason.NOT_LISTED)] * 5
    assert site.asked == []


async def test_results_are_cached(site: Site) -> None:
    now = 0.0
    verifier = ConfiguredVerifier(sources(site), now=lambda: now)
    text = f"http://127.0.0.1:{site.port}/api http://127.0.0.1:{site.port}/gone"
    await outcomes(text, verifier.verify)
    await outcomes(text, verifier.verify)
    assert sorted(site.asked) == ["HEAD /api", "HEAD /gone"]
    now = KEPT_INVALID + 1
    await outcomes(text, verifier.verify)
    assert sorted(site.asked) == ["HEAD /api", "HEAD /gone", "HEAD /gone"]


async def test_all_requests_together_have_a_time_limit(site: Site) -> None:
    verifier = ConfiguredVerifier(sources(site))
    base = f"http://127.0.0.1:{site.port}"
    checked = await verify_all(
        find_citations(f"{base}/slow {base}/api"), verifier.verify, seconds=2.0
    )
    assert [c.verification.reason for c in checked] == [Reason.FAILED, Reason.EXISTS]


async def test_the_number_of_requests_is_limited(site: Site) -> None:
    verifier = ConfiguredVerifier(sources(site, "/repos/acme/app/issues/{number}"))
    result = await outcomes(" ".join(f"#{n}" for n in range(10, 17)), verifier.verify)
    assert [valid for valid, _ in result] == [False, False, True, False, False, False, False]
    assert [reason for _, reason in result][5:] == [Reason.TOO_MANY] * 2
    assert len(site.asked) == 5


@pytest.mark.parametrize(
    ("template", "text", "asked"),
    [
        ("/repos/{owner}/{repo}/issues/{number}", "acme/app#12", "HEAD /repos/acme/app/issues/12"),
        ("/repos/{owner}/{repo}/issues/{number}", "#12", None),
        ("/repos/acme/app/issues/{number}", "#12", "HEAD /repos/acme/app/issues/12"),
        ("/repos/acme/app/issues/{number}", "GH-12", "HEAD /repos/acme/app/issues/12"),
        ("/repos/acme/app/issues/{number}", "acme/app#12", "HEAD /repos/acme/app/issues/12"),
        ("/repos/acme/app/issues/{number}", "acme/other#12", None),
        ("/repos/{owner}/{repo}/issues/{number}", "acme/..#12", None),
    ],
)
async def test_an_issue_is_requested_from_its_tracker(
    site: Site, template: str, text: str, asked: str | None
) -> None:
    result = await outcomes(text, ConfiguredVerifier(sources(site, template)).verify)
    if asked is None:
        assert (result, site.asked) == ([(False, Reason.NOT_LISTED)], [])
    else:
        assert (result, site.asked) == ([(True, Reason.EXISTS)], [asked])


@pytest.mark.parametrize(
    ("template", "token"),
    [
        ("", ""),
        ("ftp://x.example/{number}", ""),
        ("https://x.example/issues", ""),
        ("https://{owner}.example/{repo}/{number}", ""),
        ("https://x.example/{owner}/{number}", ""),
        ("https://x.example/{number}/{other}", ""),
        ("https://user@x.example/{number}", ""),
        ("https://0x7f.1/{number}", ""),
        ("http://x.example/{number}", "t"),
    ],
)
def test_an_invalid_template_is_refused(template: str, token: str) -> None:
    with pytest.raises(ValueError, match=r"should|has|needs|is"):
        Tracker(template, token)


def test_a_token_is_hidden() -> None:
    assert "s3cret" not in repr(Tracker("https://x.example/{number}", "s3cret"))


# --- relevance ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "least", "most"),
    [
        ("We store memories in PostgreSQL", 0.6, 1.0),
        ("Pineapples belong on pizza", 0.0, 0.0),
        ("See", 1.0, 1.0),
    ],
)
def test_shared_words_are_counted(claim: str, least: float, most: float) -> None:
    assert least <= shared_words(claim, "Memories are stored in PostgreSQL 15.") <= most


class Judge:
    """A model that answers, or fails."""

    def __init__(self, answer: Callable[[], bool]) -> None:
        self._answer = answer
        self.shown: list[str] = []

    async def __call__(self, claim: str, material: str) -> bool:
        self.shown.append(material)
        return self._answer()


def _fail() -> bool:
    raise RuntimeError("overloaded")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [(lambda: True, Reason.EXISTS), (lambda: False, Reason.IRRELEVANT), (_fail, Reason.FAILED)],
)
async def test_a_model_decides_if_configured(answer: Callable[[], bool], reason: Reason) -> None:
    (citation,) = find_citations("ADR-003")
    checked = Checked(citation, Verification(True, Reason.EXISTS, "PostgreSQL it is " * 1000))
    judge = Judge(answer)
    (kept,) = await keep_relevant("ADR-003 PostgreSQL", [checked], judge)
    assert kept.verification.reason is reason
    assert len(judge.shown[0]) == 4000


async def test_a_model_is_not_asked_without_a_common_word(site: Site) -> None:
    verifier = ConfiguredVerifier(sources(site), excerpts=True)
    claim = f"Pineapples belong on pizza, http://127.0.0.1:{site.port}/api"
    checked = await verify_all(find_citations(claim), verifier.verify)
    judge = Judge(lambda: True)
    (kept,) = await keep_relevant(claim, checked, judge)
    assert (kept.verification.reason, judge.shown) == (Reason.IRRELEVANT, [])
    assert checked[0].verification.excerpt == "The API uses OAuth2 tokens"


def test_a_page_is_read_without_markup() -> None:
    page = "<html><script>var a = 1</script><p class='x'>a &amp; b</p><style>p{}</style>c"
    assert as_text(page) == "a & b c"
