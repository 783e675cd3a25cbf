"""`parley token`: a token for somebody of an account of ours, and none for anybody any more."""

from datetime import timedelta
from pathlib import Path

from gateway.clock import SystemClock
from parley.key_file import read_key
from parley.tokens import read
from tests.parley.cli.kit import parley


def configured(folder: Path) -> str:
    path = folder / "parley.yaml"
    path.write_text(
        "platforms: {web: {enabled: true}}\ndatabase: {url: sqlite:///parley.db}\n", "utf-8"
    )
    return str(path)


async def test_it_prints_the_token_alone_and_says_whose_it_is(tmp_path: Path) -> None:
    config = configured(tmp_path)
    ended = await parley("token", "web:main:ada", "--days", "2", "-c", config, cwd=tmp_path)
    assert ended.status == 0
    now = SystemClock().now()
    holder = read(read_key(tmp_path / "token.key"), ended.out.strip(), now)
    assert (str(holder.person), holder.tenant) == ("web:main:ada", "default")
    assert timedelta(days=1.9) < holder.until - now <= timedelta(days=2)
    assert "web:main:ada" in ended.err


async def test_all_are_revoked_together(tmp_path: Path) -> None:
    config = configured(tmp_path)
    await parley("token", "web:main:ada", "-c", config, cwd=tmp_path)
    before = read_key(tmp_path / "token.key")
    ended = await parley("token", "--revoke-all", "-c", config, cwd=tmp_path)
    assert (ended.status, ended.out) == (0, "Every token is revoked.\n")
    assert read_key(tmp_path / "token.key") != before


async def test_what_cannot_be_is_refused_with_a_reason(tmp_path: Path) -> None:
    config = configured(tmp_path)
    for arguments, status, said in (
        (("ada",), 1, "PLATFORM:ACCOUNT:ID"),
        (("telegram:main:1",), 1, "There is: web:main"),
        ((), 2, "--revoke-all"),
        (("web:main:ada", "--revoke-all"), 2, "--revoke-all"),
        (("web:main:ada", "--days", "366"), 2, "365"),
    ):
        ended = await parley("token", *arguments, "-c", config, cwd=tmp_path)
        assert ended.status == status, arguments
        assert said in ended.err, arguments
    assert not (tmp_path / "token.key").exists()
