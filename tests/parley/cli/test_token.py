"""`parley token`: tokens for people of configured accounts, and their revocation."""

from datetime import timedelta
from pathlib import Path

from gateway.ports.clock import SystemClock
from gateway.ports.rights import EVERY_SCOPE, TokenScope
from parley.security.keys import read_key
from parley.security.tokens import read
from tests.parley.cli.kit import Ended, parley

READS = frozenset({TokenScope.READ})


def configured(folder: Path) -> str:
    path = folder / "parley.yaml"
    path.write_text(
        "platforms: {web: {enabled: true}}\ndatabase: {url: sqlite:///parley.db}\n", "utf-8"
    )
    return str(path)


async def test_only_the_token_is_on_standard_output_and_its_person_is_named(tmp_path: Path) -> None:
    config = configured(tmp_path)
    ended = await parley("token", "web:main:ada", "--days", "2", "-c", config, cwd=tmp_path)
    assert ended.status == 0
    now = SystemClock().now()
    holder = read(read_key(tmp_path / "token.key"), ended.out.strip(), now)
    assert (str(holder.person), holder.tenant) == ("web:main:ada", "default")
    assert timedelta(days=1.9) < holder.until - now <= timedelta(days=2)
    assert "web:main:ada" in ended.err


async def test_a_token_can_be_one_that_only_reads(tmp_path: Path) -> None:
    config = configured(tmp_path)
    for more, scopes, told in (((), EVERY_SCOPE, "can act"), (("--read-only",), READS, "can read")):
        ended = await parley("token", "web:main:ada", *more, "-c", config, cwd=tmp_path)
        holder = read(read_key(tmp_path / "token.key"), ended.out.strip(), SystemClock().now())
        assert (holder.scopes, told in ended.err) == (scopes, True)


async def test_one_token_is_listed_and_revoked_by_its_name(tmp_path: Path) -> None:
    config = configured(tmp_path)
    for name in ("laptop", "phone"):
        made = await parley("token", "web:main:ada", "--name", name, "-c", config, cwd=tmp_path)
        assert made.status == 0
        assert f"parley token revoke {name}" in made.err
    taken = await parley("token", "web:main:eve", "--name", "phone", "-c", config, cwd=tmp_path)
    assert (taken.status, "already" in taken.err) == (1, True)
    listed = await parley("token", "list", "-c", config, cwd=tmp_path)
    assert [line.split()[:2] for line in listed.out.splitlines()] == [
        ["phone", "web:main:ada"],
        ["laptop", "web:main:ada"],
    ]
    assert "parley_" not in listed.out
    made = await parley(
        "token", "web:main:ada", "--read-only", "--name", "r", "-c", config, cwd=tmp_path
    )
    assert "can read as this person" in made.err
    listed = await parley("token", "list", "-c", config, cwd=tmp_path)
    assert {line.split()[0]: "write" in line for line in listed.out.splitlines()} == {
        "r": False,
        "phone": True,
        "laptop": True,
    }
    revoked = await parley("token", "revoke", "phone", "-c", config, cwd=tmp_path)
    assert revoked.out == "The token phone of web:main:ada is revoked.\n"
    again = await parley("token", "revoke", "phone", "-c", config, cwd=tmp_path)
    assert (again.status, "parley token list" in again.err) == (1, True)
    left = await parley("token", "list", "-c", config, cwd=tmp_path)
    assert "phone" not in left.out
    assert "laptop" in left.out


async def test_all_are_revoked_together(tmp_path: Path) -> None:
    config = configured(tmp_path)
    await parley("token", "web:main:ada", "-c", config, cwd=tmp_path)
    before = read_key(tmp_path / "token.key")
    ended = await parley("token", "--revoke-all", "-c", config, cwd=tmp_path)
    assert (ended.status, ended.out) == (0, "Every token is revoked.\n")
    listed = await parley("token", "list", "-c", config, cwd=tmp_path)
    assert listed.out == "No token is in use.\n"
    assert read_key(tmp_path / "token.key") != before


async def test_an_impossible_request_is_refused_with_a_reason(tmp_path: Path) -> None:
    config = configured(tmp_path)
    for arguments, status, reply in (
        (("ada",), 1, "PLATFORM:ACCOUNT:ID"),
        (("telegram:main:1",), 1, "The accounts are: web:main"),
        ((), 2, "--revoke-all"),
        (("revoke",), 2, "revoke NAME"),
        (("web:main:ada", "x"), 2, "revoke NAME"),
        (("web:main:ada", "--revoke-all"), 2, "--revoke-all"),
        (("web:main:ada", "--days", "366"), 2, "365"),
    ):
        ended = await parley("token", *arguments, "-c", config, cwd=tmp_path)
        assert ended.status == status, arguments
        assert reply in ended.err, arguments
    assert not (tmp_path / "token.key").exists()


async def test_the_token_of_an_agent_is_for_its_person_only(tmp_path: Path) -> None:
    config = configured(tmp_path)

    async def run(*arguments: str) -> Ended:
        return await parley(*arguments, "-c", config, cwd=tmp_path)

    await run("token", "web:main:ada", "--name", "own")
    made = await run("agents", "register", "web:main:ada", "--name", "laptop")
    agent = made.out.strip()
    assert (made.status, len(agent)) == (0, 32), made.err
    assert f"parley token web:main:ada --agent {agent[:8]}" in made.err
    printed = await run("token", "web:main:ada", "--agent", agent[:8], "--name", "laptop")
    holder = read(read_key(tmp_path / "token.key"), printed.out.strip(), SystemClock().now())
    assert (str(holder.person), holder.agent) == ("web:main:ada", agent)
    assert "as this agent" in printed.err
    for person, text in (("eve", agent), ("ada", "0" * 32), ("ada", agent[:3])):
        refused = await run("token", f"web:main:{person}", "--agent", text)
        assert (refused.status, "parley agents register" in refused.err) == (1, True)
    listed = (await run("token", "list")).out.splitlines()
    assert {line.split()[0]: agent in line for line in listed} == {"laptop": True, "own": False}
    assert (await run("agents", "unregister", agent, "--yes")).status == 0
    left = (await run("token", "list")).out
    assert ("laptop" in left, "own" in left) == (False, True)
